from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from screentest.core import Reason
from screentest.stats import duration_trend


def test_fifty_bins_as_in_the_paper() -> None:
    generator = np.random.default_rng(1)
    durations = generator.permutation(np.linspace(60, 10_000, 500))
    points = (generator.random(500) < 0.9 - durations / 30_000).astype(float)
    trend = duration_trend(durations, points).unwrap()
    # The caption of the paper's Table 7, step by step.
    order = np.argsort(durations)
    accuracies = points[order].reshape(50, 10).mean(axis=1)
    assert [one.accuracy for one in trend.bins] == pytest.approx(accuracies)
    theirs = spearmanr(np.arange(50), accuracies)
    assert trend.correlation.value == pytest.approx(theirs.statistic)
    assert trend.correlation.p_value == pytest.approx(theirs.pvalue)
    assert trend.correlation.n == 50


def test_the_smallest_aspect_of_the_paper_fills_its_bins() -> None:
    trend = duration_trend(np.arange(100.0), np.arange(100) % 3 == 0).unwrap()
    assert [one.n for one in trend.bins] == [2] * 50


@given(st.integers(6, 240), st.integers(3, 50))
@settings(max_examples=40)
def test_bins_hold_everything_once_and_evenly(n: int, bins: int) -> None:
    points = np.arange(n) % 2 * np.linspace(0, 1, n)
    trend = duration_trend(np.arange(n), points, bins=bins).unwrap()
    sizes = [one.n for one in trend.bins]
    assert sum(sizes) == n
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= 2
    assert len(sizes) == min(bins, n // 2)


@given(st.permutations(range(40)))
@settings(max_examples=20)
def test_order_changes_nothing_even_where_durations_are_equal(order: list[int]) -> None:
    durations = np.repeat(np.arange(10.0), 4)
    points = np.random.default_rng(2).integers(0, 3, 40) / 2
    shuffled = duration_trend(durations[order], points[order], bins=7)
    assert shuffled == duration_trend(durations, points, bins=7)


def test_bins_of_equal_durations_share_their_accuracy() -> None:
    # By hand: four videos of 5 s, two of them judged rightly, straddle two bins of three.
    durations = [1, 5, 5, 5, 5, 9]
    trend = duration_trend(durations, [1, 1, 1, 0, 0, 0], bins=3).unwrap()
    assert [one.accuracy for one in trend.bins] == [0.75, 0.5, 0.25]
    assert [(one.shortest, one.longest) for one in trend.bins] == [(1, 5), (5, 5), (5, 9)]


def test_no_trend_is_a_reason_not_a_number() -> None:
    few = duration_trend([1, 2, 3], [1, 0, 1])
    constant = duration_trend(range(20), [1] * 20)
    for outcome in (few, constant):
        assert outcome.failure is not None
        assert outcome.failure.reason is Reason.NOT_APPLICABLE
    with pytest.raises(ValueError, match="bins"):
        duration_trend([1, 2, 3], [1, 0, 1], bins=2)
