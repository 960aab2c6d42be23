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
from screentest.cli.options import JsonOption, PoolOption, option, shares
from screentest.cli.tables import print_screen, show
from screentest.core import BadOption


@shares(
    job=screentest.report,
    formats=option(
        str,
        "md,tex,csv",
        "Of the tables: md, tex, csv, parquet.",
        metavar="NAMES",
        callback=lambda text: tuple(text.split(",")),
    ),
    pool=(PoolOption, "worst"),
)
def report(
    runs: list[Path],
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
    made = screentest.report(*runs, **options)
    console().print(f"{shown(str(made.page))}: {made.page.stat().st_size / 1e6:.1f} MB")
    if made.tables:
        console().print(f"{shown(str(options['tables']))}: {plural(len(made.tables), 'file')}")


@shares(job=screentest.compare, pool=(PoolOption, "worst"))
def compare(
    runs: list[Path],
    as_json: JsonOption = False,
    **options: Any,
) -> None:
    """Compare models, or judges, on what all of them have.

    Runs of `score`: models are paired by their prompts, and every p-value is corrected
    for all comparisons. A difference counts if it is larger than re-encoding
    noise, which was measured, or is learnt from the placebos of your testbed
    (--margins). Several runs are compared with each other.
    Runs of `certify`: two judges with their differences, or more as a ranking with the
    sets that do not differ; two runs with three judges or more by rank.
    Files of another tool: VBench's results, or tables of model, prompt, metric, value.

    \b
    Examples:
      screentest compare scores/
      screentest compare scores/ --by model=ours,theirs --pool mean
      screentest compare monday/ tuesday/
      screentest compare scores/ --margins certificates/
      screentest compare certificates/ --judges baseline,sharpness
      screentest compare ours_eval_results.json theirs_eval_results.json
    """
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
    if partition and (kind != "parquet" or printed):
        raise BadOption("only Parquet in a folder comes in parts", advice="Add --to parquet.")
    coverage = write_records(
        run, sys.stdout.buffer if printed else path, kind=kind, partition=partition
    )
    words = f"{coverage.scored:,} of {plural(coverage.total, 'record')} scored"
    err().print(f"{path}: {words}")
