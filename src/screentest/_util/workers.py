"""Worker processes that one may lose: the supervisor of decoding and of runs.

Each worker has its own pipe and nothing is shared between workers, no lock and no queue, so that
one may die at any instruction and harm only the task it had. A worker leads a process group of its
own, which ends with it, and it ends with its parent, however that ends.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from multiprocessing import spawn
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.util import Finalize, get_temp_dir
from pathlib import Path
from typing import Any, Final, Generic, Self, TypeVar

from screentest._util.atomic import own_folder
from screentest._util.machine import can_be_watched, held_by
from screentest.core import BadOption, ScreentestError, registry

_FALSE_STARTS: Final = 3
_SIGNALS_TO_AN_EXIT: Final = 10
_MEMORY_LOOK: Final = 0.25  # seconds between two looks at the memory of workers
_LIFE_LOOK: Final = 1.0  # seconds between two looks at workers whose end nobody would report
_SERVER_GONE: Final = 255  # the exit code by multiprocessing where the server of workers is dead
_EXIT_SECONDS: Final = 5.0  # seconds that an idle worker has to end by itself

T = TypeVar("T")
W = TypeVar("W", bound="Worker[Any]")


# The parent's side.


@dataclass(slots=True, eq=False, kw_only=True)
class Worker(Generic[T]):
    """A worker as its supervisor sees it."""

    ready: bool = False
    task: T | None = None
    began: float = 0.0
    timeout: float | None = None
    done: int = 0
    """Tasks so far."""
    begun: bool = False
    """Whether it has said that it has its task."""

    def begin(self, task: T, timeout: float | None) -> None:
        """Note that it has a task from now on."""
        self.task, self.timeout, self.began = task, timeout, time.monotonic()
        self.begun = False

    @property
    def elapsed(self) -> float:
        """Seconds since its task began."""
        return time.monotonic() - self.began


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """A worker has done its task."""

    task: T
    message: Any


@dataclass(frozen=True, slots=True)
class Lost(Generic[T]):
    """A worker is gone and its task with it: dead by itself, or ended for going too far."""

    task: T
    exit_code: int | None
    elapsed: float
    limit: str = ""
    """``time`` or ``memory`` where we ended it."""
    message: str = ""
    """How it ended, where there is no exit code."""
    begun: bool = True
    """False where it died before it said that it has the task, as one that was killed idle."""
    before: int = 0
    """Tasks that the worker had done before this one."""


class WorkerPool(ABC, Generic[W, T]):
    """A number of workers with one task each at most. Use it as a context manager."""

    def __init__(self) -> None:
        self._workers: list[W] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def busy(self) -> int:
        """Return how many tasks are in flight."""
        return sum(worker.task is not None for worker in self._workers)

    @abstractmethod
    def ensure(self, count: int) -> None:
        """Have at least so many workers."""

    @abstractmethod
    def give(self, task: T, parcel: bytes, timeout: float | None, *, fresh: bool = False) -> bool:
        """Hand a task to an idle worker, or to a ``fresh`` one; False where there is none."""

    @abstractmethod
    def wait(
        self, wake: Connection | None, patience: float | None = None
    ) -> list[Done[T] | Lost[T]]:
        """Wait until something happens, to a worker or to ``wake``, and say what."""

    @abstractmethod
    def close(self) -> None:
        """End all workers."""

    @abstractmethod
    def _remove(self, worker: W, limit: str = "", message: str = "") -> Iterator[Lost[T]]:
        """Take a worker away, dead or alive; the task it had is lost."""

    def _idle(self, fresh: bool) -> list[W]:
        idle = [worker for worker in self._workers if worker.ready and worker.task is None]
        return [worker for worker in idle if not (fresh and worker.done)]

    def _patience(self) -> list[float]:
        """Seconds until each busy worker has taken too long."""
        busy = [worker for worker in self._workers if worker.task is not None]
        return [max(0.0, w.timeout - w.elapsed) for w in busy if w.timeout is not None]

    def _enforce_limits(self) -> Iterator[Lost[T]]:
        for worker in [w for w in self._workers if w.task is not None]:
            if worker.timeout is not None and worker.elapsed >= worker.timeout:
                yield from self._remove(worker, "time")
            elif self._holds_too_much(worker):
                yield from self._remove(worker, "memory")

    def _holds_too_much(self, worker: W) -> bool:
        return False


def drain(pipe: Connection) -> None:
    """Take all that a pipe used as a bell has been sent."""
    while pipe.poll():
        pipe.recv_bytes()


@dataclass(slots=True, eq=False)
class ProcessWorker(Worker[T]):
    """A worker process."""

    process: BaseProcess
    pipe: Connection
    unwatched: bool = False
    """Whether the server that would report its end is dead itself."""


class ProcessPool(WorkerPool[ProcessWorker[T], T]):
    """Worker processes of this machine, each replaced when it dies.

    A worker calls ``target(pipe, *arguments)``, which hands the pipe on to ``serve``.
    """

    def __init__(
        self,
        target: Callable[..., None],
        *,
        read: Callable[[bytes], Any] = bytes,
        preload: Sequence[str] | None = None,
        with_main: bool = False,
        memory_limit: int | None = None,
        max_tasks: int | None = None,
        silent: bool = False,
    ) -> None:
        """``read`` makes of a worker's bytes what it said; whatever it raises is a lost worker.

        With modules to ``preload``, workers are forked from a server that has imported them;
        else each is a process started from scratch. ``silent`` ones write to no terminal, and
        may not start processes by multiprocessing.
        """
        if memory_limit is not None and not can_be_watched():
            raise BadOption(
                "the memory of workers cannot be limited on this system",
                advice="Leave the limit away, and use fewer workers.",
            )
        super().__init__()
        self._target = target
        self._read = read
        self._with_main = with_main
        self._memory_limit = memory_limit
        self._max_tasks = max_tasks
        self._silent = silent
        self._false_starts = 0
        self._has_server = preload is not None and sys.platform != "win32"
        # A plain fork would copy locks that threads of the parent may hold. The server has no
        # threads; what every worker needs is imported there once and then only copied.
        self._context: Any = multiprocessing.get_context(
            "forkserver" if self._has_server else "spawn"
        )
        if self._has_server:
            self._context.set_forkserver_preload(list(preload or ()))

    def arguments(self) -> AbstractContextManager[tuple[Any, ...]]:
        """Return what the next worker's target gets beside the pipe; left once it is started."""
        return nullcontext(())

    def ensure(self, count: int) -> None:
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

    def _start(self) -> ProcessWorker[T]:
        ours, theirs = self._context.Pipe()
        with theirs, self.arguments() as arguments:
            files = str(process_folder()) if self._has_server else ""
            process = self._context.Process(
                target=_live,
                args=(theirs, files, self._silent, self._target, *arguments),
                name="screentest-worker",
                daemon=self._silent,
            )
            with nullcontext() if self._with_main else without_main():
                process.start()
        return ProcessWorker(process, ours)

    def give(self, task: T, parcel: bytes, timeout: float | None, *, fresh: bool = False) -> bool:
        for worker in self._idle(fresh):
            try:
                worker.pipe.send_bytes(parcel)
            except OSError:
                # It died while it was idle. It stays until `wait` hears of that: taken away
                # here, the last one would leave `wait` with nobody to hear from.
                continue
            worker.begin(task, timeout)
            return True
        return False

    def wait(
        self, wake: Connection | None, patience: float | None = None
    ) -> list[Done[T] | Lost[T]]:
        return list(self._wait(wake, patience))

    def _wait(self, wake: Connection | None, patience: float | None) -> Iterator[Done[T] | Lost[T]]:
        if not self._workers:
            return  # there is nobody to hear from
        watched: list[Any] = [worker.pipe for worker in self._workers]
        watched += [w.process.sentinel for w in self._workers if not w.unwatched]
        if wake is not None:
            watched.append(wake)
        left = [*self._patience(), *([] if patience is None else [patience])]
        happened = set(wait(watched, min(left) if left else None))
        if wake is not None and wake in happened:
            drain(wake)
        for worker in list(self._workers):
            if worker.pipe in happened:
                yield from self._hear(worker)
            elif _has_ended(worker, happened):
                yield from self._remove(worker)
        yield from self._enforce_limits()

    def close(self) -> None:
        """End all workers: idle ones by closing their pipe, busy ones by force."""
        for worker in self._workers:
            worker.pipe.close()
            if worker.task is not None:
                _kill(worker.process)
        deadline = time.monotonic() + _EXIT_SECONDS
        for worker in self._workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            _kill(worker.process)
        self._workers.clear()

    def _hear(self, worker: ProcessWorker[T]) -> Iterator[Done[T] | Lost[T]]:
        try:
            answer = worker.pipe.recv_bytes()
            message = self._read(answer) if answer else None
        except Exception:  # noqa: BLE001 - gone, or what it said has no meaning
            yield from self._remove(worker)
            return
        if not worker.ready:
            worker.ready, self._false_starts = True, 0
        elif not answer:
            worker.begun = True
        elif worker.task is not None:
            task, worker.task = worker.task, None
            worker.done += 1
            if worker.done == self._max_tasks:
                yield from self._remove(worker)
            yield Done(task, message)

    def _remove(
        self, worker: ProcessWorker[T], limit: str = "", message: str = ""
    ) -> Iterator[Lost[T]]:
        self._workers.remove(worker)
        worker.pipe.close()
        if limit:
            _kill(worker.process)
        worker.process.join(1.0)
        code = None if worker.unwatched else worker.process.exitcode
        _kill(worker.process)  # children of a worker end with it
        if worker.task is not None:
            begun = worker.begun or bool(limit)
            lost = Lost(
                worker.task, code, worker.elapsed, limit, message, begun, before=worker.done
            )
            return iter([lost])
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

    def _patience(self) -> list[float]:
        left = super()._patience()
        if self._memory_limit is not None and self.busy:
            left.append(_MEMORY_LOOK)
        if any(worker.unwatched for worker in self._workers):
            left.append(_LIFE_LOOK)
        return left

    def _holds_too_much(self, worker: ProcessWorker[T]) -> bool:
        limit = self._memory_limit
        return limit is not None and held_by(worker.process.pid or 0) > limit


