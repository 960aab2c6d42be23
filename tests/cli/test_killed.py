"""Commands killed at moments spread over the whole run, and started again: the same to the bit.

A moment is so many records: the first blows fall while it starts, the last when most is done,
however busy the machine is. Each round kills two or three times (all of it, the parent, or one
worker), then lets the command finish. What was hit is written to ``blows.log`` beside the runs.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest

from screentest.inputs.manifest import write_manifest
from screentest.run.reader import RunReader
from screentest.testing.films import captioned_film
from tests.run.canonical import canonical

ROUNDS = 10
SEEDS = range(5) if os.environ.get("SCREENTEST_SLOW") else (3,)
PATIENCE = 900
"""Seconds; far more than it takes anywhere."""
ASPECTS = "aesthetics,dynamics_degree,temporal_flow"

Digest = Callable[[Path], object]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    items = [captioned_film(folder, f"film{n}", clips=3, seconds=1) for n in range(5)]
    path = folder / "films.jsonl"
    write_manifest(path, items)
    return path


@pytest.fixture(scope="module")
def testbed(corpus: Path) -> Path:
    out = corpus.parent / "testbed"
    subprocess.run(build(corpus, out), check=True, capture_output=True, timeout=PATIENCE)
    return out


def screentest(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "screentest", *map(str, arguments), "--workers", "2"]


def score(corpus: Path, out: Path) -> list[str]:
    return screentest("score", corpus, "--metrics", "motion,contrast,sharpness,noise", "--out", out)


def build(corpus: Path, out: Path) -> list[str]:
    asked = ("--aspects", ASPECTS, "--placebos", "trim", "--clips", "1", "--min-clips", "1")
    return screentest("build", corpus, "--out", out, *asked)


def certify(testbed: Path, out: Path) -> list[str]:
    return screentest("certify", "motion", "sharpness", "--testbed", testbed, "--out", out)


def records(out: Path) -> list[str]:
    with RunReader(out) as run:
        return list(canonical(run.records()))


def files(out: Path) -> dict[str, bytes]:
    found = sorted(path for path in (out / "videos").rglob("*") if path.is_file())
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in found}


def written(out: Path) -> int:
    """How many records that took time a run has by now: verdicts follow from them in an instant."""
    place = next((one for one in (out / "run.db", out / "run" / "run.db") if one.exists()), None)
    if place is None:
        return 0
    with contextlib.closing(sqlite3.connect(f"{place.as_uri()}?mode=ro", uri=True)) as database:
        try:
            count: int = database.execute(
                "SELECT count(*) FROM records WHERE elapsed_us > 0"
            ).fetchone()[0]
        except sqlite3.Error:  # not yet made
            return 0
    return count


def blow(
    command: Sequence[str], out: Path, least: int, wait: float, whom: str, draw: random.Random
) -> str:
    """Start the command, and strike some time after it has so many records; what was hit."""
    child = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        while written(out) < least and child.poll() is None:
            time.sleep(0.02)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(wait)
            return "done before"
        below = psutil.Process(child.pid).children(recursive=True)
        hit = f"{whom} at {written(out)} records, {len(below)} processes below"
        if whom == "worker" and below:
            victim = draw.choice(below)
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.kill()
            child.wait(PATIENCE)  # the run goes on without it
            return hit
        os.kill(child.pid, signal.SIGKILL)
        if whom != "parent":
            for one in below:
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()
        return hit
    finally:
        child.kill()
        child.wait(PATIENCE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "digest"), [(score, records), (build, files), (certify, records)]
)
def test_killed_at_work(
    command: Callable[[Path, Path], list[str]],
    digest: Digest,
    corpus: Path,
    testbed: Path,
    tmp_path: Path,
) -> None:
    given = testbed if command is certify else corpus
    began = time.monotonic()
    whole = tmp_path / "whole"
    subprocess.run(command(given, whole), check=True, capture_output=True, timeout=PATIENCE)
    total = written(whole)
    each = (time.monotonic() - began) / total
    log = tmp_path / "blows.log"
    for seed in range(ROUNDS):
        draw, torn = random.Random(seed), tmp_path / f"torn{seed}"
        for number in range(2 + seed % 2):
            # One worker's death ends no run, so it comes last.
            whom = ("all", "parent", "worker")[number if seed % 2 else 1 + number]
            least = (seed * total) // ROUNDS
            if number:  # the second is at work again, the third may still be starting
                least = max(least, min(total - 1, written(torn) + 2 - number))
            hit = blow(command(given, torn), torn, least, 2 * each * draw.random(), whom, draw)
            with log.open("a") as file:
                file.write(f"round {seed}, from {least} of {total} records on: {hit}\n")
        done = subprocess.run(command(given, torn), capture_output=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        assert digest(torn) == digest(whole)


def test_replace_is_killed_at_work(corpus: Path, tmp_path: Path) -> None:
    """What it drops and what it keeps of the run before are those of a run left in peace."""
    films = corpus.read_text("utf-8").splitlines(keepends=True)
    before, after = corpus.with_name("before.jsonl"), corpus.with_name("after.jsonl")
    before.write_text("".join(films[:3]), "utf-8")
    after.write_text("".join(films[1:]), "utf-8")
    began = tmp_path / "before"
    metrics = ("--metrics", "motion,contrast")
    command = screentest("score", before, *metrics, "--out", began)
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)

    def replace(out: Path) -> list[str]:
        asked = ("--metrics", "contrast,sharpness,noise", "--replace")
        return screentest("score", after, *asked, "--out", out)

    whole = shutil.copytree(began, tmp_path / "whole")
    subprocess.run(replace(whole), check=True, capture_output=True, timeout=PATIENCE)
    with RunReader(whole) as run:
        shown = sorted(run.items())
    for seed in SEEDS:
        draw, torn = random.Random(seed), shutil.copytree(began, tmp_path / f"torn{seed}")
        hits = [
            blow(replace(torn), torn, written(torn) + number * seed, draw.random(), whom, draw)
            for number, whom in enumerate(("all", "parent", "all"))
        ]
        subprocess.run(replace(torn), check=True, capture_output=True, timeout=PATIENCE)
        assert records(torn) == records(whole), hits
        with RunReader(torn) as run:
            assert sorted(run.items()) == shown, hits
