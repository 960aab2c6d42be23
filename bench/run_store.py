"""What durability costs: every result on the disk before the next is reported.

The engine against a bare pool that keeps nothing, the store against plain SQLite with the
same settings, the ledger with and without callers that share a commit. And what counts in the
end: how much of two workers' time is left for tasks of the length of a short clip's metric.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path

from _figures import figure, ratio
from screentest.core import CallIntent, CallReceipt, CallStatus, Outcome, Score
from screentest.run.engine import LocalEngine
from screentest.run.execute import execute
from screentest.run.records import RecordKey, encode
from screentest.run.store import RunStore
from screentest.run.tasks import Finished, Job, Task, TaskResults

TASKS = 2000
WORKERS = 2
CALLS = 500
SECONDS = 0.05


def trivial(number: int) -> float:
    return number / 2


def measure(job: Job) -> TaskResults:
    time.sleep(job.payload or 0)
    return {key: {key.evaluator: Outcome.of(Score(0.5))} for key in job.keys}


def tasks(count: int, seconds: float = 0.0) -> list[Task]:
    return [
        Task((RecordKey(f"film-{n}", "flicker", signature="flicker|v:1"),), measure, seconds)
        for n in range(count)
    ]


def per_second(count: int, began: float) -> float:
    return count / (time.perf_counter() - began)


def bare_pool() -> float:
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("forkserver")) as pool:
        list(pool.map(trivial, range(WORKERS)))  # the workers are up
        began = time.perf_counter()
        list(pool.map(trivial, range(TASKS)))
        return per_second(TASKS, began)


def engine(folder: Path) -> float:
    with RunStore(folder, command="bench") as store:
        began = time.perf_counter()
        execute(store, tasks(TASKS), engine=LocalEngine(workers=WORKERS))
        return per_second(TASKS, began)


def plain_sqlite(folder: Path) -> float:
    connection = sqlite3.connect(folder / "plain.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE records (item TEXT PRIMARY KEY, outcomes TEXT)")
    text = encode({"flicker": Outcome.of(Score(0.5))}).text
    began = time.perf_counter()
    for number in range(TASKS):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO records VALUES (?, ?)", [f"film-{number}", text * 5])
        connection.execute("COMMIT")
    rate = per_second(TASKS, began)
    connection.close()
    return rate


def store_writes(folder: Path) -> float:
    with RunStore(folder, command="bench") as store:
        done = [
            Finished(task, (encode({"flicker": Outcome.of(Score(0.5))}),)) for task in tasks(TASKS)
        ]
        began = time.perf_counter()
        for one in done:
            store.write(one)
        return per_second(TASKS, began)


def ledger_calls(folder: Path, threads: int) -> float:
    with RunStore(folder, command="bench", max_cost=Decimal(10**6)) as store:

        def call(number: int) -> None:
            intent = CallIntent(f"r{number}", "model", max_cost=Decimal("0.01"))
            receipt = CallReceipt(CallStatus.ANSWERED, cost=Decimal("0.005"), answer="x" * 500)
            store.ledger.settle(store.ledger.intend(intent), receipt)

        with ThreadPoolExecutor(threads) as pool:
            began = time.perf_counter()
            list(pool.map(call, range(CALLS)))
            return per_second(CALLS, began)


def share_of_ideal(folder: Path) -> float:
    count = 200
    with RunStore(folder, command="bench") as store:
        engine = LocalEngine(workers=WORKERS)
        execute(store, tasks(WORKERS), engine=engine)
        began = time.perf_counter()
        execute(store, tasks(count + WORKERS, SECONDS), engine=engine)
        return count * SECONDS / WORKERS / (time.perf_counter() - began)


def main() -> None:
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as name:
        folder = Path(name)
        pool, ours = bare_pool(), engine(folder / "engine")
        figure("the standard library's pool, nothing kept", pool, "tasks/s")
        figure("engine, each result on the disk, workers' start included", ours, "tasks/s")
        ratio("engine / bare pool", ours / pool, "none: tasks take seconds")
        plain, written = plain_sqlite(folder), store_writes(folder / "writes")
        figure("plain SQLite, one commit each", plain, "records/s")
        figure("store, one commit each, checksums included", written, "records/s")
        ratio("store / plain SQLite", written / plain, "≥ 0.5")
        alone, together = (ledger_calls(folder / f"ledger{n}", n) for n in (1, 64))
        figure("ledger, one caller: intent, receipt, answer", alone, "calls/s")
        figure("ledger, 64 callers that share commits", together, "calls/s")
        share = share_of_ideal(folder / "share")
        ratio(f"{SECONDS * 1000:.0f} ms tasks: share of the ideal time", share, "≥ 0.9")


if __name__ == "__main__":
    main()
