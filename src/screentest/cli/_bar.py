"""A long job as one line: name, bar, share, count with unit, time left, note."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn
from rich.table import Column
from rich.text import Text

from screentest.cli._console import shown


class Bar:
    """Progress on a terminal; gone without a trace when the job is."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._line: Progress | None = None
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
        self._line = Progress(
            _text("{task.description}", 16),
            BarColumn(bar_width=16),
            TaskProgressColumn(),
            _text("{task.fields[count]}", 26),
            TimeLeft(),
            _text("{task.fields[note]}", 12),
            console=self._console,
            transient=True,
        )
        # What an earlier start did is no measure of this one's speed: it is set, not advanced.
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
        return Column(no_wrap=True, min_width=len("0:00 left"))

    def render(self, task: Task) -> Text:
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
