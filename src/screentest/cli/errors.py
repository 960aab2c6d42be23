"""How a command ends when it does not end well: one message, a next step, an exit code.

Messages come from Python and name parameters in backticks; they are printed with the flags of the
command that was run (``as_flags``).
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import typer

from screentest._util.optional import need
from screentest.cli.console import shown
from screentest.core import NoValue, Reason, ScreentestError, Stopped, StorageError
from screentest.core.registry import registry

EXIT_UNREAD = 3
"""Done, but for inputs that could not be read at all."""
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE
EXIT_BUG = 70  # EX_SOFTWARE
EXIT_PLUGIN = 2  # as for what else the user has to put right


R = TypeVar("R")


def until_stopped(job: Callable[[], R]) -> tuple[R, int]:
    """Do a job; where a signal stops it, give the result so far and an exit code above 0."""
    try:
        return job(), 0
    except Stopped as stop:
        return stop.result, stop.exit_code


def run(ctx: Any, command: Callable[[Any], Any]) -> Any:
    """Run a command and turn whatever it raises into a message and an exit code."""
    _say_own_warnings()
    words = [*getattr(ctx, "_protected_args", ()), *ctx.args]  # gone when an error comes back
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
            ran = _command(ctx, words)
            _say(as_flags(f"error: {error.message}", ran), as_flags(error.advice, ran))
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
    except (Exception, SystemExit) as error:
        plugin = _plugin_in(error)
        # Typer prints what it raises itself, for leaving and for wrong usage.
        typers = isinstance(error, typer.Abort) or hasattr(error, "exit_code")
        if typers or (isinstance(error, SystemExit) and not plugin):
            raise
        if _debugging(ctx):
            traceback.print_exc()
        else:
            what = f"{type(error).__name__}: {error}"
            _report_bug(what, traceback.format_exc(), plugin and f"the plugin {plugin}")
        raise typer.Exit(EXIT_PLUGIN if plugin else EXIT_BUG) from None


_PARAMETER = re.compile(r"`(\w+)(?:=([^`]*))?`")


def as_flags(text: str, command: Any) -> str:
    """Write the parameters that a message names as flags of a command.

    ``model="chat=openai:NAME"`` in backticks becomes --model chat=openai:NAME; a name that the
    command does not have stays as it is.
    """
    parameters = {parameter.name: parameter for parameter in command.params}

    def flag(match: re.Match[str]) -> str:
        parameter = parameters.get(match[1])
        if parameter is None:
            return match[0]
        if parameter.param_type_name == "argument":
            return str(parameter.metavar or parameter.name.upper())
        value = "" if parameter.is_flag else (match[2] or "").strip("\"'")
        return f"{parameter.opts[0]} {value}".rstrip()

    return _PARAMETER.sub(flag, text)


def _command(ctx: Any, words: Sequence[str]) -> Any:
    command = ctx.command
    with suppress(ModuleNotFoundError):  # one whose extra is not installed has no parameters
        for word in words:
            inner = command.get_command(ctx, word) if hasattr(command, "get_command") else None
            if inner is None:
                break
            command = inner
    return command


def _with_its_extra(command: Callable[[Any], Any], ctx: Any) -> Any:
    """Run a command; one whose module needs an extra says which, when it is imported."""
    try:
        return command(ctx)
    except ModuleNotFoundError as error:
        if error.name:
            need(error.name.partition(".")[0])
        raise


def _say_own_warnings() -> None:
    """Print our warnings as one line, without the place that raised them."""
    before = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if category.__module__.startswith("screentest."):
            _say(f"warning: {message}")
        else:
            before(message, category, *place, **more)

    warnings.showwarning = show


def _plugin_in(error: BaseException) -> str:
    """Name the plugin whose code raised an error, or called what raised it."""
    frames = traceback.walk_tb(error.__traceback__)
    modules = [str(frame.f_globals.get("__name__", "")) for frame, _ in frames]
    ours = [place for place, name in enumerate(modules) if name.startswith("screentest.")]
    if isinstance(error, SystemExit) and modules[ours[-1]].startswith("screentest.cli"):
        return ""  # a command of a plugin ends as it likes
    return next(filter(None, map(registry.plugin_of, modules[ours[-1] + 1 :])), "")


def _debugging(ctx: Any) -> bool:
    return bool(ctx.params.get("debug"))


def _message(error: OSError) -> str:
    words = error.strerror or str(error)
    name = error.filename2 or error.filename  # a copy fails where it goes to
    return f"{name}: {words}" if name else words


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


def _report_bug(what: str, trace: str, where: str = "") -> None:
    _say(f"error: {what}", f"This is a fault in {where or 'screentest, not in your files'}.")
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
