"""The whole corpus of bad files through probe and scan, in supervised workers.

Every file gets a value or a typed outcome with advice; this process lives; nothing is left
behind; and where a film is damaged, the report says so.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import TypeVar

import pytest

from screentest.core import Fault, Outcome, Reason
from screentest.video.limits import Limits
from screentest.video.sandbox import Supervisor
from tests.video import hostile, references, tasks

LIMITS = Limits(frames=100_000, memory=512 << 20, wall_seconds=60)
T = TypeVar("T")
Scan = tuple[int, int, tuple[Fault, ...]]


@pytest.fixture(scope="module")
def worker() -> Iterator[Supervisor]:
    with Supervisor() as supervisor:
        yield supervisor


def probed(worker: Supervisor, path: Path) -> Outcome[int]:
    return _proper(worker.run(tasks.frames_found, path, LIMITS, limits=LIMITS))


def scanned(worker: Supervisor, path: Path) -> Outcome[Scan]:
    return _proper(worker.run(tasks.scan_to_end, path, LIMITS, limits=LIMITS))


def _proper(outcome: Outcome[T]) -> Outcome[T]:
    if outcome.failure is not None:
        assert outcome.failure.detail
        assert outcome.failure.advice
        assert outcome.failure.reason is not Reason.CRASHED, outcome.failure.detail
    return outcome


def reason(outcome: Outcome[object]) -> Reason | None:
    return outcome.failure.reason if outcome.failure else None


# --- what is no film, or too much of one ---

BAD: dict[str, tuple[Callable[[Path], object], Reason]] = {
    "empty": (Path.touch, Reason.EMPTY_FILE),
    "not there": (lambda path: None, Reason.MISSING_FILE),
    "folder": (Path.mkdir, Reason.UNSAFE),
    "pipe": (os.mkfifo, Reason.UNSAFE),
    "device": (lambda path: path.symlink_to("/dev/zero"), Reason.UNSAFE),
    "link to nothing": (lambda path: path.symlink_to("nothing"), Reason.MISSING_FILE),
    "link to itself": (lambda path: path.symlink_to(path), Reason.MISSING_FILE),
    "noise": (lambda path: path.write_bytes(Random(1).randbytes(10_000)), Reason.UNDECODABLE),
    "zeros": (lambda path: path.write_bytes(bytes(10_000)), Reason.UNDECODABLE),
    "text": (lambda path: path.write_text("no film\n" * 999), Reason.UNDECODABLE),
    "sound": (hostile.sound_only, Reason.UNDECODABLE),
    "subtitles": (hostile.subtitles_only, Reason.UNDECODABLE),
    "hls": (lambda path: references.hls(path, "file:///etc/hostname"), Reason.UNSAFE),
    "concat": (lambda path: references.concat_list(path, "/etc/hostname"), Reason.UNSAFE),
    "dash": (lambda path: references.dash(path, "file:///etc/hostname"), Reason.UNSAFE),
    "sdp": (lambda path: references.session_description(path, "*"), Reason.UNSAFE),
    "alias": (
        lambda path: references.quicktime_alias(path, "/etc/hostname"),
        Reason.UNDECODABLE,
    ),
    "huge gif": (hostile.huge_gif, Reason.TOO_LARGE),
    "huge y4m": (hostile.huge_y4m, Reason.TOO_LARGE),
    "huge avi": (hostile.huge_avi, Reason.TOO_LARGE),
    "huge png": (hostile.huge_png_mov, Reason.TOO_LARGE),
    "huge h264": (hostile.huge_h264, Reason.TOO_LARGE),
    "endless": (hostile.endless, Reason.TOO_LARGE),
    "endless in secret": (hostile.endless_in_secret, Reason.TOO_LARGE),
    "a million frames": (hostile.million_frames, Reason.TOO_LARGE),
    "claims 400 million frames": (hostile.sample_table_bomb, Reason.UNDECODABLE),
    "many tracks": (lambda path: hostile.many_tracks(path, "mp4", 65), Reason.TOO_LARGE),
}


@pytest.mark.parametrize("name", BAD)
def test_no_film(name: str, worker: Supervisor, tmp_path: Path) -> None:
    make, expected = BAD[name]
    path = tmp_path / "film.mp4"
    make(path)
    before = sorted(tmp_path.iterdir())
    assert reason(probed(worker, path)) is expected
    assert reason(scanned(worker, path)) is expected
    assert sorted(tmp_path.iterdir()) == before


def test_socket(worker: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket may not be long
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("film.mp4")
        assert reason(probed(worker, tmp_path / "film.mp4")) is Reason.UNSAFE


# --- films that only look strange ---

STRANGE: dict[str, Callable[[Path], Path]] = {
    "sound first": hostile.sound_first,
    "two videos": hostile.two_videos,
    "cover first": hostile.cover_first,
    "lies about its size": hostile.lying_about_size,
    "no text in its title": hostile.no_text_in_its_title,
    "ten thousand chapters": hostile.many_chapters,
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_film_is_a_film(name: str, worker: Supervisor, tmp_path: Path) -> None:
    path = STRANGE[name](tmp_path / "film.mp4")
    assert probed(worker, path) == Outcome.of(hostile.FRAMES)
    decoded, expected, _ = scanned(worker, path).unwrap()
    assert decoded == expected == hostile.FRAMES


# --- films that were harmed ---

KINDS = {
    "mp4": ("mp4", {}),
    "mp4 faststart": ("mp4", {"movflags": "faststart"}),
    "matroska": ("matroska", {}),
    "webm": ("webm", {}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_cut_at_every_percent(kind: str, worker: Supervisor, tmp_path: Path) -> None:
    container, options = KINDS[kind]
    whole = hostile.film(tmp_path / "whole.mp4", container, options=options)
    assert scanned(worker, whole) == Outcome.of((hostile.FRAMES, hostile.FRAMES, ()))
    data = whole.read_bytes()
    path = tmp_path / "film.mp4"
    found = []
    for percent in range(1, 100):
        path.write_bytes(data[: len(data) * percent // 100])
        outcome = scanned(worker, path)
        assert reason(outcome) in (None, Reason.UNDECODABLE), f"cut at {percent}%"
        assert probed(worker, path).ok >= outcome.ok
        if outcome.value is not None:
            decoded, expected, faults = outcome.value
            assert decoded <= expected <= hostile.FRAMES
            assert decoded < expected or faults, f"cut at {percent}% without a word"
            found.append(decoded)
    assert found == sorted(found), "more bytes never show less"
    # An MP4 keeps its index at the end unless told otherwise: cut, it shows nothing.
    assert bool(found) == (kind != "mp4")


@pytest.mark.parametrize("kind", KINDS)
def test_cut_inside_the_first_picture(kind: str, worker: Supervisor, tmp_path: Path) -> None:
    container, options = KINDS[kind]
    data = hostile.film(tmp_path / "whole.mp4", container, options=options).read_bytes()
    place = _first_picture(tmp_path / "whole.mp4")
    path = tmp_path / "film.mp4"
    for more in (0, 1, 3, 4, 5, 8, 20, 100, 500):
        path.write_bytes(data[: place + more])
        assert reason(scanned(worker, path)) is Reason.UNDECODABLE


def _first_picture(path: Path) -> int:
    import av

    with av.open(str(path)) as container:
        packet = next(container.demux(video=0))
        assert packet.size > 500
        return path.read_bytes().index(bytes(packet)[:100])


@pytest.mark.parametrize("kind", [*KINDS, "mpegts", "avi"])
def test_bytes_flipped_in_the_middle(kind: str, worker: Supervisor, tmp_path: Path) -> None:
    container, options = KINDS.get(kind, (kind, {}))
    path = hostile.film(tmp_path / "film.mp4", container, options=options)
    data = bytearray(path.read_bytes())
    start = len(data) * 40 // 100
    for place in range(start, start + 300):
        data[place] ^= 0xFF
    path.write_bytes(data)
    decoded, expected, faults = scanned(worker, path).unwrap()
    assert hostile.FRAMES // 2 < decoded <= expected <= hostile.FRAMES, "the rest still comes"
    # VP8 has no checksums: there the lost frames are all there is to see.
    assert faults or decoded < hostile.FRAMES


def test_replaced_by_something_shorter_while_it_is_read(tmp_path: Path) -> None:
    """The same file, emptied between two reads: the end comes early, nothing else."""
    from screentest.video.source import VideoSource

    path = hostile.film(tmp_path / "film.mp4", frames=300, side=128)
    with VideoSource(path) as source:
        frames = source.frames()
        next(frames)
        os.truncate(path, 20_000)
        assert sum(1 for _ in frames) < 299


def test_gone_between_probe_and_scan(worker: Supervisor, tmp_path: Path) -> None:
    path = hostile.film(tmp_path / "film.mp4")
    assert probed(worker, path).ok
    path.unlink()
    assert reason(scanned(worker, path)) is Reason.MISSING_FILE


# --- names ---

NAMES = (
    *('it\'s "quoted".mp4', "new\nline.mp4", "-i.mp4", "%d.mp4", "$(touch x).mp4", ";rm x.mp4"),
    *("🎬.mp4", "\u202e4pm.mlif", "x" * 251 + ".mp4", "http:127.0.0.1", "concat:a|b", "pipe:"),
)


@pytest.mark.parametrize("name", NAMES)
def test_names(
    name: str, worker: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(hostile.film(tmp_path / "film", frames=5), tmp_path / name)
    (tmp_path / "film").unlink()
    monkeypatch.chdir(tmp_path)
    assert probed(worker, tmp_path / name) == Outcome.of(5)
    assert probed(worker, Path(name)) == Outcome.of(5)
    (tmp_path / name).write_bytes(b"no film")
    outcome = probed(worker, Path(name))
    assert reason(outcome) is Reason.UNDECODABLE
    assert outcome.failure is not None
    assert outcome.failure.detail.isprintable()
    assert os.listdir(tmp_path) == [name]  # noqa: PTH208 - names as the system has them


# --- anything else ---


@pytest.mark.slow
def test_mutations(worker: Supervisor, tmp_path: Path) -> None:
    """Thousands of films with a few bytes changed, cut out or doubled: whatever it is, it is
    told, and the worker after it works."""
    seeds = [
        hostile.film(tmp_path / f"seed {kind}", kind, frames=12).read_bytes()
        for kind in hostile.CODECS
    ]
    path = tmp_path / "film.mp4"
    reasons: set[Reason | None] = set()
    for number in range(4_000):
        random = Random(number)
        path.write_bytes(_mutated(random.choice(seeds), random))
        reasons.add(reason(scanned(worker, path)))
    assert None in reasons
    assert Reason.UNDECODABLE in reasons
    assert reason(scanned(worker, hostile.film(path))) is None


def _mutated(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    # Headers are where the harm is: half of all changes go to the first and last kilobyte.
    for _ in range(random.choice((1, 2, 5, 20, 100))):
        reach = random.choice((1024, len(changed)))
        place = random.randrange(min(reach, len(changed)))
        if random.random() < 0.3:
            place = len(changed) - 1 - place
        kind = random.randrange(5)
        if kind == 0:
            changed[place : place + random.randrange(1, 64)] = b""
        elif kind == 1:
            changed[place:place] = changed[place : place + random.randrange(1, 64)]
        elif kind == 2:
            changed[place : place + 4] = random.choice((b"\xff" * 4, bytes(4), b"\x7f\xff\xff\xff"))
        else:
            changed[place] = random.randrange(256)
        if not changed:
            break
    return bytes(changed)
