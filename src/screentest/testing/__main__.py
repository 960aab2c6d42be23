"""`python -m screentest.testing`: the fake server on its own, until interrupted."""

from __future__ import annotations

import sys

import typer

from screentest.testing.chat_server import FakeChatServer


def main(latency: float = 0.0, port: int = 0) -> None:
    """Serve made-up answers; the address is the first line printed."""

    def announce(url: str) -> None:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()

    try:
        FakeChatServer(latency=latency, port=port).serve(announce)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    typer.run(main)
