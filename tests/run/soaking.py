"""One command of the soak test, as a process that may be killed at any moment.

``python -m tests.run.soaking [--clock SECONDS] [--file-limit BYTES] COMMAND ARGUMENTS`` runs
``screentest`` or, as ``frames FOLDER NUMBER…``, ``votes MATERIAL FOLDER MOST`` and ``calm MATERIAL
FOLDER WATCHED``, Python code.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import signal
import socket
import sys
import threading
import time
from contextlib import closing, suppress
from datetime import datetime, timedelta, tzinfo
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
from numpy.typing import NDArray

import screentest
from screentest.annotate.people import link_again
from screentest.annotate.store import open_database
from screentest.cli import main
from screentest.core import ScreentestError, StorageError
from screentest.core.errors import Stopped
from screentest.hooks.contract import playable
from screentest.run import records
from screentest.video.memory import MemoryVideo
from tests.annotate.stand import Person

METRICS = ("contrast", "sharpness", "frozen")
RATE = Fraction(12)
FRAMES = 5
"""Clips in memory."""
JUDGED = 3
"""Clips that people rate."""
PEOPLE = ("ann", "ben")
STORE = "votes.sqlite"


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
    (folder / "judged").mkdir()
    for number in range(JUDGED):
        video = folder / "judged" / f"{number}.mp4"
        video.write_bytes(playable(folder / "clips" / f"step_{number}.mov"))
        with (folder / "judged.jsonl").open("a", encoding="utf-8") as file:
            file.write(f'{{"id": "{number}", "video": "{video}", "prompt": "clip {number}"}}\n')


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


def export_of(folder: Path) -> list[str | Path]:
    """Return the command that writes the votes to a file."""
    place = folder / "judged.jsonl"
    return ["annotate", "export", place, "--store", folder / STORE, "--out", folder / "votes.csv"]


def votes(material: Path, folder: Path, most: int) -> None:
    """Serve the app to the people, until they have cast so many votes or nothing is left."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    place, store = folder / "judged.jsonl", folder / STORE
    judging = threading.Thread(target=_judge, args=(material, folder, port, most), daemon=True)
    judging.start()
    task = ["--task", "rate", "--votes", len(PEOPLE), "--watch", "0", "--store", store]
    command(*map(str, ["annotate", "serve", place, *task, "--port", port]))


def _judge(material: Path, folder: Path, port: int, most: int) -> None:
    """Vote as browsers do; what was acknowledged is noted beside the material."""
    address = f"http://127.0.0.1:{port}"
    try:
        while not _answers(port):
            time.sleep(0.05)
        left = most
        for label in PEOPLE:
            with closing(open_database(folder / STORE)) as database:
                token = link_again(database, label, create=True).token
            with _Patient(base_url=address, headers={"Origin": address}, timeout=60) as client:
                left = _rate(Person(client, label), token, left, material / f"{folder.name}.votes")
    except (httpx2.TransportError, StorageError):  # it is being ended, or there is no room
        pass
    finally:
        os.kill(os.getpid(), signal.SIGINT)


class _Patient(httpx2.Client):
    """Asks again while the store is gone, as the pages do."""

    def request(self, *arguments: Any, **options: Any) -> httpx2.Response:
        for _ in range(50):
            answer = super().request(*arguments, **options)
            if answer.status_code != 503:
                return answer
            time.sleep(0.1)
        raise httpx2.ReadTimeout("the store does not come back")


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def _rate(person: Person, token: str, left: int, noted: Path) -> int:
    """Rate what the person is given; returns how many votes are left to cast."""
    person.join(token)
    person.form("/consent")
    page = person.begin()
    while page.open and left:
        (prompt,) = {f"clip {number}" for number in range(JUDGED) if f"clip {number}" in page.html}
        vote = secrets.token_hex(16)
        answer = page.vote({"score": score_of(person.label, prompt)}, vote=vote)
        if answer.status_code == 200:
            with noted.open("a") as file:
                file.write(f"{vote}\n")
            left -= 1
        elif answer.status_code != 409:  # answered in another tab meanwhile
            raise AssertionError(f"{answer.status_code}: {answer.text}")
        page = person.page()
    return left


def score_of(person: str, prompt: str) -> float:
    """Return the score that somebody gives a clip whenever asked."""
    return hashlib.sha256(f"{person} {prompt}".encode()).digest()[0] % 11 / 2


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
    votes(material, folder, len(PEOPLE) * JUDGED)
    steps.append(export_of(folder))
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
    if arguments[0] not in ("frames", "votes", "calm"):
        return command(*arguments)
    try:
        if arguments[0] == "calm":
            calm(Path(arguments[1]), Path(arguments[2]), arguments[3])
        elif arguments[0] == "votes":
            votes(Path(arguments[1]), Path(arguments[2]), int(arguments[3]))
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
