"""The promises of bench/calibration.py, on fewer runs: what is claimed holds under the null."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "calibration.py"


@pytest.fixture(scope="module")
def calibration() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCH.parent))  # it imports what the benchmarks share
    spec = importlib.util.spec_from_file_location("calibration", BENCH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["calibration"] = module
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(BENCH.parent))


@pytest.mark.parametrize(
    "judge",
    [
        "coin",
        "tossing",
        "hashed",
        "measured",
        "first",
        "originals",
        "failing",
        "escaping",
        "purist",
        "escape",
    ],
)
@pytest.mark.parametrize(("films", "operators"), [(12, 10), (40, 3)])
def test_judges_that_know_nothing_earn_no_claim(
    calibration: ModuleType, judge: str, films: int, operators: int
) -> None:
    found = calibration.claimed(getattr(calibration, judge), films, operators, 150)
    assert calibration.Row("", 0.05, found, 150).holds


def test_judges_that_see_are_told_from_chance(calibration: ModuleType) -> None:
    # One operator of ten, on as many films as are said to be needed.
    needed = calibration.films_needed(0.9, level=0.05 / 10)
    found = calibration.power(0.9, needed, 10, 100)
    assert calibration.Row("", 0.8, found, 100, at_least=True).holds
    # The same beside four kinds of placebo on which the judge tosses a coin.
    needed = calibration.films_needed(0.9, noise=calibration.COIN)
    found = calibration.power(0.9, needed, 1, 100, tossed=4)
    assert calibration.Row("", 0.8, found, 100, at_least=True).holds


def test_copies_of_films_earn_no_claim(calibration: ModuleType) -> None:
    found = calibration.copied(20, copies=2, operators=3)
    assert calibration.Row("", 0.05, found, 20).holds


@pytest.mark.parametrize("sources", [2, 4, 12])
@pytest.mark.parametrize(("each", "share", "alike"), [(1, 0.5, 0), (10, 0.6, 0.3), (4, 0.8, 1)])
def test_intervals_of_shares_cover(
    calibration: ModuleType, sources: int, each: int, share: float, alike: float
) -> None:
    found = calibration.share_coverage(sources, each, share, alike, 150)
    assert calibration.Row("", 0.95, found, 150, at_least=True).holds


@pytest.mark.parametrize("sources", [3, 6, 12])
@pytest.mark.parametrize("skewed", [False, True])
def test_intervals_of_means_cover(calibration: ModuleType, sources: int, skewed: bool) -> None:
    found = calibration.mean_coverage(sources, 3, skewed, 150)
    # Skewed scores of three to five prompts: about 94%, where Student's t has 90%.
    assert calibration.Row("", 0.935 if skewed else 0.95, found, 150, at_least=True).holds


def test_two_halves_of_one_system_are_not_told_apart(calibration: ModuleType) -> None:
    found = calibration.halves(12, 3, 10, 100)
    assert calibration.Row("", 0.05, found, 100).holds


def test_equal_systems_share_a_leaderboard(calibration: ModuleType) -> None:
    found = calibration.leaderboard(3, 12, 100)
    assert calibration.Row("", 0.05, found, 100).holds


@pytest.mark.parametrize("points", [4, 9])
@pytest.mark.parametrize("ties", [False, True])
def test_few_points_are_not_correlated_by_chance(
    calibration: ModuleType, points: int, ties: bool
) -> None:
    for measure in (calibration.spearman, calibration.kendall):
        found = calibration.correlations(points, 100, measure, ties=ties)
        assert calibration.Row("", 0.05, found, 100).holds


def test_what_is_said_of_workers_holds(calibration: ModuleType) -> None:
    assert calibration.flagged(0.9, 1.0, 20) <= 0.05
    assert calibration.flagged(0.1, 0.2, 20) >= 0.8


def test_duration_has_no_trend_where_there_is_none(calibration: ModuleType) -> None:
    assert calibration.trends(9, 10, 20) == 0  # too few durations to say anything
    found = calibration.trends(12, 10, 100)
    assert calibration.Row("", 0.05, found, 100).holds


def test_models_that_were_not_treated_alike_are_not_called_better(calibration: ModuleType) -> None:
    found = calibration.unequal_seeds(40, (1, 6), 60, rare=True)
    assert calibration.Row("", 0.05, found, 60).holds
    assert calibration.one_sided_failures(20, 4, 5) == 0
    assert calibration.contradicted(40, 6, 5) == 0


@pytest.mark.parametrize(("workers", "busy"), [(8, 0.4), (20, 0.4)])
def test_a_few_busy_people_do_not_make_a_model_better(
    calibration: ModuleType, workers: int, busy: float
) -> None:
    said, inside = calibration.asked(calibration.Crowd(40, workers, 150, busy), 60)
    assert said <= 0.05
    assert inside >= 0.95
