"""``screentest report``: runs as one page that opens offline, and as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import screentest
from screentest._util.text import plural
from screentest.cli.console import out as console
from screentest.cli.console import shown
from screentest.cli.options import PoolOption, option, options_of, shares
from screentest.cli.progress import watched


@shares(
    first=options_of(
        screentest.report,
        out="FILE",
        tables="DIR",
        formats=option(
            str,
            "md,tex,csv",
            "Of the tables: md, tex, csv, parquet.",
            metavar="NAMES",
            callback=lambda text: tuple(text.split(",")),
        ),
        by="GROUP",
        suites="--suite NAME",
        pool=(PoolOption, "worst"),
        votes="FILE",
        title="TEXT",
        pictures="N",
        embed="",
    )
)
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Runs of score and certify.")],
    **options: Any,
) -> None:
    """Make one page of one or several runs.

    The answer comes first: which model is best, in what, and may it be believed;
    then videos side by side, and all tables. It opens from disk, with no network.
    Videos play while they are at the same place relative to the page.

    \b
    Examples:
      screentest report scores/
      screentest report scores/ certificates/ --out report.html --tables tables/
      screentest report scores/ --by model --title "Our models in May"
      screentest report scores/ --votes votes.csv
    """
    made = screentest.report(*runs, progress=watched(), **options)
    console().print(f"{shown(str(made.page))}: {made.page.stat().st_size / 1e6:.1f} MB")
    if made.tables:
        console().print(f"{shown(str(options['tables']))}: {plural(len(made.tables), 'file')}")
