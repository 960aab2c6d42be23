"""``screentest build``: a testbed from a corpus of captioned films."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def build(
    corpus: Annotated[
        Path,
        typer.Argument(
            metavar="CORPUS",
            help="A manifest (.jsonl, .csv) of films, or a Vript download (a folder).",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The testbed's folder.", show_default=False)
    ],
    aspects: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="all, none, or some, with commas; or one with options: "
            "appearance_style:style=cartoon.",
            show_default="all",
        ),
    ] = None,
    placebos: Annotated[
        str, typer.Option(metavar="NAMES", help="all, none, or some, with commas.")
    ] = "none",
    seed: Annotated[int, typer.Option(help="Decides every choice.")] = 7,
    clips: Annotated[
        str, typer.Option(metavar="N[,N…]", help="How many clips to harm; several make a ladder.")
    ] = "5",
    min_clips: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="Take films with at least K eligible clips, and harm as many as they have.",
            show_default="as many as --clips",
        ),
    ] = None,
    severity: Annotated[
        float, typer.Option(help="How hard, above 0; 1 is the paper's strength.")
    ] = 1.0,
    ladder: Annotated[
        str | None,
        typer.Option(metavar="S,S…", help="Several severities, instead of one: 0.25,0.5,1."),
    ] = None,
    backgrounds: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Pictures for background_consistency."),
    ] = None,
    long_side: Annotated[
        int, typer.Option(metavar="PIXELS", help="The size of all videos; 0 keeps the source's.")
    ] = 512,
    fps: Annotated[
        str | None, typer.Option(metavar="K", help="Frames per second; the source's if not given.")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(metavar="paper", help="Take the models that the paper names.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="ROLE=BACKEND:MODEL", help="The model for a role."),
    ] = None,
    device: Annotated[str, typer.Option(help="Where models run.")] = "auto",
    extract: Annotated[
        str, typer.Option(metavar="rules|chat", help="Who reads the captions.")
    ] = "rules",
    categories: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|A,B…", help="Let the chat model sort sources into these categories."
        ),
    ] = None,
    prompts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Templates that replace ours.")
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A price list in TOML.")
    ] = None,
    max_cost: Annotated[
        str, typer.Option(metavar="AMOUNT", help="Never spend more than this.")
    ] = "",
    join: Annotated[int, typer.Option(metavar="K", help="Make one source of every K videos.")] = 1,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="What CORPUS is: manifest, vript or another importer.",
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="For one film and aspect.")
    ] = 14400,
    workers: Annotated[
        int | None, typer.Option(help="Processes; one per processor if not given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Build pairs of intact and degraded videos from captioned films.

    Every aspect harms a few clips of each film and leaves the rest untouched, to
    the bit. A film that cannot serve an aspect is skipped with the reason. Start
    the same command again to go on where it stopped.

    \b
    Examples:
      screentest build corpus.jsonl --out testbed/
      screentest build corpus.jsonl --out testbed/ --aspects color --clips 3
      screentest build corpus.jsonl --out testbed/ --ladder 0.25,0.5,1
      screentest build corpus.jsonl --out testbed/ --min-clips 1 --placebos all
      screentest build Vript/ --out testbed/ --extract chat \\
          --model chat=openai:qwen3-8b,base_url=http://127.0.0.1:8000/v1
    """
    from screentest.cli._build_inputs import (
        category_names,
        chat_use,
        clip_counts,
        cost_cap,
        degradation_specs,
        frame_rate,
        joined_sources,
        left_over,
        severity_list,
        specs_of,
        task_seconds,
    )
    from screentest.cli._build_report import as_object, print_building
    from screentest.cli.console import err, print_json, shown
    from screentest.cli.progress import watched
    from screentest.manifests.importers import read_corpus
    from screentest.run import LocalEngine
    from screentest.testbeds.builder import build_testbed
    from screentest.testbeds.options import BuildOptions, read_models

    models = read_models(preset, model or [])
    options = BuildOptions(
        degradations=degradation_specs(aspects or ["all"], backgrounds),
        placebos=specs_of("placebo", [placebos]),
        seed=seed,
        clips=clip_counts(clips),
        least_clips=min_clips,
        severities=severity_list(ladder) if ladder is not None else (severity,),
        long_side=long_side or None,
        rate=frame_rate(fps),
        extract=extract,
        models=tuple(choice for choice in models if choice.role.value != "chat"),
        device=device,
    )
    engine = LocalEngine(workers=workers, timeout=task_seconds(timeout))
    chat = chat_use(models, device, prompts, prices)
    cap = cost_cap(max_cost, chat)
    names = category_names(categories)
    found = read_corpus(corpus, form)
    with watched() as progress:
        sources = joined_sources(found, join, out, options, workers, timeout, progress)
        done = build_testbed(
            sources.items,
            out,
            options,
            chat=chat,
            categories=names,
            max_cost=cap,
            engine=engine,
            progress=progress,
            lost=sources.failed,
        )
    remarks = [
        *(str(problem) for problem in found.problems),
        *sources.faults,
        *left_over(found, join),
        *done.remarks,
    ]
    if done.changed:
        remarks.append(f"{done.changed} results thrown away: their source changed meanwhile")
    if as_json:
        print_json(as_object(done, out, remarks))
    else:
        print_building(done, out)
        for remark in remarks:
            err().print(shown(remark), soft_wrap=True)
    if done.exit_code:
        raise typer.Exit(done.exit_code)
    if not done.testbed.pairs or done.changed:
        raise typer.Exit(1)


COMMANDS = {"build": build}
