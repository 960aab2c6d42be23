"""``screentest compare``: judges or systems, pair by pair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import screentest
from screentest.cli.options import JsonOption
from screentest.cli.tables import show


def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN [RUN]", help="One run, or two of a kind.")
    ],
    judges: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B…", help="The judges, where a run has several."),
    ] = None,
    by: Annotated[
        str,
        typer.Option(metavar="GROUP=A,B…", help="Groups of items of one run: model=x,y."),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Compare judges, or systems, on what all of them have.

    Every difference has an interval over whole sources and a p-value corrected for
    the number of rows (Holm). More than two are ranked, with the sets that are
    tied. Items of two systems are matched by their prompt. Two runs with three
    judges or more are compared by rank: do both testbeds rank them alike?

    \b
    Examples:
      screentest compare certificates/ --judges baseline,sharpness
      screentest compare certificates/ --judges baseline,sharpness,flicker
      screentest compare monday/ tuesday/ --judges baseline
      screentest compare scores/ --by model=ours,theirs
    """
    found = screentest.compare(*runs, judges=judges or (), by=by)
    show(*found.tables(), as_json=as_json, sides=list(found.names))


COMMANDS = {"compare": compare}
