"""Who watches decides how progress is shown: a bar at a terminal, silence in a pipe."""

from __future__ import annotations

from screentest.cli._console import err
from screentest.core import Progress, Silent


def watched() -> Progress:
    """A bar where somebody watches stderr, silence where it is a file or a pipe."""
    if not err().is_terminal or err().is_dumb_terminal:
        return Silent()
    from screentest.cli._bar import Bar

    return Bar(err())
