"""``python -m screentest``: the same as the command ``screentest``."""

from screentest.cli import main

if __name__ == "__main__":
    main()
