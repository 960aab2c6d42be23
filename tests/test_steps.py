"""``make test`` runs every step, and a step that fails hides no other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

STEPS = Path(__file__).with_name("steps.py")


@pytest.mark.parametrize("failing", ["", "lint", "types", "pytest"])
def test_every_step_runs_and_has_a_line(failing: str, tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.write_text(f'#!/bin/sh\necho "$2 $3" >> {tmp_path}/ran\ntest "$2" != "{failing}"\n')
    make.chmod(0o755)
    done = subprocess.run(
        [sys.executable, STEPS, "TEST=here"],
        env=os.environ | {"MAKE": str(make)},
        capture_output=True,
        text=True,
        check=False,
    )
    ran = (tmp_path / "ran").read_text().splitlines()
    names = ["types", "collect", "lint", "docs", "wheel", "pytest"]
    assert sorted(ran) == sorted(f"{name} TEST=here" for name in names)
    assert ran[-1] == "pytest TEST=here"
    ended = [line.split()[:2] for line in done.stdout.splitlines()[-len(names) :]]
    assert ended == [[name, "failed" if name == failing else "passed,"] for name in names]
    assert done.returncode == (1 if failing else 0)
