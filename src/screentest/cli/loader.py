"""Commands are found by reading text and imported when they are asked for.

A command module says in a table which commands it has:

    COMMANDS = {"probe": probe, "frames": save_frames}

The table is a literal at the module's top level; a value is a function for Typer, or a Typer app.
The first line of the function's docstring (of an app: of its callback's) is the line in ``--help``.

Command modules are

* the modules of ``cli`` that have such a table,
* ``commands.py`` and ``*_commands.py`` of every other package,
* the same files of a suite's folder: ``suites/NAME/commands.py`` has ``screentest suite NAME …``,
* from other packages: entry points of the group ``screentest.commands``, ``name = "module:app"``.

Where a module says ``GROUP = "annotate"``, its commands are called ``screentest annotate …``. The
help of a group is the docstring of its ``commands.py`` (or of the module named like the group).

Nothing but the module of the wanted command is imported, so the imports of a command module are
ordinary ones, at its top.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

ENTRY_POINTS = "screentest.commands"
PACKAGE = Path(__file__).parent.parent

_TABLE = re.compile(r"^COMMANDS[^=\n]* = \{([^}]*)\}", re.MULTILINE)
_ROW = re.compile(r'"([^"]+)": (\w+)')
_GROUP = re.compile(r'^GROUP[^=\n]* = "([^"]+)"', re.MULTILINE)
_COMPLETION = {"install_completion", "show_completion"}
_SHORT = r'.*?"""(.*?)(?:\n|""")'


@dataclass(frozen=True, slots=True)
class Found:
    """A command that is known by name; its module is not imported yet."""

    short: str
    load: Callable[[], Any]
    """Gives a function, a Typer app or a group."""


@dataclass(slots=True)
class Group:
    """Commands by name, those of a suite or of a package, and the help of all."""

    help: str = ""
    commands: dict[str, Found] = field(default_factory=dict)


def read_module(name: str, path: Path, groups: dict[str, Group], group: str = "") -> None:
    """Add the commands that a module's text has to their group."""
    text = path.read_text(encoding="utf-8")
    table = _TABLE.search(text)
    if table is None:
        return
    named = _GROUP.search(text)
    group = named[1] if named else group
    into = groups.setdefault(group, Group())
    if group and path.stem in {"commands", group}:
        into.help = ast.get_docstring(ast.parse(text)) or ""
    for command, value in _ROW.findall(table[1]):
        into.commands[command] = Found(_short(text, value), _Loader(name, command))


def _short(text: str, value: str) -> str:
    """The first line of the docstring of a function, or of the callback of an app."""
    defined = rf"^(?:def {value}\(|@{value}\.callback\()"
    found = re.search(defined + _SHORT, text, re.MULTILINE | re.DOTALL)
    return found[1].partition(". ")[0] if found else ""


@dataclass(frozen=True, slots=True)
class _Loader:
    module: str
    command: str

    def __call__(self) -> Any:
        return importlib.import_module(self.module).COMMANDS[self.command]


@cache
def own_groups() -> Mapping[str, Group]:
    """The groups of this package by name: "", "annotate", …"""
    groups: dict[str, Group] = {"": Group()}
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        read_module(f"screentest.cli.{path.stem}", path, groups)
    for path in _command_files(PACKAGE):
        if path.parent.name not in {"cli", "suites"}:
            read_module(_module_name(path), path, groups)
    return groups


@cache
def suite_groups() -> Mapping[str, Group]:
    """The commands of our own suites, by the suite's name."""
    groups: dict[str, Group] = {}
    for path in _command_files(PACKAGE / "suites"):
        read_module(_module_name(path), path, groups, path.parent.name)
    return groups


def _command_files(folder: Path) -> Iterator[Path]:
    for pattern in ("*/commands.py", "*/*_commands.py"):
        yield from sorted(folder.glob(pattern))


def _module_name(path: Path) -> str:
    return ".".join(("screentest", *path.relative_to(PACKAGE).with_suffix("").parts))


@cache
def plugin_commands() -> Mapping[str, Found]:
    """The commands that other installed packages bring."""
    return {
        point.name: Found(_plugin_help(point), point.load)
        for point in importlib.metadata.entry_points(group=ENTRY_POINTS)
    }


def _plugin_help(point: importlib.metadata.EntryPoint) -> str:
    """Read from the text of the plugin's module: its package is not imported for a line of help."""
    top, *inner = point.module.split(".")
    root = importlib.util.find_spec(top)
    for place in (root.submodule_search_locations or ()) if root else ():
        file = Path(place, *inner)
        for path in (file.with_suffix(".py"), file / "__init__.py"):
            if path.is_file():
                return _short(path.read_text(encoding="utf-8"), point.attr)
    if root and root.origin and not inner:
        return _short(Path(root.origin).read_text(encoding="utf-8"), point.attr)
    return ""


class CommandGroup(TyperGroup):
    """A group whose commands are imported when they are called, not when they are listed."""

    def found(self) -> Mapping[str, Found]:
        """The commands that are known by name, beside those that Typer was given."""
        return {}

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands; nothing is imported."""
        return sorted({*super().list_commands(ctx), *self.found()})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the module of one command."""
        known = super().get_command(ctx, cmd_name)
        if known is None and cmd_name in self.found():
            known = as_command(cmd_name, self.found()[cmd_name].load())
            self.add_command(known, cmd_name)
        return known

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands with a line of help each, as their text has it."""
        found = self.found()
        rows = [
            (name, found[name].short if name in found else self.commands[name].get_short_help_str())
            for name in self.list_commands(ctx)
        ]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; suggest near names where there is none."""
        self.suggest_commands = False  # Typer looks only at the commands that are imported
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:
            if hasattr(error, "message") and self.get_command(ctx, args[0]) is None:
                error.message += suggestion(args[0], self.list_commands(ctx))
            raise


class FoundGroup(CommandGroup):
    """The commands of one group, such as a suite's."""

    def __init__(self, name: str, group: Group) -> None:
        super().__init__(name=name, help=group.help, no_args_is_help=True, rich_markup_mode=None)
        self._group = group

    def found(self) -> Mapping[str, Found]:
        """The commands that the group's modules have."""
        return self._group.commands


def suggestion(wrong: str, known: Iterable[str]) -> str:
    """Near names, as the end of a message.

    >>> suggestion("scroe", ["score", "show"])
    " Did you mean 'score'?"
    """
    near = difflib.get_close_matches(wrong, list(known))
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def as_command(name: str, thing: Any) -> Any:
    """What Typer runs, made of a function, an app or a group."""
    if isinstance(thing, TyperGroup):
        return thing
    app = thing
    if not isinstance(thing, typer.Typer):
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name)(thing)
    command = typer.main.get_command(app)
    command.name = name
    # Completion belongs to the whole program, not to one of its commands.
    command.params = [one for one in command.params if one.name not in _COMPLETION]
    _name_arguments(command)
    return command


