"""The command line: ``loader`` reads the table of commands, ``errors`` says how they end."""

from __future__ import annotations

import importlib
import sys
from typing import Annotated, Any

import typer

import screentest
from screentest.cli.loader import SECTIONS, CommandGroup, all_commands

__all__ = ["app", "main"]


class Commands(CommandGroup):
    """All commands: our own, and those of other installed packages."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.rows, self.sections = all_commands(), SECTIONS

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what it raises becomes a message and an exit code."""
        # Imported now: `--help` comes without it, and without all that errors are made of.
        errors = importlib.import_module("screentest.cli.errors")
        return errors.run(ctx, super().invoke)


app = typer.Typer(
    name="screentest",
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"screentest {screentest.__version__}")
        raise typer.Exit


@app.callback()
def _everywhere(
    debug: Annotated[
        bool,
        typer.Option("--debug", envvar="SCREENTEST_DEBUG", help="Show the traceback of any error."),
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Score generated video against its prompt, and put the scorers to the test."""


def main() -> None:
    """Run the command that ``sys.argv`` names; the entry point."""
    for stream in (sys.stdout, sys.stderr):
        # A file name or prompt may hold letters that the terminal's encoding lacks.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app()