def _has_ended(worker: ProcessWorker[Any], happened: Collection[object]) -> bool:
    if not worker.unwatched:
        if worker.process.sentinel not in happened:
            return False
        # Where the server is dead, its workers may live on.
        worker.unwatched = sys.platform != "win32" and worker.process.exitcode == _SERVER_GONE
    return not (worker.unwatched and _lives(worker.process.pid))


def _lives(pid: int | None) -> bool:
    """Return whether a process runs; one that is dead and still listed does not."""
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
    process.join(_EXIT_SECONDS)


# The worker's side.


def serve(pipe: Connection, do: Callable[[bytes], bytes]) -> None:
    """Do one task after another, until the pipe closes."""
    with suppress(EOFError, OSError):
        pipe.send_bytes(b"")
        while True:
            task = pipe.recv_bytes()
            pipe.send_bytes(b"")
            pipe.send_bytes(do(task))
    for child in multiprocessing.active_children():
        child.kill()  # or the end of this process would wait for theirs


def keep_from_children(pipe: Connection) -> None:
    """Close a pipe with this process: children that live on would keep it open."""
    if sys.platform != "win32":
        os.register_at_fork(after_in_child=pipe.close)


def _live(
    pipe: Connection, parents_files: str, silent: bool, target: Callable[..., None], *arguments: Any
) -> None:
    """Work until the parent says stop: the life of a worker.

    ``parents_files`` is a temporary folder of the parent, to be removed should it be killed.
    """
    # Prints of untrusted code must not end up in what a command prints for other programs.
    sys.stdout.flush()
    if silent:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        os.close(nothing)
    else:
        os.dup2(2, 1)
    # What happens to the terminal or the parent's group must not cut a task short.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform != "win32":
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.setsid()  # Ctrl-C reaches a whole group; also, a worker's own children end with it
    threading.Thread(target=_end_with_parent, args=(parents_files,), daemon=True).start()
    keep_from_children(pipe)
    target(pipe, *arguments)


