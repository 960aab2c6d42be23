"""Commands of the suite locot2v: items, statistics, analyses, building a suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
import typer

from screentest._util.collect import grouped
from screentest._util.optional import need
from screentest._util.text import plural
from screentest.cli.console import err, shown
from screentest.cli.options import BACKENDS, MODELS, JsonOption, shares
from screentest.cli.tables import print_indented, print_models, show, show_manifest
from screentest.core import BadOption, Column, Image, Table
from screentest.inputs.manifest import write_manifest
from screentest.judges.votes import VoteTask, read_votes
from screentest.models import Models
from screentest.present.charts import must_be_chart, save
from screentest.present.page.data import read_report
from screentest.present.tables import suite_tables
from screentest.run.session import Tools, cap_of, settings_of
from screentest.run.store import RunStore
from screentest.suites.locot2v.construction.build import SuiteBuild, build_suite, sources_in
from screentest.suites.locot2v.construction.documents import correct_stage
from screentest.suites.locot2v.construction.stages import ROLES, Choices, complexity
from screentest.suites.locot2v.data import (
    COMPLEXITIES,
    items_with_videos,
    read_categories,
    read_prompt_suite,
    write_prompt_suite,
)
from screentest.suites.locot2v.metrics.herd import Sixfold
from screentest.suites.locot2v.metrics.quality import best_tenth
from screentest.suites.locot2v.statistics import (
    read_prompt_files,
    statistics_chart,
    tables,
    with_complexity,
)
from screentest.suites.locot2v.suite import suite_in
from screentest.suites.locot2v.tables import by_complexity, drawings, item_scores, with_categories

_PICTURES = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"}


@shares(BACKENDS)
def upper_bound(folder: Path, as_json: JsonOption = False, **work: Any) -> None:
    """Compute the upper bound of aesthetic quality from good pictures."""
    if not folder.is_dir():
        raise BadOption(f"{folder} is not a folder of pictures")
    tools = Tools(settings_of(work))
    backend = tools.role("aesthetic")
    scores, unread = [], []
    for path, picture in _pictures(folder):
        if picture is None:
            unread.append(path)
        else:
            scores.append(float(backend.score([picture])[0]))
    if not scores:
        raise BadOption(f"{folder} holds no pictures that can be read")
    bound = best_tenth(scores)
    signature = str(tools.models.signature("aesthetic"))
    show(
        Table(
            "upper_bound",
            "Upper bound",
            (Column("upper_bound", digits=6), "pictures", Column("model")),
            [(bound, len(scores), signature)],
            note="The mean score of the best tenth of the pictures.",
        ),
        Table(
            "unread", f"Could not be read: {len(unread):,}", ("file",), [(str(p),) for p in unread]
        ),
        as_json=as_json,
    )
    if not as_json:
        print_models(tools.models.summary(["aesthetic"]))


def _pictures(folder: Path) -> Iterator[tuple[Path, Image | None]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in _PICTURES and path.is_file():
            data = np.fromfile(path, np.uint8)
            image = cv2.imdecode(data, cv2.IMREAD_COLOR_RGB) if data.size else None
            yield path, None if image is None else image.astype(np.uint8, copy=False)


def items(
    records: Path,
    videos: Path,
    model_name: str = "",
    categories: Path | None = None,
    out: Path = Path("manifest.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Write the manifest of one generator's videos for a prompt suite."""
    suite = read_prompt_suite(records, categories=read_categories(categories))
    result, missing = items_with_videos(suite, videos, model_name)
    write_manifest(out, result)
    prompts = plural(len(suite.records), "prompt")
    show_manifest(out, len(result), prompts, missing, suite.warnings, as_json=as_json)


def analyse(
    runs: list[Path],
    by: str = "model",
    records: Path | None = None,
    categories: Path | None = None,
    charts: Path | None = None,
    kind: Literal["svg", "png"] = "svg",
    as_json: JsonOption = False,
) -> None:
    """Show standings and correlations of runs, and draw the paper's charts."""
    if charts is not None:
        need("matplotlib")
    results = with_categories(read_report(runs, by=by).results, read_categories(categories))
    suite = suite_in(results)
    if suite is None or not any(item_scores(suite, results).values()):
        raise BadOption(
            f"{', '.join(map(str, runs))} holds no scores of locot2v",
            advice="Score first: screentest score ITEMS --suite locot2v",
        )
    prompts = read_prompt_suite(records) if records is not None else None
    if prompts is not None and not by_complexity(results, item_scores(suite, results), prompts):
        raise BadOption(f"{records} has the complexity of none of these prompts")
    drawn = [
        save(item.make(), charts / f"{item.name}.{kind}")
        for item in (drawings(suite, results, by, prompts) if charts is not None else ())
        if charts is not None
    ]
    files = Table("charts", "Charts", ("file",), [(str(path),) for path in drawn])
    show(*suite_tables(results, suite, by), files, as_json=as_json)


