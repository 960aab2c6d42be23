"""The store of a run with many records: how fast they come in, how large it gets, how it resumes.

Records come as an engine hands them over: 20 of one item in a write, each write on the disk before
the next. The number is the first argument; a million where there is none.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from _figures import figure, peak_memory_mb, publish_lines
from screentest.core import Outcome, Score
from screentest.run.engine import InlineEngine
from screentest.run.execute import execute
from screentest.run.export import export, export_partitioned
from screentest.run.reader import RunReader
from screentest.run.records import Encoded, RecordKey, encode
from screentest.run.store import RunStore
from screentest.run.tasks import Finished, Job, Task, TaskResults

METRICS = 20
SIGNATURE = "metric|v:1|screentest:0.1.0|decoder:18.0.0|size:256|rate:2"


def unused(job: Job) -> TaskResults:
    raise NotImplementedError


def tasks(count: int) -> Iterator[Task]:
    """Tasks of 20 records each, with keys as long as real ones."""
    for number in range(count // METRICS):
        keys = tuple(
            RecordKey(
                f"model-{number % 10}/prompt-{number:07}",
                f"metric_{metric}",
                signature=SIGNATURE,
                inputs=f"{number:064x}",
            )
            for metric in range(METRICS)
        )
        yield Task(keys, unused)


def outcome(number: int) -> Encoded:
    details = {"frames": 120, "worst": "00:00:03.2"}
    return encode({"value": Outcome.of(Score(number / 7, details=details))})


class Timed:
    """Prints what a step took by the clock, and keeps its processor time: others may work here."""

    def __init__(self, what: str, count: int) -> None:
        self._what = what
        self._count = count

    def __enter__(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        clock, processor = time.perf_counter(), time.process_time()
        elapsed, worked = clock - self._began[0], processor - self._began[1]
        print(
            f"{self._what:<40} {elapsed:>9.1f} s, {self._count / elapsed:>9,.0f} records/s",
            flush=True,
        )
        figure(f"{self._what}: processor time", worked, "s")
        figure(f"{self._what}: records", self._count / worked, "a second of a processor")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as place:
        folder = Path(place) / "run"
        wanted = list(tasks(count))
        with RunStore(folder, command="bench") as store:
            with Timed("planning", count):
                store.add_to_plan(key for task in wanted for key in task.keys)
            with Timed("writing, 20 records at a time", count):
                for number, task in enumerate(wanted):
                    store.write(Finished(task, (outcome(number),) * METRICS))
        size = sum(file.stat().st_size for file in folder.iterdir())
        figure("size", size / 1e6, "MB")
        figure("size of a record", size / count, "bytes")
        with ExitStack() as stack:
            with Timed("opening, every page checked", count):
                store = stack.enter_context(RunStore(folder, command="bench"))
            with Timed("resuming: what is left to do", count):
                done = execute(store, wanted, engine=InlineEngine())
            assert (done.made, done.reused) == (0, count)
        with RunReader(folder) as reader:
            with Timed("counting what is scored", count):
                reader.coverage()
            with Timed("Parquet", count):
                export(reader, "parquet", Path(place) / "table.parquet")
            figure(
                "size of the Parquet file",
                (Path(place) / "table.parquet").stat().st_size / 1e6,
                "MB",
            )
            with Timed("Parquet in 20 parts", count):
                export_partitioned(reader, "evaluator", Path(place) / "parts")
        figure("memory at its highest", peak_memory_mb(), "MB")
    publish_lines("store", f"python bench/store.py {count}")


if __name__ == "__main__":
    main()
