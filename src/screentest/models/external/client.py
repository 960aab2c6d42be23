"""A worker that is there when asked: started on first use, restarted within bounds.

Its command is started without a shell, in a process group of its own, so that all it starts ends
with it. Threads read its output and write its input: a worker that hangs, floods or does not
read can never block the caller beyond the deadline.

A request that kills its worker is not tried again: it may be why. The next one finds a fresh
worker. After a stated number of deaths in a row the worker is given up, and every later request
fails at once with the same reason.
"""

from __future__ import annotations

import json
import os
import queue
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from screentest._util.workers import process_folder
from screentest.core import BadOption, NoValue, Reason
from screentest.models.external.protocol import (
    LONGEST_LINE,
    PROTOCOL,
    Exchange,
    Hello,
    OutOfStep,
    WorkerSaysNo,
    read_hello,
    read_message,
    read_result,
    unreadable,
)

GRACE_SECONDS = 3.0
"""For a worker to end by itself once its input ends; then it is killed."""
_KEPT_LINES = 30
_KEPT_WIDTH = 500
_UNASKED = 64
"""Messages that may wait unread; more means that the worker talks without being asked."""
_LOOK = 0.5
"""Seconds between two looks whether it lives: a child of it may keep its output open."""
_LAST_WORDS = 1.0
"""Seconds for what a dead worker said to come through the pipe."""
_SECRET_ENDS = ("_KEY", "_SECRET", "_PASSWORD")


class WorkerEnded(NoValue):
    """The worker is gone."""

    politely = False
    """By itself, with exit code 0."""

    @classmethod
    def after(cls, code: int | None, what: str, words: str) -> WorkerEnded:
        """Describe an end by its exit code and last words."""
        how = "it closed its output" if code is None else f"exit code {code}"
        if code is not None and code < 0:
            how = f"signal {-code}"
        error = cls(
            Reason.CRASHED,
            f"the worker ended ({how}) before it could {what}{words}",
            advice="Start its command by hand and see: it waits for lines on stdin.",
        )
        error.politely = code == 0
        return error


