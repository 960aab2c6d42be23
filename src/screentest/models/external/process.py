"""One run of a worker's command: lines in, messages out, and nothing left behind.

The command is started without a shell, in a process group of its own, so that all it starts ends
with it. Threads read its output and write its input: a worker that hangs, floods or does not
read can never block the caller beyond the deadline.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

from screentest.core import NoValue, Reason
from screentest.models.external.protocol import LONGEST_LINE, PROTOCOL, read_message, unreadable

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
        """Tell whether it still runs."""
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
