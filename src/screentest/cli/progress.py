"""Progress of a long job: a bar on a terminal, nothing in a pipe."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from screentest._util import progress as terminal
from screentest.cli.console import err
from screentest.core import Progress, Silent

_EVERY_SECONDS = 0.1


def watched() -> Progress:
    """A bar if stderr is a terminal; nothing if it is a file or a pipe."""
    return terminal.watched(err())


class Relay:
    """Progress of a worker process, for the process that shows it.

    The worker writes what it has done to a small file, a few times a second; a thread of the
    other process reads it. Neither can block or break when the other dies.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._jobs = 0
        self._what, self._unit = "", ""
        self._total: float | None = None
        self._done = 0.0
        self._written = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """The reader takes the file away."""

    def begin(self, what: str, total: float | None, unit: str, done: float = 0) -> None:
        """Report a new job."""
        self._jobs += 1
        self._what, self._total, self._unit, self._done = what, total, unit, done
        self._write()

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Report how far it is, a few times a second at most."""
        self._done += amount
        if time.monotonic() - self._written > _EVERY_SECONDS:
            self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        state = [self._jobs, self._what, self._total, self._unit, self._done]
        with suppress(OSError):  # a bar that stands still does not stop the work
            self._path.write_text(json.dumps(state), encoding="utf-8")


@contextmanager
def relayed(display: Progress) -> Iterator[Progress]:
    """A progress to hand to a worker; what it reports appears in ``display``."""
    if type(display) is Silent:  # nothing to show
        yield display
        return
    with tempfile.TemporaryDirectory(prefix="screentest-") as folder, display:
        reader = _Reader(Path(folder) / "progress.json", display)
        thread = threading.Thread(target=reader.run, daemon=True)
        thread.start()
        try:
            yield Relay(reader.path)
        finally:
            reader.stop.set()
            thread.join()


class _Reader:
    def __init__(self, path: Path, display: Progress) -> None:
        self.path = path
        self.stop = threading.Event()
        self._display = display
        self._job = 0
        self._done = 0.0

    def run(self) -> None:
        while not self.stop.wait(_EVERY_SECONDS):
            # Not there yet, or read while it was being written: the next look will do.
            with suppress(OSError, ValueError):
                self._show(*json.loads(self.path.read_text(encoding="utf-8")))

    def _show(self, job: int, what: str, total: float | None, unit: str, done: float) -> None:
        if job != self._job:
            self._job = job
            self._display.begin(what, total, unit, done)
        else:
            self._display.advance(done - self._done)
        self._done = done
