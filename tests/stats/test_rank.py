from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr

from screentest.core import Reason
from screentest.core.aspects import BUILTIN_ASPECTS
from screentest.stats import kendall, pearson, rank_agreement, spearman, spearman_p
from tests.stats.slvmeval import TABLE_7, TABLE_8

# Steps of a tenth, so that ties are frequent and no two values differ by rounding only.
points = st.integers(-50, 50).map(lambda tenths: tenths / 10)
rows = st.integers(3, 30).flatmap(
    lambda n: st.tuples(
        st.lists(points, min_size=n, max_size=n), st.lists(points, min_size=n, max_size=n)
    )
)


@given(rows)
def test_correlations_are_scipys(pair: tuple[list[float], list[float]]) -> None:
    first, second = pair
    for ours, theirs in ((spearman, spearmanr), (kendall, kendalltau), (pearson, pearsonr)):
        found = ours(first, second)
        if len(set(first)) == 1 or len(set(second)) == 1:
            assert found.failure is not None
            assert found.failure.reason is Reason.NOT_APPLICABLE
            continue
        expected = theirs(first, second)
        assert found.unwrap().value == pytest.approx(expected.statistic, abs=1e-9)
        assert found.unwrap().n == len(first)
        # For few points p is by permutation, which scipy's is not.
        if abs(expected.statistic) < 1 - 1e-9 and (ours is pearson or len(first) >= 30):
            assert found.unwrap().p_value == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("system", TABLE_7)
def test_table_8_follows_from_table_7_with_50_bins(system: str) -> None:
    for aspect, rho, printed in zip(BUILTIN_ASPECTS, TABLE_7[system], TABLE_8[system], strict=True):
        # ρ is itself rounded to four decimals, so p may be anything that those round from.
        ends = [spearman_p(abs(rho) + step, 50) for step in (0.00005, -0.00005)]
        assert round(ends[0], 4) <= printed <= round(ends[1], 4), aspect


def test_table_8_follows_from_no_other_number_of_bins() -> None:
    def misfits(n: int) -> int:
        return sum(
            abs(spearman_p(rho, n) - printed) > 0.001
            for system in TABLE_7
            for rho, printed in zip(TABLE_7[system], TABLE_8[system], strict=True)
        )

    assert misfits(50) == 0
    assert misfits(49) > 20
    assert misfits(51) > 20


wide = st.floats(-1e300, 1e300, allow_subnormal=False)


@given(st.lists(st.tuples(wide, wide), min_size=3, max_size=12))
def test_no_input_gives_a_nan(pairs: list[tuple[float, float]]) -> None:
    first, second = zip(*pairs, strict=True)
    for measure in (spearman, kendall, pearson):
        found = measure(first, second)
        if found.ok:
            assert -1 <= found.unwrap().value <= 1
            assert 0 <= found.unwrap().p_value <= 1


def test_tiny_and_huge_numbers_correlate_like_others() -> None:
    for size in (1e-300, 1.0, 1e300):
        row = np.array([0.1, 0.2, 0.5, 0.4]) * size
        expected = pearsonr([0.1, 0.2, 0.5, 0.4], [1, 2, 3, 4]).statistic
        assert pearson(row, [1, 2, 3, 4]).unwrap().value == pytest.approx(expected)


def test_what_varies_by_rounding_only_is_constant() -> None:
    noise = [0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2]
    for measure in (spearman, kendall, pearson):
        assert not measure(noise, [1, 2, 3, 4]).ok


def test_two_points_have_no_correlation() -> None:
    failure = spearman([1, 2], [2, 1]).failure
    assert failure is not None
    assert "3 are needed" in failure.detail


def test_printed_values_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="invalid correlation"):
        spearman_p(1.1, 50)
    with pytest.raises(ValueError, match="points"):
        spearman_p(0.5, 2)
    assert spearman_p(-1.0, 5) == 0.0


def test_systems_in_the_same_order() -> None:
    first = {"clip": 0.5, "score": 0.6, "mini": 0.7, "large": 0.8, "human": 0.9}
    second = {"clip": 0.1, "score": 0.2, "mini": 0.3, "large": 0.4, "human": 0.5, "new": 0.9}
    found = rank_agreement(first, second).unwrap()
    # By hand: of 5! orders only the same and the reverse are as extreme.
    assert found.spearman.value == 1.0
    assert found.spearman.p_value == pytest.approx(2 / 120)
    assert found.kendall.p_value == pytest.approx(2 / 120)
    assert (found.systems, found.left_out) == (tuple(sorted(first)), ("new",))


def test_exact_p_is_scipys_permutation_of_spearman() -> None:
    # scipy's documented way to an exact p: a permutation test with rho as its statistic.
    from scipy.stats import permutation_test

    first = dict(zip("abcdef", [1.0, 2, 3, 4, 5, 6], strict=True))
    second = dict(zip("abcdef", [2.0, 1, 4, 3, 3, 7], strict=True))
    left = np.array(list(first.values()))
    theirs = permutation_test(
        (left,),
        lambda x: spearmanr(x, list(second.values())).statistic,
        permutation_type="pairings",
    )
    found = rank_agreement(first, second).unwrap()
    assert found.spearman.p_value == pytest.approx(theirs.pvalue, abs=1e-9)


def test_orders_are_drawn_for_more_points_and_students_t_is_for_many() -> None:
    # From nine points on Student's t is near: the drawn orders must agree with it, up to chance.
    left, right = np.random.default_rng(3).random((2, 40))
    for count, near in ((12, 0.03), (29, 0.02), (40, 1e-9)):
        theirs = spearmanr(left[:count], right[:count])
        found = spearman(left[:count], right[:count]).unwrap()
        assert found.p_value == pytest.approx(theirs.pvalue, abs=near)
        order = np.random.default_rng(4).permutation(count)
        assert spearman(left[:count][order], right[:count][order]).unwrap() == found


def test_kendall_with_ties_is_scipys_permutation() -> None:
    from scipy.stats import permutation_test

    left, right = np.array([1.0, 1, 2, 3, 4, 4]), np.array([2.0, 1, 1, 3, 5, 4])
    theirs = permutation_test(
        (left,), lambda x: kendalltau(x, right).statistic, permutation_type="pairings"
    )
    assert kendall(left, right).unwrap().p_value == pytest.approx(theirs.pvalue, abs=1e-9)


@pytest.mark.parametrize("measure", [spearman, kendall])
def test_four_points_are_never_significant(measure: Any) -> None:
    # By hand: of 4! orders two are perfect, 2 / 24 = 0.083; Student's t would say 0.
    assert measure([1, 2, 3, 4], [1, 2, 3, 4]).unwrap().p_value == pytest.approx(2 / 24)


def test_too_few_common_systems() -> None:
    assert rank_agreement({"a": 1, "b": 2}, {"b": 1, "c": 2}).failure is not None
