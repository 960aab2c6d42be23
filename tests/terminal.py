"""The command line as a user has it: a process with a terminal of 80 columns, or a pipe."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

from typer.testing import CliRunner, Result

import screentest as package
from screentest.cli import app

Screentest = Callable[..., "CompletedProcess[str]"]

SOURCE = str(Path(package.__file__).parent.parent)
"""A process tests the source that this one tests, wherever it is started."""
WITH_TESTS = os.pathsep.join([str(Path(__file__).parent.parent), SOURCE])
"""A path for Python that finds the modules of the tests, too."""

CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith("SCREENTEST_") and name not in {"FORCE_COLOR", "COLUMNS", "NO_COLOR"}
} | {
    "SCREENTEST_CACHE": os.environ["SCREENTEST_CACHE"],
    "COLUMNS": "80",
    "PYTHONUTF8": "1",
    "PYTHONPATH": SOURCE,
}


def invoke(*arguments: str | Path) -> Result:
    """Run a command inside this process: quicker, where exit codes and pipes are not the point."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def fits(text: str) -> bool:
    """Whether a screen of 80 columns shows it as it is: no line too long, no control codes."""
    return all(len(line) <= 80 for line in text.splitlines()) and "\x1b" not in text
