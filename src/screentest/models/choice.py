"""Which backend fills which role: from the command line, a TOML profile, or the defaults.

>>> print(Choice.parse("chat=openai:gpt-5,base_url=http://127.0.0.1:8000/v1"))
chat=openai:gpt-5,base_url=http://127.0.0.1:8000/v1
>>> Choice.parse("flow=dis").backend
'dis'

One use of a role may have a backend of its own; all others share that of the role:

>>> print(Choice.parse("chat.caption=openai:qwen3-vl"))
chat.caption=openai:qwen3-vl
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from screentest.core import BadOption, LedgerClient, NoValue, Reason
from screentest.core.options import read_options, split_options, write_options
from screentest.core.registry import Built, Entry, registry
from screentest.core.signature import Signature
from screentest.models import weights
from screentest.models.remote import remote_backend
from screentest.models.roles import Role

if TYPE_CHECKING:
    from screentest.models.chat.costs import Prices


BUILTIN = "builtin"
"""Stands for the best backend of a role that works on this machine as it is.

A backend joins by two words in its registration: ``builtin``, its rank (1 is tried first), and
``ready``, a function that says whether it could load here. What was taken stands in the
signature under its own name.
"""


@dataclass(frozen=True, slots=True)
class Choice:
    """A role, the backend for it, the model it loads, and its options."""

    role: Role
    backend: str
    model: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    use: str = ""
    """For one use of the role only, such as ``caption``."""

    @classmethod
    def parse(cls, text: str) -> Choice:
        """Read ``ROLE=BACKEND[:MODEL][,option=value…]``."""
        role_name, equals, rest = text.partition("=")
        if not equals or not rest:
            raise BadOption(
                f"{text!r} does not choose a model",
                advice="Write ROLE=BACKEND:MODEL, for example chat=openai:gpt-5.",
            )
        head, *tail = split_options(rest)
        backend, _, model = head.partition(":")
        role, use = _role_and_use(role_name)
        return cls(role, backend.strip(), model.strip(), read_options(tail, text), use)

    @classmethod
    def from_table(cls, role: str, table: object) -> Choice:
        """Read one entry of a profile: a string as on the command line, or a table."""
        if isinstance(table, str):
            return cls.parse(f"{role}={table}")
        if not isinstance(table, dict) or not isinstance(table.get("backend"), str):
            raise BadOption(
                f"the profile's entry for {role!r} names no backend",
                advice='Write chat = "openai:gpt-5", or a table with backend = "openai".',
            )
        rest = {key: value for key, value in table.items() if key not in ("backend", "model")}
        known, use = _role_and_use(role)
        return cls(known, table["backend"], str(table.get("model", "")), rest, use)

    def __str__(self) -> str:
        role = f"{self.role.value}.{self.use}" if self.use else self.role.value
        head = f"{role}={self.backend}" + (f":{self.model}" if self.model else "")
        return f"{head},{write_options(self.options)}" if self.options else head


def read_profile(path: Path) -> list[Choice]:
    """The ``[models]`` table of a TOML file, one entry per role."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadOption(f"the profile {path} cannot be read: {error}") from None
    table = content.get("models", {})
    if not isinstance(table, dict):
        raise BadOption(f"[models] in {path} is not a table")
    return [Choice.from_table(role, entry) for role, entry in table.items()]


class Models:
    """The backends of one process: each loaded once, on first use, and shared by all who ask.

    A name is that of a role, or of one use of it: ``chat.caption`` is what was chosen for that
    use, and what was chosen for ``chat`` where nothing was.
    """

    def __init__(self, choices: Iterable[Choice] = (), *, device: str = "auto") -> None:
        self._choices = {(choice.role, choice.use): choice for choice in choices}
        self._device = device
        self._built: dict[tuple[Role, str], Built[Any]] = {}
        self._paying: tuple[LedgerClient, Prices | None] | None = None

    def attach(self, ledger: LedgerClient, prices: Prices | None = None) -> None:
        """Write the paid calls of all backends into ``ledger``, at these prices."""
        self._paying = ledger, prices
        for built in self._built.values():
            self._attach(built.thing)

    def choice(self, role: Role, use: str = "") -> Choice:
        """What was chosen for a role; the built-in backend where nothing was."""
        chosen = self._choices.get((role, use)) or self._choices.get((role, ""))
        if chosen is not None:
            return chosen
        if role is Role.CHAT:
            raise NoValue(
                Reason.MISSING_MODEL,
                "no chat model was chosen",
                advice="Choose one: --model chat=openai:NAME (any OpenAI-compatible endpoint).",
            )
        return Choice(role, BUILTIN)

    def pinned(self, names: Iterable[str]) -> tuple[Choice, ...]:
        """The choices for some roles, with ``builtin`` replaced by what it stands for here.

        A worker that is given these takes the same backends, whatever it finds on its machine.
        """
        pinned = dict(self._choices)
        for name in names:
            role, use = _role_and_use(name)
            try:
                choice = self.choice(role, use)
                if choice.backend == BUILTIN:
                    choice = replace(choice, backend=best_builtin(role))
            except NoValue:
                continue  # whoever asks for it is told why; others do without it
            pinned[role, choice.use] = choice
        return tuple(pinned.values())

    def role(self, name: str) -> Any:
        """The backend for a role, ready to use."""
        return self._load(*_role_and_use(name)).thing

    def signature(self, name: str) -> Signature:
        """What numbers depend on through this role: backend, model, options, weights."""
        built = self._load(*_role_and_use(name))
        return built.spec.signature.with_parts(dict(built.thing.identity))

    def close(self) -> None:
        """Let go of connections and processes; who asks again gets new ones."""
        for built in self._built.values():
            close = getattr(built.thing, "close", None)
            if close is not None:
                close()
        self._built.clear()

    def _attach(self, backend: Any) -> None:
        attach = getattr(backend, "attach", None)
        if attach is not None and self._paying is not None:
            attach(*self._paying)

    def _load(self, role: Role, use: str) -> Built[Any]:
        choice = self.choice(role, use)
        place = role, choice.use
        if place not in self._built:
            name = choice.backend if choice.backend != BUILTIN else best_builtin(role)
            entry = registry.entry(role.value, name)
            options = dict(choice.options)
            if choice.model:
                options["model"] = choice.model
            if "device" in entry.parameters:
                options.setdefault("device", self._device)
            spec = entry.spec(options)
            thing = remote_backend(role, entry, dict(spec.options))
            if thing is None:
                thing = entry.factory(**dict(spec.options))
            self._built[place] = Built(spec, thing)
            self._attach(self._built[place].thing)
        return self._built[place]


def best_builtin(role: Role) -> str:
    """The name of the first built-in backend of ``role`` that could load here."""
    ranked = sorted(
        (entry for entry in registry.entries(role.value) if "builtin" in entry.info),
        key=lambda entry: int(entry.info["builtin"]),
    )
    for entry in ranked:
        ready = entry.info.get("ready")
        if ready is None or ready():
            return entry.name
    raise NoValue(
        Reason.MISSING_MODEL,
        f"no built-in backend fills the role {role.value!r} here",
        advice=f"Choose one: --model {role.value}=BACKEND:MODEL (`screentest models` lists them).",
    )


def _role_and_use(name: str) -> tuple[Role, str]:
    role, _, use = name.strip().partition(".")
    return _role(role), use


def _role(name: str) -> Role:
    try:
        return Role(name.strip())
    except ValueError:
        known = ", ".join(role.value for role in Role)
        raise BadOption(f"there is no role {name!r}", advice=f"Roles: {known}.") from None


# What fills each role here, what else could, and how to get it.


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