def correct(folder: Path, votes: Path, stage: str = "draft", as_json: JsonOption = False) -> None:
    """Take over people's corrections of drafts, or of final prompts."""
    answers = grouped(
        (record.source, record.text if record.verdict == "correct" else None)
        for record in read_votes(votes, whole=True)
        if record.task is VoteTask.PROMPTS and record.counts
    )
    result = correct_stage(folder, answers, stage)
    outcomes = ("changed", "approved", "disputed", "unknown")
    rows = [(name, outcome) for outcome in outcomes for name in getattr(result, outcome)]
    columns = ("video", "outcome")
    show(Table("corrections", "Corrections", columns, rows), as_json=as_json)
    if not rows and not as_json:
        print_indented("nobody corrected anything", indent=0)


@shares(MODELS)
def statistics(
    files: list[Path],
    grade: bool = False,
    run: Path = Path("locot2v-statistics"),
    categories: Path | None = None,
    chart: Path | None = None,
    as_json: JsonOption = False,
    **work: Any,
) -> None:
    """Show number, length and complexity of prompts, by theme and category."""
    if chart is not None:
        must_be_chart(chart)
    read = read_prompt_files(files, read_categories(categories))
    if grade:
        settings = settings_of(work)
        tools = Tools(settings)
        arguments = {"models": [str(model) for model in settings.models]}
        cap = cap_of(work, settings)

        def graded(prompt: str) -> dict[str, float]:
            result = complexity(prompt, tools)
            return {name: float(str(result[name])) for name in COMPLEXITIES}

        with (
            RunStore(run, command="statistics", arguments=arguments, max_cost=cap) as store,
            closing(tools.models),
        ):
            tools.attach(store.ledger)
            read = [with_complexity(item, graded) for item in read]
            for item in read:
                write_prompt_suite(run / f"{item.name.replace('/', '_')}.json", item.records)
    if chart is not None:
        save(statistics_chart(read), chart)
    show(*tables(read), as_json=as_json)


@shares(MODELS)
def build(
    videos: Path,
    out: Path = Path("suite"),
    theme: str = "",
    shortest: float = 30.0,
    longest: float = 60.0,
    refinements: int = 2,
    frames: int = 32,
    questions: Sixfold = "rewordings",
    as_json: JsonOption = False,
    **work: Any,
) -> None:
    """Make a prompt suite from your own videos."""
    settings = settings_of(work)
    cap = cap_of(work, settings)
    sources = sources_in(videos, theme)
    choices = Choices(
        shortest, longest, refinements=refinements, frames=frames, questions=questions
    )
    arguments = {"suite": "locot2v", "models": [str(model) for model in settings.models]}
    tools = Tools(settings)

    def notice(source: str, stage: str) -> None:
        err().print(f"{shown(source)}: {stage}")

    with (
        RunStore(out, command="suite build", arguments=arguments, max_cost=cap) as store,
        closing(tools.models),
    ):
        # A stage that failed is tried again at every start; so is the answer that failed it.
        store.ledger.asks_again = True
        tools.attach(store.ledger)
        done = build_suite(sources, out, tools, choices, notice=notice)
    show(
        *_tables(done),
        as_json=as_json,
        folder=str(out),
        records=[record.id for record in done.records],
        made=done.made,
        kept=done.kept,
        corrected=done.corrected,
    )
    if not as_json:
        _print_end(done, out, len(sources))
        print_models(Models(settings.models).summary(ROLES))
    if done.failures:
        raise typer.Exit(1)


def _tables(done: SuiteBuild) -> list[Table]:
    def flags(found: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
        return [(name, ", ".join(subset) or "by hand") for name, subset in found.items()]

    conflicting = "Corrected by hand, though what they rest on has changed"
    places = [(place,) for place in done.conflicts]
    failures = [(place, str(failure)) for place, failure in done.failures.items()]
    return [
        Table("left_out", "Left out", ("video", "flags"), flags(done.left_out)),
        Table("flagged", "To be looked at", ("video", "flags"), flags(done.flagged)),
        Table("conflicts", conflicting, ("stage",), places),
        Table("failures", "Not made", ("stage", "reason"), failures),
    ]


def _print_end(done: SuiteBuild, out: Path, total: int) -> None:
    words = f"{plural(done.made, 'stage')} made, {done.kept:,} kept"
    if done.corrected:
        words += f" ({len(done.corrected):,} corrected by hand)"
    print_indented(f"{words}; {len(done.records):,} of {plural(total, 'video')} complete", indent=0)
    if done.records:
        print_indented(f"The suite is {out / 'suite.json'}", indent=0)
    if done.drafts is not None:
        hint = f"screentest annotate serve {done.drafts} --task prompts"
        print_indented(f"To have people look over the drafts: {hint}", indent=0)
    if done.failures:
        again = "what failed is asked again, nothing else is."
        print_indented(f"Start the same command again to go on: {again}", indent=0)
