"""What all metrics share: one decode, flat memory, one scan equal to many, films nobody planned."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from screentest.core import Frame, Item, Metric, Reason, build
from screentest.measure.items import measure
from screentest.run.session import Settings, Tools
from screentest.suites.locot2v.requests import Timeline
from screentest.testing.films import gliding, texture, write_film
from tests.suites.locot2v.films import CLASSICAL, Picture, failure, measured, score

STREAMING = (
    "locot2v_temporal_flickering",
    "locot2v_dynamic_degree",
    "locot2v_motion_smoothness",
    "locot2v_warping_error",
    "locot2v_semantic_consistency",
    "locot2v_aesthetic_quality:rate=8",
    "locot2v_technical_quality:segment_seconds=1,rate=8",
)
MOST_FRAMES = 24
"""A metric keeps a few frames for a batch, or those of one second-long segment."""


@pytest.fixture(scope="module")
def long_film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten seconds; only its length and times are used."""
    pictures = [np.full((48, 64, 3), n % 200, np.uint8) for n in range(80)]
    return write_film(tmp_path_factory.mktemp("long") / "long.mkv", pictures)


@pytest.mark.parametrize("spec", STREAMING)
def test_frames_are_let_go(spec: str, long_film: Path) -> None:
    """However long the film, only a few of its frames are alive at any time."""
    tools = Tools(Settings(models=CLASSICAL))
    metric: Metric = build("metric", spec).thing
    work = metric.start(Item("film", long_film), tools)
    (consumer,) = work.consumers
    consumer.open(tools.info(long_film))
    seen: list[weakref.ref[Picture]] = []

    def alive() -> int:
        return sum(one() is not None for one in seen)

    most = 0
    for number in range(80):
        picture = texture(number % 5, 48, 64)
        seen.append(weakref.ref(picture))
        consumer.take(Frame(Fraction(number, 8), number, picture))
        del picture
        most = max(most, alive())
    consumer.close(Fraction(10))
    assert most <= MOST_FRAMES
    assert work.finish()
    gc.collect()
    assert alive() <= 1


@pytest.mark.slow
def test_ten_times_the_film_needs_hardly_more_memory(tmp_path: Path) -> None:
    """All streaming metrics in one scan: what Python and NumPy hold at the most."""
    specs = [spec.partition(":")[0] for spec in STREAMING]
    peaks = []
    for count in (16, 40, 400):
        pictures = (texture(n % 7, 48, 64) for n in range(count))
        item = Item("film", write_film(tmp_path / f"{count}.mkv", pictures))
        tools = Tools(Settings(models=CLASSICAL))
        metrics = {spec: build("metric", spec).thing for spec in specs}
        gc.collect()
        tracemalloc.start()
        outcomes = measure(item, metrics, tools)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert all(outcome.ok for found in outcomes.values() for outcome in found.values())
    # Of the first film all is loaded. The frames of the last one would be 3.7 MB.
    assert peaks[2] < peaks[1] + 1_000_000


def test_together_equals_one_by_one(tmp_path: Path) -> None:
    video = write_film(tmp_path / "film.mkv", [*gliding(20, 2), *gliding(20, 1, seed=4)])
    specs = [*STREAMING, "locot2v_transition_smoothness:k=4"]
    tools = Tools(Settings(models=CLASSICAL))
    metrics = {spec: build("metric", spec).thing for spec in specs}
    together = measure(Item("film", video), metrics, tools)
    for spec in specs:
        assert together[spec] == measured(spec, video)


@pytest.mark.parametrize("spec", STREAMING)
def test_black_all_through_is_no_score(spec: str, tmp_path: Path) -> None:
    """Nothing is steadier than black; a single lit frame among it is a film again."""
    black = np.full((48, 64, 3), 3, np.uint8)  # what a lossy encoder leaves of black
    lost = failure(spec, write_film(tmp_path / "black.mkv", [black] * 16)).failure
    assert lost is not None
    assert (lost.reason, lost.detail) == (Reason.NOT_APPLICABLE, "every frame is black")
    lit = [*[black] * 8, *gliding(8, 1)]
    small = [np.ascontiguousarray(one[:48, :64]) for one in lit]
    assert 0 <= score(spec, write_film(tmp_path / "lit.mkv", small)).value <= 1


def test_the_timelines_mean_is_exact() -> None:
    """A hundred thousand tenths: a running sum of floats would miss it."""
    line = Timeline()
    for number in range(100_000):
        line.add(Fraction(number, 30), 0.1)
    assert line.mean == pytest.approx(0.1, abs=1e-16)
