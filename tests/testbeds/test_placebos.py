"""Placebos: edits that are there and that nobody sees. Measured by Debian's ffmpeg."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from screentest.core import BadOption, build, registry
from screentest.testbeds.contract import Context, Rng
from screentest.testbeds.placebos import TEXT, grained, painted
from tests.testbeds.stage import PlainBackends, Stage, packets_of
from tests.video.outside import Outside


def written(stage: Stage, name: str, folder: Path) -> Path:
    placebo = build("placebo", name).thing
    out = folder / f"{name.partition(':')[0]}{placebo.suffix}"
    placebo.write(Context(stage.film, Rng.of(7, "film", name), PlainBackends()), out)
    return out


def test_the_four_edits_that_nobody_sees_are_there() -> None:
    assert {"container", "noise", "reencode", "trim"} <= set(registry.names("placebo"))


def test_another_container_holds_the_same_frames(
    stage: Stage, outside: Outside, tmp_path: Path
) -> None:
    other = written(stage, "container", tmp_path)
    assert outside.described(other)["format"]["format_name"] == "matroska,webm"
    assert outside.frame_hashes(other) == outside.frame_hashes(stage.film.video.path)
    again = tmp_path / "again"
    again.mkdir()
    assert written(stage, "container", again).read_bytes() == other.read_bytes()


def test_the_last_frame_is_cut_off_and_no_other(
    stage: Stage, outside: Outside, tmp_path: Path
) -> None:
    before = outside.frame_hashes(stage.film.video.path)
    after = outside.frame_hashes(written(stage, "trim", tmp_path))
    last = stage.film.clips[-1].frames
    assert len(after) == len(before) - 1
    assert after[:-last] == before[: -last - 1]


def test_the_second_generation_looks_like_the_first(
    stage: Stage, outside: Outside, tmp_path: Path
) -> None:
    before = outside.pictures(stage.film.video.path, pixels="yuv420p").astype(float)
    path = written(stage, "reencode", tmp_path)
    after = outside.pictures(path, pixels="yuv420p").astype(float)
    assert packets_of(path) != packets_of(stage.film.video.path)
    assert 10 * np.log10(255**2 / ((after - before) ** 2).mean()) > 38  # dB


def test_noise_is_one_level_and_half_of_the_pixels() -> None:
    picture = np.full((6, 1000), 100, np.uint8)
    change = grained(picture, Rng.of("noise")).astype(int) - 100
    assert set(np.unique(change[:4])) == {-1, 0, 1}
    assert abs((change[:4] != 0).mean() - 0.5) < 0.05
    assert not change[4:].any()  # chroma


def test_noise_touches_some_clips_and_is_not_seen(
    stage: Stage, outside: Outside, tmp_path: Path
) -> None:
    before = outside.pictures(stage.film.video.path, pixels="yuv420p").astype(float)
    path = written(stage, "noise:clips=2", tmp_path)
    after = outside.pictures(path, pixels="yuv420p").astype(float)
    changed = (before != after).any(axis=(1, 2))
    assert 0 < changed.sum() < len(changed)
    assert 10 * np.log10(255**2 / ((after - before) ** 2).mean()) > 40


@pytest.mark.parametrize("width", [160, 256, 1920])
def test_an_instruction_is_a_band_at_the_lower_edge(width: int) -> None:
    height = width * 9 // 16 // 2 * 2
    picture = np.full((height * 3 // 2, width), 100, np.uint8)
    after = painted(picture, TEXT)
    touched = np.flatnonzero((after[:height] != 100).any(axis=1))
    assert touched[-1] == height - 1  # down to the edge
    assert touched.size < height / 4  # and no higher than a line of text
    assert (after[height:] == 100).all()  # colours stay
    columns = np.flatnonzero((after[touched] > 16).any(axis=0))
    assert columns[0] < 0.1 * width  # the whole line is there, from edge to edge
    assert columns[-1] > 0.9 * width


def test_an_instruction_is_in_as_many_clips_as_asked(
    stage: Stage, outside: Outside, tmp_path: Path
) -> None:
    before = outside.pictures(stage.film.video.path, pixels="yuv420p").astype(float)
    after = outside.pictures(
        written(stage, "painted_instruction:clips=2", tmp_path), pixels="yuv420p"
    ).astype(float)
    changed = (before != after).any(axis=(1, 2))
    counts = sorted(clip.frames for clip in stage.film.clips)
    assert counts[0] + counts[1] <= changed.sum() <= counts[-1] + counts[-2]


def test_an_instruction_needs_plain_letters() -> None:
    with pytest.raises(BadOption):
        build("placebo", 'painted_instruction:text=""')


def test_severity_zero_goes_all_the_way_and_harms_nothing(stage: Stage, tmp_path: Path) -> None:
    intact = stage.film.video.path
    rgb = written(stage, "severity_zero", tmp_path)
    assert packets_of(rgb) != packets_of(intact)
    one_clip = "clip_repeated,clips=1"  # an order takes two
    for operator in ("swapped_halves", "two_swapped", "ended_early", "slowed", one_clip):
        same = written(stage, f"severity_zero:operator={operator}", tmp_path)
        assert same.read_bytes() == intact.read_bytes()
    with pytest.raises(BadOption):
        build("placebo", "severity_zero:clips=0")
