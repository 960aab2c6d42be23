"""Aesthetic and technical quality: sampling, normalisation, segments."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import BadOption, Item, Reason, Score, Span, build, registry
from screentest.measure.items import measure
from screentest.run.session import Settings, Tools
from screentest.suites.locot2v.metrics import quality
from screentest.suites.locot2v.metrics.quality import best_tenth, segments
from screentest.testing.films import gliding, texture, write_film
from tests.suites.locot2v.films import all_frames, failure, score

AESTHETIC, TECHNICAL = "locot2v_aesthetic_quality", "locot2v_technical_quality"


def test_one_frame_per_second_as_a_share_of_the_bound(tmp_path: Path) -> None:
    """Three seconds at 8 per second: frames 0, 8 and 16."""
    video = write_film(tmp_path / "film.mkv", gliding(24, 1))
    model = registry.build("aesthetic", "image_statistics").thing
    frames = all_frames(video)
    expected = [float(model.score([frames[n]])[0]) for n in (0, 8, 16)]
    found = score(f"{AESTHETIC}:upper_bound=0.9", video)
    assert found.value == pytest.approx(np.mean(np.minimum(np.array(expected) / 0.9, 1)), rel=1e-6)
    assert [float(point.span.start) for point in found.curve] == [0, 1, 2]
    assert found.details["raw"] == pytest.approx(np.mean(expected), rel=1e-6)


def test_without_a_bound_it_is_the_top_of_the_scale(tmp_path: Path) -> None:
    video = write_film(tmp_path / "film.mkv", gliding(8, 1))
    scale = registry.build("aesthetic", "image_statistics").thing.scale
    assert score(AESTHETIC, video).details["upper_bound"] == scale[1]


def test_nothing_is_above_the_bound(tmp_path: Path) -> None:
    assert (
        score(f"{AESTHETIC}:upper_bound=0.01", write_film(tmp_path / "a.mkv", [texture(1)])).value
        == 1
    )


@given(st.lists(st.floats(1, 10), min_size=1, max_size=200))
def test_the_bound_is_the_mean_of_the_best_tenth(scores: list[float]) -> None:
    count = max(1, round(len(scores) / 10))
    assert best_tenth(scores) == pytest.approx(sum(sorted(scores)[-count:]) / count)


@given(st.fractions(Fraction(1, 30), 4000))
def test_segments_are_equal_and_below_ten_seconds(duration: Fraction) -> None:
    parts = segments(Span(Fraction(2), 2 + duration), Fraction(10))
    assert (parts[0].start, parts[-1].end) == (2, 2 + duration)
    assert len({part.duration for part in parts}) == 1
    assert parts[0].duration < 10


def test_technical_is_the_mean_of_segments(tmp_path: Path) -> None:
    """Four seconds in segments below three: two of two seconds, one of them blurred."""
    import cv2

    sharp = gliding(16, 1)
    blurred = [np.asarray(cv2.GaussianBlur(one, (0, 0), 4), np.uint8) for one in gliding(16, 1)]
    video = write_film(tmp_path / "film.mkv", [*sharp, *blurred])
    found = score(f"{TECHNICAL}:segment_seconds=3,rate=2", video)
    model = registry.build("technical", "scene_statistics").thing
    frames = all_frames(video)
    expected = [model.score([frames[n] for n in range(start, start + 16, 4)]) for start in (0, 16)]
    assert [point.value for point in found.curve] == pytest.approx(expected)
    assert found.value == pytest.approx(np.mean(expected))
    assert found.curve[1].value < found.curve[0].value


def test_a_black_segment_is_left_out_and_reported(tmp_path: Path) -> None:
    black = np.zeros_like(texture(1))
    video = write_film(tmp_path / "film.mkv", [*gliding(16, 1), *[black] * 16])
    found = score(f"{TECHNICAL}:segment_seconds=3", video)
    assert (found.details["segments"], found.details["scored"]) == (2, 1)


def test_one_colour_has_no_answer(tmp_path: Path) -> None:
    grey = np.full_like(texture(1), 90)
    lost = failure(TECHNICAL, write_film(tmp_path / "film.mkv", [grey] * 8)).failure
    assert lost is not None
    assert lost.reason is Reason.NOT_APPLICABLE
    assert "one colour" in lost.detail


class Counting:
    """A technical model that wants every frame, and counts what it is handed."""

    native_rate = True

    def __init__(self) -> None:
        self.handed: list[int] = []

    def score(self, frames: Sequence[object]) -> float:
        self.handed.append(len(frames))
        return 0.5


class OneModel(Tools):
    """Resources whose every role is one model."""

    def __init__(self, model: Counting) -> None:
        super().__init__(Settings())
        self._model = model

    def role(self, name: str) -> Counting:
        return self._model


def handed(spec: str, video: Path) -> tuple[list[int], Score]:
    """How many frames the model got of each segment, and the score."""
    model = Counting()
    outcomes = measure(Item("film", video), {spec: build("metric", spec).thing}, OneModel(model))
    return model.handed, outcomes[spec][TECHNICAL].unwrap()


def test_a_model_that_samples_itself_is_handed_every_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    video = write_film(tmp_path / "film.mkv", gliding(32, 1))
    # Four seconds at eight frames a second, in one segment.
    counts, found = handed(TECHNICAL, video)
    assert counts == [32]
    assert found.details["rate"] == "native"
    assert handed(f"{TECHNICAL}:rate=2", video)[0] == [8]
    # Memory bounds the segment: three frames of these pictures.
    height, width = gliding(1, 1)[0].shape[:2]
    monkeypatch.setattr(quality, "MOST_BYTES", 3 * width * height * 3)
    counts, _ = handed(TECHNICAL, video)
    assert (max(counts), sum(counts)) == (3, 32)


@pytest.mark.parametrize(
    "wrong",
    [f"{AESTHETIC}:rate=0", f"{AESTHETIC}:upper_bound=-1", f"{TECHNICAL}:rate=30"],
)
def test_options_that_cannot_be(wrong: str) -> None:
    with pytest.raises(BadOption):
        build("metric", wrong)
