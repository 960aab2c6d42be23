"""``screentest build``: a testbed from a corpus of captioned films."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from decimal import Decimal

    from screentest.core import Progress
    from screentest.corpus import Corpus
    from screentest.degrade.asking import ChatUse
    from screentest.degrade.builder import Building
    from screentest.degrade.joining import Joined
    from screentest.degrade.options import BuildOptions
    from screentest.degrade.testbed import Testbed
    from screentest.models import Choice


def command(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(build)


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
            "--format", metavar="manifest|vript", help="What CORPUS is; told by its content."
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
    from screentest.cli._console import err, print_json, shown
    from screentest.cli._progress import watched
    from screentest.corpus import read_corpus
    from screentest.degrade.builder import build_testbed
    from screentest.degrade.options import BuildOptions, read_models
    from screentest.run import LocalEngine

    models = read_models(preset, model or [])
    options = BuildOptions(
        degradations=_degradations(aspects or ["all"], backgrounds),
        placebos=_named("placebo", [placebos]),
        seed=seed,
        clips=_counts(clips),
        least_clips=min_clips,
        severities=_severities(ladder) if ladder is not None else (severity,),
        long_side=long_side or None,
        rate=_rate(fps),
        extract=extract,
        models=tuple(choice for choice in models if choice.role.value != "chat"),
        device=device,
    )
    engine = LocalEngine(workers=workers, timeout=_seconds(timeout))
    chat = _chat(models, device, prompts, prices)
    cap = _cap(max_cost, chat)
    names = _categories(categories)
    found = read_corpus(corpus, form)
    with watched() as progress:
        sources = _joined(found, join, out, options, workers, timeout, progress)
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
        *_left_over(found, join),
        *done.remarks,
    ]
    if done.changed:
        remarks.append(f"{done.changed} results thrown away: their source changed meanwhile")
    if as_json:
        print_json({**_as_object(done, out), "remarks": remarks})
    else:
        _print(done, out)
        for remark in remarks:
            err().print(shown(remark), soft_wrap=True)
    if done.exit_code:
        raise typer.Exit(done.exit_code)
    if not done.testbed.pairs or done.changed:
        raise typer.Exit(1)


def _chat(
    models: Sequence[Choice], device: str, prompts: Path | None, prices: Path | None
) -> ChatUse | None:
    from screentest.core import BadOption
    from screentest.degrade.asking import ChatUse
    from screentest.models.chat.pricing import Prices, read_prices
    from screentest.prompts import Prompts

    chosen = tuple(choice for choice in models if choice.role.value == "chat")
    if not chosen:
        if prompts is not None or prices is not None:
            raise BadOption(
                "--prompts and --prices are for a chat model, and there is none",
                advice="Add --model chat=openai:NAME.",
            )
        return None
    Prompts(prompts)  # a folder that replaces nothing is told now
    return ChatUse(chosen, device, prompts, read_prices(prices) if prices else Prices())


def _cap(text: str, chat: ChatUse | None) -> Decimal | None:
    from decimal import Decimal, InvalidOperation

    from screentest.core import BadOption

    if not text:
        return None
    try:
        cap = Decimal(text)
    except InvalidOperation:
        raise BadOption(f"a cost cap cannot be {text!r}") from None
    for choice in chat.models if chat is not None else ():
        assert chat is not None
        chat.prices.require(choice.model)
    return cap


def _categories(text: str | None) -> tuple[str, ...]:
    """Names from a file with one on each line, or from a list with commas."""
    from screentest.core import BadOption

    if text is None:
        return ()
    path = Path(text)
    if path.is_file():
        try:
            names = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError):
            raise BadOption(f"{path} is no list of categories", advice="One a line.") from None
    else:
        names = text.split(",")
    found = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    if len(found) < 2:
        raise BadOption(
            "a choice needs two categories or more",
            advice="Give a file with one on each line, or names with commas.",
        )
    return found


def _joined(
    corpus: Corpus,
    count: int,
    out: Path,
    options: BuildOptions,
    workers: int | None,
    timeout: float,
    progress: Progress,
) -> Joined:
    """The films of the corpus, in one file each."""
    from screentest.core import BadOption
    from screentest.corpus import in_groups_of
    from screentest.degrade.joining import Joined, join_sources
    from screentest.video.limits import Limits

    parted = corpus.parted
    if count != 1:
        if parted:
            raise BadOption("the films of a Vript download are joined anyway: no --join")
        parted = tuple(in_groups_of(corpus.items, count))
    elif not parted:
        return Joined(corpus.items)
    return join_sources(
        parted,
        out.absolute(),
        long_side=options.long_side,
        gaps=bool(corpus.parted),
        workers=workers,
        limits=Limits(wall_seconds=timeout),
        progress=progress,
    )


def _left_over(corpus: Corpus, count: int) -> list[str]:
    rest = len(corpus.items) % count
    if not rest:
        return []
    return [f"left out, too few to join: {', '.join(item.id for item in corpus.items[-rest:])}"]


def _seconds(timeout: float) -> float:
    from screentest.core import BadOption

    if not 1 <= timeout <= 10**7:  # NaN is neither
        raise BadOption(f"{timeout:g} seconds cannot be a limit", advice="Give 1 or more.")
    return timeout


def _degradations(given: list[str], backgrounds: Path | None) -> tuple[str, ...]:
    from screentest.core import BadOption

    specs = _named("degradation", given)
    if backgrounds is None:
        return specs
    import json

    name = "background_consistency"
    if name not in specs:
        raise BadOption(
            "--backgrounds is for background_consistency, which is not asked for",
            advice="Add it to --aspects, or leave --backgrounds out.",
        )
    with_folder = f"{name}:folder={json.dumps(str(backgrounds.absolute()))}"
    return tuple(with_folder if spec == name else spec for spec in specs)


def _named(kind: str, given: list[str]) -> tuple[str, ...]:
    """Names as the command line has them: ``all``, ``none``, a list, or one with options."""
    from screentest.core import Aspect, registry

    specs: list[str] = []
    for text in given:
        if text == "all":
            order = [aspect.value for aspect in Aspect]
            known = registry.names(kind)
            ours = [name for name in order if name in known]
            specs += [*ours, *(name for name in known if name not in order)]
        elif ":" in text:
            specs.append(text)
        elif text != "none":
            specs += [name.strip() for name in text.split(",") if name.strip()]
    return tuple(specs)


def _counts(text: str) -> tuple[int, ...]:
    from screentest.core import BadOption

    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise BadOption(f"{text!r} is not a number of clips", advice="Write 5 or 1,3,5.") from None


def _severities(text: str) -> tuple[float, ...]:
    from screentest.core import BadOption

    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise BadOption(f"{text!r} is no ladder", advice="Write 0.25,0.5,1.") from None


def _rate(text: str | None) -> Any:
    from screentest.core import BadOption, seconds

    try:
        return None if text is None else seconds(text)
    except BadOption:
        raise BadOption(
            f"{text!r} is not a frame rate", advice="Write 24, 29.97 or 30000/1001."
        ) from None


def _as_object(done: Building, out: Path) -> dict[str, Any]:
    testbed = done.testbed
    return {
        "testbed": str(out),
        "sources": len(testbed.sources),
        "pairs": len(testbed.pairs),
        "pending": testbed.pending,
        "made": done.made,
        "reused": done.reused,
        "skips": [
            {
                "source": skip.source,
                "name": skip.name,
                "reason": skip.failure.reason.value,
                "detail": skip.failure.detail,
            }
            for skip in testbed.skips
        ],
    }


def _print(done: Building, out: Path) -> None:
    from screentest.cli._console import out as console
    from screentest.cli._console import plural
    from screentest.cli._tables import print_indented, table

    testbed = done.testbed
    pairs = Counter(pair.name for pair in testbed.pairs)
    skips = Counter(skip.name for skip in testbed.skips)
    rows = [
        (name, f"{pairs[name]:,}", f"{skips[name]:,}" if skips[name] else "–")
        for name in _order(testbed)
    ]
    console().print(table(["Aspect or placebo", ">Pairs", ">Skipped"], rows))
    _print_reasons(testbed)
    words = f"{plural(len(testbed.pairs), 'pair')} of {plural(len(testbed.sources), 'source')}"
    if testbed.pending:
        words += f"; {testbed.pending:,} still to be made: start the same command again"
    print_indented(f"{words}, in {out}", indent=0)


def _order(testbed: Testbed) -> Iterable[str]:
    made = [pair.name for pair in testbed.pairs]
    return dict.fromkeys([*made, *(skip.name for skip in testbed.skips)])


def _print_reasons(testbed: Testbed) -> None:
    """What was skipped and why; the same words only once."""
    from screentest.cli._tables import print_heading, print_indented

    told: dict[tuple[str, str], list[str]] = {}
    for skip in testbed.skips:
        told.setdefault((skip.source, skip.failure.detail.splitlines()[-1]), []).append(skip.name)
    if told:
        print_heading("Skipped")
    for (source, detail), names in told.items():
        which = ", ".join(dict.fromkeys(names)) if len(set(names)) < 4 else f"{len(names)} pairs"
        print_indented(f"{source}: {which}: {detail}")
