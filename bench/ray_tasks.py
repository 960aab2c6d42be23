"""What a task costs on Ray beside the local engine: 500 tasks that do nothing, two workers each.

The start of workers is left out. The driver's own processor time says how many workers one driver
could keep busy, whatever else the machine does. Without Ray it says so.
"""

from __future__ import annotations

import importlib
import os
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from _figures import figure, ratio
from screentest.core import Outcome, Score
from screentest.run.engine import LocalEngine
from screentest.run.execute import execute
from screentest.run.ray_engine import RayEngine
from screentest.run.records import RecordKey
from screentest.run.store import RunStore
from screentest.run.tasks import Engine, Job, Task, TaskResults

TASKS, BEFORE, WORKERS = 500, 20, 2


def nothing(job: Job) -> TaskResults:
    return {key: {key.evaluator: Outcome.of(Score(0.5))} for key in job.keys}


def tasks(first: int, count: int) -> list[Task]:
    # By this module's own name: workers do not run the script.
    function = importlib.import_module("ray_tasks").nothing
    return [
        Task((RecordKey(f"film-{number}", "none", signature="none|v:1"),), function)
        for number in range(first, first + count)
    ]


def rate(folder: Path, engine: Engine) -> float:
    """Tasks per second past the start; each execution starts workers, so that is taken off."""
    with RunStore(folder, command="bench") as store:
        began = time.perf_counter()
        execute(store, tasks(0, BEFORE), engine=engine)
        start = time.perf_counter() - began
        began, worked = time.perf_counter(), time.process_time()
        done = execute(store, tasks(BEFORE, TASKS), engine=engine)
        worked = time.process_time() - worked
        figure(f"{folder.name}: the driver's processor time", 1000 * worked / TASKS, "ms a task")
        assert done.made == TASKS
        assert not done.failures, done.failures
        return (TASKS - BEFORE) / (time.perf_counter() - began - start)


def main() -> None:
    if find_spec("ray") is None:
        print("Ray is not installed: nothing measured (pip install 'screentest[ray]')")
        return
    # Workers import the task by its name; the cluster that is started here hands the path on.
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    with tempfile.TemporaryDirectory() as place, RayEngine(workers=WORKERS, gpus=0) as engine:
        on_ray = rate(Path(place) / "ray", engine)
        local = rate(Path(place) / "local", LocalEngine(workers=WORKERS))
    figure("Ray", on_ray, "tasks/s")
    figure("local engine", local, "tasks/s")
    ratio("Ray / local", on_ray / local, "none: tasks take seconds")


if __name__ == "__main__":
    main()
