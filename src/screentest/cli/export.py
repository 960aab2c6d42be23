"""``screentest export``: the records of a run as a table for other programs."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from screentest._util.text import plural
from screentest.api.reports import export as write_records
from screentest.cli.console import err
from screentest.core import BadOption


class Kind(StrEnum):
    """What a table can be written as."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    kind: Annotated[Kind, typer.Option("--to", help="The kind of file.")] = Kind.CSV,
    target: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Where to; - prints. Else records.KIND in the run."
        ),
    ] = None,
    partition: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            help="Parquet as a folder in parts: by evaluator, aspect, name or status.",
        ),
    ] = "",
) -> None:
    """Write the records of a run to a file.

    One row for each value, and one for each that is missing with its reason.
    In CSV, a text that a spreadsheet would take for a formula gets an
    apostrophe in front; JSON and Parquet hold every text as it is.

    \b
    Examples:
      screentest export results/tuesday
      screentest export results/tuesday --to parquet
      screentest export results/tuesday --to parquet --partition evaluator
      screentest export results/tuesday --to json --out - | jq .coverage
    """
    path = target or run / f"records.{kind}"
    printed = path == Path("-")
    if partition and (kind is not Kind.PARQUET or printed):
        raise BadOption("only Parquet in a folder comes in parts", advice="Add --to parquet.")
    coverage = write_records(
        run, sys.stdout.buffer if printed else path, kind=kind.value, partition=partition
    )
    words = f"{coverage.scored:,} of {plural(coverage.total, 'record')} scored"
    err().print(f"{path}: {words}")