class WorkerProcess:
    """A running command."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._output: deque[str] = deque(maxlen=_KEPT_LINES)
        self._messages: queue.Queue[dict[str, Any] | NoValue | None] = queue.Queue(_UNASKED)
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._process = _started(command, environment)
        self._threads = [
            threading.Thread(target=work, daemon=True)
            for work in (self._read_messages, self._read_errors, self._write_requests)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def send(self, line: bytes) -> None:
        """Give a line to the worker, whenever it reads."""
        self._requests.put(line + b"\n")

    def receive(self, deadline: float, what: str) -> dict[str, Any]:
        """Return the next message before ``deadline`` (time.monotonic); NoValue for none."""
        try:
            message = self._next(deadline)
        except queue.Empty:
            raise NoValue(
                Reason.TIMED_OUT,
                f"the worker did not {what} in time{self.last_words()}",
                advice="Give it more: timeout=SECONDS, or start_timeout=SECONDS for the start.",
            ) from None
        if message is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
            raise WorkerEnded.after(self._process.poll(), what, self.last_words())
        if isinstance(message, NoValue):
            raise message
        return message

    def _next(self, deadline: float) -> dict[str, Any] | NoValue | None:
        """Return the next message; None where the worker is gone; queue.Empty on timeout."""
        while True:
            left = deadline - time.monotonic()
            dead = not self.alive
            try:
                return self._messages.get(
                    timeout=max(0.0, min(left, _LAST_WORDS if dead else _LOOK))
                )
            except queue.Empty:
                if dead:
                    return None
                if left <= _LOOK:
                    raise

    def last_words(self) -> str:
        """Return the last lines of the worker that were not messages, for errors."""
        # What it wrote before it died may still be on its way through the pipe.
        if not self.alive:
            for thread in self._threads[:2]:
                thread.join(timeout=1.0)
        lines = [line for line in list(self._output) if line.strip()]
        return "; it wrote:\n" + "\n".join(lines) if lines else ""

    def end(self, grace: float = GRACE_SECONDS) -> None:
        """End it and all it started: by closing its input, then by force."""
        self._requests.put(None)
        if grace > 0:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(grace)
        _kill_group(self._process)
        self._process.wait()
        for thread in self._threads:
            thread.join(timeout=1.0)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _read_messages(self) -> None:
        pipe = _pipe(self._process.stdout)
        waiting = b""
        while True:
            newline = waiting.find(b"\n")
            if newline >= 0:
                line, waiting = waiting[:newline], waiting[newline + 1 :]
                if not self._take(line):
                    return
                continue
            if len(waiting) > LONGEST_LINE:
                self._put(unreadable(f"a line of the worker is over {LONGEST_LINE} bytes", waiting))
                return
            chunk = _read(pipe)
            if not chunk:
                break
            waiting += chunk
        if waiting.strip():
            self._keep(waiting)  # half a line is not a message
        self._put(None)

    def _take(self, line: bytes) -> bool:
        """One whole line; False where no more should be read."""
        line = line.strip()
        if not line.startswith(b"{"):
            self._keep(line)
            return True
        try:
            return self._put(read_message(line))
        except NoValue as error:
            return self._put(error)

    def _put(self, message: dict[str, Any] | NoValue | None) -> bool:
        try:
            self._messages.put_nowait(message)
        except queue.Full:
            # The messages that wait are worth nothing now: only the reason counts.
            with suppress(queue.Empty):
                while True:
                    self._messages.get_nowait()
            unasked = NoValue(
                Reason.UNPARSABLE, "the worker sends messages that were not asked for"
            )
            self._messages.put_nowait(unasked)
            return False
        return True

    def _read_errors(self) -> None:
        pipe = _pipe(self._process.stderr)
        waiting = b""
        while chunk := _read(pipe):
            *lines, waiting = (waiting + chunk).split(b"\n")
            for line in lines:
                self._keep(line)
            waiting = waiting[-_KEPT_WIDTH:]
        self._keep(waiting)

    def _keep(self, line: bytes) -> None:
        self._output.append(line[-_KEPT_WIDTH:].decode(errors="replace"))

    def _write_requests(self) -> None:
        pipe = _pipe(self._process.stdin)
        while (line := self._requests.get()) is not None:
            try:
                pipe.write(line)
                pipe.flush()
            except OSError:
                return  # it does not read any more; the reader sees why
        with suppress(OSError):
            pipe.close()


def _started(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    inherited = {key: value for key, value in os.environ.items() if not key.endswith(_SECRET_ENDS)}
    try:
        return subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=inherited
            | {"PYTHONUNBUFFERED": "1", "SCREENTEST_WORKER": str(PROTOCOL), **environment},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise NoValue(
            Reason.MISSING_MODEL,
            f"cannot start the worker's command: {error}",
            advice=f"Check the command: {' '.join(command)}",
        ) from None


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the group, its leader alive or not."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()


def _read(pipe: IO[bytes]) -> bytes:
    try:
        return os.read(pipe.fileno(), 1 << 16)
    except (OSError, ValueError):
        return b""  # closed under the reader: the worker was ended


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


@dataclass(frozen=True, slots=True)
class WorkerTerms:
    """The command of a worker, and its time limits."""

    command: tuple[str, ...]
    timeout: float = 600.0
    """Seconds for one request."""
    start_timeout: float = 600.0
    """Seconds for the greeting: models take long to load."""
    restarts: int = 3
    """How many deaths in a row are followed by another start."""
    device: str = "auto"
    """Given to the worker in SCREENTEST_DEVICE."""


class ExternalWorker:
    """One worker process at a time, for as many threads as ask; requests wait their turn."""

    def __init__(self, terms: WorkerTerms) -> None:
        self._terms = terms
        self._turn = threading.RLock()
        self._hello: Hello | None = None
        self._process: WorkerProcess | None = None
        self._folder: Path | None = None
        self._owner = 0
        self._requests = 0
        self._deaths = 0
        self._answered = False
        self._last: NoValue | None = None
        self._ending: weakref.finalize[..., ExternalWorker] | None = None

    @classmethod
    def shared(cls, terms: WorkerTerms) -> ExternalWorker:
        """Return the worker of these terms: the same one for all roles it fills."""
        with _SHARING:
            worker = _SHARED.get(terms)
            if worker is None:
                worker = _SHARED[terms] = cls(terms)
            return worker

    @property
    def hello(self) -> Hello:
        """The greeting of the worker, which is started where it does not run yet."""
        with self._turn:
            if self._hello is None:
                self._running()
            assert self._hello is not None
            return self._hello

    def ask(self, role: str, method: str, arguments: Mapping[str, Any]) -> Any:
        """Return the worker's result; NoValue with a typed reason where there is none."""
        with self._turn:
            self._must_fill(role)
            try:
                return self._ask_once(role, method, arguments)
            except _Retired:
                return self._ask_once(role, method, arguments)

    def _ask_once(self, role: str, method: str, arguments: Mapping[str, Any]) -> Any:
        process = self._running()
        self._requests += 1
        number = self._requests
        folder = self._home() / str(number)
        folder.mkdir()
        try:
            exchange = Exchange(folder)
            request = {
                "id": number,
                "role": role,
                "method": method,
                "arguments": exchange.write(dict(arguments)),
                "folder": str(folder),
            }
            process.send(json.dumps(request).encode())
            deadline = time.monotonic() + self._terms.timeout
            result = self._answer(process, deadline, number)
            return exchange.read(result)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _answer(self, process: WorkerProcess, deadline: float, number: int) -> Any:
        try:
            result = read_result(process.receive(deadline, f"answer request {number}"), number)
        except WorkerSaysNo as said:
            self._deaths, self._answered = 0, True
            raise said.no_value from None
        except OutOfStep as error:
            words = process.last_words()
            raise self._lost(NoValue(Reason.UNPARSABLE, f"{error}{words}")) from None
        except WorkerEnded as error:
            if error.politely and self._answered:
                self._stop()
                raise _Retired from None
            raise self._lost(error) from None
        except NoValue as error:
            raise self._lost(error) from None
        except BaseException:
            # Interrupted: whatever it answers later would be taken for the next request's.
            self._stop(grace=0.0)
            raise
        self._deaths, self._answered = 0, True
        return result

    def _must_fill(self, role: str) -> None:
        hello = self.hello
        if role not in hello.roles:
            raise NoValue(
                Reason.MISSING_MODEL,
                f"the worker {hello.name!r} does not fill the role {role!r}",
                advice=f"It fills: {', '.join(hello.roles) or 'none'}.",
            )

    def close(self) -> None:
        """End the worker; the next request would start it again."""
        with self._turn:
            self._stop()

    def _running(self) -> WorkerProcess:
        if self._process is not None and self._owner != os.getpid():
            # A forked copy of us must not share the pipes of the original.
            self._process, self._folder, self._ending = None, None, None
        if self._process is not None and not self._process.alive:
            self._stop()  # it retired, or died, with nothing to answer
        if self._process is not None:
            return self._process
        if self._last is not None and self._deaths > self._terms.restarts:
            raise NoValue(
                self._last.reason,
                f"the worker was given up after {self._deaths} deaths in a row; "
                f"the last time {self._last.message}",
                advice=self._last.advice,
            )
        return self._start()

    def _start(self) -> WorkerProcess:
        self._owner = os.getpid()
        try:
            process = WorkerProcess(self._terms.command, {"SCREENTEST_DEVICE": self._terms.device})
            self._process = process
            self._ending = weakref.finalize(self, _end_all, process, self._home(), self._owner)
            deadline = time.monotonic() + self._terms.start_timeout
            hello = read_hello(process.receive(deadline, "greet"))
            if self._hello is not None and hello != self._hello:
                raise NoValue(
                    Reason.MISSING_MODEL,
                    f"the worker came back as another: {hello} instead of {self._hello}",
                    advice="A worker must be the same for all of a run: start the run again.",
                )
        except NoValue as error:
            raise self._lost(error) from None
        self._hello, self._answered = hello, False
        return process

    def _lost(self, why: NoValue) -> NoValue:
        self._deaths += 1
        self._last = why
        self._stop(grace=0.0)
        return why

    def _stop(self, **how: float) -> None:
        process, self._process = self._process, None
        if self._ending is not None:
            self._ending.detach()
            self._ending = None
        if process is not None and self._owner == os.getpid():
            process.end(**how)
        folder, self._folder = self._folder, None
        if folder is not None and self._owner == os.getpid():
            shutil.rmtree(folder, ignore_errors=True)

    def _home(self) -> Path:
        if self._folder is None:
            # Only this user may look into it: mkdtemp makes it so.
            self._folder = Path(tempfile.mkdtemp(prefix="w-", dir=process_folder()))
        return self._folder


