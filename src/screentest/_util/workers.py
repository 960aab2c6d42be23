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
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from multiprocessing import spawn
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.util import Finalize, get_temp_dir
from pathlib import Path
from struct import Struct
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
_ROOM_FOR_MORE: Final = 0.5  # of its memory: a worker that holds more begins no further task

T = TypeVar("T")
W = TypeVar("W", bound="Worker[Any]")


# The parent's side.


@dataclass(slots=True, eq=False)
class Errand(Generic[T]):
    """A task in the hands of a worker."""

    task: T
    timeout: float | None
    began: float = field(default_factory=time.monotonic)
    begun: bool = False
    """Whether the worker has said that it has it."""
    at_once: int = 1
    """While it waits for answers: how many such tasks may be under way, in all workers."""

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.began


@dataclass(slots=True, eq=False, kw_only=True)
class Worker(Generic[T]):
    """A worker as its supervisor sees it."""

    ready: bool = False
    errands: dict[int, Errand[T]] = field(default_factory=dict)
    """Its tasks by number: one works, the others wait for answers."""
    alone: bool = False
    """Whether its task must remain its only one."""
    done: int = 0
    """Tasks so far."""

    def lost(self, code: int | None, limit: str = "", message: str = "") -> Iterator[Lost[T]]:
        """Yield the tasks that are lost with it."""
        for one in self.errands.values():
            begun, beside = one.begun or bool(limit), len(self.errands) - 1
            yield Lost(one.task, code, one.elapsed, limit, message, begun, self.done, beside)


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
    beside: int = 0
    """Tasks that were lost with it: whose fault it was is not known."""


class WorkerPool(ABC, Generic[W, T]):
    """A number of workers. Each works on one task, while others of its tasks may wait for answers.

    Use it as a context manager.
    """

    def __init__(self) -> None:
        self._workers: list[W] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def busy(self) -> int:
        """Return how many tasks are in flight."""
        return sum(len(worker.errands) for worker in self._workers)

    @abstractmethod
    def ensure(self, count: int) -> None:
        """Have at least so many workers."""

    @abstractmethod
    def give(self, task: T, parcel: bytes, timeout: float | None, kind: str = "") -> bool:
        """Hand a task to an idle worker; False where there is none.

        A ``kind`` of worker may be asked for: one that is ``alone`` with the task, or ``fresh``.
        """

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

    def _idle(self, kind: str = "") -> list[W]:
        """Return the workers that can take a task, those with the fewest first."""
        able = [worker for worker in self._workers if worker.ready and self._has_room(worker, kind)]
        return sorted(able, key=lambda worker: len(worker.errands))

    def _has_room(self, worker: W, kind: str) -> bool:
        if not worker.errands:
            return not (kind == "fresh" and worker.done)
        if kind or worker.alone:
            return False
        part = min(one.at_once for one in worker.errands.values()) / len(self._workers)
        return len(worker.errands) < part and not self._holds_more_than(worker, _ROOM_FOR_MORE)

    def _patience(self) -> list[float]:
        """Seconds until each task under way has taken too long."""
        under_way = [one for worker in self._workers for one in worker.errands.values()]
        return [max(0.0, one.timeout - one.elapsed) for one in under_way if one.timeout is not None]

    def _enforce_limits(self) -> Iterator[Lost[T]]:
        for worker in [w for w in self._workers if w.errands]:
            limits = [(one.timeout, one.elapsed) for one in worker.errands.values()]
            if any(timeout is not None and elapsed >= timeout for timeout, elapsed in limits):
                yield from self._remove(worker, "time")
            elif self._holds_more_than(worker, 1.0):
                yield from self._remove(worker, "memory")

    def _holds_more_than(self, worker: W, share: float) -> bool:
        """Return whether it holds more than this share of the memory it may have."""
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
    card: str = ""
    """The GPU it has to itself or shares."""
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
        self.card = ""  # of the worker that is started
        self._false_starts = 0
        self._numbers = count()
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
        return ProcessWorker(process, ours, card=self.card)

    def give(self, task: T, parcel: bytes, timeout: float | None, kind: str = "") -> bool:
        for worker in self._idle(kind):
            number = next(self._numbers)
            try:
                worker.pipe.send_bytes(_HEAD.pack(number, 0) + parcel)
            except OSError:
                # It died while it was idle. It stays until `wait` hears of that: taken away
                # here, the last one would leave `wait` with nobody to hear from.
                continue
            worker.errands[number] = Errand(task, timeout)
            worker.alone = bool(kind)
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
            if worker.errands:
                _kill(worker.process)
        deadline = time.monotonic() + _EXIT_SECONDS
        for worker in self._workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            _kill(worker.process)
        self._workers.clear()

    def _hear(self, worker: ProcessWorker[T]) -> Iterator[Done[T] | Lost[T]]:
        try:
            heard = worker.pipe.recv_bytes()
            number, at_once = _HEAD.unpack_from(heard)
            answer = heard[_HEAD.size :]
            message = self._read(answer) if answer else None
            errand = worker.errands[number] if worker.ready else None
        except Exception:  # noqa: BLE001 - gone, or what it said has no meaning
            yield from self._remove(worker)
            return
        if errand is None:
            worker.ready, self._false_starts = True, 0
        elif not answer:
            errand.begun, errand.at_once = True, at_once
        else:
            del worker.errands[number]
            worker.done += 1
            if worker.done == self._max_tasks:
                yield from self._remove(worker)
            yield Done(errand.task, message)

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
        if not worker.ready:
            self._note_false_start(code)
        return worker.lost(code, limit, message)

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

    def _holds_more_than(self, worker: ProcessWorker[T], share: float) -> bool:
        limit = self._memory_limit
        return limit is not None and held_by(worker.process.pid or 0) > share * limit


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
    tasks = _Tasks(pipe, do)
    tasks.say(0, 0)
    tasks.take()
    for child in multiprocessing.active_children():
        child.kill()  # or the end of this process would wait for theirs


