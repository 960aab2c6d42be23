"""What a file says of itself, against ffprobe."""

from __future__ import annotations

import subprocess
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest
from av import VideoFrame

from screentest.core import NATIVE, Filter, Layout, Reason, VideoError
from screentest.video.probe import Converter, probe
from screentest.video.samples import sample_frames
from tests.video import clips


@pytest.mark.parametrize("name", ["plain", "ten_bit", "odd_size", "alpha", "gray", "gif", "ntsc"])
def test_equals_ffprobe(name: str, ffmpeg: str, ffprobe: str, tmp_path: Path) -> None:
    video = clips.make(ffmpeg, clips.BY_NAME[name], tmp_path)
    stream = clips.ffprobe_stream(ffprobe, video)
    info = probe(video)
    assert info.codec == stream["codec_name"]
    assert (info.width, info.height) == (int(stream["width"]), int(stream["height"]))
    assert info.pixel_format == stream["pix_fmt"]
    assert info.frames == int(stream["nb_read_frames"])


def test_bit_depth(ffmpeg: str, tmp_path: Path) -> None:
    assert probe(clips.make(ffmpeg, clips.BY_NAME["ten_bit"], tmp_path)).bit_depth == 10
    assert probe(clips.make(ffmpeg, clips.BY_NAME["plain"], tmp_path)).bit_depth == 8


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_rotated_frames_come_upright(degrees: int, ffmpeg: str, tmp_path: Path) -> None:
    import subprocess

    video = clips.rotated(ffmpeg, tmp_path, degrees)
    shown = tmp_path / "shown.png"
    subprocess.run([ffmpeg, "-v", "error", "-i", video, "-frames:v", "1", shown], check=True)
    reference = cv2.imread(str(shown))  # ffmpeg turns it as a player would
    info = probe(video)
    frame = next(sample_frames(video, [Fraction(0)], layout=Layout.BGR))
    assert (info.height, info.width) == reference.shape[:2] == frame.image.shape[:2]
    assert np.abs(frame.image.astype(int) - reference).mean() < 2


def test_sound_alone_is_no_video(ffmpeg: str, tmp_path: Path) -> None:
    import subprocess

    sound = tmp_path / "sound.mp4"
    subprocess.run(
        [ffmpeg, "-v", "error", "-f", "lavfi", "-i", "sine=d=1", "-c:a", "aac", sound], check=True
    )
    with pytest.raises(VideoError) as caught:
        probe(sound)
    assert caught.value.reason is Reason.UNDECODABLE
    assert caught.value.advice


def test_the_sample_is_what_its_captions_say(sample: Path) -> None:
    import json

    for caption_file in sorted((sample / "captions").glob("*.json")):
        told = json.loads(caption_file.read_text())
        info = probe(sample / told["video"])
        assert info.rate == told["fps"]
        assert info.frames == told["shots"][-1]["end_frame"]
        assert info.faults == ()


def test_a_hole_in_an_even_film_is_a_fault(ffmpeg: str, tmp_path: Path) -> None:
    # The recipe moves all frames from the tenth on by three seconds.
    held = clips.make(ffmpeg, clips.BY_NAME["gap"], tmp_path)
    # MP4 lists every frame with its time: the picture is meant to stay.
    assert probe(held).faults == ()
    streamed = tmp_path / "gap.mkv"
    subprocess.run([ffmpeg, "-v", "error", "-i", held, "-c", "copy", streamed], check=True)
    (fault,) = probe(streamed).faults
    assert fault.kind == "gap"
    assert float(fault.time or 0) == pytest.approx(9 / 24, abs=0.001)  # Matroska's milliseconds
    varying = probe(clips.make(ffmpeg, clips.BY_NAME["variable_rate"], tmp_path))
    assert varying.faults == ()


def test_a_file_cut_short_is_a_fault(ffmpeg: str, tmp_path: Path) -> None:
    whole = clips.make(ffmpeg, clips.BY_NAME["vp9"], tmp_path)
    cut = tmp_path / "cut.webm"
    cut.write_bytes(whole.read_bytes()[:-2000])
    assert probe(whole).faults == ()
    assert "cut_short" in [fault.kind for fault in probe(cut).faults]


@pytest.mark.parametrize("name", ["yuv420p", "yuvj420p", "yuv444p", "nv12", "gray", "rgb24"])
def test_planes_are_those_that_are_coded(name: str) -> None:
    """Luma to the bit as it is alone; colours in its size, and none where none are coded."""
    colours = np.zeros((48, 66, 3), np.uint8)
    colours[:, :32, 0], colours[24:, :, 2] = 200, 90
    frame = VideoFrame.from_ndarray(colours, format="rgb24").reformat(format=name)
    luma, planes = (
        Converter((NATIVE, layout, Filter.FAST))(frame) for layout in (Layout.LUMA, Layout.CODED)
    )
    assert planes.shape == (48, 66, 3)
    assert np.array_equal(planes[..., 0], luma)
    if name == "gray":
        assert np.all(planes[..., 1:] == 128)
    else:
        # The left is red, the right is not.
        assert planes[12, 4, 2] > 170 > planes[12, 60, 2]
