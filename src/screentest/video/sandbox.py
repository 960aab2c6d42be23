"""The sandbox: work on a file in a process of its own, within limits.

>>> supervised(len, "four").value
4

Whatever the file does to the decoder, the caller gets an Outcome: the value, or a typed
reason. A worker that dies or overruns is replaced; the next file finds a fresh one. A script
whose own functions are called so needs the usual ``if __name__ == "__main__"``.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from queue import LifoQueue
from typing import Any, Self, TypeVar, TypeVarTuple

from screentest._util.workers import Done, Lost, ProcessPool, is_main_needed, serve
from screentest.core import NoValue, Outcome, Reason, ScreentestError
from screentest.video.limits import DEFAULT_LIMITS, MIB, Limits

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


__all__ = ["Supervisor", "apply_limits", "supervised"]

T = TypeVar("T")
Item = TypeVar("Item")
Arguments = TypeVarTuple("Arguments")

_GRACE_SECONDS = 30.0
"""For a worker to import what a task needs. Only then does the task's own time begin."""
_TASKS_PER_WORKER = 500
"""Then a fresh one: what libraries leak does not add up."""
_TRIES = 2
_LOOK_SECONDS = 0.2
"""How often to see whether a silent worker is still there, and still wanted."""


def supervised(
    function: Callable[[*Arguments], T], *arguments: *Arguments, limits: Limits = DEFAULT_LIMITS
) -> Outcome[T]:
    """Call ``function`` in the shared worker process and wait for its outcome.

    NoValue raised inside is the failure it describes. Errors that are the user's to fix are
    raised here as they were there.
    """
    return _shared().run(function, *arguments, limits=limits)


class Supervisor:
    """Worker processes that one may lose. Use it as a context manager, from any thread."""

    def __init__(self, workers: int = 1) -> None:
        self._slots = [_Slot() for _ in range(workers)]
        # Last in, first out: a warm worker is taken before a cold one.
        self._idle: LifoQueue[_Slot] = LifoQueue()
        for slot in self._slots:
            self._idle.put(slot)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self,
        function: Callable[[*Arguments], T],
        *arguments: *Arguments,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Outcome[T]:
        """Call ``function`` in a free worker; waits for one, and for the outcome."""
        task = pickle.dumps((function, arguments, limits, Path.cwd()))
        return self._run(task, limits, threading.Event())

    def map(
        self,
        function: Callable[[Item], T],
        items: Iterable[Item],
        *,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Iterator[Outcome[T]]:
        """Yield the outcome of each item, in their order, with all workers busy.

        Whoever stops listening, by Ctrl-C or ``close()``, ends the work on the others.
        """
        unwanted, here = threading.Event(), Path.cwd()

        def one_item(item: Item) -> Outcome[T]:
            return self._run(pickle.dumps((function, (item,), limits, here)), limits, unwanted)

        with ThreadPoolExecutor(len(self._slots)) as threads:
            waiting = [threads.submit(one_item, item) for item in items]
            try:
                for future in waiting:
                    yield future.result()
            finally:
                unwanted.set()
                threads.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Stop all workers, at once, with all that they started."""
        for slot in self._slots:
            slot.closing.set()
        for slot in [self._idle.get() for _ in self._slots]:
            slot.close()
            self._idle.put(slot)

    def _run(self, task: bytes, limits: Limits, unwanted: threading.Event) -> Outcome[Any]:
        slot = self._idle.get()
        try:
            return slot.run(task, limits, unwanted)
        finally:
            self._idle.put(slot)


class _Slot:
    """A place for one worker process at a time."""

    def __init__(self) -> None:
        self.closing = threading.Event()
        self._with_main = False
        self._pool: ProcessPool[bytes] | None = None

    def run(self, task: bytes, limits: Limits, unwanted: threading.Event) -> Outcome[Any]:
        """Raise CancelledError where the outcome is not wanted any more."""
        try:
            event = self._wait(task, limits, unwanted)
        except BaseException:  # Ctrl-C, or nobody waits for it any more
            self.close()
            raise
        if isinstance(event, Lost):
            is_late = event.limit == "time" or (HAS_ALARM and event.exit_code == -signal.SIGALRM)
            return _overtime(limits) if is_late else _death(event.exit_code)
        reply: Reply = event.message
        if reply.out_of_memory:
            self.close()
        if isinstance(reply.outcome, ScreentestError):
            raise reply.outcome
        return reply.outcome

    def close(self) -> None:
        """End the worker, with all that it started."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _wait(
        self, task: bytes, limits: Limits, unwanted: threading.Event
    ) -> Done[bytes] | Lost[bytes]:
        pool = self._ready_pool(with_main=is_main_needed(task))
        # The kernel's alarm ends it first, unless it is blocked or the system has none.
        patience = limits.wall_seconds + (_GRACE_SECONDS if HAS_ALARM else 0)
        given, tries = False, 1
        while not (unwanted.is_set() or self.closing.is_set()):
            if not given:
                pool.ensure(1)
                given = pool.give(task, task, patience)
            for event in pool.wait(None, _LOOK_SECONDS):
                if isinstance(event, Lost) and not event.begun and tries < _TRIES:
                    given, tries = False, tries + 1  # it was killed while it was idle
                else:
                    return event
        raise CancelledError

    def _ready_pool(self, *, with_main: bool) -> ProcessPool[bytes]:
        if with_main and not self._with_main:
            self.close()
            self._with_main = True
        if self._pool is None:
            self._pool = ProcessPool(
                live,
                read=pickle.loads,
                with_main=self._with_main,
                max_tasks=_TASKS_PER_WORKER,
                silent=True,
            )
        return self._pool


def _death(code: int | None) -> Outcome[Any]:
    if code is not None and code < 0:
        names = {number.value: number.name for number in signal.Signals}
        how = f"was ended by {names.get(-code, f'signal {-code}')}"
    else:
        how = "ended" if code is None else f"ended with code {code}"
    return Outcome.failed(
        Reason.DECODER_CRASHED,
        f"the process that worked on it {how}",
        "Re-encode the video (ffmpeg -i IN OUT.mp4) and try again. If the system ended it for "
        "want of memory, use fewer workers.",
    )


def _overtime(limits: Limits) -> Outcome[Any]:
    return Outcome.failed(
        Reason.TIMED_OUT,
        f"took longer than {limits.wall_seconds:g} s",
        "Cut the video into parts, or raise Limits.wall_seconds.",
    )


_shared_lock = threading.Lock()
_shared_supervisor: Supervisor | None = None


def _shared() -> Supervisor:
    global _shared_supervisor
    with _shared_lock:
        if _shared_supervisor is None:
            _shared_supervisor = Supervisor()
            atexit.register(_close_shared)
        return _shared_supervisor


def _close_shared() -> None:
    global _shared_supervisor
    with _shared_lock:
        supervisor, _shared_supervisor = _shared_supervisor, None
    if supervisor is not None:
        supervisor.close()


def _forget_shared() -> None:
    # A forked child has the parent's bookkeeping but not its workers.
    global _shared_supervisor
    _shared_supervisor = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_shared)
