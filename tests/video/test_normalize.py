"""Normalising, checked with Debian's ffmpeg: its times, its pictures, its opinion of our files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from screentest.core import BadOption, Reason, Size, StorageError, VideoError, from_json, to_json
from screentest.video.edit.encode import EncoderSettings
from screentest.video.edit.normalize import NormalizedVideo, normalize
from tests.video.clips import BY_NAME, RECIPES, Recipe, ffprobe_times, rotated
from tests.video.outside import Outside, left_behind

QUICK = EncoderSettings(preset="ultrafast")
FINE = EncoderSettings(preset="ultrafast", crf=1)
"""So little loss that a picture can be compared with what went in."""


Made = Callable[[Recipe], Path]


def difference(one: NDArray[np.uint8], two: NDArray[np.uint8]) -> float:
    """Mean absolute difference in grey levels."""
    assert one.shape == two.shape
    return float(np.abs(one.astype(np.int16) - two).mean())


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_any_source_becomes_a_clean_file_with_its_own_times(
    recipe: Recipe, outside: Outside, made: Made, tmp_path: Path
) -> None:
    source = made(recipe)
    known = ffprobe_times(outside.ffprobe, source)
    start = known[0] or Fraction(0)
    asked = [start + Fraction(n, 7) for n in range(1, 20, 4)]
    out = tmp_path / "normal.mp4"

    video = normalize(source, out, keyframes_at=asked, settings=QUICK)

    assert len(outside.frame_hashes(out)) == video.frames == len(known)
    packets = outside.packets(out)
    times = sorted(packet.shown for packet in packets)
    if None not in known:
        assert times == [moment - start for moment in known if moment is not None]
    assert list(video.frame_times()) == times
    assert all(one < two for one, two in pairwise(times))
    assert all(one.decoded < two.decoded for one, two in pairwise(packets))
    assert all(packet.decoded <= packet.shown for packet in packets)
    keys = {packet.shown for packet in packets if packet.key}
    for boundary in video.boundaries:
        after = [moment for moment in times if moment + start >= boundary.asked]
        assert boundary.time == (after[0] if after else video.duration)
        assert boundary.time in {*keys, video.duration}
        assert video.at(boundary.asked) == boundary.time
    assert [clip.start for clip in video.clips] == sorted(
        {Fraction(0), *(one.time for one in video.boundaries)} - {video.duration}
    )
    assert video.clips[-1].end == video.duration > times[-1]


def test_duration_is_that_of_the_source(outside: Outside, made: Made, tmp_path: Path) -> None:
    # 47 frames of 1001/24000 s each, which is no whole number of milliseconds.
    ntsc = BY_NAME["ntsc"]
    arguments = (*ntsc.arguments, "-frames:v", "47")
    source = made(replace(ntsc, name="ntsc_47", arguments=arguments))
    out = tmp_path / "out.mp4"
    video = normalize(source, out, settings=QUICK)
    assert video.duration == Fraction(47 * 1001, 24000)
    stream = outside.described(out)["streams"][0]
    assert int(stream["duration_ts"]) * Fraction(stream["time_base"]) == video.duration
    assert stream["avg_frame_rate"] == stream["r_frame_rate"] == "24000/1001"
    # What players go by is the edit list. It counts in the movie's ticks, after version and
    # flags and the number of entries; the ticks stand in the movie's header, after two dates.
    data = out.read_bytes()
    movie, edits = data.index(b"mvhd"), data.index(b"elst")
    scale = int.from_bytes(data[movie + 16 : movie + 20], "big")
    length = int.from_bytes(data[edits + 12 : edits + 16], "big")
    assert Fraction(length, scale) == video.duration


def test_a_film_of_constant_rate_says_so_in_its_own_header(
    outside: Outside, made: Made, tmp_path: Path
) -> None:
    for name, fixed in (("ntsc", "1"), ("variable_rate", "0")):
        normalize(made(BY_NAME[name]), tmp_path / name, settings=QUICK)
        assert outside.header_values(tmp_path / name)["fixed_frame_rate_flag"] == {fixed}


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_pictures_are_upright(degrees: int, outside: Outside, tmp_path: Path) -> None:
    source = rotated(outside.ffmpeg, tmp_path, degrees)
    normalize(source, tmp_path / "out.mp4", settings=FINE)
    # ffmpeg turns pictures by the header when it decodes.
    assert difference(outside.pictures(tmp_path / "out.mp4"), outside.pictures(source)) < 1
    stream = outside.described(tmp_path / "out.mp4")["streams"][0]
    assert "side_data_list" not in stream


def test_an_odd_side_loses_its_last_row_and_column(
    outside: Outside, made: Made, tmp_path: Path
) -> None:
    source = made(BY_NAME["odd_size"])
    normalize(source, tmp_path / "out.mp4", settings=FINE)
    expected = outside.pictures(source, "crop=96:60:0:0")
    assert difference(outside.pictures(tmp_path / "out.mp4"), expected) < 1


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (Size(long_side=64), (64, 48)),
        (Size(short_side=50), (66, 50)),  # 66.7 across: rounded to 67, then to whole pairs
        (Size(exact=(33, 33)), (32, 32)),
        (Size(long_side=1), (2, 2)),
    ],
)
def test_size(
    size: Size, expected: tuple[int, int], outside: Outside, made: Made, tmp_path: Path
) -> None:
    source = made(BY_NAME["plain"])
    normalize(source, tmp_path / "out.mp4", size=size, settings=FINE)
    pictures = outside.pictures(tmp_path / "out.mp4")
    assert pictures.shape[:0:-1] == expected
    width, height = expected
    scaled = outside.pictures(source, f"scale={width}:{height}:flags=bicubic")
    assert difference(pictures, scaled) < 1.5


@pytest.mark.parametrize("name", ["ten_bit", "alpha", "gif", "gray", "full_range"])
def test_colours_survive_other_pixel_formats(
    name: str, outside: Outside, made: Made, tmp_path: Path
) -> None:
    full = Recipe(
        "full_range",
        ("-vf", "scale=out_range=full", "-pix_fmt", "yuvj420p", *("-c:v", "libx264", "-crf", "1")),
    )
    source = made(full if name == "full_range" else BY_NAME[name])
    normalize(source, tmp_path / "out.mp4", settings=FINE)
    expected = outside.pictures(
        source, "scale=out_range=limited:out_color_matrix=bt601", pixels="yuv420p"
    )
    result = outside.pictures(tmp_path / "out.mp4", pixels="yuv420p")
    assert difference(result, expected) < 1.2


@pytest.mark.parametrize("rate", [Fraction(10), Fraction(24000, 1001), Fraction(50)])
@pytest.mark.parametrize("name", ["plain", "variable_rate", "vp9", "late_start"])
def test_a_constant_rate_shows_what_ffmpegs_fps_filter_shows(
    name: str, rate: Fraction, outside: Outside, made: Made, tmp_path: Path
) -> None:
    source = made(BY_NAME[name])
    out = tmp_path / "out.mp4"
    video = normalize(source, out, rate=rate, settings=FINE)
    assert list(video.frame_times()) == [n / rate for n in range(video.frames)]
    expected = outside.pictures(source, f"setpts=PTS-STARTPTS,fps={rate}")
    result = outside.pictures(out)
    # The test picture changes with every frame, so a frame too early or late would stand out.
    assert difference(result, expected) < 1
    assert (
        outside.described(out)["streams"][0]["avg_frame_rate"]
        == f"{rate.numerator}/{rate.denominator}"
    )


def test_sound_captions_and_metadata_are_dropped(outside: Outside, tmp_path: Path) -> None:
    source = tmp_path / "talkie.mkv"
    subtitle = tmp_path / "words.srt"
    subtitle.write_text("1\n00:00:00,000 --> 00:00:01,000\nhello\n")
    subprocess.run(
        [
            *(outside.ffmpeg, "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x48:d=1"),
            *("-f", "lavfi", "-i", "sine=d=1", "-i", subtitle, "-map", "0", "-map", "1"),
            *("-map", "2", "-metadata", "title=made by a model", source),
        ],
        check=True,
    )
    normalize(source, tmp_path / "out.mp4", settings=QUICK)
    told = outside.described(tmp_path / "out.mp4")
    assert [stream["codec_name"] for stream in told["streams"]] == ["h264"]
    assert b"made by a model" not in (tmp_path / "out.mp4").read_bytes()
    assert set(told["format"]["tags"]) <= {"major_brand", "minor_version", "compatible_brands"}


def test_the_aspect_of_pixels_stays(outside: Outside, made: Made, tmp_path: Path) -> None:
    wide = Recipe("wide", ("-vf", "setsar=4/3", "-c:v", "libx264"))
    source = made(wide)
    normalize(source, tmp_path / "out.mp4", settings=QUICK)
    assert outside.described(tmp_path / "out.mp4")["streams"][0]["sample_aspect_ratio"] == "4:3"


CHILD = """
import os, sys
from fractions import Fraction
from pathlib import Path
from screentest.video.edit import normalize as module
from screentest.video.edit.encode import EncoderSettings

