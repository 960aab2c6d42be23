"""``screentest score``: metrics over videos, into a run."""

from __future__ import annotations

from dataclasses import asdict
from dataclasses import replace as replaced
from functools import partial
from itertools import filterfalse
from pathlib import Path
from typing import Any, Literal

import typer

import screentest
from screentest._util.text import plural
from screentest.analysis.evidence import evidence_of
from screentest.analysis.models.coverage import broken_videos
from screentest.api.scores import forecast_score
from screentest.cli.console import out as console
from screentest.cli.errors import EXIT_UNREAD, until_stopped
from screentest.cli.options import (
    ENGINE,
    MODELS,
    RETRY,
    WORKERS,
    AllOption,
    JsonOption,
    PoolOption,
    accepted,
    shares,
)
from screentest.cli.tables import (
    print_heading,
    print_indented,
    print_lines,
    print_lost,
    print_models,
    print_screen,
    show,
)
from screentest.core import Reason
from screentest.present.forecast import forecast_tables
from screentest.present.results import Scores
from screentest.present.screens import file_and_reason, get_models
from screentest.present.tables import brief_standings

FEW = 3
"""Reasons for missing values that are written out."""
MOST_FILES = 4
"""Files that could not be read and are named."""
APART = Reason.NOT_APPLICABLE.value


@shares(MODELS, WORKERS, ENGINE, RETRY, job=screentest.score)
def score(
    videos: list[Path] | None = None,
    by: str = "",
    pool: PoolOption = "worst",
    dry_run: bool = False,
    every: AllOption = False,
    as_json: JsonOption = False,
    **options: Any,
) -> None:
    """Score videos with a suite or with single metrics."""
    if dry_run:
        forecast = forecast_score(videos or (), **accepted(forecast_score, options))
        show(*forecast_tables(forecast), as_json=as_json)
        return
    job = partial(screentest.score, videos or (), **options)
    scores, exit_code = until_stopped(job)
    if as_json:
        facts: dict[str, Any] = {"run": str(options["out"]), "pending": scores.pending}
        if scores.layout:
            facts["layout"] = scores.layout
        facts["not_covered"] = asdict(scores.not_covered)
        facts["evidence"] = {
            name: known.document() for name, known in evidence_of(scores.results).items()
        }
        if scores.borders:
            facts["borders"] = asdict(scores.borders)
        if scores.unread:
            facts["unread"] = [asdict(video) for video in scores.unread]
        if broken := broken_videos(scores.results):
            facts["broken"] = [asdict(video) for video in broken]
        if options["generated"] or scores.missing or scores.problems:
            facts |= {"missing": list(scores.missing), "problems": list(scores.problems)}
        comparison = scores.comparison(by, pool=pool)
        if comparison is not None:
            facts["comparison"] = comparison.document()
        tables = scores.tables(by, full=every, pool=pool)
        show(*tables, scores.values(full=every), as_json=True, **facts)
    else:
        _print(scores, by, every=every, pool=pool)
    # What only describes, such as how many questions have an answer, is no score of a video.
    scoring = [total for total in scores.totals if not total.info.descriptive] or scores.totals
    if exit_code or not any(total.scored for total in scoring):
        raise typer.Exit(exit_code or 1)
    if scores.unread:
        raise typer.Exit(EXIT_UNREAD)


def _print(scores: Scores, by: str, *, every: bool, pool: Literal["worst", "mean"]) -> None:
    screen = scores.screen(by, pool=pool)
    several = scores.comparison(by, pool=pool) is not None
    brief = brief_standings(scores.results, by)
    found = scores.tables(by, full=True, pool=pool) if every else brief
    tables = [table for table in found if table.rows]
    if len(tables) == 1:
        print_heading(tables[0].title)
    show(*tables)
    console().print()
    words = f"{plural(len(scores.results.items), 'video')}, in {scores.run}"
    if scores.pending:
        words = f"{plural(scores.pending, 'record')} left: start the same command again. "
        words += f"Finished results are in {scores.run}"
    if scores.changed:
        words += f"; {plural(scores.changed, 'record')} not kept, since a file changed meanwhile"
    print_indented(words, indent=0)
    for line in scores.layout.splitlines():
        print_indented(line, indent=0)
    print_models(scores.models, scores.spent)
    print_lines("Missing", scores.missing)
    print_lines("Problems", scores.problems)
    console().print()
    # The dimensions of a suite say what its metrics would say again.
    print_screen(screen if several or not tables else replaced(screen, table=None))
    _print_lost(scores)
    if not every and any(total.scored for total in scores.totals):
        print_indented(
            f"Everything measured: --all, or screentest report {scores.run}", indent=0, style="dim"
        )


def _print_lost(scores: Scores) -> None:
    """Print the reasons for missing values: a few in full, else one line for each reason.

    What does not apply to a video is no loss, unless that is all there is. Files that could not be
    read are named by themselves: nothing was measured of them.
    """
    unread, total = scores.unread, plural(len(scores.results.items), "video")
    files = [(*file_and_reason(video), video.advice) for video in unread]
    print_lost(files, f"Unreadable: {len(unread):,} of {total}", MOST_FILES)
    results = scores.results.without({video.item for video in unread})
    every = not any(total.scored for total in scores.totals)
    if not every and get_models(scores.not_covered):  # the screen says how
        results = replaced(results, values=tuple(filterfalse(results.lacks_model, results.values)))
    rows = [
        (f"{row['values']} of {row['items']}", str(row["detail"] or row["reason"]), row["advice"])
        for row in replaced(scores, results=results).not_scored.records()
        if every or row["reason"] != APART
    ]
    print_lost([(who, why, str(advice or "")) for who, why, advice in rows], "Not scored", FEW)
