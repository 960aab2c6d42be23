"""What fills each role here, what else could, and how to get it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from screentest.core import NoValue
from screentest.core.registry import Entry, registry
from screentest.models import weights
from screentest.models.choice import BUILTIN, Models, best_builtin
from screentest.models.roles import Role


@dataclass(frozen=True, slots=True)
class BackendState:
    """One backend of a role."""

    name: str
    summary: str
    rank: int | None
    """Which built-in is tried first; None: only taken if it is chosen."""
    works: bool | None
    """Whether it could load here; None: that depends on the model one chooses."""
    get: str = ""
    """The command that gets what it lacks."""
    weights: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RoleState:
    """One role: what was chosen, what is taken, and what there is."""

    role: str
    chosen: str
    """As on the command line; empty where nothing was chosen."""
    taken: str
    """The backend that would answer; empty where none would."""
    problem: str = ""
    better: str = ""
    """The command that gets a better built-in than the one taken."""
    backends: tuple[BackendState, ...] = ()


@dataclass(frozen=True, slots=True)
class WeightsState:
    """One entry of the catalogue, and whether it is here."""

    name: str
    job: str
    licence: str
    bytes: int
    download_bytes: int
    package: str
    sets: tuple[str, ...]
    here: bool
    folder: str


def list_roles(models: Models) -> list[RoleState]:
    """All roles, as ``models`` would fill them. Loads nothing."""
    return [_role_state(models, role) for role in Role]


def list_weights() -> list[WeightsState]:
    """The catalogue."""
    return [
        WeightsState(
            one.name,
            one.job,
            one.licence,
            one.bytes,
            one.package.bytes,
            str(one.package),
            one.sets,
            weights.available(one.name),
            str(weights.folder(one.name)),
        )
        for one in weights.CATALOGUE.values()
    ]


def _role_state(models: Models, role: Role) -> RoleState:
    backends = tuple(_backends(role))
    try:
        choice = models.choice(role)
        by_user = choice.backend != BUILTIN
        taken = registry.entry(role.value, choice.backend).name if by_user else best_builtin(role)
    except NoValue as error:
        return RoleState(role.value, "", "", error.message, error.advice, backends)
    chosen = str(choice).partition("=")[2] if by_user else ""
    better = "" if by_user else _better(backends, taken)
    return RoleState(role.value, chosen, taken, "", better, backends)


def _better(backends: tuple[BackendState, ...], taken: str) -> str:
    """How to get the best built-in, where another is taken in its place."""
    ranked = [one for one in backends if one.rank is not None]
    return "" if not ranked or ranked[0].name == taken else ranked[0].get


def _backends(role: Role) -> Iterator[BackendState]:
    """Built-in ones first, as they are tried; then the others by name."""
    last = 1_000_000
    entries = list(registry.entries(role.value))
    for entry in sorted(entries, key=lambda one: (one.info.get("builtin", last), one.name)):
        works, get = _readiness(entry)
        yield BackendState(
            entry.name,
            str(entry.info.get("summary", "")),
            entry.info.get("builtin"),
            works,
            get,
            tuple(entry.info.get("weights", ())),
        )


def _readiness(entry: Entry) -> tuple[bool | None, str]:
    ready, get = entry.info.get("ready"), str(entry.info.get("get", ""))
    if ready is None:
        # A built-in without a condition always works; another needs the user's model.
        return (True, "") if "builtin" in entry.info else (None, get)
    try:
        return (True, "") if ready() else (False, get)
    except NoValue as error:
        return False, error.advice or get
