"""Options that several commands share, and what becomes of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from screentest.core import Aspect, Item
    from screentest.run.session import Settings

ModelOption = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="ROLE=BACKEND:MODEL", help="The model for a role."),
]
ModelsOption = Annotated[
    str,
    typer.Option(
        "--models",
        metavar="PROFILE",
        help="Models for all roles: builtin, light, paper, or a .toml file.",
    ),
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
    models: str = "builtin",
    prompts: Path | None = None,
    prices: Path | None = None,
    *,
    device: str = "auto",
    allow_damaged: bool = False,
    detector: str = "default",
) -> Settings:
    """The settings of an evaluation; what was chosen one by one comes before the profile."""
    from screentest.run.session import read_settings

    return read_settings(
        [models, *(model or ())],
        prompts,
        prices,
        device=device,
        allow_damaged=allow_damaged,
        detector=detector,
    )


def cap_of(max_cost: str, settings: Settings) -> Decimal | None:
    """The cap; a cap without a price for each chat model cannot be kept, and is refused."""
    return settings.cap(max_cost) if max_cost else None


def read_aspects(text: str) -> list[Aspect] | None:
    """Aspects by name, with commas; None for all."""
    from screentest.core import Aspect, BadOption, all_aspects

    if text == "all":
        return None
    try:
        return [Aspect(name.strip()) for name in text.split(",")]
    except ValueError:
        known = ", ".join(aspect.value for aspect in all_aspects())
        raise BadOption(f"{text!r} names no aspects", advice=f"Aspects: {known}.") from None


def items_of(inputs: Sequence[Path], prompt: str = "") -> list[Item]:
    """Items from manifests, videos and folders of videos."""
    from screentest.manifests.importers import read_inputs

    return read_inputs(inputs, prompt)
