"""``screentest validate``: check a manifest, or a folder of another layout, against its videos."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import typer

from screentest._util.progress import watched
from screentest._util.text import plural
from screentest.cli.console import out
from screentest.cli.options import JsonOption
from screentest.cli.tables import print_heading, print_indented, show
from screentest.core.table import Column, Table
from screentest.inputs.check import ManifestReport, check_manifest
from screentest.inputs.fields import Problem, ProblemKind
from screentest.present.text import words


def validate(
    manifest: Path,
    layout: str = "",
    videos: Path | None = None,
    partial: bool = False,
    deep: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Check a manifest and its videos before a run."""
    report = check_manifest(
        manifest, videos=videos, partial=partial, deep=deep, form=layout, progress=watched()
    )
    if as_json:
        show(
            _problems_table(report),
            as_json=True,
            manifest=str(report.reading.path),
            layout=report.reading.layout,
            seen=report.reading.seen,
            rows=len(report.reading.rows),
            opened=report.opened,
            ok=report.ok,
        )
    else:
        _print(report)
    if not report.ok:
        raise typer.Exit(1)


def _problems_table(report: ManifestReport) -> Table:
    columns = (
        *("kind", "line", "row"),
        Column("id", of=lambda problem: problem.id or None),
        *("path", "message"),
        Column("advice", of=lambda problem: problem.advice or None),
    )
    return Table.of("problems", "Problems", columns, report.problems)


def _print(report: ManifestReport) -> None:
    """Sentences instead of a table: messages and paths are too long for columns."""
    for kind in ProblemKind:
        problems = [problem for problem in report.problems if problem.kind is kind]
        if problems:
            print_heading(f"{words('problems')[kind]} ({len(problems):,})")
            _print_problems(problems)
    if report.problems:
        out().print()
    selected = report.reading.layout == "manifest"
    checked = "" if selected else f"read as {report.reading.layout}: "
    checked += f"{plural(len(report.reading.rows), 'good row' if selected else 'video')}, "
    checked += f"{plural(report.opened, 'file')} opened"
    verdict = f"{plural(len(report.problems), 'problem')}" if report.problems else "no problems"
    print_indented(f"{report.reading.path}: {checked}, {verdict}", indent=0)
    if report.reading.seen:
        print_indented(report.reading.seen, indent=0)


def _print_problems(problems: list[Problem]) -> None:
    """One line each; advice that several share is printed once, below the last of them."""
    for advice, group in groupby(problems, key=lambda problem: problem.advice):
        for problem in group:
            print_indented(str(problem))
        if advice:
            print_indented(advice, indent=4, style="dim")
