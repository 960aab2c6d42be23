"""Worker processes and what becomes of them: results, deaths, tasks that take too long.

Each worker has its own pipes and nothing is shared between workers, no lock and no queue, so
that one may die at any instruction and harm only the task it had.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.util import get_temp_dir
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from screentest._util.machine import can_be_watched, held_by
from screentest._util.workers import without_main
from screentest.core import BadOption, LedgerClient, ScreentestError, registry
from screentest.run.channel import LedgerDesk, receive
from screentest.run.rounds import Done, Lost
from screentest.run.tasks import Task
from screentest.run.worker import live

_FALSE_STARTS: Final = 3
_SIGNALS_TO_AN_EXIT: Final = 10
_MEMORY_LOOK: Final = 0.25  # seconds between two looks at the memory of workers
_LIFE_LOOK: Final = 1.0  # seconds between two looks at workers whose end nobody would tell
_SERVER_GONE: Final = 255  # what multiprocessing says where the server of workers is dead
_FAREWELL: Final = 5.0  # seconds that an idle worker has to end by itself


@dataclass(slots=True, eq=False)
class Worker:
    """A worker process as its parent sees it."""

    process: BaseProcess
    pipe: Connection
    ready: bool = False
    task: Task | None = None
    began: float = 0.0
    timeout: float | None = None
    unwatched: bool = False
    """Whether the server that would tell of its end is dead itself."""

    @property
    def elapsed(self) -> float:
        """Seconds since its task began."""
        return time.monotonic() - self.began


class Pool:
    """A number of workers, each replaced when it dies. Use it as a context manager."""

    def __init__(
        self,
        ledger: LedgerClient,
        memory_limit: int | None = None,
        threads: Mapping[str, str] | None = None,
        *,
        with_main: bool = False,
    ) -> None:
        if memory_limit is not None and not can_be_watched():
            raise BadOption(
                "the memory of workers cannot be limited on this system",
                advice="Leave the limit away, and use fewer workers.",
            )
        self._memory_limit = memory_limit
        self._threads = threads or {}
        self._with_main = with_main
        self._desk = LedgerDesk(ledger)
        self._workers: list[Worker] = []
        self._false_starts = 0
        self._context = _start_method()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def busy(self) -> int:
        """How many tasks are in flight."""
        return sum(worker.task is not None for worker in self._workers)

    def ensure(self, count: int) -> None:
        """Have at least so many workers."""
        while len(self._workers) < count:
            try:
                self._workers.append(self._start())
            except (ConnectionError, EOFError) as error:
                # It was killed before it could say a word, or the server was that forks them.
                self._note_false_start(None, error)
            except OSError as error:
                raise ScreentestError(
                    f"cannot start a worker process: {error}",
                    advice="See whether memory or the number of processes is short (`ulimit -u`), "
                    "or TMPDIR a very long path; fewer workers need less.",
                ) from error

    def _start(self) -> Worker:
        ours, theirs = self._context.Pipe()
        asks, answers = self._context.Pipe()
        with theirs, asks:
            process = self._context.Process(
                target=live,
                args=(theirs, asks, get_temp_dir(), dict(self._threads), registry.extra_modules),
                name="screentest-worker",
            )
            with nullcontext() if self._with_main else without_main():
                process.start()
        self._desk.attend(answers)
        return Worker(process, ours)

    def give(self, task: Task, parcel: bytes, timeout: float | None) -> bool:
        """Hand a task to an idle worker; False where there is none."""
        for worker in [w for w in self._workers if w.ready and w.task is None]:
            try:
                worker.pipe.send_bytes(parcel)
            except OSError:
                # It died while it was idle. It stays until `wait` hears of that: taken away
                # here, the last one would leave `wait` with nobody to hear from.
                continue
            worker.task, worker.timeout, worker.began = task, timeout, time.monotonic()
            return True
        return False

    def wait(self, wake: Connection) -> list[Done | Lost]:
        """Wait until something happens, to a worker or to ``wake``, and say what."""
        return list(self._wait(wake))

    def _wait(self, wake: Connection) -> Iterator[Done | Lost]:
        if not self._workers:
            return  # there is nobody to hear from
        watched: list[Any] = [wake, *(worker.pipe for worker in self._workers)]
        watched += [w.process.sentinel for w in self._workers if not w.unwatched]
        happened = set(wait(watched, self._patience()))
        if wake in happened:
            while wake.poll():
                wake.recv_bytes()
        for worker in list(self._workers):
            if worker.pipe in happened:
                yield from self._hear(worker)
            elif _has_ended(worker, happened):
                yield from self._bury(worker)
        yield from self._enforce_limits()

    def close(self) -> None:
        """End all workers: idle ones by closing their pipe, busy ones by force."""
        for worker in self._workers:
            worker.pipe.close()
            if worker.task is not None:
                _kill(worker.process)
        deadline = time.monotonic() + _FAREWELL
        for worker in self._workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            _kill(worker.process)
        self._workers.clear()
        self._desk.close()

    def _hear(self, worker: Worker) -> Iterator[Done | Lost]:
        try:
            message = receive(worker.pipe)
        except (EOFError, OSError, ValueError):  # gone, or no longer in its right mind
            yield from self._bury(worker)
            return
        if message["kind"] == "ready":
            worker.ready, self._false_starts = True, 0
        elif worker.task is not None:
            task, worker.task = worker.task, None
            yield Done(task, message)

    def _bury(self, worker: Worker, limit: str = "") -> Iterator[Lost]:
        self._workers.remove(worker)
        worker.pipe.close()
        if limit:
            _kill(worker.process)
        worker.process.join(1.0)
        code = None if worker.unwatched else worker.process.exitcode
        _kill(worker.process)  # children of a worker end with it
        if worker.task is not None:
            return iter([Lost(worker.task, code, worker.elapsed, limit)])
        if not worker.ready:
            self._note_false_start(code)
        return iter(())

    def _note_false_start(self, code: int | None, error: Exception | None = None) -> None:
        # A signal may come from outside and will not always; an exit is what ours will do.
        self._false_starts += 1 if code is None or code < 0 else _SIGNALS_TO_AN_EXIT
        if self._false_starts >= _FALSE_STARTS * _SIGNALS_TO_AN_EXIT:
            raise ScreentestError(
                f"worker processes end before they begin ({error or f'exit code {code}'})",
                advice="See the messages above. A script that registers something of its own must "
                'start a run under `if __name__ == "__main__":`.',
            ) from error

    def _patience(self) -> float | None:
        """Seconds until some limit may be crossed."""
        busy = [worker for worker in self._workers if worker.task is not None]
        left = [w.timeout - w.elapsed for w in busy if w.timeout is not None]
        if self._memory_limit is not None and busy:
            left.append(_MEMORY_LOOK)
        if any(worker.unwatched for worker in self._workers):
            left.append(_LIFE_LOOK)
        return max(0.0, min(left)) if left else None

    def _enforce_limits(self) -> Iterator[Lost]:
        for worker in [w for w in self._workers if w.task is not None]:
            if worker.timeout is not None and worker.elapsed >= worker.timeout:
                yield from self._bury(worker, "time")
            elif self._memory_limit is not None and (
                held_by(worker.process.pid or 0) > self._memory_limit
            ):
                yield from self._bury(worker, "memory")


if sys.platform == "win32":
    from multiprocessing.context import SpawnContext

    def _start_method() -> SpawnContext:
        return multiprocessing.get_context("spawn")

else:
    from multiprocessing.context import ForkServerContext

    def _start_method() -> ForkServerContext:
        # A plain fork would copy locks that threads of the parent may hold. The server has no
        # threads; what every worker needs is imported there once and then only copied.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["screentest.run.worker", "pydantic"])
        return context


def _has_ended(worker: Worker, happened: Collection[object]) -> bool:
    if not worker.unwatched:
        if worker.process.sentinel not in happened:
            return False
        # Where the server is dead, its workers may live on.
        worker.unwatched = sys.platform != "win32" and worker.process.exitcode == _SERVER_GONE
    return not (worker.unwatched and _lives(worker.process.pid))


def _lives(pid: int | None) -> bool:
    """Whether a process runs; one that is dead and still listed does not."""
    try:
        os.kill(pid or 0, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:  # a system without such files, or gone this moment: the next look tells
        return True
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def _kill(process: BaseProcess) -> None:
    """End a worker and all it started."""
    if sys.platform != "win32" and process.pid is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join(_FAREWELL)
