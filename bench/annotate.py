"""What the annotation app bears: fifty workers at once, on SQLite and on PostgreSQL.

Simulated workers over loopback open their pages, fetch video, report what they watched and vote
without a pause to think, for two minutes on each store (SECONDS=… changes that). Every vote that
was acknowledged must be there, once. A worker who thinks for a minute per pair is one sixtieth of
such a worker.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import psutil
from sqlalchemy import select, update
from tests.annotate import postgres
from tests.annotate.load import hammer
from tests.annotate.stand import end_process, open_stand, start_process
from tests.testbeds.stage import ALL, QUICK

from _figures import figure
from screentest.annotate.schema import units, votes
from screentest.run.engine import InlineEngine
from screentest.sample import sample_videos
from screentest.testbeds.builder import build_testbed
from screentest.testbeds.options import BuildOptions
from screentest.testbeds.sources import Extractor

SECONDS = float(os.environ.get("SECONDS", "120"))
WORKERS = 50
ITEMS = 10_000


def testbed(folder: Path) -> Path:
    build_testbed(
        [sample_videos()[2].item],
        folder,
        BuildOptions(
            degradations=("aesthetics",), clips=(2,), long_side=256, rate=Fraction(8), encoder=QUICK
        ),
        extractor=Extractor("stand_in", lambda _: ALL),
        engine=InlineEngine(),
    )
    return folder


def measure(name: str, place: Path, store: str) -> None:
    with open_stand(place, store, "pairs", rules={"votes": 5}) as stand:
        _multiply(stand.database)
        process, port = start_process(store)
        try:
            began = time.perf_counter()
            address = f"http://127.0.0.1:{port}"
            load = hammer(stand.database, address, count=WORKERS, seconds=SECONDS)
            elapsed = time.perf_counter() - began
            times = psutil.Process(process.pid).cpu_times()
        finally:
            end_process(process)
        with stand.database.read() as connection:
            stored = Counter(connection.execute(select(votes.c.id)).scalars())
            most = connection.execute(select(units.c.votes).order_by(-units.c.votes)).scalar()
    lost = load.acknowledged.keys() - stored.keys()
    double = [vote for vote, count in stored.items() if count != 1]
    figure(f"{name}: votes a second", len(stored) / elapsed, "votes/s")
    figure(f"{name}: answering a vote, median", 1000 * load.percentile(0.5), "ms")
    figure(f"{name}: answering a vote, p95", 1000 * load.percentile(0.95), "ms")
    figure(
        f"{name}: processor time of the server per vote",
        1000 * (times.user + times.system) / len(stored),
        "ms",
    )
    figure(f"{name}: votes", len(stored), "")
    figure(f"{name}: lost", len(lost), "")
    figure(f"{name}: double", len(double), "")
    figure(f"{name}: most votes on one item (5 asked for)", most or 0, "")
    if load.troubles:
        raise SystemExit(f"{len(load.troubles)} workers failed: {load.troubles[0]}")
    if lost or double or (most or 0) > 5:
        raise SystemExit("votes were lost or doubled")


def _multiply(database) -> None:  # type: ignore[no-untyped-def]
    """Ten thousand items out of one: the same video under many names."""
    with database.write() as connection:
        row = dict(connection.execute(select(units)).first()._mapping)
        number = row.pop("id")
        connection.execute(update(units).where(units.c.id == number).values(closed=True))
        connection.execute(
            units.insert(),
            [
                row | {"key": f"item-{n}", "source": f"film-{n % 500}", "place": n / ITEMS}
                for n in range(ITEMS)
            ],
        )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = testbed(Path(folder) / "testbed")
        measure("SQLite", place, str(Path(folder) / "votes.sqlite"))
        try:
            with postgres.running() as server:
                measure("PostgreSQL", place, server.url)
        except postgres.Missing as missing:
            print(f"PostgreSQL left out: {missing}")


if __name__ == "__main__":
    main()
