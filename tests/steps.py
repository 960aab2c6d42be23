"""The steps of ``make test``: each is a target of the Makefile, and none hides another.

Two at a time: installing, type checking and building the docs are each the work of one core. The
tests come last, alone, and print as they go; of the others only the output of those that fail is
shown. The last lines say how each step ended, and the status is 0 only where all went well.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

SIDE_BY_SIDE = ("types", "collect", "lint", "docs", "wheel")
LAST = "pytest"


@dataclass(frozen=True)
class Step:
    """A step that has ended."""

    name: str
    status: int
    seconds: float
    output: str


def run(name: str, *, quiet: bool) -> Step:
    """Make one target."""
    began = time.monotonic()
    line = [os.environ.get("MAKE", "make"), "--no-print-directory", name, *sys.argv[1:]]
    pipe = subprocess.PIPE if quiet else None
    done = subprocess.run(line, stdout=pipe, stderr=subprocess.STDOUT, text=True)
    return Step(name, done.returncode, time.monotonic() - began, done.stdout or "")


def main() -> int:
    """Run all steps and print a line for each."""
    with ThreadPoolExecutor(2) as pool:
        steps = list(pool.map(lambda name: run(name, quiet=True), SIDE_BY_SIDE))
    for step in steps:
        if step.status:
            print(f"== {step.name}\n{step.output}", flush=True)
    steps.append(run(LAST, quiet=False))
    for step in steps:
        result = f"failed (exit {step.status})" if step.status else "passed"
        print(f"{step.name:<8}{result}, {step.seconds:.0f} s")
    return int(any(step.status for step in steps))


if __name__ == "__main__":
    sys.exit(main())
