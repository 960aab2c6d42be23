"""``screentest report``, ``compare`` and ``export``: what runs hold, as pages, tables and files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Literal

import screentest
from screentest._util.text import plural
from screentest.api.reports import export as write_records
from screentest.cli.console import err, print_json, shown
from screentest.cli.console import out as console
from screentest.cli.options import JsonOption, PoolOption, shares
from screentest.cli.tables import print_screen, show
from screentest.core import BadOption


@shares(
    job=screentest.report, formats=lambda text: tuple(text.split(",")), pool=(PoolOption, "worst")
)
def report(runs: list[Path], **options: Any) -> None:
    """Make one page of one or several runs."""
    made = screentest.report(*runs, **options)
    console().print(f"{shown(str(made.page))}: {made.page.stat().st_size / 1e6:.1f} MB")
    if made.tables:
        console().print(f"{shown(str(options['tables']))}: {plural(len(made.tables), 'file')}")


@shares(job=screentest.compare, pool=(PoolOption, "worst"))
def compare(runs: list[Path], as_json: JsonOption = False, **options: Any) -> None:
    """Compare models, or judges, on what all of them have."""
    comparison = screentest.compare(*runs, **options)
    if comparison.models is None:
        show(*comparison.tables(), as_json=as_json, sides=list(comparison.names))
    elif as_json:
        print_json(comparison.models.document())
    else:
        print_screen(comparison.screen())


def export(
    run: Path,
    kind: Literal["csv", "json", "parquet"] = "csv",
    target: Path | None = None,
    partition: str = "",
) -> None:
    """Write the records of a run to a file."""
    path = target or run / f"records.{kind}"
    printed = path == Path("-")
    if partition and (kind != "parquet" or printed):
        raise BadOption("only Parquet in a folder comes in parts", advice="Add --to parquet.")
    coverage = write_records(
        run, sys.stdout.buffer if printed else path, kind=kind, partition=partition
    )
    words = f"{coverage.scored:,} of {plural(coverage.total, 'record')} scored"
    err().print(f"{path}: {words}")
