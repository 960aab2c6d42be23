"""How a command ends when it does not end well: one message, a next step, an exit code."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO, TypeVar

import typer

from screentest._util.optional import need
from screentest.cli.console import shown
from screentest.core import NoValue, Reason, ScreentestError, Stopped, StorageError

EXIT_UNREAD = 3
"""Done, but for inputs that could not be read at all."""
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE
EXIT_BUG = 70  # EX_SOFTWARE


R = TypeVar("R")


def until_stopped(job: Callable[[], R]) -> tuple[R, int]:
    """What a job gives and 0; where a signal stopped it, what there is and the exit code."""
    try:
        return job(), 0
    except Stopped as stop:
        return stop.result, stop.exit_code


def run(ctx: Any, command: Callable[[Any], Any]) -> Any:
    """Run a command and turn whatever it raises into a message and an exit code."""
    _say_own_warnings()
    try:
        result = _with_its_extra(command, ctx)
        # Where the reader has gone, say so now and not when the interpreter shuts down.
        sys.stdout.flush()
        return result
    except ScreentestError as error:
        if _debugging(ctx):
            traceback.print_exc()
        elif isinstance(error, NoValue) and error.reason is Reason.CRASHED:
            # A worker met the bug; its message is the traceback.
            _report_bug(error.message.splitlines()[-1], error.message)
            raise typer.Exit(EXIT_BUG) from None
        else:
            _say(f"error: {error.message}", error.advice)
        raise typer.Exit(error.exit_code) from None
    except BrokenPipeError:
        _mute(sys.stdout)
        raise typer.Exit(EXIT_BROKEN_PIPE) from None
    except KeyboardInterrupt:
        _say("stopped")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except OSError as error:
        if _debugging(ctx):
            traceback.print_exc()
        else:
            _say(f"error: {_message(error)}")
        raise typer.Exit(StorageError.exit_code) from None
    except Exception as error:
        if _is_typers(error):
            raise
        if _debugging(ctx):
            traceback.print_exc()
        else:
            _report_bug(f"{type(error).__name__}: {error}", traceback.format_exc())
        raise typer.Exit(EXIT_BUG) from None


def _with_its_extra(command: Callable[[Any], Any], ctx: Any) -> Any:
    """Run a command; one whose module needs an extra says which, when it is imported."""
    try:
        return command(ctx)
    except ModuleNotFoundError as error:
        if error.name:
            need(error.name.partition(".")[0])
        raise


def _say_own_warnings() -> None:
    """Print our warnings as one line; who reads a terminal has no use for where they are raised."""
    before = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if category.__module__.startswith("screentest."):
            _say(f"warning: {message}")
        else:
            before(message, category, filename, lineno, file, line)

    warnings.showwarning = show


def _is_typers(error: Exception) -> bool:
    """Typer has exceptions of its own, for leaving and for wrong usage; it prints them itself."""
    return isinstance(error, typer.Abort) or hasattr(error, "exit_code")


def _debugging(ctx: Any) -> bool:
    return bool(ctx.params.get("debug"))


def _message(error: OSError) -> str:
    words = error.strerror or str(error)
    return f"{error.filename}: {words}" if error.filename else words


def _say(*lines: str) -> None:
    with suppress(OSError):  # nobody is listening: there is nothing left to say
        for line in lines:
            for part in line.splitlines():
                sys.stderr.write(shown(part) + "\n")
        sys.stderr.flush()


def _mute(stream: Any) -> None:
    """Let the flush at exit go nowhere instead of failing once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _report_bug(what: str, trace: str) -> None:
    _say(f"error: {what}", "This is a fault in screentest, not in your files.")
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            prefix="screentest-",
            suffix=".log",
            delete=False,
            encoding="utf-8",
            errors="backslashreplace",
        ) as log:
            log.write(f"{sys.argv!r}\n{trace}\n")
    except OSError:
        _say("Run it again with SCREENTEST_DEBUG=1 to see where.")
    else:
        _say(f"The traceback is in {log.name} (SCREENTEST_DEBUG=1 shows it here).")
