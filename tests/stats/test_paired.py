from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from screentest.core import NoValue
from screentest.stats import holm, mcnemar, paired_difference
from tests.stats.simulate import false_alarms, rivals


def rows(first_only: int, second_only: int, both: int, neither: int) -> tuple[list, list]:
    first = [1] * first_only + [0] * second_only + [1] * both + [0] * neither
    second = [0] * first_only + [1] * second_only + [1] * both + [0] * neither
    return first, second


@given(*[st.integers(0, 60)] * 4)
def test_mcnemar_is_statsmodels(a: int, b: int, both: int, neither: int) -> None:
    found = mcnemar(*rows(a, b, both, neither))
    theirs = statsmodels_mcnemar([[both, a], [b, neither]], exact=True)
    assert (found.first_better, found.second_better) == (a, b)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_mcnemar_of_half_points_is_the_sign_test() -> None:
    # By hand: six pairs lean to the first by half a point, none to the second: 2 / 2**6.
    assert mcnemar([1, 1, 1, 0.5, 0.5, 1, 0], [0.5, 0.5, 0.5, 0, 0, 0, 0]).p_value == 2 / 64


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_statsmodels(p_values: list[float]) -> None:
    with patch("gc.collect"):  # statsmodels does in every call: half a second among all tests
        theirs = multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(theirs.tolist(), abs=1e-12)


def test_holm_of_nothing_and_of_nonsense() -> None:
    assert holm([]) == []
    with pytest.raises(ValueError, match="p-value"):
        holm([0.5, 1.5])
    with pytest.raises(ValueError, match="p-value"):
        holm([float("nan")])


@pytest.mark.parametrize("sources", [8, 40])
def test_false_alarms_stay_below_5_percent(sources: int) -> None:
    found = false_alarms(sources, trials=1000)
    # The level itself, and two standard errors of so many trials.
    assert 0 < found["ours"] <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 1000)
    # Pairs of one source are not independent, which McNemar's test does not know.
    assert found["mcnemar"] > found["ours"]


def test_exact_mcnemar_stays_below_5_percent() -> None:
    generator = np.random.default_rng(1)
    answers = generator.random((1000, 2, 80)) < 0.75
    false = np.mean([mcnemar(first, second).p_value <= 0.05 for first, second in answers])
    assert 0.01 < false <= 0.05


def test_a_real_difference_is_found_and_held() -> None:
    generator = np.random.default_rng(2)
    found = [paired_difference(*rivals(generator, 60, 0.15)) for _ in range(250)]
    # What is true of these judges, from the same simulation at large: mean and spread by source.
    first, second, _ = rivals(np.random.default_rng(3), 100_000, 0.15)
    by_source = (first - second).reshape(-1, 4).mean(axis=1)
    truth, error = by_source.mean(), by_source.std() / np.sqrt(60)
    power = norm.sf(t.ppf(0.975, 59) - truth / error)
    assert np.mean([one.p_value <= 0.05 for one in found]) == pytest.approx(power, abs=0.07)
    some = [one.interval for one in found[:80]]  # an interval takes thirty tests
    held = np.mean([one is not None and truth in one for one in some])
    assert held >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 80)


@given(st.permutations(range(24)))
@settings(max_examples=15)
def test_order_changes_nothing(order: list[int]) -> None:
    first, second, source = rivals(np.random.default_rng(9), 6, 0.1)
    shuffled = paired_difference(first[order], second[order], [source[n] for n in order])
    assert shuffled == paired_difference(first, second, source)


def test_swapping_the_systems_turns_the_sign() -> None:
    first, second, source = rivals(np.random.default_rng(9), 30, 0.1)
    one, other = paired_difference(first, second, source), paired_difference(second, first, source)
    assert one.value == -other.value
    assert one.p_value == other.p_value
    assert (one.pairs, one.sources) == (120, 30)


def test_one_source_has_no_interval_and_proves_nothing() -> None:
    found = paired_difference([1, 1, 1], [0, 0, 0], ["a", "a", "a"])
    assert (found.value, found.interval, found.p_value) == (1.0, None, 1.0)


def test_equal_systems_do_not_differ() -> None:
    found = paired_difference([1, 0, 1], [1, 0, 1])
    assert (found.value, found.p_value) == (0.0, 1.0)


def test_unpaired_or_no_input_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot pair"):
        mcnemar([1, 0], [1])
    with pytest.raises(NoValue):
        paired_difference([], [])