class Told(module.Fitter):
    def __call__(self, frame):
        print("one more", flush=True)
        return super().__call__(frame)

module.Fitter = Told
module.normalize(
    Path(sys.argv[1]), Path(sys.argv[2]), keyframes_at=[Fraction(1)],
    settings=EncoderSettings(preset="ultrafast"),
)
"""


def test_same_bytes_again_and_on_one_core(made: Made, tmp_path: Path) -> None:
    source = made(BY_NAME["b_frames"])
    for name in ("one", "two"):
        normalize(source, tmp_path / name, keyframes_at=[Fraction(1)], settings=QUICK)
    on_one_core = f"import os; os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}})\n{CHILD}"
    subprocess.run(
        [sys.executable, "-c", on_one_core, source, tmp_path / "three"],
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": "1", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"},
    )
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "one").read_bytes() == (tmp_path / "three").read_bytes()


def test_a_kill_leaves_nothing(made: Made, tmp_path: Path) -> None:
    source = made(replace(BY_NAME["plain"], name="long", source="testsrc2=d=60"))
    folder = tmp_path / "results"
    folder.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, source, folder / "out.mp4"], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    for _ in range(100):  # it is well into the file
        assert child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert left_behind(folder) == []


@pytest.mark.parametrize("room", [20, 30_000])
def test_a_full_disk_is_said_and_the_old_file_stays(room: int, made: Made, tmp_path: Path) -> None:
    source = made(BY_NAME["plain"])
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "out.mp4").write_bytes(b"old")
    limited = f"""
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))
{CHILD}
"""
    done = subprocess.run(
        [sys.executable, "-c", limited, source, folder / "out.mp4"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "StorageError" in done.stderr
    assert str(folder / "out.mp4") in done.stderr
    assert [one.name for one in folder.iterdir()] == ["out.mp4"]
    assert (folder / "out.mp4").read_bytes() == b"old"


def test_what_cannot_be(made: Made, tmp_path: Path) -> None:
    source = made(BY_NAME["plain"])
    out = tmp_path / "out.mp4"
    with pytest.raises(BadOption, match="is the input"):
        normalize(source, source)
    with pytest.raises(BadOption, match="rate"):
        normalize(source, out, rate=Fraction(-1))
    with pytest.raises(VideoError) as missing:
        normalize(tmp_path / "none.mp4", out)
    assert missing.value.reason is Reason.MISSING_FILE
    with pytest.raises(StorageError, match="no such file"):
        normalize(source, tmp_path / "nowhere" / "out.mp4", settings=QUICK)
    with pytest.raises(BadOption, match="no boundary"):
        normalize(source, out, settings=QUICK).at(Fraction(1))


@pytest.mark.parametrize(
    "settings",
    [
        replace(QUICK, b_frames=0),
        replace(QUICK, b_frames=1),
        replace(QUICK, b_pyramid=False),
        replace(QUICK, gop=1),
        EncoderSettings(b_frames=16),
    ],
    ids=str,
)
def test_order_of_packets_under_any_settings(
    settings: EncoderSettings, outside: Outside, made: Made, tmp_path: Path
) -> None:
    source = made(BY_NAME["variable_rate"])
    out = tmp_path / "out.mp4"
    video = normalize(source, out, keyframes_at=[Fraction(1, 2)], settings=settings)
    packets = outside.packets(out)
    assert len(outside.frame_hashes(out)) == video.frames
    assert all(one.decoded < two.decoded for one, two in pairwise(packets))
    assert all(packet.decoded <= packet.shown for packet in packets)
    # No more of a head start than the order needs: some packet is decoded when it is shown.
    assert any(packet.decoded == packet.shown for packet in packets)


def test_the_record_survives_json(made: Made, tmp_path: Path) -> None:
    source = made(BY_NAME["ntsc"])
    video = normalize(source, tmp_path / "o.mp4", keyframes_at=[Fraction(1, 3)], settings=QUICK)
    assert from_json(NormalizedVideo, to_json(video)) == video


MEASURE = """
import resource, sys
from pathlib import Path
from screentest.video.edit.encode import EncoderSettings
from screentest.video.edit.normalize import normalize
normalize(Path(sys.argv[1]), Path(sys.argv[2]), settings=EncoderSettings(preset="ultrafast"))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_duration(made: Made, tmp_path: Path) -> None:
    peaks = []
    for seconds in (40, 1200):
        recipe = Recipe(f"d{seconds}", ("-c:v", "libx264", "-preset", "ultrafast"), ".mp4")
        recipe = replace(recipe, source=f"testsrc2=s=320x240:r=30:d={seconds}")
        source = made(recipe)
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, source, tmp_path / "out.mp4"],
            check=True,
            capture_output=True,
            text=True,
        )
        peaks.append(int(done.stdout))
    # 34,800 more frames: a single frame kept of each thousand would show.
    assert peaks[1] - peaks[0] < 0.15 * peaks[0]
