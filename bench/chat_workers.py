"""1,000 chat calls of a second each, one question a task, asked by two workers.

The ideal is 1,000 / 64 s: as many calls under way as the endpoint takes, and a client that costs
nothing. With `concurrency=2` one question of each worker is under way, as in releases before. The
server runs in a process of its own.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _figures import figure, publish_lines
from screentest.core import Score, Silent
from screentest.models import ModelChoice
from screentest.models.ask import plain_request
from screentest.models.ask.templates import Pictures
from screentest.run.engine import LocalEngine
from screentest.run.execute import execute
from screentest.run.records import RecordKey
from screentest.run.session import Settings, open_tools
from screentest.run.store import RunStore
from screentest.run.tasks import Job, Task, TaskResults

AT_ONCE = 64
LATENCY = 1.0
WORKERS = 2
FEW = 40


def ask_one(job: Job) -> TaskResults:
    """Ask a question of its own. Runs in a worker."""
    settings, number = job.payload
    tools = open_tools(settings)
    tools.attach(job.ledger)
    request = plain_request(f"Is {number} even?", Pictures(()), "bench.question")
    (outcome,) = tools.role("chat").ask([request])
    return {key: {"asked": outcome.map(lambda _: Score(1.0))} for key in job.keys}


class Ends(Silent):
    """Notes when tasks end."""

    def __init__(self) -> None:
        self.times = [time.perf_counter()]

    def advance(self, amount: float = 1, note: str = "") -> None:
        self.times.append(time.perf_counter())


def ends(url: str, calls: int, at_once: int, folder: Path) -> list[float]:
    """Return when a run with so many tasks began, and when each of them ended."""
    choice = ModelChoice.parse(f"chat=openai:test,base_url={url},concurrency={at_once}")
    settings = Settings(models=(choice,))
    tasks = [Task((RecordKey(f"{n}", "asked"),), ask_one, (settings, n)) for n in range(calls)]
    with RunStore(folder, command="bench") as store:
        noted = Ends()
        done = execute(store, tasks, engine=LocalEngine(workers=WORKERS), progress=noted)
    assert (done.made, done.failures) == (calls, {}), done
    return noted.times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1000)
    calls = parser.parse_args().calls
    command = [sys.executable, "-m", "screentest.testing", f"--latency={LATENCY}"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            before = ends(url, FEW, WORKERS, Path(folder) / "before")
            times = ends(url, calls, AT_ONCE, Path(folder) / "run")
        finally:
            server.terminate()
    ideal = math.ceil(calls / AT_ONCE) * LATENCY
    steady = (calls - AT_ONCE) / AT_ONCE * LATENCY / (times[-1] - times[AT_ONCE])
    figure("calls of 1 s, one a task, by two workers", calls, "")
    figure("wall time", times[-1] - times[0], "s")
    figure("ideal / wall time, workers starting included", ideal / (times[-1] - times[0]), "")
    figure("ideal / wall time, from the end of the 64th call", steady, "")
    alone = FEW / AT_ONCE * LATENCY / (before[-1] - before[1])
    figure("ideal / wall time with one question of each worker under way", alone, "")
    publish_lines("chat_workers", "python bench/chat_workers.py")


if __name__ == "__main__":
    main()
