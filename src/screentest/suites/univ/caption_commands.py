"""``screentest suite univ caption``: structured descriptions and scripts of videos."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import screentest
from screentest._util.text import plural
from screentest.cli.console import out as console
from screentest.cli.console import shown, watched
from screentest.cli.errors import until_stopped
from screentest.cli.options import ENGINE, MODELS, WORKERS, DamagedOption, JsonOption, shares
from screentest.cli.tables import print_heading, print_indented, print_models, show
from screentest.core import BadOption, Column, Table
from screentest.inputs.importers import read_inputs
from screentest.present.results import Scores
from screentest.run.session import Settings, settings_of
from screentest.suites.univ.caption_files import Captioned, captions_of, write_captions
from screentest.suites.univ.captions import BUILTIN, CHAT
from screentest.suites.univ.schema import VideoDescription

By = Literal["auto", "chat", "builtin"]


@shares(MODELS, WORKERS, ENGINE)
def caption(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="VIDEOS…", help="Videos, folders of videos, or manifests (.jsonl, .csv)."
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The run's folder, and what it writes.")
    ] = Path("captions"),
    by: Annotated[
        By,
        typer.Option(metavar="auto|chat|builtin", help="Who describes; auto: chat if chosen."),
    ] = "auto",
    fps: Annotated[float, typer.Option(help="Frames a second that a chat model is shown.")] = 2.0,
    whole: Annotated[
        bool, typer.Option("--whole", help="Describe each video as one piece, not by shot.")
    ] = False,
    detector: Annotated[str, typer.Option(metavar="NAME", help="Who finds the shots.")] = "default",
    allow_damaged: DamagedOption = False,
    as_json: JsonOption = False,
    **work: Any,
) -> None:
    """Describe videos shot by shot, and write their scripts.

    With a chat model: subjects, actions, places, colours, light, style, camera.
    Without one: what pixels tell (colours, brightness, camera movement, cuts); all
    else stays empty. DIR gets captions.jsonl, and manifest.jsonl for `build`.

    \b
    Examples:
      screentest suite univ caption film.mp4
      screentest suite univ caption videos/ --out described/ \\
          --model chat=openai:gpt-5
      screentest build described/manifest.jsonl --out testbed/
    """
    settings = settings_of(work, detector=detector, allow_damaged=allow_damaged)
    metric = _metric(by, settings, fps, whole)
    items = read_inputs(inputs)
    given = work | {"settings": settings, "progress": watched()}
    job = partial(screentest.score, items, metrics=[metric], out=out, **given)
    scores, exit_code = until_stopped(job)
    captioned = captions_of(scores.results)
    written = write_captions(out, items, captioned) if captioned.videos else []
    show(_table(captioned), as_json=as_json)
    if not as_json:
        _print_end(captioned, written, scores)
    if exit_code or not captioned.videos:
        raise typer.Exit(exit_code or 1)


def _metric(by: By, settings: Settings, fps: float, whole: bool) -> str:
    chosen = any(choice.role == "chat" for choice in settings.models)
    if by == "chat" and not chosen:
        raise BadOption("no chat model is chosen", advice="Add --model chat=openai:NAME.")
    if by == "builtin" or not chosen:
        if whole:
            raise BadOption("--whole is for a chat model: pixels are looked at shot by shot")
        return BUILTIN
    return f"{CHAT}:fps={fps:g}" + (",shots=false" if whole else "")


def _table(captioned: Captioned) -> Table:
    """Return a row for each video: records have the whole description, people see the script."""
    whole = list(VideoDescription.model_fields)
    columns = [
        Column("video", "Video", derived=True),
        Column("count", "Shots", derived=True),
        Column("text", "Script", derived=True),
        *(Column(name, detail=True) for name in whole),
    ]
    rows = []
    for name, video in captioned.videos.items():
        lost = captioned.missing.get(name, 0)
        shots = f"{len(video.shots):,}" + (f", {lost:,} missing" if lost else "")
        text = " ".join(video.script.split()) or "Nothing was recognised."
        record = video.model_dump(mode="json")
        rows.append((name, shots, text, *(record[key] for key in whole)))
    return Table("captions", "Captions", columns, rows)


def _print_end(captioned: Captioned, written: list[Path], scores: Scores) -> None:
    if captioned.failures:
        print_heading("Not described")
    for name, failure in captioned.failures.items():
        print_indented(f"{name}: {failure}")
    console().print()
    if scores.pending:
        words = f"{plural(scores.pending, 'video')} still to be described: start the command again"
        print_indented(words, indent=0)
    print_models(scores.models)
    for path in written:
        console().print(shown(str(path)), soft_wrap=True)
