from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, permutation_test

from screentest.stats import mcnemar, paired_bootstrap
from screentest.stats.paired import sign_flip_p


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
    assert paired_bootstrap(first, second, resamples=100).p_value == pytest.approx(expected)


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


def test_many_uneven_sums_are_drawn() -> None:
    sums = np.random.default_rng(1).normal(0.25, 1.0, 60)
    # The normal value of the test: the total over the root of the sum of squares.
    expected = 2 * norm.sf(abs(sums.sum()) / np.sqrt((sums**2).sum()))
    assert sign_flip_p(sums) == pytest.approx(expected, abs=0.01)
    assert sign_flip_p(sums, seed=3) == sign_flip_p(sums, seed=3)


def test_drawn_patterns_never_prove_everything() -> None:
    assert sign_flip_p(np.random.default_rng(1).uniform(1, 2, 60)) == 1 / 10_001


def test_no_difference_at_all() -> None:
    assert sign_flip_p(np.zeros(5)) == 1.0
