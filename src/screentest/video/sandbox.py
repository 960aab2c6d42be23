"""The sandbox: work on a file in a process of its own, within limits.

>>> supervised(len, "four").value
4

Whatever the file does to the decoder, the caller gets an Outcome: the value, or a typed
reason. A worker that dies or overruns is replaced; the next file finds a fresh one. A script
whose own functions are called so needs the usual ``if __name__ == "__main__"``.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from queue import LifoQueue
from types import TracebackType
from typing import Any, Self, TypeVar, TypeVarTuple

from pebble import ProcessExpired, ProcessPool

from screentest._util.workers import is_main_needed, without_main
from screentest.core.errors import ScreentestError
from screentest.core.outcome import Outcome, Reason
from screentest.video.limits import DEFAULT_LIMITS, Limits
from screentest.video.worker import HAS_ALARM, Answer, apply_limits, begin, perform

__all__ = ["Supervisor", "apply_limits", "supervised"]

T = TypeVar("T")
Item = TypeVar("Item")
Arguments = TypeVarTuple("Arguments")

_START_SECONDS = 30.0
"""For a worker to come up. Only then does a task's own time begin."""
_TASKS_PER_WORKER = 500
"""Then a fresh one: what libraries leak does not add up."""
_LOOK_SECONDS = 0.2
"""How often to see whether a silent worker is still there, and still wanted."""
_ATTEMPTS = 2


def supervised(
    function: Callable[[*Arguments], T], *arguments: *Arguments, limits: Limits = DEFAULT_LIMITS
) -> Outcome[T]:
    """Call ``function`` in the shared worker process and wait for its outcome.

    NoValue raised inside is the failure it describes. Errors that are the user's to mend are
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
        """The outcome of each item, in their order, with all workers busy.

        Whoever stops listening, by Ctrl-C or ``close()``, ends the work on the others.
        """
        unwanted, here = threading.Event(), Path.cwd()

        def one_item(item: Item) -> Outcome[T]:
            return self._run(pickle.dumps((function, (item,), limits, here)), limits, unwanted)

        with ThreadPoolExecutor(len(self._slots)) as threads:
            waiting = [threads.submit(one_item, item) for item in items]
            try:
                for one in waiting:
                    yield one.result()
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


class _MainlessProcess(SpawnProcess):
    """One that does not import the main script, whichever thread starts it."""

    def start(self) -> None:
        with without_main():
            super().start()


class _Mainless(SpawnContext):
    Process = _MainlessProcess


class _Slot:
    """A place for one worker process at a time.

    One pool of one worker each: then a dead worker is always the one that had the task.
    """

    def __init__(self) -> None:
        self.closing = threading.Event()
        self._link, self._far_end = multiprocessing.get_context("spawn").Pipe()
        self._with_main = False
        self._pool: ProcessPool | None = None
        self._leader: int | None = None

    def run(self, task: bytes, limits: Limits, unwanted: threading.Event) -> Outcome[Any]:
        """Raises CancelledError where the outcome is not wanted any more."""
        for _ in range(_ATTEMPTS):
            try:
                return self._run_once(task, limits, unwanted)
            except BrokenProcessPool:
                # It died idle, or before it could say what it was about to do.
                self._discard_pool()
        return _death(None, limits)

    def close(self) -> None:
        self._discard_pool()
        self._link.close()
        self._far_end.close()

    def _run_once(self, task: bytes, limits: Limits, unwanted: threading.Event) -> Outcome[Any]:
        if unwanted.is_set() or self.closing.is_set():
            raise CancelledError
        future = self._schedule(task)
        patience = limits.wall_seconds + (_START_SECONDS if HAS_ALARM else 0)
        try:
            answer: Answer = pickle.loads(  # noqa: S301 - from our own worker
                self._wait(future, patience, unwanted)
            )
        except ProcessExpired as death:
            self._kill_group()
            return _death(death.exitcode, limits)
        except TimeoutError:
            # The kernel's alarm did not end it: blocked, or a system without one.
            future.cancel()
            self._kill_group()
            self._discard_pool(wait=False)
            return _overtime(limits)
        except (KeyboardInterrupt, CancelledError):
            future.cancel()
            self._kill_group()
            # The pool may hand the next task to the worker that is dying: a new one will not.
            self._discard_pool(wait=False)
            raise
        finally:
            self._hear()
        if answer.out_of_memory:
            self._discard_pool()
        if isinstance(answer.outcome, ScreentestError):
            raise answer.outcome
        return answer.outcome

    def _wait(self, future: Future[bytes], patience: float, unwanted: threading.Event) -> bytes:
        deadline = time.monotonic() + patience
        missed = False
        while not (unwanted.is_set() or self.closing.is_set()):
            try:
                return future.result(min(_LOOK_SECONDS, max(0.0, deadline - time.monotonic())))
            except TimeoutError:
                if time.monotonic() > deadline:
                    raise
            # The pool takes an exit with code 0 for the end of the worker's service, and
            # waits on. Missed twice, so that an answer on its way still arrives.
            missed_before, missed = missed, self._is_worker_gone()
            if missed_before and missed:
                raise ProcessExpired("gone", code=0)  # type: ignore[no-untyped-call]
        raise CancelledError

    def _is_worker_gone(self) -> bool:
        self._hear()
        if self._leader is None or sys.platform == "win32":
            return False
        try:
            os.kill(self._leader, 0)
        except ProcessLookupError:
            return True
        return False

    def _schedule(self, task: bytes) -> Future[bytes]:
        pool = self._ready_pool(with_main=is_main_needed(task))
        self._hear()
        self._leader = None  # whoever takes the task will say so
        try:
            return pool.schedule(perform, args=(task,))
        except RuntimeError as error:  # its idle worker died this very moment
            raise BrokenProcessPool from error

    def _ready_pool(self, *, with_main: bool) -> ProcessPool:
        lacks_main = with_main and not self._with_main
        if self._pool is None or not self._pool.active or lacks_main:
            self._discard_pool()
            self._with_main = with_main
            self._pool = ProcessPool(
                max_workers=1,
                max_tasks=_TASKS_PER_WORKER,
                initializer=begin,
                initargs=(self._far_end,),
                context=multiprocessing.get_context("spawn") if with_main else _Mainless(),
            )
        return self._pool

    def _hear(self) -> None:
        """Learn which process took the last task."""
        while self._link.poll():
            self._leader = self._link.recv()

    def _kill_group(self) -> None:
        """End the worker and all it started; it leads a process group with its own number."""
        self._hear()
        leader, self._leader = self._leader, None
        if leader is None or sys.platform == "win32":
            return
        with suppress(ProcessLookupError):  # gone already, and it had started nothing
            os.killpg(leader, signal.SIGKILL)

    def _discard_pool(self, *, wait: bool = True) -> None:
        pool, self._pool = self._pool, None
        if pool is None:
            return
        pool.stop()  # type: ignore[no-untyped-call]
        if wait:
            pool.join()
        else:
            threading.Thread(target=pool.join, daemon=True).start()


def _death(code: int | None, limits: Limits) -> Outcome[Any]:
    if HAS_ALARM and code == -signal.SIGALRM:
        return _overtime(limits)
    if code is not None and code < 0:
        known = {one.value: one.name for one in signal.Signals}
        how = f"was ended by {known.get(-code, f'signal {-code}')}"
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
