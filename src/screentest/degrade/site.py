"""Where a testbed is built: the run, the engine, and the records as they come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from screentest.core import Failure, Outcome, Progress, Reason, from_object
from screentest.degrade.intact import Intact
from screentest.degrade.testbed import Pair
from screentest.run import Engine, Execution, Finished, Record, RecordKey, RunStore, Task, execute
from screentest.run.records import encode

_T = TypeVar("_T")


class Site:
    """Carries out tasks into the run and remembers what came of them."""

    def __init__(
        self, store: RunStore, out: Path, engine: Engine, progress: Progress | None
    ) -> None:
        self.store = store
        self.out = out
        self.executions: list[Execution] = []
        self._engine = engine
        self._progress = progress
        self._records: dict[RecordKey, Record] = {}

    @property
    def stopped(self) -> bool:
        """Whether a signal ended the last piece of work."""
        return any(one.signal is not None for one in self.executions)

    def carry_out(self, tasks: Sequence[Task], what: str) -> None:
        """Do what is not done yet; nothing after a signal."""
        if not tasks or self.stopped:
            return
        self.store.add_to_plan(key for task in tasks for key in task.keys)
        self._doubt_changed_files(tasks)
        done = execute(self.store, tasks, engine=self._engine, progress=self._progress, what=what)
        self.executions.append(done)
        self._records = {record.key: record for record in self.store.records()}

    def outcomes(self, key: RecordKey) -> Mapping[str, Outcome[Any]] | None:
        """All that a record holds; None where it is still to be made."""
        record = self._records.get(key)
        return None if record is None else record.outcomes

    def value(self, key: RecordKey, kind: type[_T]) -> Outcome[_T] | None:
        """The one thing that a record holds; None where it is still to be made."""
        found = self.outcomes(key)
        return None if found is None else found[key.evaluator].map(lambda data: _read(kind, data))

    def _doubt_changed_files(self, tasks: Sequence[Task]) -> None:
        """Records whose file is gone or is another one now are no records any more."""
        by_key = {key: task for task in tasks for key in task.keys}
        for record in list(self.store.records()):
            task, data = by_key.get(record.key), record.outcomes.get(record.key.evaluator)
            if task is None or data is None or data.value is None:
                continue
            wrong = [
                path for path, sha256 in _files(data.value) if not self._is_whole(path, sha256)
            ]
            if wrong:
                failure = Failure(
                    Reason.CRASHED,
                    f"{wrong[0]} is not the file that was made",
                    "It is made again.",
                )
                lost = encode({record.key.evaluator: Outcome(failure=failure)})
                self.store.write(Finished(task.only([record.key]), (lost,)))

    def _is_whole(self, path: str, sha256: str) -> bool:
        return self.store.inputs.of_file(self.out / path) == sha256


def _read(kind: type[_T], data: Any) -> _T:
    return from_object(kind, data)


def _files(data: object) -> Iterator[tuple[str, str]]:
    """The files that a record speaks for, with their hashes."""
    assert isinstance(data, dict)
    if "changed" in data:
        changed = from_object(Pair, data).changed
        yield changed.path, changed.sha256
    elif "by_side" in data:
        made = from_object(Intact, data)
        for video in made.source.intact:
            yield video.path, video.sha256
        yield from made.records.items()
