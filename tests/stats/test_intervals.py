from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, ttest_1samp
from statsmodels.stats.proportion import proportion_confint

from screentest.core import BUILTIN_ASPECTS, Aspect, NoValue, Reason
from screentest.stats import Interval, mean_interval, wald, wilson
from screentest.stats.intervals import critical, source_interval
from tests.stats.slvmeval import PAIRS, TABLE_3, TABLE_5, TABLE_5_MARGINS

CELLS = [
    (policy, aspect, accuracy, margin)
    for policy in TABLE_5
    for aspect, accuracy, margin in zip(
        BUILTIN_ASPECTS, TABLE_5[policy], TABLE_5_MARGINS[policy], strict=True
    )
]


@pytest.mark.parametrize(("policy", "aspect", "accuracy", "margin"), CELLS)
def test_wald_is_what_table_5_prints(
    policy: str, aspect: Aspect, accuracy: float, margin: float
) -> None:
    n = PAIRS[aspect]
    right = round(accuracy / 100 * n)
    assert round(100 * right / n, 1) == accuracy
    assert round(100 * wald(right, n).margin, 1) == margin


def test_table_5_has_20_intervals_and_131_pairs_fit_none_of_technical_quality() -> None:
    assert len(CELLS) == 20
    printed = [accuracy for _, aspect, accuracy, _ in CELLS if aspect is Aspect.TECHNICAL_QUALITY]
    n = TABLE_3["technical_quality"][3]
    possible = {round(100 * right / n, 1) for right in range(n + 1)}
    assert n == 131
    assert not possible & set(printed)


def test_wald_is_what_table_2_prints_for_judgements_in_both_orders() -> None:
    # GPT-5 on frames: 90.1 ± 2.5 on 2 × 282 judgements, 85.8 ± 4.2 on 2 × 130.
    assert round(100 * wald(508, 564).margin, 1) == 2.5
    assert round(100 * wald(223, 260).margin, 1) == 4.2


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_intervals_of_a_share_are_statsmodels(counts: tuple[int, int]) -> None:
    right, n = counts
    low, high = proportion_confint(right, n, method="wilson")
    ours = wilson(right, n)
    assert (ours.low, ours.high) == pytest.approx((low, high), abs=1e-12)
    # statsmodels cuts Wald's interval to [0, 1]; the paper's tables do not.
    low, high = proportion_confint(right, n, method="normal")
    cut = wald(right, n).within(0, 1)
    assert (cut.low, cut.high) == pytest.approx((low, high), abs=1e-12)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, 2 * n), st.just(n))))
def test_half_points_lie_between_their_neighbours(counts: tuple[int, int]) -> None:
    halves, n = counts
    interval = wilson(halves / 2, n)
    assert 0 <= interval.low <= halves / 2 / n <= interval.high <= 1
    if halves % 2:
        assert wilson((halves - 1) // 2, n).low <= interval.low <= wilson((halves + 1) // 2, n).low


@pytest.mark.parametrize("n", [50, 130, 282])
def test_wilson_covers_95_percent_and_wald_does_not_near_1(n: int) -> None:
    # Exact, from the binomial distribution: no simulation is needed for a share.
    right = np.arange(n + 1)
    intervals = [wilson(k, n) for k in right]
    truths = np.linspace(0.05, 0.95, 181)
    covered = [
        binom.pmf([k for k in right if truth in intervals[k]], n, truth).sum() for truth in truths
    ]
    assert 0.945 < np.mean(covered) < 0.955
    assert min(covered) > 0.92
    assert np.mean([0.93 < share < 0.97 for share in covered]) > 0.9
    narrow = [k for k in right if 0.97 in wald(k, n)]
    assert binom.pmf(narrow, n, 0.97).sum() < 0.93


def test_half_points_are_covered_at_least_as_often() -> None:
    # Simulated: a judge that is right in 70%, ties in 20% and is wrong in 10%, so 0.8 on average.
    draws = np.random.default_rng(5).multinomial(120, [0.7, 0.2, 0.1], size=4000)
    points = draws @ [1.0, 0.5, 0.0]
    covered = np.mean([0.8 in wilson(earned, 120) for earned in points])
    assert 0.96 < covered <= 1


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=40))
def test_mean_interval_is_scipys(values: list[float]) -> None:
    if np.ptp(values) < 1e-6:
        return
    theirs = ttest_1samp(values, 0).confidence_interval(0.95)
    ours = mean_interval(values)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9, abs=1e-9)


def test_mean_interval_covers_95_percent() -> None:
    rows = np.random.default_rng(6).normal(0.3, 1.0, (4000, 12))
    assert 0.94 < np.mean([0.3 in mean_interval(row) for row in rows]) < 0.96


def test_nothing_has_no_interval() -> None:
    for ask in (lambda: wilson(0, 0), lambda: wald(0, 0), lambda: mean_interval([])):
        with pytest.raises(NoValue) as error:
            ask()
        assert error.value.reason is Reason.NOT_APPLICABLE
    with pytest.raises(NoValue, match="no spread"):
        mean_interval([0.5])


@pytest.mark.parametrize(("right", "n"), [(-1, 5), (6, 5), (float("nan"), 5), (0, -1)])
def test_impossible_counts_are_refused(right: float, n: int) -> None:
    with pytest.raises(ValueError, match="invalid share"):
        wilson(right, n)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_confidence_is_a_proportion(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        critical(confidence)


def test_a_nan_is_never_averaged() -> None:
    with pytest.raises(ValueError, match="finite"):
        mean_interval([1.0, float("nan")])


def test_an_interval_is_in_order_and_finite() -> None:
    with pytest.raises(ValueError, match="is above high"):
        Interval(1, 0)
    with pytest.raises(ValueError, match="must be finite"):
        Interval(0, float("inf"))
    assert str(Interval(0.25, 0.5)) == "[0.250, 0.500]"
    assert Interval(0.25, 0.5).holding(0.6) == Interval(0.25, 0.6)


def test_numbers_whose_squares_are_zero() -> None:
    assert source_interval([5e-301, 0.0, 0.0]).high < 1e-290
