"""``screentest score``: metrics over videos, into a run."""

from __future__ import annotations

from dataclasses import asdict
from dataclasses import replace as replaced
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import screentest
from screentest._util.text import plural
from screentest.api.scores import forecast_score
from screentest.cli.console import out as console
from screentest.cli.errors import EXIT_UNREAD, until_stopped
from screentest.cli.options import (
    ENGINE,
    MODELS,
    RETRY,
    WORKERS,
    DamagedOption,
    FileSizeOption,
    JsonOption,
    OutOption,
    PoolOption,
    SignatureOption,
    shares,
)
from screentest.cli.progress import watched
from screentest.cli.tables import (
    print_heading,
    print_indented,
    print_lines,
    print_lost,
    print_models,
    print_screen,
    print_spent,
    show,
)
from screentest.core import Reason
from screentest.present.forecast import forecast_tables
from screentest.present.results import Scores
from screentest.present.screens import file_and_reason

FEW = 3
"""Reasons for missing values that are written out."""
MOST_FILES = 4
"""Files that could not be read and are named."""
APART = Reason.NOT_APPLICABLE.value


@shares(MODELS, WORKERS, ENGINE, RETRY)
def score(
    videos: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="ITEMS…", help="Manifests (.jsonl, .csv, .json), videos, or folders of them."
        ),
    ] = None,
    layout: Annotated[
        str,
        typer.Option(metavar="NAME", help="How a folder is laid out, where it is not recognised."),
    ] = "",
    suite: Annotated[
        str, typer.Option(metavar="NAME", help="A suite, with options: NAME:option=value,…")
    ] = "core",
    data: Annotated[
        Path | None, typer.Option(metavar="PATH", help="The suite's own files: its prompts.")
    ] = None,
    generated: Annotated[
        Path | None,
        typer.Option(
            "--videos", metavar="DIR", help="A generator's videos for --data, named by id."
        ),
    ] = None,
    model_name: Annotated[
        str, typer.Option("--model-name", metavar="NAME", help="Which generator made --videos.")
    ] = "",
    metrics: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Metrics instead of a suite; with options: one each."),
    ] = None,
    prompt: Annotated[
        str, typer.Option(metavar="TEXT", help="What the videos were asked to show.")
    ] = "",
    out: OutOption = Path("scores"),
    add: Annotated[
        bool, typer.Option("--add", help="Keep what --out holds beside what is scored now.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Leave out what --out holds and is not asked for now.")
    ] = False,
    by: Annotated[
        str, typer.Option(metavar="GROUP", help="What is compared: model, if videos have one.")
    ] = "",
    pool: PoolOption = "worst",
    detector: Annotated[str, typer.Option(metavar="NAME", help="Who finds the shots.")] = "default",
    allow_damaged: DamagedOption = False,
    max_file_size: FileSizeOption = 100.0,
    allow_remote: Annotated[
        bool,
        typer.Option("--allow-remote", help="Fetch videos from http(s), s3 and gs addresses."),
    ] = False,
    cache_limit: Annotated[
        float, typer.Option(help="GB of fetched videos that are kept at a time.", min=0.001)
    ] = 20.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it takes; start nothing.")
    ] = False,
    signature: SignatureOption = "short",
    as_json: JsonOption = False,
    **work: Any,
) -> None:
    """Score videos with a suite or with single metrics.

    All metrics of a video share one decode. A missing value has a
    reason instead; how many were scored is printed beside every mean. Start the
    same command again to continue where it stopped. Exits with 3 if some videos
    could not be read, and with 1 if nothing was scored.

    \b
    Examples:
      screentest score film.mp4
      screentest score videos/ --metrics sharpness,flicker --out sharp/
      screentest score ours/ theirs/
      screentest score more/ --add
      screentest score manifest.jsonl --suite NAME:option=value --by model \\
          --model chat=openai:gpt-5 --prices prices.toml --max-cost 20
      screentest score manifest.jsonl --suite NAME --dry-run
      screentest score --suite NAME --data prompts.json --videos out/ \\
          --model-name X
    """
    options: dict[str, Any] = {
        "suite": suite,
        "metrics": metrics or (),
        "prompt": prompt,
        "layout": layout,
        "data": data,
        "generated": generated,
        "model_name": model_name,
        "out": out,
    }
    if dry_run:
        forecast = forecast_score(videos or (), **options, **work)
        show(*forecast_tables(forecast), as_json=as_json)
        return
    job = partial(
        screentest.score,
        videos or (),
        **options,
        add=add,
        replace=replace,
        detector=detector,
        allow_damaged=allow_damaged,
        max_file_size=max_file_size,
        allow_remote=allow_remote,
        cache_limit=cache_limit,
        progress=watched(),
        **work,
    )
    scores, exit_code = until_stopped(job)
    full = signature == "full"
    if as_json:
        facts: dict[str, Any] = {"run": str(out), "pending": scores.pending}
        if scores.layout:
            facts["layout"] = scores.layout
        facts["not_covered"] = asdict(scores.not_covered)
        if scores.borders:
            facts["borders"] = asdict(scores.borders)
        if scores.unread:
            facts["unread"] = [asdict(one) for one in scores.unread]
        if generated or scores.missing or scores.problems:
            facts |= {"missing": list(scores.missing), "problems": list(scores.problems)}
        found = scores.comparison(by, pool=pool)
        if found is not None:
            facts["comparison"] = found.document()
        tables = scores.tables(by, full=full, pool=pool)
        show(*tables, scores.values(full=full), as_json=True, **facts)
    else:
        _print(scores, by, full=full, pool=pool)
    # What only describes, such as how many questions have an answer, is no score of a video.
    scoring = [one for one in scores.totals if not one.info.descriptive] or scores.totals
    if exit_code or not any(total.scored for total in scoring):
        raise typer.Exit(exit_code or 1)
    if scores.unread:
        raise typer.Exit(EXIT_UNREAD)