class _Tasks:
    """The tasks of a worker. One is worked on at a time; another begins where that one waits.

    Metrics, judges and what they load need not be safe for threads: two never run together.
    """

    def __init__(self, pipe: Connection, do: Callable[[bytes], bytes]) -> None:
        self._pipe = pipe
        self._do = do
        self._turn, self._hearing, self._speaking = (threading.Lock() for _ in range(3))

    def take(self) -> None:
        """Do one task after another in this thread, until the pipe closes."""
        while True:
            try:
                with self._hearing:
                    parcel = self._pipe.recv_bytes()
            except (EOFError, OSError):
                return
            number, _ = _HEAD.unpack_from(parcel)
            with self._turn:
                self.say(number, 1)
                _own.waiting = partial(self._waiting, number)
                answer = self._do(parcel[_HEAD.size :])
            self.say(number, 1, answer)

    def say(self, number: int, at_once: int, answer: bytes = b"") -> None:
        with self._speaking, suppress(OSError):  # the parent is gone, and so is this worker soon
            self._pipe.send_bytes(_HEAD.pack(number, at_once) + answer)

    @contextmanager
    def _waiting(self, number: int, at_once: int) -> Iterator[None]:
        if not self._hearing.locked():
            threading.Thread(target=self._take_too, daemon=True).start()
        self.say(number, at_once)
        self._turn.release()
        try:
            yield
        finally:
            self._turn.acquire()
            _own.returned()

    def _take_too(self) -> None:
        try:
            self.take()
        except BaseException:  # noqa: BLE001 - as in the main thread, it ends the worker
            sys.excepthook(*sys.exc_info())
            os._exit(1)


_HEAD: Final = Struct(">II")
"""Of a message: the number of its task, and how many such tasks may be under way."""


class _Own(threading.local):
    """What a thread of a worker has of its own."""

    def __init__(self) -> None:
        self.waiting: Callable[[int], AbstractContextManager[None]] = lambda _: nullcontext()
        self.returned: Callable[[], None] = lambda: None


_own = _Own()


def waiting(at_once: int) -> AbstractContextManager[None]:
    """Let this worker do another task meanwhile: up to ``at_once`` in all workers."""
    return _own.waiting(at_once)


def when_back(restore: Callable[[], None]) -> None:
    """Have ``restore`` called when this thread goes on after other tasks had their turn."""
    _own.returned = restore


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
    """Return whether workers need the main script: to register or to unpickle what it defines."""
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
