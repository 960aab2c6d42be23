"""Many processes work on one folder while they are killed, the disk is full and clocks move.

At the end one calm start makes what is missing. All of it must equal what a run gives that nobody
disturbed. ``SCREENTEST_SOAK_SECONDS`` and ``SCREENTEST_SOAK_SEED`` choose how long and with which
seed; a failure prints both with the list of actions. Each folder prints its counts, and whether it
was equal.
"""

from __future__ import annotations

import csv
import json
import os
import random
import resource
import runpy
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest

import screentest
from screentest.core import RunError, StorageError, UserError
from screentest.run.reader import RunReader
from tests.conftest import ROOT
from tests.run.canonical import canonical
from tests.run.conftest import PATIENCE
from tests.run.soaking import (
    FRAMES,
    JUDGED,
    METRICS,
    PEOPLE,
    STORE,
    export_of,
    make_material,
    watch_of,
)
from tests.terminal import CLEAN, WITH_TESTS

SECONDS = float(os.environ.get("SCREENTEST_SOAK_SECONDS", "120"))
SEEDS = [int(seed) for seed in os.environ.get("SCREENTEST_SOAK_SEED", "1").split(",")]
SHORT = 8.0
ROUND = 20.0
"""Seconds in one folder; later most of its values are there and little is left to disturb."""
LANES = 3
LIMIT = 240.0
"""Seconds for one process, on a machine that is busy."""
YEAR = 365 * 86_400
DISK = "24m"

MOMENTS = ("run/frames/.*", "run/run.reserve", "run/run.db-wal", "*/run.reserve", "merged/*-wal")
"""Files that are there while a process writes."""

KINDS = (
    "score",
    "frames",
    "watch",
    "votes",
    "merge",
    "compare",
    "report",
    "export",
    "annotate",
    "runs",
)
DONE = {0, 1, 2, 3}  # done; nothing scored, an alarm, or the run is busy; refused; partly scored
FULL = 74  # sysexits.h


@dataclass
class Action:
    """One command, and what is done to it."""

    arguments: list[str]
    clock: int = 0
    limit: int = 0
    """Most bytes of one file."""
    signal: int = 0
    after: float = 0.0
    """Seconds to the signal from its start, or from when there is the file or the process."""
    file: str = ""
    """A pattern; the signal waits until there is such a file in the folder."""
    worker: bool = False
    """The signal goes to one of its own processes."""
    lane: int = 0
    began: float = 0.0
    code: int | None = None
    sent: bool = False
    said: str = ""
    """The process that got the signal, and the error."""


