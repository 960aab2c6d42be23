"""``screentest suite univ caption``: structured descriptions and scripts of videos."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from screentest.cli.console import out as console
from screentest.cli.console import plural, print_json, shown
from screentest.cli.options import (
    DamagedOption,
    DeviceOption,
    JsonOption,
    MaxCostOption,
    ModelOption,
    ModelsOption,
    PricesOption,
    PromptsOption,
    WorkersOption,
)
from screentest.cli.progress import watched
from screentest.cli.tables import print_heading, print_indented
from screentest.core import BadOption
from screentest.manifests.importers import read_inputs
from screentest.run import Execution, LocalEngine, RunStore
from screentest.run.session import Settings, read_settings
from screentest.scores.results import read_results
from screentest.scores.tasks import score_items
from screentest.suites.univ.caption_files import Captioned, captions_of, write_captions
from screentest.suites.univ.captions import BUILTIN, CHAT

By = Literal["auto", "chat", "builtin"]


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
    model: ModelOption = None,
    models: ModelsOption = "builtin",
    prompts: PromptsOption = None,
    prices: PricesOption = None,
    max_cost: MaxCostOption = "",
    detector: Annotated[str, typer.Option(metavar="NAME", help="Who finds the shots.")] = "default",
    device: DeviceOption = "auto",
    allow_damaged: DamagedOption = False,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
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
    settings = read_settings(
        [models, *(model or ())],
        prompts,
        prices,
        device=device,
        allow_damaged=allow_damaged,
        detector=detector,
    )
    metric = _metric(by, settings, fps, whole)
    items = read_inputs(inputs)
    cap = settings.cap(max_cost) if max_cost else None
    arguments = {"metric": metric, "models": settings.models}
    with RunStore(out, command="caption", arguments=arguments, max_cost=cap) as store:
        done = score_items(
            store,
            items,
            [metric],
            settings,
            engine=LocalEngine(workers=workers),
            progress=watched(),
        )
        captioned = captions_of(read_results(store))
    written = write_captions(out, items, captioned) if captioned.videos else []
    if as_json:
        print_json([one.model_dump(mode="json") for one in captioned.videos.values()])
    else:
        _print(captioned, written, done)
    if done.exit_code:
        raise typer.Exit(done.exit_code)
    if not captioned.videos:
        raise typer.Exit(1)


def _metric(by: By, settings: Settings, fps: float, whole: bool) -> str:
    chosen = any(choice.role == "chat" for choice in settings.models)
    if by == "chat" and not chosen:
        raise BadOption("no chat model is chosen", advice="Add --model chat=openai:NAME.")
    if by == "builtin" or not chosen:
        if whole:
            raise BadOption("--whole is for a chat model: pixels are looked at shot by shot")
        return BUILTIN
    return f"{CHAT}:fps={fps:g}" + (",shots=false" if whole else "")


def _print(captioned: Captioned, written: list[Path], done: Execution) -> None:
    for name, video in captioned.videos.items():
        lost = captioned.missing.get(name, 0)
        gaps = f", {plural(lost, 'shot')} missing" if lost else ""
        print_heading(f"{name} ({plural(len(video.shots), 'shot')}{gaps})")
        print_indented(" ".join(video.script.split()) or "Nothing was recognised.")
    if captioned.failures:
        print_heading("Not described")
    for name, failure in captioned.failures.items():
        print_indented(f"{name}: {failure}")
    console().print()
    if done.pending:
        message = f"{plural(done.pending, 'video')} still to be described: start the command again"
        print_indented(message, indent=0)
    for path in written:
        console().print(shown(str(path)), soft_wrap=True)


COMMANDS = {"caption": caption}
