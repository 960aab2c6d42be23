"""What the options of ``screentest build`` say, read and checked."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from screentest.core import BadOption, seconds

if TYPE_CHECKING:
    from fractions import Fraction

    from screentest.core import Progress
    from screentest.manifests.importers import Corpus
    from screentest.models import Choice
    from screentest.run.session import Settings
    from screentest.testbeds.join import Joined
    from screentest.testbeds.options import BuildOptions


def chat_use(
    models: Sequence[Choice], device: str, prompts: Path | None, prices: Path | None
) -> Settings | None:
    """The chat models that were chosen, if any was."""
    from screentest.models.chat.costs import Prices, read_prices
    from screentest.models.templates import Prompts
    from screentest.run.session import Settings

    chosen = tuple(choice for choice in models if choice.role.value == "chat")
    if not chosen:
        if prompts is not None or prices is not None:
            raise BadOption(
                "--prompts and --prices are for a chat model, and there is none",
                advice="Add --model chat=openai:NAME.",
            )
        return None
    Prompts(prompts)  # a folder that replaces nothing is told now
    return Settings(chosen, device, prompts, prices=read_prices(prices) if prices else Prices())


def cost_cap(text: str, chat: Settings | None) -> Decimal | None:
    """The most that may be spent."""
    from screentest.run.session import Settings

    return (chat or Settings()).cap(text) if text else None


def category_names(text: str | None) -> tuple[str, ...]:
    """Names from a file with one on each line, or from a list with commas."""
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


def joined_sources(
    corpus: Corpus,
    count: int,
    out: Path,
    options: BuildOptions,
    workers: int | None,
    timeout: float,
    progress: Progress,
) -> Joined:
    """The films of the corpus, in one file each."""
    from screentest.manifests.vript import in_groups_of
    from screentest.testbeds.join import Joined, join_sources
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


def left_over(corpus: Corpus, count: int) -> list[str]:
    """What is told of videos that were too few to join."""
    rest = len(corpus.items) % count
    if not rest:
        return []
    return [f"left out, too few to join: {', '.join(item.id for item in corpus.items[-rest:])}"]


def task_seconds(timeout: float) -> float:
    """The limit for one task."""
    if not 1 <= timeout <= 10**7:  # NaN is neither
        raise BadOption(f"{timeout:g} seconds cannot be a limit", advice="Give 1 or more.")
    return timeout


def degradation_specs(given: list[str], backgrounds: Path | None) -> tuple[str, ...]:
    """Degradations as asked for, with the folder of backgrounds."""
    specs = specs_of("degradation", given)
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


def specs_of(kind: str, given: list[str]) -> tuple[str, ...]:
    """Names as the command line has them: ``all``, ``none``, a list, or one with options."""
    from screentest.core import BUILTIN_ASPECTS, registry

    specs: list[str] = []
    for text in given:
        if text == "all":
            order = [aspect.value for aspect in BUILTIN_ASPECTS]
            known = registry.names(kind)
            ours = [name for name in order if name in known]
            specs += [*ours, *(name for name in known if name not in order)]
        elif ":" in text:
            specs.append(text)
        elif text != "none":
            specs += [name.strip() for name in text.split(",") if name.strip()]
    return tuple(specs)


def clip_counts(text: str) -> tuple[int, ...]:
    """One number of clips, or several."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise BadOption(f"{text!r} is not a number of clips", advice="Write 5 or 1,3,5.") from None


def severity_list(text: str) -> tuple[float, ...]:
    """The severities of a ladder."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise BadOption(f"{text!r} is no ladder", advice="Write 0.25,0.5,1.") from None


def frame_rate(text: str | None) -> Fraction | None:
    """Frames per second, exactly."""
    try:
        return None if text is None else seconds(text)
    except BadOption:
        raise BadOption(
            f"{text!r} is not a frame rate", advice="Write 24, 29.97 or 30000/1001."
        ) from None
