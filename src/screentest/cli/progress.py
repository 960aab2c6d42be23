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

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TaskProgressColumn, TextColumn
from rich.progress import Progress as RichProgress
from rich.table import Column
from rich.text import Text

from screentest.cli.console import err, shown
from screentest.core import Progress, Silent

_EVERY_SECONDS = 0.1


def watched() -> Progress:
    """A bar if stderr is a terminal; nothing if it is a file or a pipe."""
    if not err().is_terminal or err().is_dumb_terminal:
        return Silent()
    return Bar(err())


class Bar:
    """Progress on a terminal; gone without a trace when the job is."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._line: RichProgress | None = None
        self._unit = ""
        self._total: float | None = None
        self._done = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._take_down()

    def begin(self, what: str, total: float | None, unit: str, done: float = 0) -> None:
        """Show a new line; the one before is taken down."""
        self._take_down()
        self._unit, self._total, self._done = unit, total, done
        # Not as wide as the screen: the ^C that a terminal echoes would push it up a line.
        self._line = RichProgress(
            _text("{task.description}", 16),
            BarColumn(bar_width=16),
            TaskProgressColumn(),
            _text("{task.fields[count]}", 26),
            TimeLeft(),
            _text("{task.fields[note]}", 12),
            console=self._console,
            transient=True,
        )
        # What an earlier start did says nothing about this one's speed: it is set, not advanced.
        self._line.add_task(
            shown(what),
            total=total,
            completed=int(done),
            count=self._count(),
            note="",
            already=int(done),
            moved=self._line.get_time(),
        )
        self._line.start()

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Move the bar."""
        self._done += amount
        if self._line is not None:
            job = self._line.task_ids[0]
            moved = self._line.get_time()
            self._line.update(
                job, advance=amount, count=self._count(), note=shown(note), moved=moved
            )

    def _take_down(self) -> None:
        if self._line is not None:
            self._line.stop()
            self._line = None

    def _count(self) -> str:
        done = f"{self._done:,.0f}"
        if self._total is not None:
            done = f"{done}/{self._total:,.0f}"
        return f"{done} {self._unit}".strip()


def _text(template: str, widest: int) -> TextColumn:
    return TextColumn(template, markup=False, table_column=Column(max_width=widest, no_wrap=True))


class TimeLeft(ProgressColumn):
    """How long it will still take; how long it has taken, while nothing is done yet.

    It moves while a long film is at work, so that nobody takes it for dead.
    """

    def get_table_column(self) -> Column:
        """Wide enough for the shortest text."""
        return Column(no_wrap=True, min_width=len("0:00 left"))

    def render(self, task: Task) -> Text:
        """Minutes and seconds."""
        elapsed = task.elapsed or 0.0
        if task.time_remaining is None:
            return Text(f"{_clock(elapsed)} so far")
        # At the speed of the last half minute, less what has passed since the bar moved.
        left = task.time_remaining - (task.get_time() - task.fields["moved"])
        if left < 0:  # slower than that, so at the speed of all of it
            done = task.completed - task.fields["already"]
            left = elapsed / done * (task.remaining or 0.0)
        return Text(f"{_clock(left)} left")


def _clock(time: float) -> str:
    minutes, seconds = divmod(round(time), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


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
