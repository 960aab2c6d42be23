"""Options that several commands share, and what becomes of them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from screentest.core import Aspect, Item
    from screentest.evaluate import Settings

ModelOption = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="ROLE=BACKEND:MODEL", help="The model for a role."),
]
ProfileOption = Annotated[
    Path | None, typer.Option("--profile", metavar="FILE", help="Models for all roles, in TOML.")
]
PromptsOption = Annotated[
    Path | None,
    typer.Option("--prompts", metavar="DIR", help="Templates that replace the built-in ones."),
]
PricesOption = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE", help="A price list in TOML.")
]
MaxCostOption = Annotated[
    str, typer.Option("--max-cost", metavar="AMOUNT", help="Never spend more than this.")
]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", help="Processes; one per processor if not given.")
]
DeviceOption = Annotated[str, typer.Option("--device", help="Where models run.")]
DamagedOption = Annotated[
    bool,
    typer.Option("--allow-damaged", help="Score what can be decoded of a damaged film."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def settings_of(
    model: Sequence[str] | None,
    profile: Path | None = None,
    prompts: Path | None = None,
    prices: Path | None = None,
    *,
    device: str = "auto",
    allow_damaged: bool = False,
    detector: str = "default",
) -> Settings:
    """The settings of an evaluation; what was chosen one by one comes before the profile."""
    from screentest.evaluate import Settings
    from screentest.models import Choice, read_profile
    from screentest.models.chat.pricing import Prices, read_prices

    chosen = [Choice.parse(text) for text in model or []]
    named = read_profile(profile) if profile else []
    places = {(choice.role, choice.use) for choice in chosen}
    return Settings(
        models=(*chosen, *(one for one in named if (one.role, one.use) not in places)),
        device=device,
        prompts=prompts.absolute() if prompts else None,
        detector=detector,
        prices=read_prices(prices) if prices else Prices(),
        allow_damaged=allow_damaged,
    )


def cap_of(max_cost: str, settings: Settings) -> Decimal | None:
    """The cap; a cap without a price for each chat model cannot be kept, and is refused."""
    from screentest.core import BadOption
    from screentest.models.roles import Role

    if not max_cost:
        return None
    try:
        cap = Decimal(max_cost)
    except InvalidOperation:
        raise BadOption(f"a cost cap cannot be {max_cost!r}") from None
    for choice in settings.models:
        if choice.role is Role.CHAT and choice.backend == "openai":
            settings.prices.require(choice.model)
    return cap


def read_aspects(text: str) -> list[Aspect] | None:
    """Aspects by name, with commas; None for all."""
    from screentest.core import Aspect, BadOption

    if text == "all":
        return None
    try:
        return [Aspect(name.strip()) for name in text.split(",")]
    except ValueError:
        known = ", ".join(aspect.value for aspect in Aspect)
        raise BadOption(f"{text!r} names no aspects", advice=f"Aspects: {known}.") from None


def items_of(inputs: Sequence[Path], prompt: str = "") -> list[Item]:
    """Items from manifests, videos and folders of videos."""
    from screentest.core import BadOption, Item
    from screentest.corpus import read_manifest

    items: list[Item] = []
    for path in inputs:
        if path.suffix.lower() in (".jsonl", ".csv"):
            items += read_manifest(path)
            continue
        videos = (
            sorted(one for one in path.iterdir() if _is_video(one)) if path.is_dir() else [path]
        )
        if not videos:
            raise BadOption(f"{path} holds no videos", advice="Give a manifest, or other folders.")
        items += [Item(video.name, video, prompt=prompt) for video in videos]
    return _distinct(items)


_VIDEOS = {
    *(".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg"),
    *(".ogv", ".gif", ".ts", ".flv", ".wmv"),
}


def _is_video(path: Path) -> bool:
    return path.is_file() and path.suffix.lower() in _VIDEOS


def _distinct(items: list[Item]) -> list[Item]:
    """Two files of one name in two folders are told apart by the folder."""
    from collections import Counter
    from dataclasses import replace

    seen = Counter(item.id for item in items)
    return [
        replace(item, id=f"{item.video.parent.name}/{item.id}") if seen[item.id] > 1 else item
        for item in items
    ]
