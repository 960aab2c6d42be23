"""``screentest compare``: judges or systems, pair by pair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import screentest
from screentest.cli.console import print_json
from screentest.cli.options import JsonOption, PoolOption, options_of, shares
from screentest.cli.tables import print_screen, show


@shares(
    first=options_of(
        screentest.compare,
        judges="A,B…",
        by="GROUP=A,B…",
        pool=(PoolOption, "worst"),
        margins="RUN",
    )
)
def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="One run, or several of `score`.")
    ],
    as_json: JsonOption = False,
    **options: Any,
) -> None:
    """Compare models, or judges, on what all of them have.

    Runs of `score`: models are paired by their prompts, and every p-value is corrected
    for all comparisons (Holm). A difference counts if it is larger than re-encoding
    noise, which was measured, or is learnt from the placebos of your testbed
    (--margins). Several runs are compared with each other.
    Runs of `certify`: two judges with their differences, or more as a ranking with the
    sets that do not differ; two runs with three judges or more by rank.

    \b
    Examples:
      screentest compare scores/
      screentest compare scores/ --by model=ours,theirs --pool mean
      screentest compare monday/ tuesday/
      screentest compare scores/ --margins certificates/
      screentest compare certificates/ --judges baseline,sharpness
    """
    comparison = screentest.compare(*runs, **options)
    if comparison.models is None:
        show(*comparison.tables(), as_json=as_json, sides=list(comparison.names))
    elif as_json:
        print_json(comparison.models.document())
    else:
        print_screen(comparison.screen())
