"""A build killed at any moment and started again ends with the very bytes of one left alone."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from screentest.inputs.manifest import write_manifest
from screentest.sample import sample_videos
from screentest.testbeds.testbed import Testbed, read_testbed

PATIENCE = 300
"""Seconds; far more than it takes anywhere."""
ASPECTS = "aesthetics,dynamics_degree,comprehensiveness,temporal_flow"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    write_manifest(path, [sample_videos()[number].item for number in (2, 3)])
    return path


def command(corpus: Path, out: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "screentest", "build", str(corpus), "--out", str(out)),
        *("--aspects", ASPECTS, "--placebos", "trim", "--clips", "2"),
        *("--long-side", "64", "--fps", "2", "--workers", "2"),
    ]


def videos(out: Path) -> dict[str, bytes]:
    found = sorted(path for path in (out / "videos").rglob("*") if path.is_file())
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in found}


def result(out: Path) -> Testbed:
    return read_testbed(out)


def killed_after(files: int, pause: float, command: list[str], out: Path) -> bool:
    """Start the build, kill all of it when so many files are there; whether it came to that."""
    child = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + PATIENCE
    try:
        while child.poll() is None and time.monotonic() < deadline:
            if sum(path.is_file() for path in out.rglob("videos/*/*")) >= files:
                time.sleep(pause)
                break
            time.sleep(0.005)
        return child.poll() is None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait(PATIENCE)


@pytest.mark.slow
def test_killed_at_random_and_started_again(corpus: Path, tmp_path: Path) -> None:
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    subprocess.run(command(corpus, whole), check=True, capture_output=True, timeout=PATIENCE)
    rng = random.Random(20)
    kills = 0
    for files in (1, rng.randrange(2, 7), rng.randrange(7, 12)):
        kills += killed_after(files, rng.uniform(0, 0.1), command(corpus, torn), torn)
    assert kills >= 1
    done = subprocess.run(command(corpus, torn), check=False, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert videos(torn) == videos(whole)
    assert result(torn) == result(whole)
