"""Running a paper again: its recipe, what of it is here, and what it takes."""

from __future__ import annotations

import os
import socket
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any, Unpack
from urllib.parse import urlsplit

from screentest.core.codec import from_object
from screentest.core.errors import BadOption, NoValue, UnknownName
from screentest.core.item import File
from screentest.core.outcome import Failure, Reason
from screentest.models import weights
from screentest.models.choice import ModelChoice, check_loads
from screentest.models.networks.pretrained import check_cached
from screentest.run.session import WorkOptions, settings_of


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that it takes to run a paper again, as its file has it.

    Parts are models (``choice``, as ``--model`` takes it) and files; ``get`` is the line that gets
    one, ``start`` the one that starts a server. Steps ``call`` a function; words in braces are
    places of parts and of earlier steps. Loads are what steps take. Tables are as printed, NaN
    where a value is not known; ``keys`` and ``sources`` are what we call columns and rows.
    """

    name: str
    title: str
    address: str
    parts: Mapping[str, Mapping[str, Any]]
    steps: Sequence[Mapping[str, Any]]
    loads: Sequence[Mapping[str, Any]]
    tables: Sequence[Mapping[str, Any]]
    by_hand: Sequence[str] = ()
    """What only people can do."""


@dataclass(frozen=True, slots=True)
class ReproductionPlan:
    """What a reproduction lacks, by part, and the cost of each load as far as prices are known."""

    recipe: Recipe
    missing: Mapping[str, Failure]
    costs: tuple[Decimal | None, ...]


def read_recipes() -> dict[str, Recipe]:
    """Read the recipes of the package, by the names of their papers."""
    files = sorted(Path(str(resources.files("screentest"))).rglob("reproduce.toml"))
    recipes = [from_object(Recipe, tomllib.loads(file.read_text("utf-8"))) for file in files]
    return {recipe.name: recipe for recipe in recipes}


def plan_reproduction(
    paper: str, *, at: Mapping[str, File] | None = None, **work: Unpack[WorkOptions]
) -> ReproductionPlan:
    """Say what a paper's experiment needs and takes; start nothing.

    ``at`` has the places of parts by name: a file, a folder, or the address of a server.
    """
    recipes, prices = read_recipes(), settings_of(work).prices
    if paper not in recipes:
        raise UnknownName(f"there is no paper {paper!r}", advice=f"Known: {', '.join(recipes)}.")
    recipe, places, missing = recipes[paper], at or {}, {}
    if places.keys() - recipe.parts.keys() or not all(places.values()):
        raise BadOption.of("at", ", ".join(places), f"NAME=PLACE of {', '.join(recipe.parts)}")
    for name, part in recipe.parts.items():
        try:
            _must_be_here(name, part, places.get(name))
        except NoValue as error:
            missing[name] = error.failure
    costs = []
    for load in recipe.loads:
        choice = recipe.parts.get(load.get("model", ""), {}).get("choice")
        price = prices.of(ModelChoice.parse(choice).model) if choice else None
        sent, said = (Decimal(str(load[name])) for name in ("in_m", "out_m"))
        costs.append(None if price is None else price.input * sent + price.output * said)
    return ReproductionPlan(recipe, missing, tuple(costs))


def _choice_of(part: Mapping[str, Any], place: File | None) -> ModelChoice:
    """Return the model of a part, from where somebody says."""
    choice = ModelChoice.parse(part["choice"])
    if place is None:
        return choice
    if choice.backend == "openai":
        return replace(choice, options={**choice.options, "base_url": str(place)})
    return replace(choice, model=str(place))


def _must_be_here(name: str, part: Mapping[str, Any], place: File | None) -> None:
    """Raise where a file is not there, a model lacks something, or nothing listens at a server."""
    choice = _choice_of(part, place) if "choice" in part else None
    files = [str(place or part.get("place", name))]
    if choice is not None:
        values = [*choice.model.replace('"', " ").split(), *map(str, choice.options.values())]
        files = [value for value in values if value.endswith((".py", ".pth"))]
    lost = [file for file in files if not Path(file).expanduser().exists()]
    lost += [name for name in part.get("weights", ()) if not weights.available(name)]
    if lost:
        raise NoValue(Reason.MISSING_FILE, f"{lost[0]} is not there")
    address = urlsplit(str(choice.options.get("base_url", "")) if choice else "")
    if address.scheme == "http":
        try:
            socket.create_connection((str(address.hostname), address.port or 80), 2).close()
        except OSError:
            silent = f"nothing listens at {address.geturl()}"
            raise NoValue(Reason.MISSING_MODEL, silent) from None
    elif choice is not None and choice.backend == "openai":
        key = str(choice.options.get("key_env", "OPENAI_API_KEY"))
        if not os.environ.get(key):
            raise NoValue(Reason.MISSING_MODEL, f"{key} is not set")
    elif choice is not None and choice.backend != "external":
        check_loads(choice)
        if "/" in choice.model and not Path(choice.model).expanduser().exists():
            check_cached(choice.model)
