"""``screentest export``: the records of a run as a table for other programs."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


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
    from screentest.cli.console import err, plural
    from screentest.core import BadOption
    from screentest.run import RunReader
    from screentest.run import export as write
    from screentest.run.export import export_partitioned

    path = target or run / f"records.{kind}"
    if partition and (kind is not Kind.PARQUET or path == Path("-")):
        raise BadOption("only Parquet in a folder comes in parts", advice="Add --to parquet.")
    with RunReader(run) as reader:
        if partition:
            export_partitioned(reader, partition, path)
        else:
            write(reader, kind, sys.stdout.buffer if path == Path("-") else path)
        coverage = reader.coverage()
    told = f"{coverage.scored:,} of {plural(coverage.total, 'record')} scored"
    err().print(f"{path}: {told}")


COMMANDS = {"export": export}