def _name_arguments(command: Any) -> None:
    """Arguments in the help by their names alone: ``DIR [PAIR]``, and not ``{DIR} [[PAIR]]`` above
    and ``DIR <path>`` below, as Typer writes them."""
    for inner in getattr(command, "commands", {}).values():
        _name_arguments(inner)
    for one in command.params:
        if one.param_type_name == "argument":
            name = (one.metavar or one.name.upper()).strip("[]").rstrip("…")
            name += "" if one.nargs == 1 else "…"
            one.get_usage_pieces = partial(_usage, name if one.required else f"[{name}]")
            one.get_help_record = partial(_record, name, one.get_help_record)


def _usage(name: str, ctx: Any) -> list[str]:
    return [name]


def _record(name: str, made: Callable[[Any], tuple[str, str] | None], ctx: Any) -> Any:
    """A line of the help as Typer made it, under another name; none of a hidden argument."""
    record = made(ctx)
    return None if record is None else (name, record[1])


def found_groups(groups: Mapping[str, Group]) -> dict[str, Found]:
    """Groups as commands; the suites' own are in the group ``suite``, and read when it is used."""
    return {
        name: Found(group.help.partition("\n")[0], partial(load_group, name, group))
        for name, group in groups.items()
        if name
    }


def load_group(name: str, group: Group) -> FoundGroup:
    """A group with its commands."""
    if name == "suite":
        suites = {**plugin_suites(), **found_groups(suite_groups())}
        group = Group(group.help, {**suites, **group.commands})
    return FoundGroup(name, group)


def plugin_suites() -> dict[str, Found]:
    """The suites of other packages that have commands: ``Suite.commands`` is ``module:app``."""
    registry = importlib.import_module("screentest.core").registry  # not for `--help` alone
    found = {}
    for entry in registry.entries("suite", builtin=False):
        commands = registry.build("suite", entry.name).thing.commands
        if commands:
            point = importlib.metadata.EntryPoint(entry.name, commands, ENTRY_POINTS)
            summary = str(entry.info.get("summary", ""))
            found[entry.name] = Found(summary or _plugin_help(point), point.load)
    return found
