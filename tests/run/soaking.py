"""One command of the soak test, as a process that may be killed at any moment.

``python -m tests.run.soaking [--clock SECONDS] [--file-limit BYTES] COMMAND ARGUMENTS`` runs
``screentest`` or, as ``frames FOLDER NUMBER…`` and ``calm MATERIAL FOLDER WATCHED``, Python code.
"""

from __future__ import annotations

import sys
import time
from datetime import datetime, timedelta, tzinfo
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import screentest
from screentest.cli import main
from screentest.core import ScreentestError
from screentest.core.errors import Stopped
from screentest.run import records
from screentest.video.memory import MemoryVideo

METRICS = ("contrast", "sharpness", "frozen")
RATE = Fraction(12)
FRAMES = 5
"""Clips in memory."""


def pictures(seed: int) -> NDArray[np.uint8]:
    """Half a second of 64 × 48: blocks that move to the right."""
    blocks = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    still = blocks.repeat(8, axis=0).repeat(8, axis=1)
    return np.stack([np.roll(still, 2 * number, axis=1) for number in range(6)])


def make_material(folder: Path) -> None:
    """Write videos of two models with a manifest, and a folder of validation clips."""
    lines = []
    for model in ("ours", "theirs"):
        for number in range(4):
            path = folder / "videos" / f"{model}-{number}.mov"
            path.parent.mkdir(parents=True, exist_ok=True)
            MemoryVideo(pictures(number + 10 * (model == "ours")), RATE).write(path)
            lines.append(
                f'{{"id": "{path.stem}", "video": "{path}", "prompt": "prompt {number}", '
                f'"groups": {{"model": "{model}"}}}}\n'
            )
    for number, line in enumerate(lines):
        (folder / f"{number}.jsonl").write_text(line, "utf-8")
    (folder / "all.jsonl").write_text("".join(lines), "utf-8")
    (folder / "clips").mkdir()
    for number in range(4):
        MemoryVideo(pictures(30 + number), RATE).write(folder / "clips" / f"step_{number}.mov")


def watch_of(material: Path, out: Path) -> list[str | Path]:
    """Return the command that watches the clips."""
    options = ["--once", "--every", "0.1", "--metrics", ",".join(METRICS)]
    return ["watch", material / "clips", *options, "--out", out]


def frames(run: Path, numbers: list[int]) -> None:
    """Add clips in memory to a run."""
    screentest.score_frames(
        np.stack([pictures(20 + number) for number in numbers]),
        fps=12,
        ids=[f"frames-{number}" for number in numbers],
        metrics=METRICS,
        out=run,
        progress=False,
    )


def calm(material: Path, folder: Path, watched: str) -> None:
    """Do all of the work, or what is missing of it, with nobody else at work."""
    run, names = folder / "run", ",".join(METRICS)
    steps = [
        ["score", material / "all.jsonl", "--metrics", names, "--out", run, "--add"],
        watch_of(material, folder / watched),
        ["merge", run, "--into", folder / "merged"],
        ["export", run],
        ["export", run, "--to", "json"],
        ["report", run, "--out", folder / "report.html"],
    ]
    frames(run, list(range(FRAMES)))
    for step in steps:
        work = ["--workers", "2"] if step[0] in ("score", "watch") else []
        command(*map(str, step), *work)


def command(*arguments: str) -> int:
    """Run ``screentest``; raises if it fails."""
    sys.argv = ["screentest", *arguments]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    return 0


def move_clock(by: float) -> None:
    """Have this process read another time of day."""

    class Moved(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + timedelta(seconds=by)

    seconds, nanoseconds = time.time, time.time_ns
    records.datetime = Moved  # type: ignore[misc]
    time.time = lambda: seconds() + by
    time.time_ns = lambda: nanoseconds() + int(by) * 10**9


def run(arguments: list[str]) -> int:
    if arguments[0] == "--clock":
        move_clock(float(arguments[1]))
        del arguments[:2]
    if arguments[0] == "--file-limit":
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (int(arguments[1]),) * 2)
        del arguments[:2]
    if arguments[0] not in ("frames", "calm"):
        return command(*arguments)
    try:
        if arguments[0] == "calm":
            calm(Path(arguments[1]), Path(arguments[2]), arguments[3])
        else:
            frames(Path(arguments[1]), [int(number) for number in arguments[2:]])
    except Stopped as stop:
        return stop.exit_code
    except ScreentestError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(run(sys.argv[1:]))
