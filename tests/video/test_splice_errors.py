"""Splicing that cannot be: each error says what to do, and nothing half-written stays."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from screentest._util import atomic
from screentest.core import (
    BadOption,
    Frame,
    Reason,
    Span,
    StorageError,
    VideoError,
    to_json,
)
from screentest.video.edit.encode import EncoderSettings
from screentest.video.edit.normalize import NormalizedVideo
from screentest.video.edit.pictures import ClipOrigin, Keep, Reencode, VideoPart, frame_by_frame
from screentest.video.edit.splice import splice
from tests.messages import names
from tests.video.outside import left_behind

Image = NDArray[np.uint8]

same = frame_by_frame(lambda image: image)


@pytest.mark.parametrize(
    ("end", "words"),
    [(Fraction(241, 24), "the origin has 1 frames"), (Fraction(11), "more than the 12 frames")],
)
def test_another_file_of_the_wrong_length(
    end: Fraction, words: str, film: NormalizedVideo, sample: Path, tmp_path: Path
) -> None:
    origin = ClipOrigin(sample / "sintel_trailer_30s_640x272.mp4", Span(Fraction(10), end))
    with pytest.raises(BadOption, match=words):
        splice(film, [Reencode(film.clips[0], same, origin=origin)], tmp_path / "out.mp4")
    assert list(tmp_path.iterdir()) == []


def test_a_changed_source_is_noticed(film: NormalizedVideo, sample: Path, tmp_path: Path) -> None:
    other = tmp_path / "source.mp4"
    shutil.copy(sample / "bbb_first30s_640x360.mp4", other)
    changed = replace(film, source=other)
    with pytest.raises(BadOption, match=r"source\.mp4"):
        splice(changed, [Reencode(film.clips[3], same)], tmp_path / "out.mp4")
    with pytest.raises(VideoError) as gone:
        splice(
            replace(film, source=tmp_path / "x"), [Reencode(film.clips[3], same)], tmp_path / "o"
        )
    assert gone.value.reason is Reason.MISSING_FILE
    assert list(tmp_path.iterdir()) == [other]


def test_another_encoder_is_noticed(film: NormalizedVideo, tmp_path: Path) -> None:
    older = replace(film, encoder=film.encoder.replace("core", "core 1"))
    other = replace(film, settings=EncoderSettings(preset="fast"))
    for video in (older, other):
        with pytest.raises(BadOption, match="the encoder"):
            splice(video, [Reencode(film.clips[3], same)], tmp_path / "out.mp4")
    assert list(tmp_path.iterdir()) == []


def test_a_part_must_begin_and_end_at_keyframes(film: NormalizedVideo, tmp_path: Path) -> None:
    out = tmp_path / "out.mp4"
    with pytest.raises(BadOption) as wrong:
        splice(film, [Keep(Span(Fraction(3, 5), Fraction(1)))], out)
    assert names(wrong.value.message, "0:00:00.600 (3/5 s)")
    assert names(wrong.value.advice, " 1/2 s ", " 1 s")
    with pytest.raises(BadOption, match="no keyframe at 0:01:40"):
        splice(film, [Keep(Span(Fraction(0), Fraction(100)))], out)
    with pytest.raises(BadOption, match="no keyframe at -0:00:01"):
        splice(film, [Keep(Span(Fraction(-1), Fraction(1)))], out)
    with pytest.raises(BadOption, match="holds no frame"):
        splice(film, [Keep(Span(Fraction(1), Fraction(1)))], out)
    with pytest.raises(BadOption, match="nothing would be left"):
        splice(film, [], out)
    with pytest.raises(BadOption, match="is the input"):
        splice(film, [Keep(film.clips[0])], film.path)
    with pytest.raises(BadOption, match="is the input"):
        splice(film, [Keep(film.clips[0])], film.source)
    assert not out.exists()


def too_few(frames: Iterator[Frame]) -> Iterator[Image]:
    return (frame.image for frame in list(frames)[1:])


def too_many(frames: Iterator[Frame]) -> Iterator[Image]:
    for frame in frames:
        yield frame.image
        last = frame.image
    yield last


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (too_few, "too few"),
        (too_many, "more than 12 frames"),
        (frame_by_frame(lambda image: image / 255), "float64, 180×320×3"),
        (frame_by_frame(lambda image: image[::2]), "uint8, 90×320×3"),
        (frame_by_frame(lambda image: image[..., 0]), "uint8, 180×320"),
        (frame_by_frame(lambda image: "picture"), "type str"),  # type: ignore[arg-type,return-value]
    ],
)
def test_what_a_frame_function_may_not_give(
    change: Callable[[Iterator[Frame]], Iterable[Image]],
    words: str,
    film: NormalizedVideo,
    tmp_path: Path,
) -> None:
    parts: list[VideoPart] = [Keep(film.clips[0]), Reencode(film.clips[1], change)]
    with pytest.raises(BadOption, match=words) as wrong:
        splice(film, parts, tmp_path / "out.mp4")
    assert "part 2 (0:00:00.500–0:00:01.000)" in wrong.value.message
    assert wrong.value.advice
    assert list(tmp_path.iterdir()) == []


def test_durations_that_cannot_be(film: NormalizedVideo, tmp_path: Path) -> None:
    for durations in ((), (Fraction(1), Fraction(0)), (Fraction(1, 10**9),)):
        with pytest.raises(BadOption, match="never shown"):
            splice(film, [Reencode(film.clips[1], same, durations=durations)], tmp_path / "out.mp4")


def test_an_error_in_the_frame_function_leaves_the_old_file(
    film: NormalizedVideo, tmp_path: Path
) -> None:
    out = tmp_path / "out.mp4"
    out.write_bytes(b"old")

    def break_down(frames: Iterator[Frame]) -> Iterator[Image]:
        yield next(frames).image
        raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError, match="a bug"):
        splice(film, [Keep(film.clips[0]), Reencode(film.clips[1], break_down)], out)
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [b"old"]


CHILD = """
import sys
from pathlib import Path
from screentest.core import from_json
from screentest.video.edit.normalize import NormalizedVideo
from screentest.video.edit.pictures import Keep, Reencode, frame_by_frame
from screentest.video.edit.splice import splice
from tests.video.outside import left_behind

def told(image):
    print("some more", flush=True)
    return image

film = from_json(NormalizedVideo, sys.stdin.read())
clips = film.clips
same = frame_by_frame(told)
parts = [*map(Keep, clips), *(Reencode(clip, same) for clip in clips)]
splice(film, parts, Path(sys.argv[1]))
"""


def test_a_kill_leaves_nothing(film: NormalizedVideo, tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, tmp_path / "out.mp4"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(to_json(film).encode())
    child.stdin.close()
    for _ in range(20):  # all copies made, some frames encoded
        assert child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    child.stdout.close()
    child.wait()
    assert left_behind(tmp_path) == []


def test_a_full_disk(
    film: NormalizedVideo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0

    def fill_up(descriptor: int, data: bytes) -> int:
        nonlocal written
        written += len(data)
        if written > 200_000:
            raise OSError(28, "no space left on device")
        return honest(descriptor, data)

    honest = atomic.os.write
    monkeypatch.setattr(atomic.os, "write", fill_up)
    with pytest.raises(StorageError, match=r"out\.mp4'.*: no space left") as full:
        splice(film, [Keep(clip) for clip in film.clips], tmp_path / "out.mp4")
    assert full.value.advice
    assert list(tmp_path.iterdir()) == []
