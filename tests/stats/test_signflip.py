from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, permutation_test

from screentest.stats import mcnemar, paired_difference
from screentest.stats.signflip import (
    fewest_sources,
    sign_flip_interval,
    sign_flip_p,
    sources_needed,
)


@pytest.mark.parametrize("values", [[0.31, 0.2, -0.07, 0.4, 0.11, 0.05], [1, 0.5, -1.5, 2, 0.25]])
def test_few_sources_are_scipys_permutation_test(values: list[float]) -> None:
    sums = np.array(values)
    # scipy flips the samples of each couple, and tries all patterns where they are few.
    theirs = permutation_test(
        (sums, np.zeros(sums.size)), lambda a, b: np.mean(a - b), permutation_type="samples"
    )
    assert sign_flip_p(sums) == pytest.approx(theirs.pvalue)


@given(st.integers(0, 80), st.integers(0, 80))
def test_on_single_pairs_it_is_the_exact_mcnemar_test(better: int, worse: int) -> None:
    first = [1.0] * better + [0.0] * worse + [1.0]
    second = [0.0] * better + [1.0] * worse + [1.0]
    expected = mcnemar(first, second).p_value
    assert paired_difference(first, second).p_value == pytest.approx(expected)


@given(st.lists(st.integers(-6, 6).map(lambda n: n / 4), min_size=1, max_size=11))
def test_counting_is_trying_all_patterns(values: list[float]) -> None:
    sums = np.array(values)
    bits = np.arange(2**sums.size)[:, None] >> np.arange(sums.size)
    totals = np.abs((1 - 2 * (bits & 1)) @ sums)
    expected = np.mean(totals >= abs(sums.sum()) - 1e-9)
    assert sign_flip_p(sums) == pytest.approx(expected)


def test_rounding_does_not_hide_the_pattern_that_was_seen() -> None:
    # 0.1 + 0.2 + 0.3 is a bit above 0.6; of eight patterns it and its mirror are as extreme.
    assert sign_flip_p(np.array([0.1, 0.2, 0.3])) == 0.25


def test_many_uneven_sums_are_counted_on_a_grid() -> None:
    sums = np.random.default_rng(1).normal(0.25, 1.0, 60)
    # The normal value of the test: the total over the root of the sum of squares.
    expected = 2 * norm.sf(abs(sums.sum()) / np.sqrt((sums**2).sum()))
    assert sign_flip_p(sums) == pytest.approx(expected, rel=0.05)


def test_the_grid_gives_what_scipy_draws() -> None:
    sums = np.random.default_rng(4).normal(0.4, 1.0, 25)
    theirs = permutation_test(
        (sums, np.zeros(sums.size)),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(2),
    )
    assert sign_flip_p(sums) == pytest.approx(theirs.pvalue, abs=0.006)


def test_p_is_as_small_as_many_comparisons_need_it() -> None:
    assert sign_flip_p(np.random.default_rng(1).uniform(1, 2, 60)) == pytest.approx(2**-59)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=11), st.sampled_from([0.05, 0.01, 0.002]))
def test_the_interval_holds_0_exactly_where_the_test_does_not_reject(
    values: list[float], level: float
) -> None:
    sums = np.array(values)
    interval = sign_flip_interval(sums, level=level)
    if interval is None:  # too few, or all alike, whose spread is not known
        assert sign_flip_p(sums) > level or np.ptp(sums) <= 1e-9
    else:
        assert (0 in interval) == (sign_flip_p(sums) > level)
        assert sums.mean() == pytest.approx(np.clip(sums.mean(), interval.low, interval.high))


def test_the_interval_of_six_by_hand() -> None:
    """Below the smallest all six agree: p is 2/64. From it on its own sign may be turned, too, as
    may its mirror's: 4/64, which is not rejected."""
    interval = sign_flip_interval(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((1.0, 6.0), abs=0.01)


def test_sources_of_several_values_weigh_by_their_number() -> None:
    sums, sizes = np.array([2.0, 0.5, 1.2, 0.9, 3.0, 0.7, 1.1]), np.array([2, 1, 1, 1, 3, 1, 1.0])
    interval = sign_flip_interval(sums, sizes)
    assert interval is not None
    assert sign_flip_p(sums - (interval.low + 1e-3) * sizes) > 0.05
    assert sign_flip_p(sums - (interval.low - 1e-2) * sizes) <= 0.05


@pytest.mark.parametrize("level", [0.05, 0.05 / 15, 0.05 / 60])
@pytest.mark.parametrize("effect", [0.8, 1.5])
def test_so_many_sources_find_it_four_times_in_five(effect: float, level: float) -> None:
    count = sources_needed(effect, level=level)
    assert count is not None
    generator = np.random.default_rng(6)
    runs = 200
    found = np.mean(
        [sign_flip_p(generator.normal(effect, 1.0, count)) <= level for _ in range(runs)]
    )
    assert found == pytest.approx(0.82, abs=0.03 + 3 * (0.16 / runs) ** 0.5)


def test_so_few_sources_find_nothing() -> None:
    assert fewest_sources(0.05 / 45) == 11
    assert sign_flip_p(np.linspace(1, 2, 10)) > 0.05 / 45 >= sign_flip_p(np.linspace(1, 2, 11))
    assert sources_needed(0.0001) is None


def test_next_to_nothing_is_not_a_proof() -> None:
    """Rounding noise of one source, and of three: it used to round to a p of 0."""
    assert sign_flip_p(np.array([8e-46])) == 1.0
    assert sign_flip_p(np.array([1e-12, 2e-12, 3e-12])) == 0.25


def test_no_difference_at_all() -> None:
    assert sign_flip_p(np.zeros(5)) == 1.0
