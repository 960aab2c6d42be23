"""A run in a process of its own, to be killed: python -m tests.run.child FOLDER OPTIONS."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from screentest.core import ScreentestError, Silent
from screentest.run.engine import LocalEngine
from screentest.run.execute import execute
from screentest.run.store import RunStore
from tests.run.work import task


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class Counting(Silent):
    """Says how many records are done, one line each."""

    def begin(self, what: str, total: float | None, unit: str, done: float = 0) -> None:
        say("begun")

    def advance(self, amount: float = 1, note: str = "") -> None:
        say(note)


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--log", default="")
    options.add_argument("--tasks", type=int, default=20)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--seconds", type=float, default=0.0)
    options.add_argument("--bytes", type=int, default=0)
    options.add_argument("--gate", default="")
    options.add_argument("--free", type=int, default=0)
    options.add_argument("--function", default="measure")
    options.add_argument("--file-limit", type=int)
    given = options.parse_args()
    if given.file_limit:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (given.file_limit, given.file_limit))
    payload = {"seconds": given.seconds, "bytes": given.bytes}
    if given.gate:
        payload |= {"gate": given.gate, "free": given.free}
    if given.log:
        payload["log"] = given.log
    tasks = [task(number, given.function, payload) for number in range(given.tasks)]
    try:
        with RunStore(given.folder, command="test") as store:
            engine = LocalEngine(workers=given.workers)
            return execute(store, tasks, engine=engine, progress=Counting()).exit_code
    except ScreentestError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return error.exit_code


if __name__ == "__main__":
    raise SystemExit(main())
