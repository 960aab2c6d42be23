"""Progress where somebody looks: a bar on a terminal, a line in a notebook, nothing in a pipe."""

from __future__ import annotations

import importlib
import sys
import time
from html import escape
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TaskProgressColumn, TextColumn
from rich.progress import Progress as RichProgress
from rich.table import Column
from rich.text import Text

from screentest._util.text import escaped
from screentest.core import Progress, Silent

_EVERY_SECONDS = 0.2


def watched(console: Console | None = None) -> Progress:
    """A line in a notebook, a bar if stderr is a terminal, nothing if it is a file or a pipe."""
    display = _notebook()
    if display is not None:
        return NotebookLine(display)
    if console is None:
        console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        return Silent()
    return Bar(console)


def _notebook() -> Any:
    """What shows things in a notebook; None elsewhere, also at the prompt of IPython."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    if running is None or not hasattr(running, "kernel"):
        return None
    return importlib.import_module("IPython.display")


class NotebookLine:
    """Progress in a notebook: one line that is written anew."""

    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Any = None
        self._what, self._unit = "", ""
        self._total: float | None = None
        self._done = self._shown = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._handle is not None:
            self._handle.update(self._display.HTML(""))
            self._handle = None

    def begin(self, what: str, total: float | None, unit: str, done: float = 0) -> None:
        """Name the job."""
        self._what, self._total, self._unit, self._done = what, total, unit, done
        if self._handle is None:
            self._handle = self._display.display(self._display.HTML(""), display_id=True)
        self._show("")

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Write the line anew, a few times a second at most."""
        self._done += amount
        if time.monotonic() - self._shown > _EVERY_SECONDS or self._done == self._total:
            self._show(note)

    def _show(self, note: str) -> None:
        self._shown = time.monotonic()
        of = "" if self._total is None else f" max={self._total:g}"
        count = f"{self._done:,.0f}" + ("" if self._total is None else f"/{self._total:,.0f}")
        words = escape(escaped(f"{self._what}: {count} {self._unit} {note}"))
        if self._handle is not None:
            bar = f"<progress value={self._done:g}{of}></progress>"
            self._handle.update(self._display.HTML(f"{bar} {words}"))


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
            escaped(what),
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
                job, advance=amount, count=self._count(), note=escaped(note), moved=moved
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
