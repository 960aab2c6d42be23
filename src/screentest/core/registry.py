"""The registry: a factory, one decorator, and it is known by name everywhere.

Built-in implementations are found by importing the modules of their kind's package on first
use; those of other packages through the entry-point group ``screentest.plugins``. A new
implementation is one new file and one decorator, with no edit elsewhere.

>>> @register("detector", "every_second", version=1, summary="a cut each second")
... def every_second(*, seconds: float = 1.0) -> object:
...     return object()
>>> print(build("detector", "every_second:seconds=2").spec)
every_second:seconds=2.0
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import inspect
import math
import pkgutil
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from screentest.core.errors import BadOption, UnknownName
from screentest.core.options import parse, write_options, write_value
from screentest.core.signature import Signature

PLUGIN_GROUP = "screentest.plugins"

# Where the built-in implementations of a kind live. Names only: nothing is imported here.
HOMES: dict[str, tuple[str, ...]] = {
    "detector": ("screentest.video.detectors",),
    "metric": ("screentest.metrics", "screentest.suites"),
    "judge": ("screentest.judges",),
    "suite": ("screentest.suites",),
    "degradation": ("screentest.testbeds.operators",),
    "placebo": ("screentest.testbeds.placebos",),
    "importer": ("screentest.manifests",),
    "chat": ("screentest.models.chat",),
    # One kind per model role; its backends are in the module of that name.
    **{
        role: (f"screentest.models.backends.{role}",)
        for role in (
            *("text_embedding", "image_text", "image_features", "flow"),
            *("interpolation", "aesthetic", "technical", "videoscore", "matting"),
            *("detection", "segmentation", "inpainting", "image_edit"),
        )
    },
}

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Spec:
    """A name with all its arguments: enough to build the same thing again."""

    kind: str
    name: str
    version: int
    options: tuple[tuple[str, Any], ...] = ()
    neutral: tuple[str, ...] = ()
    """Options that change how the work is done, not what comes out: not in the signature."""

    def __str__(self) -> str:
        given = write_options(dict(self.options))
        return f"{self.name}:{given}" if given else self.name

    @property
    def signature(self) -> Signature:
        """The part of a signature that the implementation and its arguments decide."""
        options = {k: write_value(value) for k, value in self.options if k not in self.neutral}
        return Signature.of(self.name, version=self.version).with_parts(options)


@dataclass(frozen=True)
class Entry:
    """A registered factory."""

    kind: str
    name: str
    version: int
    factory: Callable[..., Any]
    info: Mapping[str, Any]

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The options the factory takes."""
        return inspect.signature(self.factory).parameters

    def spec(self, options: Mapping[str, Any]) -> Spec:
        """The full arguments, defaults included, converted to the types the factory names."""
        from pydantic import TypeAdapter, ValidationError

        hints = typing.get_type_hints(self.factory)
        full: list[tuple[str, Any]] = []
        for unknown in options.keys() - self.parameters.keys():
            raise BadOption(
                f"{self.kind} {self.name!r} has no option {unknown!r}",
                advice=_suggest(unknown, self.parameters) or "It takes no options.",
            )
        for key, parameter in self.parameters.items():
            if key in options:
                try:
                    value = TypeAdapter(hints.get(key, Any)).validate_python(options[key])
                except ValidationError as error:
                    problem = error.errors(include_url=False)[0]["msg"]
                    raise BadOption(
                        f"{self.kind} {self.name!r}, option {key!r}: {problem}"
                    ) from None
                if isinstance(value, float) and not math.isfinite(value):
                    # No comparison with nan holds: a threshold of nan would be a silent score.
                    raise BadOption(f"{self.kind} {self.name!r}, option {key!r} cannot be {value}")
                full.append((key, value))
            elif parameter.default is inspect.Parameter.empty:
                raise BadOption(f"{self.kind} {self.name!r} needs the option {key!r}")
            else:
                full.append((key, parameter.default))
        neutral = tuple(self.info.get("neutral", ()))
        return Spec(self.kind, self.name, self.version, tuple(full), neutral)


@dataclass(frozen=True, slots=True)
class Built(Generic[T]):
    """What a factory made, and the spec that makes it again."""

    spec: Spec
    thing: T


