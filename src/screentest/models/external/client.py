"""A worker that is there when asked: started on first use, restarted within bounds.

A request that kills its worker is not tried again: it may be why. The next one finds a fresh
worker. After a stated number of deaths in a row the worker is given up, and every later request
fails at once with the same reason.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from screentest.core import BadOption, NoValue, Reason
from screentest.models.external.process import WorkerEnded, WorkerProcess
from screentest.models.external.protocol import (
    Exchange,
    Hello,
    OutOfStep,
    WorkerSaysNo,
    read_hello,
    read_result,
)


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
            self._folder = Path(tempfile.mkdtemp(prefix="screentest-worker-"))
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
