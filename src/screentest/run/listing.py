"""Finding runs: what was started under a folder, how far each got, what it cost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from screentest.core import RunError, ScreentestError
from screentest.run._database import FILE
from screentest.run.lease import Holder, holder
from screentest.run.ledger import Spending
from screentest.run.reader import Coverage, RunReader, Start


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run at a glance."""

    folder: Path
    starts: tuple[Start, ...] = ()
    coverage: Coverage = field(default_factory=Coverage)
    spending: Spending = field(default_factory=Spending)
    held_by: Holder | None = None
    problem: str = ""
    """Why it cannot be read, where it cannot."""

    @property
    def state(self) -> str:
        """``running``, how the last start ended, ``killed`` where it could not say, ``damaged``."""
        if self.problem:
            return "damaged"
        if self.held_by is not None:
            return "running"
        return (self.starts[-1].ending or "killed") if self.starts else "empty"


def summarize(folder: Path) -> RunSummary:
    """One run at a glance; a run that cannot be read says why."""
    try:
        with RunReader(folder) as run:
            return RunSummary(
                folder, tuple(run.starts()), run.coverage(), run.spending(), holder(folder)
            )
    except ScreentestError as error:
        return RunSummary(folder, problem=error.message)


def find_runs(folder: Path) -> Iterator[RunSummary]:
    """Every run in or under a folder, by path. Links are not followed."""
    if not folder.is_dir():
        raise RunError(
            f"{folder} is not a folder", advice="Name a run or a folder that holds runs."
        )
    for place, folders, files in os.walk(folder):
        folders.sort()
        if FILE in files:
            folders.clear()  # what lies inside a run belongs to it
            yield summarize(Path(place))