def _print(scores: Scores, by: str, *, full: bool, pool: Literal["worst", "mean"]) -> None:
    screen = scores.screen(by, pool=pool)
    if screen.table is None:
        print_screen(screen)
    tables = scores.tables(by, full=full, pool=pool)
    # Models stand side by side on the first screen: the same one below the other says less.
    kept = [one for one in tables if full or screen.table is None or one.name != "summary"]
    if screen.table is not None and len([one for one in kept if one.rows]) == 1:
        print_heading(kept[0].title)
    show(*kept)
    console().print()
    words = f"{plural(len(scores.results.items), 'item')}, in {scores.run}"
    if scores.pending:
        words = f"{plural(scores.pending, 'record')} still to be made: start the same command "
        words += f"again; what there is is in {scores.run}"
    if scores.changed:
        words += f"; {plural(scores.changed, 'record')} not kept, since a file changed meanwhile"
    print_indented(words, indent=0)
    print_models(scores.models)
    print_spent(scores.spent)
    for line in scores.layout.splitlines():
        print_indented(line, indent=0)
    print_lines("Missing", scores.missing)
    print_lines("Problems", scores.problems)
    if screen.table is not None:
        console().print()
        print_screen(screen)
    _print_lost(scores)


def _print_lost(scores: Scores) -> None:
    """Why values are missing: a few with their own words, else a line for each reason.

    What does not apply to a video is no loss, unless that is all there is. Files that could not be
    read are named by themselves: nothing was measured of them.
    """
    unread = scores.unread
    gone = {one.item for one in unread}
    print_lost(
        [(*file_and_reason(one), one.advice) for one in unread[:MOST_FILES]],
        f"Not read: {len(unread):,} of {plural(len(scores.results.items), 'video')}",
    )
    if len(unread) > MOST_FILES:
        print_indented(f"and {len(unread) - MOST_FILES:,} more (--json lists them as unread)")
    scores = replaced(scores, results=scores.results.without(gone)) if gone else scores
    every = not any(total.scored for total in scores.totals)
    single = [row for row in scores.not_scored.records() if every or row["reason"] != APART]
    print_lost(
        [
            (
                f"{row['values']} of {row['items']}",
                f"{row['detail']} ({row['reason']})" if row["detail"] else str(row["reason"]),
                str(row["advice"] or ""),
            )
            for row in single[:FEW]
        ],
        "Not scored",
    )
    if len(single) > FEW:
        print_indented(f"and for {plural(len(single) - FEW, 'more reason')} (--json has all)")