@dataclass
class Soak:
    """The work on one folder."""

    seed: int
    seconds: float
    material: Path
    folder: Path
    temporary: Path
    done: list[Action] = field(default_factory=list)
    events: list[tuple[float, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)
    equal: bool = False
    """It was compared with an undisturbed folder, and is as that is."""

    def __post_init__(self) -> None:
        self.rng = random.Random(f"{self.seed}")
        # A watch has a run of its own, or shares that of the others.
        self.watched = self.rng.choice(("watch", "run"))

    @property
    def now(self) -> float:
        return time.monotonic() - self.begun

    def disturb(self, small: bool) -> None:
        """Have all at work until the time is over."""
        lanes = [threading.Thread(target=self._work, args=(lane,)) for lane in range(LANES)]
        monkey = threading.Thread(target=self._monkey, args=(small,))
        for thread in (*lanes, monkey):
            thread.start()
        for thread in (*lanes, monkey):
            thread.join(self.seconds + 3 * LIMIT)
            assert not thread.is_alive()

    def _work(self, lane: int) -> None:
        rng = random.Random(f"{self.seed}-{lane}")
        while self.now < self.seconds and not self.faults:
            action = self._action(rng)
            action.lane = lane
            try:
                self._carry_out(action, rng)
            except BaseException as error:
                self.faults.append(f"{action.arguments}: {error!r}")
                raise

    def _action(self, rng: random.Random) -> Action:
        run, merged = self.folder / "run", self.folder / "merged"
        names = rng.sample(METRICS, rng.randint(1, len(METRICS)))
        numbers = rng.sample(range(FRAMES), rng.randint(1, FRAMES))
        parts = [self.material / f"{n}.jsonl" for n in rng.sample(range(8), rng.randint(1, 6))]
        work = ["--workers", rng.choice("12")]
        every = self.material / "all.jsonl"
        commands: list[tuple[int, list[Any]]] = [
            (4, ["score", *parts, "--metrics", ",".join(names), "--out", run, "--add", *work]),
            (2, ["score", *parts, "--metrics", ",".join(names), "--out", run, *work]),
            (2, ["score", every, "--metrics", ",".join(METRICS), "--out", run, "--add", *work]),
            (1, ["score", *parts, "--metrics", names[0], "--out", run, "--replace", *work]),
            (4, ["frames", run, *numbers]),
            (3, [*watch_of(self.material, self.folder / self.watched), *work]),
            (1, ["compare", run, "--json"]),
            (1, ["report", run, "--out", self.folder / "report.html"]),
            (2, ["merge", run, "--into", merged]),
            (1, ["export", run, "--to", rng.choice(("csv", "json"))]),
            (1, ["runs", self.folder, "--json"]),
            (4, ["votes", self.material, self.folder, rng.randint(1, len(PEOPLE) * JUDGED)]),
            (1, export_of(self.folder)),
        ]
        (chosen,) = rng.choices(commands, [weight for weight, _ in commands])
        action = Action([str(part) for part in chosen[1]])
        action.clock = rng.choice((0, 0, 0, 3600, -3600, 10 * YEAR, -10 * YEAR))
        if rng.random() < 0.12:
            action.limit = rng.choice((1, 20_000, 100_000, 400_000, 600_000))
        if rng.random() < 0.6:
            number = rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
            action.signal, action.after = int(number), 0.3 + 5 * rng.random() ** 1.5
            action.worker = number == signal.SIGKILL and rng.random() < 0.4
            if action.worker:
                action.after = 0.2 * rng.random() ** 2
            elif rng.random() < 0.5:
                # Right in the middle: while it writes.
                action.after = 0.05 * rng.random() ** 2
                action.file = rng.choice(MOMENTS)
        return action

    def start(self, action: Action) -> subprocess.Popen[str]:
        options = ["--clock", str(action.clock)] if action.clock else []
        options += ["--file-limit", str(action.limit)] if action.limit else []
        return subprocess.Popen(
            [sys.executable, "-m", "tests.run.soaking", *options, *action.arguments],
            cwd=ROOT,
            env=CLEAN
            | {
                "TMPDIR": str(self.temporary),
                "PYTHONPATH": WITH_TESTS,
                "SOAK": str(self.temporary),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _carry_out(self, action: Action, rng: random.Random) -> None:
        action.began = self.now
        child = self.start(action)
        arguments = (action, child, rng.random())
        killer = threading.Thread(target=self._signal, args=arguments)
        if action.signal:
            killer.start()
        try:
            _, error = child.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            child.kill()
            _, error = child.communicate()
            self.faults.append(f"no end after {LIMIT:g} s: {asdict(action)}\n{error}")
        if action.signal:
            killer.join()
        action.code = child.returncode
        action.said += error[:300] if child.returncode else ""
        self.done.append(action)
        interrupted = action.sent and not action.worker
        if not interrupted and ("Traceback" in error or child.returncode not in DONE | {FULL}):
            self.faults.append(f"{asdict(action)}\n{error}")

    def _signal(self, action: Action, child: subprocess.Popen[str], which: float) -> None:
        while (action.file and not any(self.folder.glob(action.file))) or (
            action.worker and not _processes_of(child)
        ):
            if child.poll() is not None:
                return
            time.sleep(0.002)
        deadline = time.monotonic() + action.after
        while time.monotonic() < deadline:
            if child.poll() is not None:
                return
            time.sleep(min(0.05, action.after))
        if child.poll() is not None:
            return
        with suppress(ProcessLookupError, psutil.Error):
            if action.worker:
                workers = _processes_of(child)
                if workers:
                    chosen = workers[int(which * len(workers))]
                    action.said, action.sent = " ".join(chosen.cmdline()), True
                    chosen.kill()
            elif action.signal == signal.SIGINT:  # as a terminal does
                action.sent = True
                os.killpg(child.pid, signal.SIGINT)
            else:
                action.sent = True
                child.send_signal(action.signal)

    def _monkey(self, small: bool) -> None:
        rng = random.Random(f"{self.seed}-monkey")
        videos = sorted(self.material.glob("*/*.mov"))
        while self.now < self.seconds and not self.faults:
            time.sleep(rng.uniform(0.2, 2.0))
            if small and rng.random() < 0.3:
                rest, length = rng.choice((0, 3_000, 100_000, 600_000)), rng.uniform(0.3, 3.0)
                self.events.append((self.now, f"disk full but for {rest} bytes, {length:.1f} s"))
                self._fill(length, rest)
                continue
            video, date = rng.choice(videos), time.time() + rng.randint(-20, 20) * YEAR
            self.events.append((self.now, f"{video.name} dated {date:.0f}"))
            os.utime(video, (date, date))

    def _fill(self, length: float, rest: int) -> None:
        ballast = self.folder / "ballast"
        with ballast.open("wb", buffering=0) as file:
            for size in (1 << 20, 4096):
                with suppress(OSError):
                    while True:
                        file.write(bytes(size))
            file.truncate(max(0, ballast.stat().st_size - rest))
            time.sleep(length)
        ballast.unlink()

    def calm(self, folder: Path) -> None:
        """Do all the work in a folder, or what is missing of it."""
        action = Action(["calm", str(self.material), str(folder), self.watched])
        child = self.start(action)
        try:
            _, error = child.communicate(timeout=2 * LIMIT)
        finally:
            child.kill()
            child.wait()
        assert child.returncode == 0, error

    def wait_for_the_last(self) -> None:
        """Processes of those that were killed end by themselves."""
        left: list[psutil.Process] = []
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            left = self._processes()
            if not left:
                return
            time.sleep(0.1)
        told = [(one.pid, one.cmdline()) for one in left]
        for one in left:
            with suppress(psutil.Error):
                one.kill()
        raise AssertionError(f"left at work: {told}")

    def _processes(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if (
                    process.environ().get("SOAK") == str(self.temporary)
                    and process.status() != psutil.STATUS_ZOMBIE
                ):
                    found.append(process)
        return found

    def story(self) -> str:
        """All that was done, for whoever replays it."""
        lines = [(a.began, json.dumps(asdict(a))) for a in self.done] + self.events
        actions = "\n".join(f"{at:8.2f} {line}" for at, line in sorted(lines))
        for place in (self.material, self.folder):
            actions = actions.replace(str(place), place.name)
        return f"{self.counts()}\n{actions}\n"

    def counts(self) -> str:
        """What was done, as a line of JSON: ``bench/soak.py`` adds such lines up."""
        full = sum("disk full" in event for _, event in self.events)
        kinds = {kind: [a for a in self.done if a.arguments[0] == kind] for kind in KINDS}
        return json.dumps(
            {
                "seed": self.seed,
                "equal": self.equal,
                "seconds": self.seconds,
                "signals to workers": sum(a.sent and a.worker for a in self.done),
                "full disks": full,
                "file limits": sum(bool(a.limit) for a in self.done),
                "moved clocks": sum(bool(a.clock) for a in self.done),
                "dated files": len(self.events) - full,
                "votes": len(self.noted),
                "commands": {kind: Counter(map(_ending, done)) for kind, done in kinds.items()},
            }
        )

    @property
    def noted(self) -> set[str]:
        """Votes that were acknowledged."""
        path = self.material / f"{self.folder.name}.votes"
        return set(path.read_text().split()) if path.exists() else set()


def _ending(action: Action) -> str:
    if action.sent and not action.worker:
        return signal.Signals(action.signal).name
    return {0: "done", 3: "done", 74: "full"}.get(action.code or 0, "refused")


def _processes_of(child: subprocess.Popen[str]) -> list[psutil.Process]:
    try:
        return psutil.Process(child.pid).children(recursive=True)
    except psutil.Error:
        return []


def state_of(folder: Path, watched: str) -> dict[str, Any]:
    """All that may not depend on how it came about."""
    runs = {name: run_of(folder / name) for name in ("run", "merged", watched)}
    for name, run in runs.items():
        coverage = run["coverage"]
        assert coverage["scored"] == coverage["total"] == len(run["records"]) > 0, name
    state = json.loads((folder / watched / "watch.json").read_text("utf-8"))
    clips = {name: (file["path"], digest) for name, (file, digest) in state["clips"].items()}
    return {
        **runs,
        "clips": clips,
        "alarms": state.get("raised"),
        "votes": votes_of(folder),
        "files": files_of(folder),
    }


def votes_of(folder: Path) -> dict[str, Any]:
    """What people said of which clip, as the store and the export have it."""
    with closing(sqlite3.connect(folder / STORE)) as database:
        said = database.execute(
            "SELECT label, key, answer FROM votes JOIN workers ON workers.id = worker_id"
            " JOIN units ON units.id = unit_id ORDER BY label, key"
        ).fetchall()
        counted = database.execute("SELECT key, votes, closed FROM units ORDER BY key").fetchall()
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with (folder / "votes.csv").open(newline="", encoding="utf-8") as file:
        rows = [(row["worker"], row["video"], row["score"]) for row in csv.DictReader(file)]
    return {"said": said, "counted": counted, "exported": sorted(rows)}


def stored_votes(folder: Path) -> set[str]:
    with closing(sqlite3.connect(folder / STORE)) as database:
        return {name for (name,) in database.execute("SELECT id FROM votes")}


def run_of(folder: Path) -> dict[str, Any]:
    with RunReader(folder) as run:
        facts = {
            "records": list(canonical(run.records())),
            # No input, item or setting changes, so there is nothing else.
            "all records": list(canonical(run.records(current=False))),
            "plan": sorted(run.plan()),
            "items": {
                name: (item.video.name, item.prompt, item.sha256, dict(item.groups))
                for name, item in sorted(run.items().items())
            },
            "probes": {name: asdict(probe) for name, probe in sorted(run.probes().items())},
            "evaluators": sorted((one.name, one.signature) for one in run.evaluators()),
            "coverage": asdict(run.coverage()),
        }
    with closing(sqlite3.connect(folder / "run.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return facts


def files_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def soak(seed: int, seconds: float, tmp_path: Path, disk: Path, small: bool) -> None:
    """Rounds, each in a folder of its own and with the next seed."""
    material = tmp_path / "material"
    make_material(material)
    undisturbed: dict[str, dict[str, Any]] = {}
    end, first = time.monotonic() + seconds, seed
    while (rest := end - time.monotonic()) > ROUND / 2 or seed == first:
        folder = disk / f"round-{seed}"
        folder.mkdir()
        shutil.copy(material / "judged.jsonl", folder)
        # The name of a socket, which goes in there, must be short.
        with tempfile.TemporaryDirectory(prefix="st") as temporary:
            work = Soak(seed, min(rest, ROUND), material, folder, Path(temporary))
            try:
                if work.watched not in undisturbed:
                    fresh = tmp_path / f"fresh-{work.watched}"
                    fresh.mkdir()
                    shutil.copy(material / "judged.jsonl", fresh)
                    work.calm(fresh)
                    undisturbed[work.watched] = state_of(fresh, work.watched)
                    work.begun = time.monotonic()
                work.disturb(small)
                assert not work.faults, "\n".join(work.faults)
                work.wait_for_the_last()
                work.calm(folder)
                work.wait_for_the_last()
                assert state_of(folder, work.watched) == undisturbed[work.watched]
                assert work.noted <= stored_votes(folder)
                assert not list(Path(temporary).iterdir())
                work.equal = True
            except BaseException:
                sys.stderr.write(work.story())
                raise
        shutil.rmtree(folder)
        sys.stderr.write(f"{work.counts()}\n")
        seed += 1


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, bool]]:
    """A small file system where mounting one is allowed, else a folder; and which of them."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(place)], capture_output=True
    )
    yield place, not mounted.returncode
    if not mounted.returncode:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("fault", [None, AssertionError("unequal"), KeyboardInterrupt()])
def test_only_folders_that_were_equal_are_counted(
    fault: BaseException | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The second folder fails or is interrupted; its seed is 5."""

    def disturb(work: Soak, small: bool) -> None:
        if work.seed == 5 and fault:
            raise fault
        work.done.append(Action(["score"], code=0))
        clock.append(ROUND * (work.seed - 4))  # the first takes no time, the second all of it

    clock = [0.0]
    monkeypatch.setitem(globals(), "time", SimpleNamespace(monotonic=lambda: clock[-1]))
    monkeypatch.setitem(globals(), "make_material", Path.mkdir)
    monkeypatch.setitem(globals(), "state_of", lambda *_: {})
    monkeypatch.setitem(globals(), "stored_votes", lambda *_: set())
    monkeypatch.setitem(globals(), "shutil", SimpleNamespace(copy=lambda *_: 0, rmtree=lambda _: 0))
    monkeypatch.setattr(Soak, "calm", lambda *_: None)
    monkeypatch.setattr(Soak, "disturb", disturb)
    with pytest.raises(type(fault)) if fault else nullcontext():
        soak(4, ROUND, tmp_path, tmp_path, False)
    log = tmp_path / "soak.log"
    log.write_text(capsys.readouterr().err, "utf-8")
    made: dict[str, Any] = {}
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    main = runpy.run_path(str(ROOT / "bench" / "soak.py"))["main"]
    monkeypatch.setitem(main.__globals__, "publish", lambda *told: made.update(told[2]))
    monkeypatch.setattr(sys, "argv", ["soak.py", str(log)])
    main()
    equal = 1 if fault else 2
    assert made["disturbed"].rows[0][0] == made["commands"].rows[-1][1] == equal
    assert ("5" in capsys.readouterr().out) == bool(fault)


def test_disturbed_for_a_moment(tmp_path: Path, disk: tuple[Path, bool]) -> None:
    soak(3, SHORT, tmp_path, *disk)


def test_no_room_for_clips_in_memory(tmp_path: Path) -> None:
    """RLIMIT_FSIZE leaves room for the database; ten frames of noise take 2 MB."""
    noise = np.random.default_rng(1).integers(0, 256, (10, 240, 320, 3), dtype=np.uint8)
    options: dict[str, Any] = {"fps": 12, "metrics": "contrast", "out": tmp_path, "progress": False}
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, before[1]))
    try:
        with pytest.raises(StorageError, match="frames' cannot be written"):
            screentest.score_frames(noise, **options)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list((tmp_path / "frames").iterdir())
    assert len(screentest.score_frames(noise, **options)) == 1


def test_parts_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    options: dict[str, Any] = {"cwd": ROOT, "env": CLEAN | {"PYTHONPATH": WITH_TESTS}}
    for start in range(100):  # on a busy machine it may be done before the kill
        run = tmp_path / f"run{start}"
        command = [sys.executable, "-m", "tests.run.soaking", "frames", str(run), *"01234"]
        with subprocess.Popen(command, **options) as child:
            while child.poll() is None and not any(run.glob("frames/.*")):
                time.sleep(0.001)
            child.kill()
        if any(run.glob("frames/.*")):
            break
    assert list(run.glob("frames/.*"))
    subprocess.run(command, check=True, timeout=LIMIT, **options)
    assert files_of(run / "frames") == [f"frames-{number}.nut" for number in range(FRAMES)]


def test_no_start_hides_what_another_has_just_added(tmp_path: Path) -> None:
    """Whichever of them is first: a score without ``add`` never drops the clips."""
    make_material(tmp_path)
    run, video = tmp_path / "run", tmp_path / "videos" / "ours-0.mov"
    options: dict[str, Any] = {"metrics": "contrast", "out": run, "progress": False, "workers": 1}
    screentest.score([video], **options)
    command = [sys.executable, "-m", "tests.run.soaking", "frames", str(run), "0"]
    variables = CLEAN | {"PYTHONPATH": WITH_TESTS}
    with subprocess.Popen(command, cwd=ROOT, env=variables) as child:
        while child.poll() is None:
            with suppress(RunError, UserError):
                screentest.score([video], **options)
    assert child.returncode == 0
    with RunReader(run) as reader:
        assert set(reader.items()) == {"ours-0.mov", "frames-0"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_disturbed_for_long(seed: int, tmp_path: Path, disk: tuple[Path, bool]) -> None:
    soak(seed, SECONDS, tmp_path, *disk)
