"""``screentest compare``: judges or systems, pair by pair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import screentest
from screentest.cli.console import print_json
from screentest.cli.options import JsonOption, PoolOption
from screentest.cli.tables import print_screen, show


def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="One run, or several of `score`.")
    ],
    judges: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B…", help="The judges, where a run has several."),
    ] = None,
    by: Annotated[
        str,
        typer.Option(metavar="GROUP=A,B…", help="Groups of videos: model, or model=x,y."),
    ] = "",
    pool: PoolOption = "worst",
    margins: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="A run of `certify`: its placebos say what counts."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare models, or judges, on what all of them have.

    Of runs of `score`: which model is best, in what, and how many prompts would
    settle what is open. Models are paired by their prompts, and every p-value is
    corrected for all comparisons (Holm). A difference counts where it is surely
    larger than what saving the same frames otherwise makes: that was measured, or
    is learnt from the placebos of your own testbed (--margins). Several runs are
    compared with each other.
    Of runs of `certify`: two judges with their differences, or more as a ranking
    with the sets that are tied; two runs with three judges or more by rank.

    \b
    Examples:
      screentest compare scores/
      screentest compare scores/ --by model=ours,theirs --pool mean
      screentest compare monday/ tuesday/
      screentest compare scores/ --margins certificates/
      screentest compare certificates/ --judges baseline,sharpness
    """
    found = screentest.compare(*runs, judges=judges or (), by=by, pool=pool, margins=margins)
    if found.models is None:
        show(*found.tables(), as_json=as_json, sides=list(found.names))
    elif as_json:
        print_json(found.models.document())
    else:
        print_screen(found.screen())
