"""Dynamic degree: VBench's rule on hand-worked cases, and against a plain reference."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import Reason, Span, registry
from screentest.suites.locot2v.metrics.motion import clips_of, is_dynamic, largest_motion
from screentest.testing.films import gliding, texture, write_film
from tests.models.tiny_backend import MARKS
from tests.suites.locot2v.films import HEIGHT, all_frames, failure, score

NAME = "locot2v_dynamic_degree"
# Six pixels on a short side of 256 are 2.25 on the 96 of these films.
LIMIT = 6 * HEIGHT / 256


def test_the_largest_twentieth_of_the_flow_counts() -> None:
    field = np.zeros((10, 20, 2), np.float32)
    field[0, :10] = (3, 4)  # ten of two hundred pixels are five per cent
    assert largest_motion(field) == 5.0
    field[0, :5] = 0
    assert largest_motion(field) == 2.5


# VBench asks for round(4 · n / 16) moving pairs, n frames; Python rounds halves to even.
@pytest.mark.parametrize(("frames", "needed"), [(8, 2), (16, 4), (10, 2), (14, 4), (5, 1), (3, 1)])
def test_a_quarter_of_the_frames_must_move(frames: int, needed: int) -> None:
    assert round(4 * frames / 16) == needed
    still = [0.0] * (frames - 1 - needed)
    assert is_dynamic([1.01] * needed + still)
    assert not is_dynamic([1.01] * (needed - 1) + [1.0] + still)


@given(st.fractions(Fraction(1, 10), 60), st.sampled_from([Fraction(2), Fraction(10)]))
def test_clips_cover_the_film_and_are_equally_long(duration: Fraction, seconds: Fraction) -> None:
    span = Span(Fraction(3), 3 + duration)
    clips = clips_of(span, seconds)
    assert (clips[0].start, clips[-1].end) == (span.start, span.end)
    assert {clip.duration for clip in clips} == {min(seconds, duration)}
    assert all(two.start <= one.end for one, two in itertools.pairwise(clips))


def test_fast_is_dynamic_and_slow_is_not(tmp_path: Path) -> None:
    assert score(NAME, write_film(tmp_path / "fast.mkv", gliding(17, 5))).value == 1.0
    assert score(NAME, write_film(tmp_path / "slow.mkv", gliding(17, 1))).value == 0.0
    assert score(NAME, write_film(tmp_path / "still.mkv", [texture(2)] * 17)).value == 0.0


def test_freezing_lowers_it_clip_by_clip(tmp_path: Path) -> None:
    """Four clips of two seconds; each that is frozen costs a quarter."""
    moving = gliding(64, 4)
    for frozen in range(5):
        pictures = [moving[0]] * (16 * frozen) + moving[16 * frozen :]
        found = score(NAME, write_film(tmp_path / f"{frozen}.mkv", pictures))
        assert found.value == 1 - frozen / 4
        assert [point.value for point in found.curve] == [0.0] * frozen + [1.0] * (4 - frozen)


def test_by_video_it_is_yes_or_no(tmp_path: Path) -> None:
    moving = gliding(64, 4)
    mostly_still = write_film(tmp_path / "still.mkv", [moving[0]] * 56 + moving[56:])
    half = write_film(tmp_path / "half.mkv", [moving[0]] * 32 + moving[32:])
    assert score(f"{NAME}:by=video", mostly_still).value == 0.0
    assert score(f"{NAME}:by=video", half).value == 1.0


def test_by_degree_it_grows_with_speed(tmp_path: Path) -> None:
    speeds = (0, 1, 2, 5)
    values = [
        score(f"{NAME}:by=degree", write_film(tmp_path / f"{speed}.mkv", gliding(9, speed))).value
        for speed in speeds
    ]
    # DIS finds a uniform shift to a tenth of a pixel or so.
    for speed, value in zip(speeds, values, strict=True):
        assert value == pytest.approx(min(speed / LIMIT, 1), abs=0.12)


def test_looks_eight_times_a_second(tmp_path: Path) -> None:
    """At 24 frames per second every third frame: one pixel a frame is three a look."""
    assert score(NAME, write_film(tmp_path / "24.mkv", gliding(49, 1), rate=24)).value == 1.0
    assert score(NAME, write_film(tmp_path / "8.mkv", gliding(17, 1), rate=8)).value == 0.0


def test_one_frame_has_no_answer(tmp_path: Path) -> None:
    lost = failure(NAME, write_film(tmp_path / "one.mkv", [texture(1)])).failure
    assert lost is not None
    assert lost.reason is Reason.NOT_APPLICABLE


@pytest.mark.parametrize("spec", [pytest.param("raft", marks=MARKS)])
def test_raft_with_random_weights_equals_a_plain_reference(spec: str, tmp_path: Path) -> None:
    model = random_raft(tmp_path)
    video = write_film(tmp_path / "film.mkv", gliding(5, 3))
    network = registry.build("flow", spec, model=model, size="small", updates=2, device="cpu").thing
    reaches = []
    frames = all_frames(video)
    for one, two in itertools.pairwise(frames):
        (field,) = network.flow([(one, two)])
        lengths = np.sort(np.sqrt((field.astype(float) ** 2).sum(-1)).ravel())[::-1]
        reaches.append(lengths[: int(0.05 * lengths.size)].mean() / LIMIT)
    choice = f"flow=raft:{model},size=small,updates=2,device=cpu"
    degree = score(f"{NAME}:by=degree", video, choice).value
    assert degree == pytest.approx(np.mean(np.minimum(reaches, 1)), rel=1e-4)
    plain = float(sum(reach > 1 for reach in reaches) >= round(4 * len(frames) / 16))
    assert score(f"{NAME}:by=video", video, choice).value == plain


def random_raft(folder: Path) -> str:
    """A RAFT that was never trained: it moves things nowhere sensible, but always the same."""
    torch = pytest.importorskip("torch")
    from tests.models.torchvision_here import make_importable

    make_importable()
    from safetensors.torch import save_file
    from torchvision.models.optical_flow import raft_small

    torch.manual_seed(3)
    place = folder / "raft_small.safetensors"
    save_file(raft_small(weights=None).state_dict(), place)
    return str(place)
