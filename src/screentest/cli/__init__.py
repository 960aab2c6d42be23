"""The command line: one file per command, thin.

A command is a module of this package that defines ``command(app)``; it is found by being
there. Heavy packages are imported inside the functions that need them, so that help and
mistakes in options are answered at once.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import Annotated

import typer

from screentest.cli._errors import Commands

__all__ = ["app", "main"]

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
        from screentest import __version__

        typer.echo(f"screentest {__version__}")
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


for _module in pkgutil.iter_modules(__path__):
    if not _module.name.startswith("_"):
        importlib.import_module(f"{__name__}.{_module.name}").command(app)
for _name in ("etva.commands", "univ.commands", "univ.agree_command", "univ.caption_command"):
    importlib.import_module(f"screentest.suites.{_name}").command(app)


def main() -> None:
    """Run the command that ``sys.argv`` names; the entry point."""
    for stream in (sys.stdout, sys.stderr):
        # A file name or prompt may hold letters that the terminal's encoding lacks.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app()
