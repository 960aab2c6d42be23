"""The table of commands, and groups that import a command when it is called.

A row has the command's name, ``module:function`` and the first line of its docstring; a Typer app
may stand in place of the function. A suite's folder has a table too, in its ``__init__``. Other
packages bring commands by entry points of the group ``screentest.commands``.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import typer
from typer.core import TyperGroup

ENTRY_POINTS = "screentest.commands"
_COMPLETION = {"install_completion", "show_completion"}

COMMANDS = """
ask cli.models:ask Ask a chat model once: try an endpoint, a key, a price list.
build cli.build:build Build pairs of original and degraded videos from captioned films.
build-prompts cli.build:build_prompts Build pairs of one video under its own and a false prompt.
certify cli.certify:certify Measure how often judges prefer the original video of a pair.
certify-scores cli.certify:certify_scores Compare scores of another tool with people's votes.
certify-votes cli.certify:certify_votes Compare judges with people's votes.
compare cli.report:compare Compare models, or judges, on what all of them have.
demo cli.demo:demo Try screentest on the sample it brings.
doctor cli.doctor:doctor Show what is installed and how to get the rest.
export cli.report:export Write the records of a run to a file.
frames cli.video:frames Save frames as pictures, and a contact sheet of them.
judge cli.certify:judge Ask a judge which of two videos is better, in both orders.
merge cli.runs:merge Merge runs that several machines made of one job.
models cli.models:models Show the models of each role, and where their weights are.
probe cli.video:probe_videos Show what video files hold.
report cli.report:report Make one page of one or several runs.
runs cli.runs:runs List runs with coverage and cost.
score cli.score:score Score videos with a suite or with single metrics.
shots cli.video:shots Find the shots of a video.
show cli.show:show_item Show one video's scores over time.
validate cli.validate:validate Check a manifest and its videos before a run.
watch cli.watch:watch Score validation clips as they appear, and raise alarms on collapse.
"""
"""Each row: name, module:function, first line of the docstring."""

GROUPS = {
    "annotate": (
        "Ask people: a web app for judgements of videos.",
        """
bundle    annotate.commands:bundle         Make pages for another platform.
export    annotate.vote_commands:export    Write the votes to a CSV or JSON file.
filter    annotate.vote_commands:filter_   Keep the pairs whose degradation people confirm.
import    annotate.vote_commands:import_   Import votes that were cast elsewhere.
invite    annotate.commands:invite         Make personal links for workers.
plan      annotate.commands:plan           Estimate minutes and price before you publish a task.
results   annotate.vote_commands:results   Show which model people prefer.
serve     annotate.commands:serve          Start the web app.
translate annotate.commands:translate      Translate the prompts with a chat model.
workers   annotate.vote_commands:workers   Show the workers, and which ones to review.
""",
    ),
    "sample": (
        "The films that come with screentest, to try things on.",
        """
checkpoints cli.demo:checkpoints Write short clips of two checkpoints, to compare them.
copy cli.demo:copy Copy the packaged films, with a manifest of their prompts and timed scripts.
""",
    ),
    "suite": (
        """Show suites of metrics, and run their commands.

\b
Examples:
  screentest suite list
  screentest suite show core
""",
        """
list cli.suite:list_suites List the suites.
show cli.suite:show_suite  Show which metrics a suite has and how they add up.
""",
    ),
    "testbed": (
        "Inspect, verify and sample testbeds.",
        """
operators cli.testbed:list_operators List the operators that `build` can harm films with, by aspect.
page      cli.testbed:page               Write testbed.html again: every pair side by side.
sample    cli.testbed:sample             Draw a smaller testbed, evenly over aspects.
show      cli.testbed_pairs:show_testbed Show what a testbed holds, or everything about one pair.
stats cli.testbed_pairs:stats Count pairs per aspect, durations, categories and prompt lengths.
verify    cli.testbed:verify             Check that a testbed is what it says, down to the packets.
""",
    ),
}
"""Groups of commands by name: their help and their rows."""


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
    """Return the commands and groups of the program; ours come before a plugin's of the same
    name."""
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
        """List the commands with their lines of help."""
        lines = [
            (
                name,
                self.rows[name].help
                if name in self.rows
                else self.commands[name].get_short_help_str(),
            )
            for name in self.list_commands(ctx)
        ]
        if lines:
            with formatter.section("Commands"):
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
        app.command(name)(thing)
    command = typer.main.get_command(app)
    command.name = name
    # Completion belongs to the whole program, not to one of its commands.
    command.params = [option for option in command.params if option.name not in _COMPLETION]
    _name_arguments(command)
    return command


def _name_arguments(command: Any) -> None:
    """Show arguments by their names alone: ``DIR [PAIR]``, and not ``{DIR} [[PAIR]]`` above and
    ``DIR <path>`` below, as Typer writes them."""
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
