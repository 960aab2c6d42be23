"""Where commands write: tables to stdout, everything else to stderr; both fit 80 columns."""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from screentest._util.text import escaped

if TYPE_CHECKING:
    from rich.console import Console


@cache
def out() -> Console:
    """Results: plain text where they are piped, colours on a terminal."""
    return _console(stderr=False)


@cache
def err() -> Console:
    """Progress and remarks."""
    return _console(stderr=True)


def _console(stderr: bool) -> Console:
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError  # `Commands` ends quietly; rich would exit on its own

    # Names and prompts are untrusted text: nothing in them is markup or an emoji code.
    return Plain(stderr=stderr, markup=False, emoji=False, highlight=False)


def shown(text: str) -> str:
    """Text as it may be printed: what a terminal would act on is written as an escape."""
    return escaped(text)


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
