"""Every time we report is one that ffprobe, which is not our decoder, reports too."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from screentest.core import BaseConsumer, Frame, FrameRequest, Size, Time
from screentest.video.probe import probe
from screentest.video.samples import sample_frames
from screentest.video.scan import scan
from screentest.video.survey import survey
from tests.video import clips

REAL = ("ai_generated", "etva_microgravity", "multishot", "singleshot", "tiny")
PARTS = 6
"""Of the real files: one is looked at in the ordinary run."""
SUFFIXES = {".mp4", ".mpg", ".ogv", ".webm"}


class Times(BaseConsumer):
    """Keeps the time of each frame it is given."""

    def __init__(self, rate: Fraction | None = None) -> None:
        self.wants = FrameRequest(rate=rate, size=Size(long_side=16))
        self.times: list[Time] = []

    def take(self, frame: Frame) -> None:
        self.times.append(frame.time)


def check(ffprobe: str, video: Path) -> None:
    reference = clips.ffprobe_times(ffprobe, video)
    every, twice = Times(), Times(Fraction(2))
    info = probe(video)
    report = scan(video, [every, twice], info=info)

    assert not report.failures
    assert len(every.times) == len(reference) == info.frames == report.decoded
    pairs = zip(every.times, reference, strict=True)
    assert all(ours == theirs for ours, theirs in pairs if theirs is not None)
    assert survey(video).times == every.times
    assert (info.start, info.span.end) == (every.times[0], report.end)
    # Two a second: the first frame at or after each half second, by the definition.
    ticks = {(moment - info.start) * 2 // 1 for moment in every.times}
    firsts = [min(m for m in every.times if (m - info.start) * 2 // 1 == t) for t in sorted(ticks)]
    on_tick = [m for m in firsts if _is_first_at_or_after_a_tick(m, every.times, info.start)]
    assert twice.times == on_tick


def _is_first_at_or_after_a_tick(moment: Time, times: list[Time], start: Time) -> bool:
    tick = start + (moment - start) * 2 // 1 / Fraction(2)
    return moment == min(m for m in times if m >= tick)


@pytest.mark.parametrize("name", [r.name for r in clips.RECIPES if r.name != "raw_h264"])
def test_generated_files(name: str, ffmpeg: str, ffprobe: str, tmp_path: Path) -> None:
    check(ffprobe, clips.make(ffmpeg, clips.BY_NAME[name], tmp_path))


def test_hidden_frames_of_an_edit_list_stay_hidden(
    ffmpeg: str, ffprobe: str, tmp_path: Path
) -> None:
    check(ffprobe, clips.trimmed_by_copy(ffmpeg, tmp_path))


def test_a_stream_without_timestamps_is_said_to_have_none(ffmpeg: str, tmp_path: Path) -> None:
    video = clips.make(ffmpeg, clips.BY_NAME["raw_h264"], tmp_path)
    info = probe(video)
    assert [fault.kind for fault in info.faults] == ["no_timestamps"]
    times = Times()
    scan(video, [times], info=info)
    assert times.times == [Fraction(n, 24) for n in range(48)]  # made at 24 frames/s


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, PARTS))]
)
def test_real_files(part: int, ffprobe: str, shared_data: Path) -> None:
    videos = sorted(
        path
        for folder in REAL
        for path in (shared_data / "video" / folder).iterdir()
        if path.suffix in SUFFIXES and path.name != "bbb_full_512x288.mp4"  # 15 s in ffprobe
    )
    assert len(videos) > 40
    for video in videos[part::PARTS]:
        reference = clips.ffprobe_times(ffprobe, video)
        assert survey(video).times == reference, video.name


@pytest.mark.parametrize(
    ("name", "constant", "rate"),
    [
        ("plain", True, Fraction(24)),
        ("ntsc", True, Fraction(24000, 1001)),
        ("no_duration", True, Fraction(24)),  # Matroska counts in milliseconds
        ("variable_rate", False, None),
        ("gap", False, None),
    ],
)
def test_frame_rate(
    name: str, constant: bool, rate: Fraction | None, ffmpeg: str, tmp_path: Path
) -> None:
    info = probe(clips.make(ffmpeg, clips.BY_NAME[name], tmp_path))
    assert info.constant_rate is constant
    if rate is not None:
        assert info.rate == rate


def test_sampled_times_are_those_of_real_frames(ffmpeg: str, ffprobe: str, tmp_path: Path) -> None:
    video = clips.make(ffmpeg, clips.BY_NAME["variable_rate"], tmp_path)
    reference = clips.ffprobe_times(ffprobe, video)
    moments = [Fraction(n, 10) for n in range(20)]
    # On the screen at a moment is the last frame that began before it.
    expected = sorted({max(t for t in reference if t is not None and t <= m) for m in moments})
    assert [frame.time for frame in sample_frames(video, moments)] == expected
