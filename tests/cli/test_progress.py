"""Progress: a bar for a person at a terminal, silence for a pipe, and across processes."""

from __future__ import annotations

import io
import re
import time
from pathlib import Path

import pytest
import rich.progress
from rich.console import Console
from rich.text import Text

from screentest._util.progress import Relay, TimeLeft, relayed, watched
from screentest.core import Progress, Silent
from screentest.video.sandbox import supervised


@pytest.fixture
def screen() -> Console:
    """A terminal of 80 columns that keeps what it was sent."""
    return Console(
        file=io.StringIO(), force_terminal=True, width=80, color_system=None, _environ={}
    )


def sent(screen: Console) -> str:
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def lines(screen: Console) -> list[str]:
    plain = Text.from_ansi(sent(screen).replace("\r", "\n")).plain
    return [line for line in plain.splitlines() if line.strip()]


def test_a_bar_shows_what_how_much_and_the_time_left(screen: Console) -> None:
    with watched(screen) as bar:
        bar.begin("film-\x1b[2J-with-a-very-long-name.mp4", 2000, "frames", done=500)
        for _ in range(5):
            time.sleep(0.05)
            bar.advance(100, note="[bold]clip 7 of a great many clips")
    shown = lines(screen)

    assert all(len(line) <= 80 for line in shown)
    assert "\x1b[2J" not in sent(screen)
    assert "500/2,000 frames" in shown[0]
    assert "1,000/2,000 frames" in shown[-1]
    assert "50%" in shown[-1]
    assert re.search(r"\d:\d\d left", shown[-1])


def test_the_time_moves_while_one_long_film_is_at_work() -> None:
    now = [0.0]
    line = rich.progress.Progress(get_time=lambda: now[0])
    line.add_task("scoring", total=10, completed=2, already=2, moved=0.0)
    (job,) = line.tasks
    now[0] = 65.0
    assert TimeLeft().render(job).plain == "1:05 so far"
    for now[0] in (66.0, 76.0):
        line.update(job.id, advance=1, moved=now[0])
    # Six are left, ten seconds for each of late.
    assert TimeLeft().render(job).plain == "1:00 left"
    now[0] = 86.0
    assert TimeLeft().render(job).plain == "0:50 left"
    now[0] = 140.0  # in 140 seconds two were done: seven minutes for six
    assert TimeLeft().render(job).plain == "7:00 left"


def test_one_job_after_another_and_one_without_an_end(screen: Console) -> None:
    with watched(screen) as bar:
        bar.advance()  # before anything began: nothing to show
        bar.begin("first", 2, "videos")
        bar.advance(2)
        bar.begin("second", None, "frames")
        bar.advance(7)
    assert "2/2 videos" in sent(screen)
    assert "7 frames" in sent(screen)


def test_nobody_watches_a_pipe() -> None:
    for console in (
        Console(file=io.StringIO()),
        Console(file=io.StringIO(), force_terminal=True, _environ={"TERM": "dumb"}),
    ):
        assert isinstance(watched(console), Silent)


class Recorder(Silent):
    """Progress that remembers, and notes in a file how far it is."""

    def __init__(self, note: Path) -> None:
        self.told: list[tuple[object, ...]] = []
        self.note = note

    def begin(self, what: str, total: float | None, unit: str, done: float = 0) -> None:
        self.told.append((what, total, unit))
        self.done = done
        self.note.write_text(f"{what} {done:g}")

    def advance(self, amount: float = 1, note: str = "") -> None:
        self.done += amount
        self.note.write_text(f"{self.told[-1][0]} {self.done:g}")


def work(progress: Progress, note: Path) -> str:
    def until(shown: str) -> None:
        while not note.exists() or note.read_text() != shown:
            time.sleep(0.01)

    progress.begin("first", 10, "frames")
    until("first 0")
    progress.begin("second", 100, "clips")
    for _ in range(40):
        progress.advance()
    time.sleep(0.15)  # what comes sooner after another is not sent by itself
    progress.advance(10)
    until("second 50")
    return "done"


def test_progress_comes_from_a_worker_process(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "note")
    with relayed(recorder) as progress:
        assert isinstance(progress, Relay)
        assert supervised(work, progress, recorder.note).unwrap() == "done"
    assert recorder.told == [("first", 10, "frames"), ("second", 100, "clips")]
    assert recorder.done == 50


def test_silence_is_not_relayed() -> None:
    with relayed(Silent()) as progress:
        assert isinstance(progress, Silent)
