"""What a decoding worker does: call a function within limits, and say what came of it.

It writes to no terminal and leaves no core dump.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from screentest._util.workers import serve
from screentest.core import NoValue, Outcome, Reason, ScreentestError
from screentest.video.limits import MIB, Limits

if sys.platform != "win32":
    import resource

HAS_ALARM = hasattr(signal, "setitimer")
"""Whether the kernel ends a task that overruns; if not, the parent has to."""

_OPENCV_OUT_OF_MEMORY = -4


def apply_limits(limits: Limits) -> None:
    """Hold this process to ``limits.memory`` beyond what it holds now, and to no core dumps.

    Made for Linux, where RLIMIT_DATA counts what a process can write to and leaves out the
    address space that threads and libraries only reserve. Other systems may ignore it.
    """
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _limit_data(_held_bytes() + limits.memory)


def live(tasks: Connection) -> None:
    """Work on one file after another. Runs in the worker."""
    serve(tasks, perform)


def perform(task: bytes) -> bytes:
    """Run a pickled (function, arguments, limits, folder); the pickled Reply."""
    reply = _reply(task)
    try:
        return pickle.dumps(reply)
    except Exception as error:  # noqa: BLE001 - an untrusted __reduce__ may raise anything
        return pickle.dumps(Reply(_crashed(f"its result cannot be sent: {error}")))


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of a task: an outcome, or an error that is the caller's to fix."""

    outcome: Outcome[Any] | ScreentestError
    out_of_memory: bool = False
    """Then libraries may be in any state, and the worker should not be used again."""


def _reply(task: bytes) -> Reply:
    try:
        function: Callable[..., Any]
        function, arguments, limits, folder = pickle.loads(task)  # noqa: S301 - our own parent's
        os.chdir(folder)  # the parent may have moved since this worker began
    except Exception:  # noqa: BLE001 - unpickling imports an untrusted module
        return Reply(_crashed(traceback.format_exc().strip()))
    try:
        with _held_to(limits):
            return Reply(Outcome.of(function(*arguments)))
    except NoValue as error:
        return Reply(Outcome(failure=error.failure))
    except ScreentestError as error:
        return Reply(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - untrusted code is behind it
        if _is_out_of_memory(error):
            return Reply(_too_much_memory(limits), out_of_memory=True)
        return Reply(_crashed(traceback.format_exc().strip()))


@contextmanager
def _held_to(limits: Limits) -> Iterator[None]:
    apply_limits(limits)
    if HAS_ALARM:
        # The kernel keeps this clock: it also ends a task that holds Python's lock for ever.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limits.wall_seconds)
    try:
        yield
    finally:
        if HAS_ALARM:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if sys.platform != "win32":
            _limit_data(resource.RLIM_INFINITY)


def _limit_data(wanted: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        wanted = hard if wanted == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def _held_bytes() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[5])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _is_out_of_memory(error: BaseException) -> bool:
    if type(error).__module__ == "cv2":
        return getattr(error, "code", None) == _OPENCV_OUT_OF_MEMORY
    return isinstance(error, MemoryError)


def _too_much_memory(limits: Limits) -> Outcome[Any]:
    return Outcome.failed(
        Reason.TOO_LARGE,
        f"needs more than {limits.memory // MIB:,} MiB of memory",
        "Make a smaller copy of the video, or raise Limits.memory if you trust it.",
    )


def _crashed(detail: str) -> Outcome[Any]:
    return Outcome.failed(
        Reason.CRASHED, detail, "This is a bug: please report it with the lines above."
    )
