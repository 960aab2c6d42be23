"""Progress of a command, on stderr."""

from __future__ import annotations

from screentest._util import progress
from screentest.cli.console import err
from screentest.core import Progress


def watched() -> Progress:
    """Return a bar if stderr is a terminal; nothing if it is a file or a pipe."""
    return progress.watched(err())