class Registry:
    """Entries by kind and name. One for the whole process; tests may make their own."""

    def __init__(self, homes: Mapping[str, tuple[str, ...]]) -> None:
        self._homes = dict(homes)
        self._entries: dict[tuple[str, str], Entry] = {}
        self._loaded: set[str] = set()
        self._plugins_loaded = False
        self.broken_plugins: dict[str, str] = {}

    def register(self, kind: str, name: str, *, version: int = 1, **info: Any) -> Callable[[F], F]:
        """Decorate a factory. ``version`` rises whenever its numbers change.

        ``neutral`` in ``info`` names options that cannot change its numbers, such as a timeout.
        """

        def keep(factory: F) -> F:
            known = self._entries.get((kind, name))
            if known is not None and known.factory.__module__ != factory.__module__:
                raise ValueError(
                    f"{kind} {name!r} is registered by {known.factory.__module__} already"
                )
            self._entries[kind, name] = Entry(kind, name, version, factory, info)
            return factory

        return keep

    def entry(self, kind: str, name: str) -> Entry:
        """The entry of that name; suggests near ones where there is none."""
        self._load(kind)
        found = self._entries.get((kind, name))
        if found is None:
            raise UnknownName(
                f"there is no {kind} {name!r}", advice=_suggest(name, self.names(kind))
            )
        return found

    def names(self, kind: str) -> list[str]:
        """All names of a kind, sorted."""
        self._load(kind)
        return sorted(name for entry_kind, name in self._entries if entry_kind == kind)

    @property
    def modules(self) -> set[str]:
        """Where all that is registered by now comes from."""
        return {entry.factory.__module__ for entry in self._entries.values()}

    @property
    def strangers(self) -> list[str]:
        """Modules that registered something and that a new process would not import by itself."""
        found = {__name__, "__main__"}
        found |= {point.module for point in importlib.metadata.entry_points(group=PLUGIN_GROUP)}
        packages = {name.partition(".")[0] for name in found}
        return sorted(name for name in self.modules if name.partition(".")[0] not in packages)

    def entries(self, kind: str) -> Iterator[Entry]:
        """All entries of a kind, by name."""
        for name in self.names(kind):
            yield self._entries[kind, name]

    def build(self, kind: str, text: str, **options: Any) -> Built[Any]:
        """Make what ``text`` names: ``name`` or ``name:option=value,…``."""
        name, written = parse(text)
        entry = self.entry(kind, name)
        spec = entry.spec(written | options)
        try:
            return Built(spec, entry.factory(**dict(spec.options)))
        except (ValueError, OverflowError) as error:
            # Of the right type, and still not to be: a rate of -1, or of nan.
            if not spec.options:
                raise  # nothing was chosen that the user could choose otherwise
            raise BadOption(f"{kind} {spec} cannot be: {error}") from error

    def _load(self, kind: str) -> None:
        if kind not in self._loaded:
            for home in self._homes.get(kind, ()):
                _import_all(home)
            self._loaded.add(kind)
        if not self._plugins_loaded:
            self._plugins_loaded = True
            for point in importlib.metadata.entry_points(group=PLUGIN_GROUP):
                try:
                    point.load()
                except Exception as error:  # noqa: BLE001 - a stranger's module may raise anything
                    # One broken plugin must not take the product down; `doctor` shows it.
                    self.broken_plugins[point.name] = f"{type(error).__name__}: {error}"


def _import_all(package_name: str) -> None:
    try:
        package = importlib.import_module(package_name)
    except ModuleNotFoundError as error:
        if error.name == package_name:
            return
        raise
    # Folders inside too: metrics are grouped by what they look at.
    for module in pkgutil.iter_modules(getattr(package, "__path__", ()), f"{package_name}."):
        leaf = module.name.rpartition(".")[2]
        if not leaf.startswith("_") and not leaf.endswith(("commands", "command")):
            importlib.import_module(module.name)
            if module.ispkg:
                _import_all(module.name)


def _suggest(wrong: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(wrong, names, n=3, cutoff=0.5)
    if near:
        return "Did you mean " + " or ".join(repr(name) for name in near) + "?"
    return f"Known: {', '.join(names)}." if names else ""


registry = Registry(HOMES)
register = registry.register
build = registry.build
