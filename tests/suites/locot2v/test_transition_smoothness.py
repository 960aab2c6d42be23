"""Transition smoothness: equations 3–6 on small cases, and cuts against dissolves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

from screentest.core import BadOption, FrameRequest, Reason, Size, build
from screentest.suites.locot2v.metrics.continuity import normalised, smoothness
from screentest.suites.locot2v.similarity import pixel_likeness, ssim
from screentest.testing.films import texture, write_film
from tests.messages import names
from tests.suites.locot2v.films import Picture, all_frames, failure, score

NAME = "locot2v_transition_smoothness"
Values = st.lists(st.floats(0.01, 1), min_size=2, max_size=32)


def test_equations_4_and_5_by_hand() -> None:
    """ŝ of (1, 1, 0.5, 0.5) is (1/3, 1/3, 1/6, 1/6): variance 1/144."""
    variance = 1 / 144
    expected = 1 - variance * 100 / (variance * 100 + 0.5)
    assert smoothness([1, 1, 0.5, 0.5], 100, 0.5) == pytest.approx(expected, rel=1e-12)


@given(Values, st.floats(0.1, 1e4), st.floats(1e-3, 1))
def test_it_lies_between_0_and_1_and_scale_does_not_matter(
    values: list[float], b: float, c: float
) -> None:
    found = smoothness(values, b, c)
    assert 0 <= found <= 1
    assert smoothness([value / 3 for value in values], b, c) == pytest.approx(found, abs=1e-9)
    shares = np.array(values) / np.sum(values)
    assert found == pytest.approx(1 - shares.var() * b / (shares.var() * b + c), abs=1e-9)


@given(st.floats(0.1, 0.9), st.floats(0.01, 0.09))
def test_a_deeper_dip_is_less_smooth(depth: float, more: float) -> None:
    shallow = [1.0] * 15 + [depth]
    deep = [1.0] * 15 + [depth - more]
    assert smoothness(deep, 1000, 0.01) < smoothness(shallow, 1000, 0.01)


def test_equal_cues_stay_equal() -> None:
    for how in ("maximum", "range"):
        assert normalised([0.3] * 4, how) == [1.0] * 4  # type: ignore[arg-type]
        assert normalised([0.0] * 4, how) == [1.0] * 4  # type: ignore[arg-type]


def test_ssim_equals_its_definition_with_scipy() -> None:
    """Wang et al.: Gaussian of σ 1.5 cut at 11 × 11, borders left out."""
    one, two = texture(1), texture(2)
    grey = [picture @ np.array([0.299, 0.587, 0.114]) for picture in (one, two)]

    def blurred(plane: np.ndarray) -> np.ndarray:
        return gaussian_filter(plane, 1.5, truncate=5 / 1.5)[5:-5, 5:-5]

    mean_one, mean_two = (blurred(plane) for plane in grey)
    spread_one, spread_two = (
        blurred(plane**2) - mean**2 for plane, mean in zip(grey, (mean_one, mean_two), strict=True)
    )
    both = blurred(grey[0] * grey[1]) - mean_one * mean_two
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    expected = (
        (2 * mean_one * mean_two + c1)
        * (2 * both + c2)
        / ((mean_one**2 + mean_two**2 + c1) * (spread_one + spread_two + c2))
    ).mean()
    # OpenCV rounds its grey to whole levels.
    assert ssim(one, two) == pytest.approx(expected, abs=2e-3)
    assert ssim(one, one) == pytest.approx(1.0)


def test_pixel_likeness_by_hand() -> None:
    black = np.zeros((2, 2, 3), np.uint8)
    assert pixel_likeness(black, black + 51) == pytest.approx(0.8)
    assert pixel_likeness(black + 51, black) == pytest.approx(0.8)


@pytest.fixture(scope="module")
def shots(sample: Path) -> tuple[list[Picture], list[Picture]]:
    """Two shots of a real film, whose cut is at three seconds, at 24 frames per second."""
    wants = FrameRequest(size=Size(long_side=192))
    frames = all_frames(sample / "real_5shots_640x360.mp4", wants)
    return frames[4:70], frames[76:142]


def dissolve(
    shots: tuple[list[Picture], list[Picture]], frames: int, after: int = 30
) -> list[Picture]:
    """Thirty frames of the first shot, so many of both, then of the second."""
    one, two = shots
    blend = []
    for n in range(frames):
        share = (n + 1) / (frames + 1)
        blend.append(np.asarray(one[30 + n] * (1 - share) + two[n] * share, np.uint8))
    return [*one[:30], *blend, *two[frames : frames + after]]


def test_the_slower_the_change_the_smoother(
    shots: tuple[list[Picture], list[Picture]], tmp_path: Path
) -> None:
    lengths = (0, 12, 24)
    found = [
        score(NAME, write_film(tmp_path / f"{length}.mkv", dissolve(shots, length), rate=24))
        for length in lengths
    ]
    assert [one.details["transitions"] for one in found] == [1, 1, 1]
    cut, quick, slow = (one.value for one in found)
    assert cut < 0.2 < 0.5 < quick < slow
    # The cut is at frame 30 of 24 per second, in the middle of seventeen frames.
    (point,) = found[0].curve
    assert float(point.span.start) == pytest.approx(22 / 24, abs=0.001)
    assert float(point.span.end) == pytest.approx(38 / 24, abs=0.001)


def test_without_transitions(tmp_path: Path) -> None:
    video = write_film(tmp_path / "still.mkv", [texture(1)] * 30, rate=24)
    lost = failure(NAME, video).failure
    assert lost is not None
    assert (lost.reason, names(lost.detail, "transitions")) == (Reason.NOT_APPLICABLE, True)
    assert score(f"{NAME}:uncut=smooth", video).value == 1.0


def test_a_window_that_does_not_fit(
    shots: tuple[list[Picture], list[Picture]], tmp_path: Path
) -> None:
    video = write_film(tmp_path / "short.mkv", dissolve(shots, 0, after=5), rate=24)
    lost = failure(NAME, video).failure
    assert lost is not None
    assert lost.reason is Reason.NOT_APPLICABLE
    assert "8 frames" in lost.detail
    assert score(f"{NAME}:k=3", video).value < 0.3


@pytest.mark.parametrize("wrong", ["k=0", "b=0", "weights=[1,1,0,0]", "weights=[2,-1,0,0]"])
def test_constants_that_cannot_be(wrong: str) -> None:
    with pytest.raises(BadOption):
        build("metric", f"{NAME}:{wrong}")
