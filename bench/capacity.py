"""What a minute of film costs with each suite: processor time, calls, pictures, tokens.

    python bench/capacity.py [SUITE…] [--seconds 10] [--height 360]

One film, measured in one process with the backends that this machine has; chat models are the
fake server of the tests, which counts what it is sent and answers at once, so calls and tokens in
are those of a real one and its seconds are not. docs/evidence/performance.md has them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from _figures import Table, long_video, publish
from screentest.analysis.suites import read_suite
from screentest.core import Item
from screentest.measure.tasks import score_items
from screentest.models import ModelChoice
from screentest.run.engine import InlineEngine
from screentest.run.session import Settings
from screentest.run.store import RunStore
from screentest.testing.chat_server import FakeChatServer

SUITES = ("core", "etva_builtin", "etva", "univ:task=t2v", "locot2v")
RATE = 24
PROMPT = (
    "A big grey rabbit comes out of its burrow on a green hill in the morning, looks up at the "
    "sky and smiles. A butterfly flies past. The camera follows it slowly to the left."
)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("suites", nargs="*", default=SUITES)
    options.add_argument("--seconds", type=int, default=10)
    options.add_argument("--height", type=int, default=360)
    given = options.parse_args()
    width = given.height * 16 // 9
    film = long_video(width, given.height, frames=RATE * given.seconds, rate=RATE)
    item = Item("film", film, prompt=PROMPT)
    minutes = given.seconds / 60
    print(
        f"{width} × {given.height}, {RATE} frames a second, {given.seconds} s; per minute of film:"
    )
    rows = []
    for suite in given.suites:
        with tempfile.TemporaryDirectory() as place, FakeChatServer() as server:
            chat = ModelChoice.parse(f"chat=openai:fake,base_url={server.url}")
            settings = Settings(models=(chat,))
            with RunStore(Path(place) / "run", command="bench") as store:
                # ETVA's questions by its rules: the fake server cannot write any.
                rules = suite == "etva"
                names = ["etva:writer=rules"] if rules else list(read_suite(suite).metrics)
                began, worked = time.perf_counter(), time.process_time()
                score_items(store, [item], names, settings, engine=InlineEngine())
                elapsed, worked = time.perf_counter() - began, time.process_time() - worked
                spent, coverage = store.spending(), store.coverage()
        print(
            f"{suite:<18} a minute: {worked / minutes:>6.0f} s of a processor "
            f"({elapsed / minutes:.0f} s by the clock); this film: {spent.calls} calls, "
            f"{spent.images} pictures, {spent.tokens_in:,} tokens in, {spent.tokens_out:,} out; "
            f"{coverage.scored} of {coverage.total} metrics gave all values",
            flush=True,
        )
        rows.append((f"`{suite}`", worked / minutes, spent.calls, spent.images, spent.tokens_in))
    if given.height == 360:
        columns = {"suite": "", "processor seconds, a minute of film": "{:.0f}"}
        columns |= dict.fromkeys(("calls", "pictures sent", "tokens in"), "{:,}")
        suites = "" if given.suites == SUITES else f" {' '.join(given.suites)}"
        command = f"python bench/capacity.py{suites} --seconds {given.seconds}"
        publish(f"capacity_{given.seconds}s", command, {"suites": Table(columns, rows)})


if __name__ == "__main__":
    main()
