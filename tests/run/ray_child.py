"""A run on a Ray cluster, in a process of its own: python -m tests.run.ray_child ADDRESS FOLDER."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from screentest.core import ScreentestError
from screentest.run.execute import execute
from screentest.run.ray_engine import RayEngine
from screentest.run.store import RunStore
from tests.run.child import Counting
from tests.run.work import task


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("address")
    options.add_argument("folder", type=Path)
    options.add_argument("--tasks", type=int, default=12)
    options.add_argument("--log", required=True)
    options.add_argument("--gate", default="")
    options.add_argument("--free", type=int, default=0)
    options.add_argument("--bytes", type=int, default=0)
    options.add_argument("--trouble", action="store_true")
    given = options.parse_args()
    payload: dict[str, object] = {"log": given.log, "bytes": given.bytes}
    if given.gate:
        payload |= {"gate": given.gate, "free": given.free}
    tasks = [task(number, "measure", payload) for number in range(given.tasks)]
    if given.trouble:
        tasks += [
            task("dies", "dies", (9, 1, given.log)),
            task("pays", "pays", ("0.5", 2)),
            task("hangs", "hangs", given.log, timeout=1.0),
        ]
    try:
        with (
            RunStore(given.folder, command="test") as store,
            RayEngine(given.address) as engine,
        ):
            return execute(store, tasks, engine=engine, progress=Counting()).exit_code
    except ScreentestError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return error.exit_code


if __name__ == "__main__":
    raise SystemExit(main())
