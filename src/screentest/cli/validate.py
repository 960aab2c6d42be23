"""``screentest validate``: a manifest against its folder, in both directions."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from screentest.manifests.check import Report
    from screentest.manifests.fields import Problem

_HEADINGS = {
    "bad_file": "The manifest cannot be read",
    "bad_row": "Bad rows",
    "duplicate_id": "Ids given twice",
    "duplicate_video": "Videos given twice",
    "missing": "Rows without their file",
    "unreadable": "Files that do not open",
    "damaged": "Files that are damaged",
    "mismatch": "Rows that contradict their video",
    "unlisted": "Videos without a row",
}


def validate(
    manifest: Annotated[
        Path, typer.Argument(metavar="MANIFEST", help="A .jsonl or .csv file.", show_default=False)
    ],
    videos: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where to look for videos without a row; the manifest's folder if not given.",
        ),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Videos without a row are fine.")
    ] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="Decode every frame, not only the header.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check a manifest and its videos before a run.

    Reports, all at once: rows that cannot be read, ids and videos given twice,
    rows without their video, videos without a row, files that do not open, and
    scripts that run past their video. Ends with 1 where there is any.

    \b
    Examples:
      screentest validate manifest.jsonl
      screentest validate rows.csv --videos renders/ --deep
      screentest validate manifest.jsonl --json | jq '.problems[].line'
    """
    from screentest.cli.console import print_json
    from screentest.cli.progress import watched
    from screentest.manifests.check import check_manifest

    report = check_manifest(manifest, videos=videos, partial=partial, deep=deep, progress=watched())
    if as_json:
        print_json(_as_object(report))
    else:
        _print(report)
    if not report.ok:
        raise typer.Exit(1)


def _as_object(report: Report) -> dict[str, Any]:
    return {
        "manifest": str(report.reading.path),
        "rows": len(report.reading.rows),
        "opened": report.opened,
        "ok": report.ok,
        "problems": [
            {
                "kind": problem.kind.value,
                "line": problem.line,
                "id": problem.id or None,
                "path": str(problem.path) if problem.path else None,
                "message": problem.message,
                "advice": problem.advice or None,
            }
            for problem in report.problems
        ],
    }


def _print(report: Report) -> None:
    from screentest.cli.console import out, plural
    from screentest.cli.tables import print_heading, print_indented
    from screentest.manifests.fields import Kind

    for kind in Kind:
        problems = [problem for problem in report.problems if problem.kind is kind]
        if problems:
            print_heading(f"{_HEADINGS[kind]} ({len(problems):,})")
            _print_problems(problems)
    if report.problems:
        out().print()
    looked = f"{plural(len(report.reading.rows), 'good row')}, "
    looked += f"{plural(report.opened, 'file')} looked into"
    verdict = f"{plural(len(report.problems), 'problem')}" if report.problems else "no problems"
    print_indented(f"{report.reading.path}: {looked}, {verdict}", indent=0)


def _print_problems(problems: list[Problem]) -> None:
    """One line each; advice that several share stands below the last of them."""
    from screentest.cli.tables import print_indented

    for advice, group in groupby(problems, key=lambda problem: problem.advice):
        for problem in group:
            print_indented(str(problem))
        if advice:
            print_indented(advice, indent=4, style="dim")


COMMANDS = {"validate": validate}
