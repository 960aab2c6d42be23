"""Progress where somebody looks: a bar on a terminal, a line in a notebook, nothing in a pipe; and
that of a worker process, relayed to whoever shows it."""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TaskProgressColumn, TextColumn
from rich.progress import Progress as RichProgress
from rich.table import Column
from rich.text import Text

from screentest._util.text import escaped
from screentest.core import Progress, Silent

_SHOWN_EVERY, _RELAYED_EVERY = 0.2, 0.1
"""Seconds between two states of a line, and of the file of a worker."""


def watched(console: Console | None = None) -> Progress:
    """Return a line in a notebook, a bar if stderr is a terminal; else nothing is shown."""
    display = _notebook()
    if display is not None:
        return NotebookLine(display)
    if console is None:
        console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        return Silent()
    return Bar(console)


def _notebook() -> Any:
    """Return what shows things in a notebook; None elsewhere, also at the prompt of IPython."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    if running is None or not hasattr(running, "kernel"):
        return None
    return importlib.import_module("IPython.display")


class _Counted:
    """What every kind of progress keeps: the job, its size, and how much is done."""

    def __init__(self) -> None:
        self._what, self._unit = "", ""
        self._total: float | None = None
        self._done = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def begin(self, what: str, total: float | None, unit: str, done: float = 0) -> None:
        """Name the job; the one before is over."""
        self._what, self._total, self._unit, self._done = what, total, unit, done
        self._begin()

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Count some of the work as done."""
        self._done += amount
        self._advance(amount, note)

    @property
    def _count(self) -> str:
        of = "" if self._total is None else f"/{self._total:,.0f}"
        return f"{self._done:,.0f}{of} {self._unit}".strip()

    def _begin(self) -> None: ...

    def _advance(self, amount: float, note: str) -> None: ...

    def _end(self) -> None: ...


class NotebookLine(_Counted):
    """Progress in a notebook: one line that is written anew, a few times a second at most."""

    def __init__(self, display: Any) -> None:
        super().__init__()
        self._display = display
        self._handle: Any = None
        self._shown = 0.0

    def _begin(self) -> None:
        if self._handle is None:
            self._handle = self._display.display(self._display.HTML(""), display_id=True)
        self._show("")

    def _advance(self, amount: float, note: str) -> None:
        if time.monotonic() - self._shown > _SHOWN_EVERY or self._done == self._total:
            self._show(note)

    def _end(self) -> None:
        if self._handle is not None:
            self._handle.update(self._display.HTML(""))
            self._handle = None

    def _show(self, note: str) -> None:
        self._shown = time.monotonic()
        of = "" if self._total is None else f" max={self._total:g}"
        words = escape(escaped(f"{self._what}: {self._count} {note}"))
        if self._handle is not None:
            bar = f"<progress value={self._done:g}{of}></progress>"
            self._handle.update(self._display.HTML(f"{bar} {words}"))


class Bar(_Counted):
    """Progress on a terminal; gone without a trace when the job is."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
        self._line: RichProgress | None = None

    def _begin(self) -> None:
        self._end()
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
            escaped(self._what),
            total=self._total,
            completed=int(self._done),
            count=self._count,
            note="",
            already=int(self._done),
            moved=self._line.get_time(),
        )
        self._line.start()

    def _advance(self, amount: float, note: str) -> None:
        if self._line is not None:
            job = self._line.task_ids[0]
            moved = self._line.get_time()
            self._line.update(
                job, advance=amount, count=self._count, note=escaped(note), moved=moved
            )

    def _end(self) -> None:
        if self._line is not None:
            self._line.stop()
            self._line = None


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


class Relay(_Counted):
    """Progress of a worker process, for the process that shows it.

    The worker writes what it has done to a small file, a few times a second; a thread of the
    other process reads it, and takes it away. Neither can block or break when the other dies.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._jobs = 0
        self._written = 0.0

    def _begin(self) -> None:
        self._jobs += 1
        self._write()

    def _advance(self, amount: float, note: str) -> None:
        if time.monotonic() - self._written > _RELAYED_EVERY:
            self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        state = [self._jobs, self._what, self._total, self._unit, self._done]
        with suppress(OSError):  # a bar that stands still does not stop the work
            self._path.write_text(json.dumps(state), encoding="utf-8")


@contextmanager
def relayed(display: Progress) -> Iterator[Progress]:
    """Return a progress to hand to a worker; what it reports appears in ``display``."""
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
        while not self.stop.wait(_RELAYED_EVERY):
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