def process_folder() -> Path:
    """Return the temporary folder of this process, which multiprocessing uses for its sockets.

    Its own would stay where a process is killed before a worker lives that could remove it.
    """
    config: dict[str, Any] = vars(multiprocessing.current_process())["_config"]
    if "tempdir" not in config:
        opened = ExitStack()
        folder = opened.enter_context(own_folder(Path(tempfile.gettempdir()), "stpool-"))
        config["tempdir"] = str(folder)
        Finalize(None, opened.close, exitpriority=-100)  # last, and not in a fork
    return Path(get_temp_dir())


def _end_with_parent(parents_files: str) -> None:
    """End with the parent: one that is killed cannot say goodbye."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        if parents_files:
            shutil.rmtree(parents_files, ignore_errors=True)
        if sys.platform != "win32":
            os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(1)


# multiprocessing imports the main script in every process it starts. A script that scores videos
# at its top level, as a first script does, would start its own work once more in each worker.
# Ours need nothing of it, unless it is there that a task, a metric or a model comes from.

MAIN: Final = "__main__"
_one_at_a_time = threading.Lock()


def is_main_needed(pickled: bytes = b"") -> bool:
    """Tell if workers need the main script: something is registered in it, or pickled from it."""
    return MAIN in registry.modules or MAIN.encode() in pickled


@contextmanager
def without_main() -> Iterator[None]:
    """Keep processes that this thread starts from importing the main script."""
    ours, prepare = threading.get_ident(), spawn.get_preparation_data

    def prepare_without_main(name: str) -> dict[str, Any]:
        data = prepare(name)
        if threading.get_ident() == ours:
            data.pop("init_main_from_name", None)
            data.pop("init_main_from_path", None)
        return data

    with _one_at_a_time:
        spawn.get_preparation_data = prepare_without_main
        try:
            yield
        finally:
            spawn.get_preparation_data = prepare
