"""A file that was cut says so by its own structure."""

from __future__ import annotations

from pathlib import Path

import pytest

from screentest.core import Fault
from screentest.video.source import cut_short
from tests.video import hostile

KINDS = ("mp4", "mov", "matroska", "webm", "avi")


@pytest.mark.parametrize("kind", KINDS)
def test_counts_what_is_missing(kind: str, tmp_path: Path) -> None:
    data = hostile.film(tmp_path / "film", kind).read_bytes()
    cut = tmp_path / "cut"
    for percent in range(1, 100):
        length = len(data) * percent // 100
        cut.write_bytes(data[:length])
        fault = cut_short(cut)
        assert fault is not None
        assert fault.kind == "cut_short"
        if kind in ("matroska", "webm", "avi"):  # one part holds all: the count is exact
            assert f" {len(data) - length:,} bytes" in fault.detail


@pytest.mark.parametrize("kind", [*KINDS, "mpegts", "nut"])
def test_a_whole_film_is_whole(kind: str, tmp_path: Path) -> None:
    assert cut_short(hostile.film(tmp_path / "film", kind)) is None


def test_fragments_are_walked(tmp_path: Path) -> None:
    path = hostile.film(tmp_path / "film.mp4", options={"movflags": "frag_keyframe+empty_moov"})
    data = path.read_bytes()
    assert data.count(b"moof") > 2
    assert cut_short(path) is None
    path.write_bytes(data[: data.rindex(b"moof") + 20])
    assert isinstance(cut_short(path), Fault)


def test_a_live_stream_of_unknown_length_is_not_accused(tmp_path: Path) -> None:
    path = hostile.film(tmp_path / "film.mkv", "matroska", options={"live": "1"})
    assert cut_short(path) is None


@pytest.mark.parametrize("tail", [bytes(5), bytes(500), b"TAG" * 50])
def test_what_was_appended_is_not_missing(tail: bytes, tmp_path: Path) -> None:
    path = hostile.film(tmp_path / "film.mp4")
    path.write_bytes(path.read_bytes() + tail)
    assert cut_short(path) is None


def test_no_real_video_is_accused(sample: Path, shared_data: Path) -> None:
    videos = [*sample.glob("*.mp4"), *(shared_data / "video").rglob("*.mp4")]
    assert len(videos) > 20
    assert [path.name for path in videos if cut_short(path)] == []
