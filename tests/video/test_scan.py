"""One decode, many consumers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest

from screentest.core import (
    BaseConsumer,
    Filter,
    Frame,
    FrameRequest,
    Layout,
    NoValue,
    Reason,
    Size,
    Span,
    StorageError,
    VideoError,
    VideoInfo,
)
from screentest.core.frames import Consumer
from screentest.video.limits import Limits
from screentest.video.probe import Converter, probe
from screentest.video.scan import scan
from tests.video import clips


class Keep(BaseConsumer):
    """Keeps all it is given."""

    def __init__(self, wants: FrameRequest) -> None:
        self.wants = wants
        self.frames: list[Frame] = []

    def take(self, frame: Frame) -> None:
        self.frames.append(frame)


@pytest.fixture
def video(sample: Path) -> Path:
    return sample / "frenchgp_1906_214x160.mp4"


def test_frames_equal_a_plain_decode(video: Path) -> None:
    keep = Keep(FrameRequest(layout=Layout.RGB))
    scan(video, [keep])
    with av.open(str(video)) as container:
        plain = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(keep.frames) == len(plain) == 288
    for ours, theirs in zip(keep.frames, plain, strict=True):
        # Converted by another scaling filter at the same size: chroma may differ by rounding.
        assert np.abs(ours.image.astype(int) - theirs).mean() < 2


def test_each_gets_what_it_asked_for(video: Path) -> None:
    gray = Keep(FrameRequest(size=Size(long_side=100), layout=Layout.GRAY, rate=Fraction(1)))
    tiny = Keep(FrameRequest(size=Size(exact=(8, 4)), layout=Layout.BGR))
    part = Keep(FrameRequest(within=Span(Fraction(2), Fraction(3)), size=Size(short_side=80)))
    report = scan(video, [gray, tiny, part])
    assert report.complete
    # 214×160 at 15 frames/s for 19.2 s, by the sample's own captions.
    assert {frame.image.shape for frame in gray.frames} == {(75, 100)}
    assert len(gray.frames) == 20
    assert {frame.image.shape for frame in tiny.frames} == {(4, 8, 3)}
    assert len(tiny.frames) == 288
    assert [frame.time for frame in part.frames] == [Fraction(n, 15) for n in range(30, 45)]
    assert {frame.image.shape for frame in part.frames} == {(80, 107, 3)}


def test_one_conversion_per_distinct_request(video: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    plain = Converter.__call__

    def counted(self: Converter, frame: av.VideoFrame) -> object:
        made.append(self)
        return plain(self, frame)

    monkeypatch.setattr(Converter, "__call__", counted)
    small = FrameRequest(size=Size(long_side=64))
    scan(video, [Keep(small), Keep(small), Keep(FrameRequest(size=Size(long_side=32)))])
    assert len(made) == 2 * 288


def test_frames_are_shared_and_cannot_be_written(video: Path) -> None:
    one, two = Keep(FrameRequest(rate=Fraction(1))), Keep(FrameRequest(rate=Fraction(1)))
    scan(video, [one, two])
    assert one.frames[0].image is two.frames[0].image
    with pytest.raises(ValueError, match="read-only"):
        one.frames[0].image[0, 0] = 0


def test_a_consumer_that_fails_harms_only_itself(video: Path) -> None:
    class Blind(Keep):
        def take(self, frame: Frame) -> None:
            raise NoValue(Reason.NOT_APPLICABLE, "nothing to see")

    class Broken(Keep):
        def close(self, end: Fraction) -> None:
            raise ZeroDivisionError("a bug")

    class Late(Keep):
        def open(self, info: VideoInfo) -> None:
            raise RuntimeError("not ready")

    good = Keep(FrameRequest())
    crew: list[Consumer] = [Blind(FrameRequest()), good, Broken(FrameRequest())]
    report = scan(video, [*crew, Late(FrameRequest())])
    assert len(good.frames) == 288
    assert report.failures[0].reason is Reason.NOT_APPLICABLE
    assert report.failures[2].reason is Reason.CRASHED
    assert "ZeroDivisionError: a bug" in report.failures[2].detail
    assert "not ready" in report.failures[3].detail
    assert set(report.failures) == {0, 2, 3}


def test_a_full_disk_is_nobodys_bug(video: Path) -> None:
    class Full(Keep):
        def take(self, frame: Frame) -> None:
            raise StorageError("no space left")

    with pytest.raises(StorageError, match="no space left"):
        scan(video, [Keep(FrameRequest()), Full(FrameRequest())])


def test_a_gap_does_not_bring_a_burst(ffmpeg: str, tmp_path: Path) -> None:
    video = clips.make(ffmpeg, clips.BY_NAME["gap"], tmp_path)
    keep = Keep(FrameRequest(rate=Fraction(4), size=Size(long_side=16)))
    scan(video, [keep])
    steps = [two.time - one.time for one, two in pairwise(keep.frames)]
    # Three seconds were left out: one long step, and at most one frame for each quarter.
    assert sum(step > 1 for step in steps) == 1
    assert len({frame.time * 4 // 1 for frame in keep.frames}) == len(keep.frames)


def test_gray_uses_the_full_range(ffmpeg: str, tmp_path: Path) -> None:
    import subprocess

    video = tmp_path / "white.mp4"
    source = "color=white:size=64x64:rate=5:duration=1"
    subprocess.run(
        [ffmpeg, "-v", "error", "-f", "lavfi", "-i", source, *clips.X264, video], check=True
    )
    for filter_ in Filter:
        keep = Keep(FrameRequest(layout=Layout.GRAY, size=Size(long_side=32), filter=filter_))
        scan(video, [keep])
        assert keep.frames[0].image.min() >= 254


def test_limits_hold_while_decoding(video: Path) -> None:
    info = probe(video)
    with pytest.raises(VideoError) as caught:
        scan(video, [], info=info, limits=Limits(frames=100))
    assert caught.value.reason is Reason.TOO_LARGE


def test_progress_is_reported_every_frame(video: Path) -> None:
    from screentest.core import Silent

    class Counted(Silent):
        total: float | None = None
        done = 0.0

        def begin(self, what: str, total: float | None, unit: str, done: float = 0) -> None:
            self.total = total

        def advance(self, amount: float = 1, note: str = "") -> None:
            self.done += amount

    progress = Counted()
    scan(video, [], progress=progress)
    assert progress.total == progress.done == 288


def test_a_file_cut_short_says_so(ffmpeg: str, tmp_path: Path) -> None:
    whole = clips.make(ffmpeg, clips.BY_NAME["transport_stream"], tmp_path)
    cut = tmp_path / "cut.ts"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size * 6 // 10])
    times = Keep(FrameRequest(size=Size(long_side=16)))
    report = scan(cut, [times])
    assert 10 < report.decoded < 48
    assert report.end >= times.frames[-1].time


def test_damage_in_the_middle_is_reported(ffmpeg: str, tmp_path: Path) -> None:
    whole = clips.make(ffmpeg, clips.BY_NAME["plain"], tmp_path)
    data = bytearray(whole.read_bytes())
    for place in range(len(data) * 4 // 10, len(data) * 5 // 10):
        data[place] ^= 0x5A
    harmed = tmp_path / "harmed.mp4"
    harmed.write_bytes(data)
    report = scan(harmed, [])
    assert not report.complete
    assert report.fault_count or report.decoded < report.info.frames
