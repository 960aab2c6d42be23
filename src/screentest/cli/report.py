"""``screentest report``: runs as one page that opens offline, and as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import screentest
from screentest._util.text import plural
from screentest.cli.console import out as console
from screentest.cli.console import shown
from screentest.cli.options import PoolOption, names_in
from screentest.cli.progress import watched


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Runs of score and certify.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page.")] = Path("report.html"),
    tables: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every table there, too.")
    ] = None,
    formats: Annotated[
        str, typer.Option(metavar="NAMES", help="Of the tables: md, tex, csv, parquet.")
    ] = "md,tex,csv",
    by: Annotated[
        str, typer.Option(metavar="GROUP", help="What is compared: model, or model=A,B.")
    ] = "",
    suite: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Add up by this suite, too; may be repeated."),
    ] = None,
    pool: PoolOption = "worst",
    votes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="People's votes on the models, of `annotate export`."),
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="The page's title.")] = "",
    pictures: Annotated[
        int, typer.Option(min=0, help="For how many videos there are pictures.")
    ] = 200,
    embed: Annotated[
        bool, typer.Option("--embed", help="Put the videos into the page; it may grow large.")
    ] = False,
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
    made = screentest.report(
        *runs,
        out=out,
        tables=tables,
        formats=names_in(formats),
        by=by,
        suites=suite or (),
        pool=pool,
        votes=votes,
        title=title or "screentest report",
        pictures=pictures,
        embed=embed,
        progress=watched(),
    )
    console().print(f"{shown(str(out))}: {out.stat().st_size / 1e6:.1f} MB")
    if tables is not None:
        console().print(f"{shown(str(tables))}: {plural(len(made.tables), 'file')}")
