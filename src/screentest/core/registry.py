"""The registry: a factory, one decorator, and it is known by name everywhere.

Built-in implementations are found by their decorators in the text of their kind's home packages:
asked for one name, the registry imports the one module that registers it, and all of them only
when all are wanted. Those of other packages come through the entry-point group
``screentest.plugins``. A new implementation is one new file and one decorator, with no edit
elsewhere; a test keeps what the text says equal to what importing everything registers.

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
import importlib.util
import inspect
import math
import os
import re
import sys
import tomllib
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from screentest.core.errors import BadOption, UnknownName
from screentest.core.signature import Signature, parse, write_options, write_value

PLUGIN_GROUP = "screentest.plugins"
PLUGIN_FILES = "SCREENTEST_PLUGINS"
"""The environment variable with files that register: worker processes read them, too."""
BUILTIN = "builtin"

# Where the built-in implementations of a kind live. Names only: nothing is imported here.
_HOMES = tomllib.loads(Path(__file__).with_name("homes.toml").read_text(encoding="utf-8"))
HOMES: dict[str, tuple[str, ...]] = {kind: tuple(homes) for kind, homes in _HOMES.items()}

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
    origin: str = BUILTIN
    """``builtin``, the name of the plugin that brought it, or the module of the user's own."""

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The options the factory takes."""
        return inspect.signature(self.factory).parameters

    def spec(self, options: Mapping[str, Any]) -> Spec:
        """Return all arguments, defaults included, converted to the types the factory names."""
        from pydantic import TypeAdapter, ValidationError

        a_class = isinstance(self.factory, type)
        hints = typing.get_type_hints(self.factory.__init__ if a_class else self.factory)
        full: list[tuple[str, Any]] = []
        others = options.keys() - self.parameters.keys()
        # A factory with ``**options`` hands them on, and knows itself which there are.
        named = {k: one for k, one in self.parameters.items() if one.kind is not one.VAR_KEYWORD}
        for unknown in others if len(named) == len(self.parameters) else ():
            raise BadOption(
                f"{self.kind} {self.name!r} has no option {unknown!r}",
                advice=suggest(unknown, self.parameters) or "It takes no options.",
            )
        for key, parameter in named.items():
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
                    raise BadOption(
                        f"{self.kind} {self.name!r}, invalid option {key!r} {value}: must be finite"
                    )
                full.append((key, value))
            elif parameter.default is inspect.Parameter.empty:
                raise BadOption(f"{self.kind} {self.name!r} needs the option {key!r}")
            else:
                full.append((key, parameter.default))
        full += sorted((key, options[key]) for key in others)
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
        self._indexes: dict[str, Mapping[str, str]] = {}
        self._plugins_loaded = False
        self._plugin = ""
        self.broken_plugins: dict[str, str] = {}

    def register(self, kind: str, name: str, *, version: int = 1, **info: Any) -> Callable[[F], F]:
        """Decorate a factory. ``version`` rises whenever its numbers change.

        ``neutral`` in ``info`` names options that cannot change its numbers, such as a timeout.
        """

        def keep(factory: F) -> F:
            module = factory.__module__
            available = self._entries.get((kind, name))
            owner = available.factory.__module__ if available else module
            if not available and not module.startswith("screentest."):
                # A plugin may come before the module that has the name is imported.
                owner = self._index(kind).get(name, module)
            if owner != module:
                raise ValueError(f"{kind} {name!r} is registered by {owner} already")
            origin = self._plugin or (BUILTIN if module.startswith("screentest.") else module)
            self._entries[kind, name] = Entry(kind, name, version, factory, info, origin)
            return factory

        return keep

    def has(self, kind: str, name: str) -> bool:
        """Return whether there is one of that name; imports only the module that has it."""
        if (kind, name) not in self._entries:
            module = self._index(kind).get(name)
            if module is not None:
                importlib.import_module(module)
            else:
                self._import_single_homes(kind)
        if (kind, name) not in self._entries:
            self._load_plugins()
        return (kind, name) in self._entries

    def entry(self, kind: str, name: str) -> Entry:
        """Return the entry of that name; suggests near ones where there is none."""
        if not self.has(kind, name):
            raise UnknownName(
                f"there is no {kind} {name!r}", advice=suggest(name, self.names(kind))
            )
        return self._entries[kind, name]

    def names(self, kind: str) -> list[str]:
        """Return all names of a kind, sorted; read from text: next to nothing is imported."""
        self._import_single_homes(kind)
        self._load_plugins()
        registered = {name for entry_kind, name in self._entries if entry_kind == kind}
        return sorted(registered | self._index(kind).keys())

    @property
    def modules(self) -> set[str]:
        """Return where all that is registered by now comes from."""
        return {entry.factory.__module__ for entry in self._entries.values()}

    def plugin_of(self, module: str) -> str:
        """Name the plugin that a module belongs to; empty for ours and those of libraries."""
        package = module.partition(".")[0]
        origins = {
            entry.factory.__module__.partition(".")[0]: entry.origin
            for entry in self._entries.values()
            if entry.origin != BUILTIN
        }
        return origins.get(package, "")

    @property
    def extra_modules(self) -> list[str]:
        """Modules that registered something and that a new process would not import by itself."""
        result = {__name__, "__main__"}
        result |= {point.module for point in importlib.metadata.entry_points(group=PLUGIN_GROUP)}
        packages = {name.partition(".")[0] for name in result}
        return sorted(name for name in self.modules if name.partition(".")[0] not in packages)

    def entries(self, kind: str, *, builtin: bool = True) -> Iterator[Entry]:
        """Yield all entries of a kind, by name; imports the modules that register them.

        Without the built-in ones only plugins are imported.
        """
        self._load_plugins()
        available = self.names(kind) if builtin else []
        others = {name for of, name in self._entries if of == kind}
        for name in sorted(others.union(available)):
            if builtin or self._entries[kind, name].origin != BUILTIN:
                yield self.entry(kind, name)

    def build(self, kind: str, text: str, **options: Any) -> Built[Any]:
        """Make what ``text`` names: ``name`` or ``name:option=value,…``."""
        name, written = parse(text)
        entry = self.entry(kind, name)
        spec = entry.spec(written | options)
        try:
            return Built(spec, entry.factory(**dict(spec.options)))
        except (ValueError, OverflowError) as error:
            # Of the right type, and still refused: a rate of -1, or of nan.
            if not spec.options:
                raise  # nothing was chosen that the user could choose otherwise
            raise BadOption(f"invalid {kind} {spec}: {error}") from error

    def _homes_of(self, kind: str) -> list[str]:
        homes = self._homes[kind] if kind in self._homes else self._homes.get("*", ())
        return [home.format(kind=kind) for home in homes]

    def _index(self, kind: str) -> Mapping[str, str]:
        """Return the module that registers each name of this kind, as its text has it."""
        if kind not in self._indexes:
            self._indexes[kind] = {
                name: module
                for home in self._homes_of(kind)
                for module, path in _modules(home).items()
                for found_kind, name in registered_in(path.read_text(encoding="utf-8"))
                if found_kind == kind
            }
        return self._indexes[kind]

    def _import_single_homes(self, kind: str) -> None:
        """Import homes that are one module: what they register in a loop has no text to read."""
        for home in self._homes_of(kind):
            if home in _modules(home):
                importlib.import_module(home)

    def _load_plugins(self) -> None:
        if self._plugins_loaded:
            return
        self._plugins_loaded = True
        for point in importlib.metadata.entry_points(group=PLUGIN_GROUP):
            self._plugin = point.dist.name if point.dist else point.name
            try:
                point.load()
            except (Exception, SystemExit) as error:  # noqa: BLE001 - it may raise anything
                # One broken plugin must not take the product down; `doctor` shows it.
                self.broken_plugins[point.name] = f"{type(error).__name__}: {error}"
            finally:
                self._plugin = ""
        for file in filter(None, os.environ.get(PLUGIN_FILES, "").split(os.pathsep)):
            self.load_file(Path(file))

    def load_file(self, path: Path) -> None:
        """Import a file that registers metrics, judges and the like; once."""
        name = f"plugin_{path.stem}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise BadOption(f"the plugin {path} is not a Python file")
        earlier = sys.modules.get(name)
        if earlier is not None and earlier.__file__ == spec.origin:
            return
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            del sys.modules[name]
            raise BadOption(
                f"the plugin {path} cannot be imported: {type(error).__name__}: {error}"
            ) from error


_CALL = re.compile(r"""\bregister\(\s*["'](\w+)["'],\s*(?:["']([^"']+)["']|(\w+))""")
_DECORATOR = re.compile(
    r"^@(?:screentest\.)?(metric|judge|degradation|placebo|suite|hook)\b"
    r"((?:.*\n)*?)(?:def|class) (\w+)",
    re.MULTILINE,
)
_NAMED = re.compile(r"""\bname=["']([^"']+)["']""")


def registered_in(text: str) -> Iterator[tuple[str, str]]:
    """Kind and name of all that the text of a module registers.

    >>> list(registered_in('@metric(rate=2)\\ndef grain(image): ...\\n'))
    [('metric', 'grain')]
    >>> list(registered_in('NAME = "b"\\nregister("judge", "a")\\nregister("judge", NAME)'))
    [('judge', 'a'), ('judge', 'b')]
    """
    for kind, name, constant in _CALL.findall(text):
        if constant:
            value = re.search(rf"""^{constant}\b[^=\n]*= ["']([^"']+)["']""", text, re.MULTILINE)
            name = value[1] if value else ""
        if name:
            yield kind, name
    for kind, options, function in _DECORATOR.findall(text):
        named = _NAMED.search(options)
        yield kind, named[1] if named else function


@cache
def _modules(home: str) -> Mapping[str, Path]:
    """Return the public modules of a package and of the folders in it, or the one module; not
    imported.

    Modules of commands are left out: what they register is not theirs.
    """
    top, *inner = home.split(".")
    spec = sys.modules[top].__spec__ if top in sys.modules else importlib.util.find_spec(top)
    result: dict[str, Path] = {}
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place, *inner)
        if folder.with_suffix(".py").is_file():
            result[home] = folder.with_suffix(".py")
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            private = any(part.startswith("_") and part != "__init__" for part in parts)
            if not private and not parts[-1].endswith("commands"):
                name = ".".join((home, *(part for part in parts if part != "__init__")))
                result[name] = path
    return result


def suggest(wrong: str, known: Iterable[str]) -> str:
    """Return the nearest names, or all of them."""
    names = list(known)
    near = difflib.get_close_matches(wrong, names, n=3, cutoff=0.5)
    if near:
        return "Did you mean " + " or ".join(repr(name) for name in near) + "?"
    return f"Known: {', '.join(names)}." if names else ""


registry = Registry(HOMES)
register = registry.register
build = registry.build