class _Retired(Exception):
    """The worker ended by itself after answers; that it had gone showed only at the next."""


def split_command(text: str) -> tuple[str, ...]:
    """Return a command's words, as a shell would split them; nothing is expanded.

    A JSON list or a JSON string is taken as well, so that commas can be written.

    >>> split_command("python worker.py --weights 'my file.pth'")
    ('python', 'worker.py', '--weights', 'my file.pth')
    >>> split_command('["python", "worker.py"]') == split_command('"python worker.py"')
    True
    """
    words: object = None
    with suppress(ValueError):
        words = json.loads(text)
    try:
        if isinstance(words, list):
            split: Sequence[str] = [str(word) for word in words]
        else:
            split = shlex.split(words if isinstance(words, str) else text)
    except ValueError as error:
        raise BadOption(f"cannot read the worker's command {text!r}: {error}") from None
    if not split:
        raise BadOption(
            "no worker command is given",
            advice='Write it after the colon: `model=technical=external:"python worker.py"`.',
        )
    return tuple(split)


def _end_all(process: WorkerProcess, folder: Path, owner: int) -> None:
    """At the end of the program, or when nobody asks any more."""
    if owner == os.getpid():
        process.end()
        shutil.rmtree(folder, ignore_errors=True)


_SHARED: weakref.WeakValueDictionary[WorkerTerms, ExternalWorker] = weakref.WeakValueDictionary()
_SHARING = threading.Lock()
