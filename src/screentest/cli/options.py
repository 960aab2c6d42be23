"""Options that several commands share.

A command that takes a whole set is decorated with it, and gets what was given as keywords with the
names that the Python API has:

    @shares(MODELS, ENGINE)
    def score(inputs: …, **work: Any) -> None:
        screentest.score(inputs, **work)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import typer

from screentest.core import BadOption

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
FileSizeOption = Annotated[
    float, typer.Option("--max-file-size", help="GB; a larger file is not read.", min=1e-6)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
PoolOption = Annotated[
    Literal["worst", "mean"],
    typer.Option("--pool", help="A video counts by the worst tenth of its time, or by its mean."),
]
OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="The run's folder.")]
AspectsOption = Annotated[
    str, typer.Option("--aspects", metavar="NAMES", help="all, or some, with commas.")
]


def _short_or_full(text: str) -> str:
    if text not in ("short", "full"):
        raise BadOption(f"invalid --signature {text!r}: must be short or full")
    return text


SignatureOption = Annotated[
    str,
    typer.Option(
        "--signature",
        metavar="short|full",
        help="How signatures are written.",
        callback=_short_or_full,
    ),
]

OptionSet: TypeAlias = Mapping[str, tuple[Any, Any]]
"""Options by the keyword of the Python API: annotation and default."""

BACKENDS: OptionSet = {
    "models": (ModelsOption, "builtin"),
    "model": (ModelOption, None),
    "device": (DeviceOption, "auto"),
}
MODELS: OptionSet = {
    **BACKENDS,
    "prompts": (PromptsOption, None),
    "prices": (PricesOption, None),
    "max_cost": (MaxCostOption, ""),
}
WORKERS: OptionSet = {"workers": (WorkersOption, None)}
ENGINE: OptionSet = {
    "engine": (
        Annotated[
            str,
            typer.Option(
                "--engine", metavar="NAME", help="Who does the work: local, or ray (a cluster)."
            ),
        ],
        "local",
    ),
    "address": (
        Annotated[
            str,
            typer.Option(
                "--address", metavar="HOST:PORT", help="The Ray cluster; else this machine's."
            ),
        ],
        "",
    ),
    "gpus": (
        Annotated[
            float,
            typer.Option(
                "--gpus", help="On Ray: GPUs, or the part of one, for each host of models."
            ),
        ],
        1.0,
    ),
}

RETRY: OptionSet = {
    "retry": (
        Annotated[
            str,
            typer.Option(
                "--retry", metavar="WHICH", help="Failures to try again: transient, all, none."
            ),
        ],
        "transient",
    ),
}

F = TypeVar("F", bound=Callable[..., None])
N = TypeVar("N", int, float)


def shares(*sets: OptionSet) -> Callable[[F], F]:
    """Give a command the options of these sets; it gets them as keywords."""

    def decorate(function: F) -> F:
        own = inspect.signature(function, eval_str=True)
        kept = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
        added = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
            for options in sets
            for name, (annotation, default) in options.items()
        ]
        function.__signature__ = own.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
        return function

    return decorate


def numbers_in(text: str, kind: Callable[[str], N], option: str, example: str) -> tuple[N, ...]:
    """Numbers with commas.

    >>> numbers_in("1,3", int, "--clips", "5 or 1,3,5")
    (1, 3)
    """
    try:
        return tuple(kind(part) for part in text.split(","))
    except ValueError:
        raise BadOption(f"invalid {option} {text!r}", advice=f"Write {example}.") from None


def names_in(text: str, *, every: str = "all") -> tuple[str, ...]:
    """Names with commas; none of them stands for all.

    >>> names_in("color, dynamics_degree"), names_in("all")
    (('color', 'dynamics_degree'), ())
    """
    return () if text == every else tuple(name.strip() for name in text.split(",") if name.strip())
