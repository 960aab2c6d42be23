"""Inspect, verify and sample testbeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from screentest._util.progress import watched
from screentest._util.text import plural
from screentest.cli.console import out
from screentest.cli.options import JsonOption, ModelOption, ModelsOption
from screentest.cli.tables import print_indented, show
from screentest.cli.testbed_pairs import print_testbed_as_json
from screentest.core.table import Column, Table
from screentest.models import read_models
from screentest.testbeds.catalogue import operators_table
from screentest.testbeds.page import write_page
from screentest.testbeds.subset import sample_testbed
from screentest.testbeds.testbed import read_testbed
from screentest.testbeds.verify import Verification, VerificationFinding, verify_testbed

MOST = 50
"""Findings that are printed one by one; JSON has all."""


# ---- verify


def verify(
    folder: Path,
    models: ModelsOption = "builtin",
    model: ModelOption = None,
    workers: int = 1,
    as_json: JsonOption = False,
) -> None:
    """Check that a testbed is what it says, down to the packets."""
    with watched() as progress:
        result = verify_testbed(
            folder,
            workers=workers,
            progress=progress,
            models=read_models([models, *(model or [])]),
        )
    show(
        _findings_table(result.findings, as_json),
        as_json=as_json,
        ok=result.ok,
        files=result.files,
        bytes=result.bytes,
        pairs=len(result.testbed.pairs),
    )
    if not as_json:
        _print_summary(result)
    if result.findings:
        raise typer.Exit(1)


def _findings_table(findings: Sequence[VerificationFinding], as_json: bool) -> Table:
    columns = (Column("check", "Check"), Column("where", "Where"), Column("what", "What"))
    rows = [(finding.check, finding.where, str(finding.fault)) for finding in findings]
    more = "" if as_json or len(rows) <= MOST else f"{len(rows) - MOST:,} more; --json has all"
    return Table("findings", "Wrong", columns, rows[:MOST] if more else rows, more)


def _print_summary(result: Verification) -> None:
    if result.findings:
        out().print()
    count = plural(len(result.findings), "thing is wrong", "things are wrong")
    words = [
        f"{plural(result.files, 'file')} ({result.bytes / 1e6:,.1f} MB)",
        plural(len(result.testbed.pairs), "pair"),
        count if result.findings else "nothing is wrong",
    ]
    print_indented("; ".join(words), indent=0)


# ---- sample, page


def sample(
    folder: Path,
    into: Path,
    count: int,
    per_aspect: bool = False,
    seed: int = 7,
    copy: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Draw a smaller testbed, evenly over aspects."""
    made = sample_testbed(folder, into, count, seed=seed, per_aspect=per_aspect, copy=copy)
    if as_json:
        print_testbed_as_json(made)
    else:
        pairs, films = plural(len(made.pairs), "pair"), plural(len(made.sources), "source")
        print_indented(f"{pairs} of {films}, in {into}", indent=0)


def page(folder: Path) -> None:
    """Write testbed.html again: every pair side by side."""
    print_indented(str(write_page(folder, read_testbed(folder))), indent=0)


# ---- operators


def list_operators(
    aspects: str = "all",
    as_json: JsonOption = False,
) -> None:
    """List the operators that `build` can harm films with, by aspect."""
    show(operators_table(aspects), as_json=as_json)
