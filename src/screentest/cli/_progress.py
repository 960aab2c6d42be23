"""Progress on a terminal: a bar with what is done and the time left, on stderr."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from screentest.cli._console import err, shown
from screentest.core import Progress, Silent

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


def watched() -> Progress:
    """A bar where somebody watches stderr, silence where it is a file or a pipe."""
    return Bar() if err().is_terminal and not err().is_dumb_terminal else Silent()


class Bar:
    """A job as one line: name, bar, share, count with unit, time left, note."""

    def __init__(self) -> None:
        self._bar: RichProgress | None = None
        self._job: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def begin(self, what: str, total: float | None, unit: str, done: float = 0) -> None:
        """Show a new line; the one before is taken down."""
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.table import Column

        if self._bar is not None:
            self._bar.stop()
        self._bar = Progress(
            TextColumn(
                "{task.description}", markup=False, table_column=Column(max_width=24, no_wrap=True)
            ),
            BarColumn(bar_width=None),
            TaskProgressColumn(),
            TextColumn("{task.fields[count]}", markup=False),
            TimeRemainingColumn(),
            TextColumn(
                "{task.fields[note]}", markup=False, table_column=Column(max_width=20, no_wrap=True)
            ),
            console=err(),
            transient=True,
            expand=True,
        )
        self._unit = unit
        self._total = total
        self._done = done
        self._job = self._bar.add_task(shown(what), total=total, count=self._count(), note="")
        self._bar.update(self._job, completed=done)
        self._bar.start()

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Move the bar."""
        if self._bar is None or self._job is None:
            return
        self._done += amount
        self._bar.update(self._job, advance=amount, count=self._count(), note=shown(note))

    def _count(self) -> str:
        done = f"{self._done:,.0f}"
        if self._total is not None:
            done = f"{done}/{self._total:,.0f}"
        return f"{done} {self._unit}".strip()
