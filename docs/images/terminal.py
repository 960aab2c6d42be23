"""Save what a command prints in a terminal of 80 columns as a picture.

python docs/images/terminal.py docs/images/demo.svg screentest demo
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text


def main() -> None:
    """Run the command and write the picture."""
    out, *command = sys.argv[1:]
    environment = os.environ | {"COLUMNS": "80", "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=80, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi(done.stdout.rstrip()))
        # Fonts from elsewhere would be fetched by whoever looks at the picture.
        local = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
        title = f"$ {' '.join(command)}"
        console.save_svg(out, title=title, unique_id="terminal", code_format=local)


if __name__ == "__main__":
    main()
