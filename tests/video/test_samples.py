"""Seeking gives the very pictures that decoding from the start gives."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import BadOption, BaseConsumer, Frame, FrameRequest, Layout, Size, Span
from screentest.core.frames import Filter
from screentest.video import samples
from screentest.video.samples import evenly, every, sample_frames
from screentest.video.scan import scan
from screentest.video.source import VideoSource
from screentest.video.survey import survey
from tests.video import clips

SMALL = Size(long_side=96)


class Pictures(BaseConsumer):
    """All pictures of a scan, by time."""

    wants = FrameRequest(size=SMALL, layout=Layout.GRAY, filter=Filter.BICUBIC)

    def __init__(self) -> None:
        self.by_time: dict[Fraction, np.ndarray] = {}

    def take(self, frame: Frame) -> None:
        self.by_time[frame.time] = frame.image


def check_seeking(video: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Seek to each frame, even where the planner would rather walk.
    monkeypatch.setattr(samples, "SEEK_COST", -10_000)
    pictures = Pictures()
    scan(video, [pictures])
    table = survey(video)
    chosen = random.Random(7).sample(table.times, min(count, len(table.times)))
    frames = list(sample_frames(video, chosen, size=SMALL, layout=Layout.GRAY))
    assert [frame.time for frame in frames] == sorted(chosen)
    for frame in frames:
        assert np.array_equal(frame.image, pictures.by_time[frame.time]), float(frame.time)


@pytest.mark.parametrize("name", [recipe.name for recipe in clips.RECIPES])
def test_generated_files(
    name: str, ffmpeg: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_seeking(clips.make(ffmpeg, clips.BY_NAME[name], tmp_path), 20, monkeypatch)


@pytest.mark.parametrize(
    "name",
    [
        "singleshot/imageio_cockatoo.mp4",  # breaks in players that seek to its open GOPs
        "singleshot/kivy_cityCC0.mpg",
        "singleshot/frenchgp_1906_214x160.ogv",
        "singleshot/renpy_oa4_launch.webm",
        pytest.param("multishot/sintel_trailer_1280x720.mp4", marks=pytest.mark.slow),
        "ai_generated/vgotstudy_chef_CogVideo.mp4",
    ],
)
def test_real_files(name: str, shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_seeking(shared_data / "video" / name, 12, monkeypatch)


def test_a_file_that_lies_about_where_to_seek_is_walked(
    sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    video = sample / "frenchgp_1906_214x160.mp4"
    monkeypatch.setattr(samples, "SEEK_COST", -10_000)
    # As if the container's index sent us to the end, whatever was asked.
    monkeypatch.setattr(
        VideoSource,
        "seek",
        lambda self, pts: self.container.seek(2**40, stream=self.stream) is None,
    )
    moments = [Fraction(3), Fraction(9), Fraction(12)]
    frames = list(sample_frames(video, moments))
    assert [frame.time for frame in frames] == moments


def test_walks_where_seeking_costs_more(sample: Path) -> None:
    video = sample / "frenchgp_1906_214x160.mp4"
    table = survey(video)
    assert [leg.entry for leg in samples._plan(table, range(0, 288, 2))] == [None]
    assert samples._plan(table, []) == []


def test_each_frame_once_and_in_order(sample: Path) -> None:
    video = sample / "frenchgp_1906_214x160.mp4"
    moments = [Fraction(5), Fraction(1), Fraction(5), Fraction(-3), Fraction(1000)]
    times = [frame.time for frame in sample_frames(video, moments)]
    assert times == [0, 1, 5, Fraction(287, 15)]  # the nearest frame outside the video


@given(st.integers(1, 60), st.fractions(0, 100), st.fractions("0.01", 1000))
def test_even_moments_lie_inside_and_are_evenly_spaced(
    count: int, start: Fraction, length: Fraction
) -> None:
    span = Span(start, start + length)
    moments = evenly(span, count)
    assert len(moments) == count
    assert all(moment in span for moment in moments)
    assert {b - a for a, b in pairwise(moments)} <= {length / count}


@given(st.fractions("0.01", 20), st.fractions("0.1", 30))
def test_ticks_cover_the_span(length: Fraction, rate: Fraction) -> None:
    moments = every(Span(Fraction(2), 2 + length), rate)
    assert moments[0] == 2
    assert all(moment < 2 + length for moment in moments)
    assert moments[-1] + 1 / rate >= 2 + length


def test_nonsense_is_refused() -> None:
    span = Span(Fraction(0), Fraction(1))
    with pytest.raises(BadOption):
        evenly(span, 0)
    with pytest.raises(BadOption):
        every(span, Fraction(0))
