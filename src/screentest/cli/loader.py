"""Groups that import a command of ``commands.toml`` when it is called.

A row has the command's name, ``module:function`` and the first line of its docstring; a Typer app
may stand in place of the function. A suite's folder has a table too, in its ``__init__``. Other
packages bring commands by entry points of the group ``screentest.commands``.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import pkgutil
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

ENTRY_POINTS = "screentest.commands"
_COMPLETION = {"install_completion", "show_completion"}

_TABLES: Any = tomllib.loads(Path(__file__).with_name("commands.toml").read_text("utf-8"))
COMMANDS: str = _TABLES["commands"]
GROUPS: dict[str, tuple[str, str]] = {
    name: (group["help"], group["commands"]) for name, group in _TABLES["groups"].items()
}
"""Groups of commands by name: their help and their rows."""
SECTIONS: dict[str, list[str]] = _TABLES["sections"]
"""Headings of the program's help, with the commands below each."""


@dataclass(frozen=True, slots=True)
class Row:
    """A command whose module is not imported yet."""

    help: str
    load: Callable[[], Any]
    """Gives a function, a Typer app or a group."""


def read_table(table: str, package: str = "screentest") -> dict[str, Row]:
    """Read the rows of a table whose modules are named from ``package`` on."""
    rows = {}
    for line in table.strip().splitlines():
        name, target, help_ = line.split(None, 2)
        point = importlib.metadata.EntryPoint(name, f"{package}.{target}", ENTRY_POINTS)
        rows[name] = Row(help_, point.load)
    return rows


@cache
def all_commands() -> dict[str, Row]:
    """Return the program's commands and groups; a plugin replaces none of ours."""
    plugins = {
        point.name: Row(point.dist.metadata["Summary"] or "" if point.dist else "", point.load)
        for point in importlib.metadata.entry_points(group=ENTRY_POINTS)
    }
    groups = {
        name: Row(text.partition("\n")[0], partial(LazyGroup, name, text, table))
        for name, (text, table) in GROUPS.items()
    }
    groups["suite"] = Row(groups["suite"].help, partial(_suite_group, *GROUPS["suite"]))
    return {**plugins, **read_table(COMMANDS), **groups}


def suite_tables() -> dict[str, tuple[str, str]]:
    """Return the help and the commands of our own suites, by the suite's name."""
    suites = importlib.import_module("screentest.suites")
    tables = {}
    for module in pkgutil.iter_modules(suites.__path__):
        suite: Any = module.ispkg and importlib.import_module(f"screentest.suites.{module.name}")
        if hasattr(suite, "COMMANDS"):
            tables[module.name] = suite.HELP, suite.COMMANDS
    return tables


def _suite_group(text: str, table: str) -> LazyGroup:
    """Return the group ``suite``, with a group for each suite that has commands."""
    group = LazyGroup("suite", text, table)
    for name, (help_, commands) in suite_tables().items():
        package = f"screentest.suites.{name}"
        group.rows[name] = Row(
            help_.partition("\n")[0], partial(LazyGroup, name, help_, commands, package)
        )
    registry = importlib.import_module("screentest.core").registry  # not for `--help` alone
    for entry in registry.entries("suite", builtin=False):
        target = registry.build("suite", entry.name).thing.commands
        if target:
            point = importlib.metadata.EntryPoint(entry.name, target, ENTRY_POINTS)
            group.rows.setdefault(entry.name, Row(str(entry.info.get("summary", "")), point.load))
    return group


class CommandGroup(TyperGroup):
    """A group whose commands are imported when they are called, not when they are listed."""

    rows: dict[str, Row]
    """Commands that are not imported yet, by name."""
    sections: Mapping[str, Sequence[str]] = {}
    """Headings of the help, with the commands below each; the others come last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands; nothing is imported."""
        return sorted({*super().list_commands(ctx), *self.rows})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the module of one command."""
        command = super().get_command(ctx, cmd_name)
        if command is None and cmd_name in self.rows:
            command = as_command(cmd_name, self.rows[cmd_name].load())
            self.add_command(command, cmd_name)
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands with their lines of help, under headings where there are some."""
        names = self.list_commands(ctx)
        listed = {name for below in self.sections.values() for name in below}
        others = [name for name in names if name not in listed]
        for title, below in {**self.sections, "Commands": others}.items():
            lines = [
                (
                    name.ljust(max(map(len, names))),
                    self.rows[name].help
                    if name in self.rows
                    else self.commands[name].get_short_help_str(),
                )
                for name in below
            ]
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; suggest near names where there is none."""
        self.suggest_commands = False  # Typer looks only at the commands that are imported
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:
            if hasattr(error, "message") and self.get_command(ctx, args[0]) is None:
                error.message += suggestion(args[0], self.list_commands(ctx))
            raise


class LazyGroup(CommandGroup):
    """The commands of one table, such as a suite's."""

    def __init__(self, name: str, text: str, table: str, package: str = "screentest") -> None:
        super().__init__(name=name, help=text, no_args_is_help=True, rich_markup_mode=None)
        self.rows = read_table(table, package)


class SectionedCommand(TyperCommand):
    """A command whose help lists its options under headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options, those of a heading together."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                title = getattr(param, "rich_help_panel", None) or "Options"
                title = "Arguments" if param.param_type_name == "argument" else title
                sections.setdefault(title, []).append(record)
        widest = max(len(flag) for rows in sections.values() for flag, _ in rows)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl([(flag.ljust(min(widest, 30)), text) for flag, text in rows])


def suggestion(wrong: str, names: Iterable[str]) -> str:
    """Near names, as the end of a message.

    >>> suggestion("scroe", ["score", "show"])
    " Did you mean 'score'?"
    """
    near = difflib.get_close_matches(wrong, list(names))
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def as_command(name: str, thing: Any) -> Any:
    """Make what Typer runs of a function, an app or a group."""
    if isinstance(thing, TyperGroup):
        return thing
    app = thing
    if not isinstance(thing, typer.Typer):
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name, cls=SectionedCommand)(thing)
    for info in filter(None, [app.registered_callback, *app.registered_commands]):
        if isinstance(info.callback, FunctionType) and not hasattr(info.callback, "__wrapped__"):
            # What `shares` wraps has been described; options are not imported for `--help` alone.
            described = importlib.import_module("screentest.cli.options").described
            info.callback = described(info.callback)
    command = typer.main.get_command(app)
    command.name = name
    # Completion belongs to the whole program, not to one of its commands.
    command.params = [option for option in command.params if option.name not in _COMPLETION]
    _name_arguments(command)
    return command


def _name_arguments(command: Any) -> None:
    """Show arguments as ``DIR [PAIR]``; Typer writes ``{DIR} [[PAIR]]`` and ``DIR <path>``."""
    for inner in getattr(command, "commands", {}).values():
        _name_arguments(inner)
    for argument in command.params:
        if argument.param_type_name == "argument":
            name = (argument.metavar or argument.name.upper()).strip("[]").rstrip("…")
            name += "" if argument.nargs == 1 else "…"
            argument.get_usage_pieces = partial(_usage, name if argument.required else f"[{name}]")
            argument.get_help_record = partial(_record, name, argument.get_help_record)


def _usage(name: str, ctx: Any) -> list[str]:
    return [name]


def _record(name: str, made: Callable[[Any], tuple[str, str] | None], ctx: Any) -> Any:
    """Return a line of the help as Typer made it, under another name; none of a hidden argument."""
    record = made(ctx)
    return None if record is None else (name, record[1])
