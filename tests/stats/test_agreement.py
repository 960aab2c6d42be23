from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from screentest.core import NoValue, Reason
from screentest.stats import cohen, fleiss, krippendorff, percent_agreement

# The example of K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): four
# observers, twelve units, gaps; with the values of alpha that he gives.
OBSERVERS = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
UNITS = [
    [int(mark) for mark in marks if mark != "."]
    for marks in zip(*(row.split() for row in OBSERVERS.strip().splitlines()), strict=True)
]

tables = st.integers(2, 6).flatmap(
    lambda raters: st.lists(
        st.lists(st.integers(1, 4), min_size=raters, max_size=raters), min_size=2, max_size=25
    )
)


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_krippendorffs_own_example(level: str, published: float) -> None:
    assert round(krippendorff(UNITS, level=level).unwrap(), 3) == published


@given(tables)
def test_fleiss_is_statsmodels(units: list[list[int]]) -> None:
    found = fleiss(units)
    if len({mark for unit in units for mark in unit}) == 1:
        assert found.failure is not None
        return
    table, _ = aggregate_raters(np.array(units))
    assert found.unwrap() == pytest.approx(fleiss_kappa(table), abs=1e-9)


@given(tables)
def test_alpha_nears_fleiss_with_many_units(units: list[list[int]]) -> None:
    # Known identity: nominal alpha corrects Fleiss' expected agreement for the sample's size.
    kappa, alpha = fleiss(units), krippendorff(units)
    if kappa.ok:
        ratings = sum(map(len, units))
        expected = 1 - (1 - kappa.unwrap()) * (ratings - 1) / ratings
        assert alpha.unwrap() == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=2, max_size=40))
def test_cohen_is_statsmodels(marks: list[tuple[int, int]]) -> None:
    first, second = zip(*marks, strict=True)
    found = cohen(first, second)
    if len({*first, *second}) == 1:
        assert found.failure is not None
        return
    table = np.zeros((3, 3))
    for one, other in marks:
        table[one - 1, other - 1] += 1
    assert found.unwrap() == pytest.approx(cohens_kappa(table, return_results=False), abs=1e-9)


def test_words_are_ratings_too() -> None:
    # By hand: 35 of 50 agree, chance gives a half, so (0.7 - 0.5) / 0.5.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen(first, second).unwrap() == pytest.approx(0.4)


def test_percent_agreement_by_hand() -> None:
    # Units agree in 3 of 3, 1 of 3 and 1 of 1 pairs of raters; the last has no pair.
    found = percent_agreement([["a", "a", "a"], ["a", "a", "b"], ["b", "b"], ["a"]])
    assert found.value == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert found.value in found.interval
    assert found.units == 3


def test_percent_agreement_covers() -> None:
    # Three raters, each right with 0.8 on two answers: any two agree with 0.8² + 0.2² = 0.68.
    generator = np.random.default_rng(5)
    held = sum(
        0.68 in percent_agreement((generator.random((60, 3)) < 0.8).tolist()).interval
        for _ in range(200)
    )
    # Shares of a third or one spread less than right and wrong, so it is rather too wide.
    assert held / 200 >= 0.93


def test_what_cannot_be_said_has_a_reason() -> None:
    outcomes = [
        krippendorff([[1], [2], []]),
        krippendorff([[1, 1], [1, 1]]),
        fleiss([]),
        fleiss([[1, 2], [1, 2, 3]]),
        cohen([], []),
        cohen([1, 1], [1, 1]),
    ]
    for outcome in outcomes:
        assert outcome.failure is not None
        assert outcome.failure.reason is Reason.NOT_APPLICABLE
    with pytest.raises(NoValue):
        percent_agreement([[1]])


def test_words_have_no_order() -> None:
    with pytest.raises(ValueError, match="finite numbers"):
        krippendorff([["A", "B"], ["A", "A"]], level="ordinal")
    with pytest.raises(ValueError, match="finite numbers"):
        krippendorff([[1.0, float("nan")], [1.0, 2.0]], level="interval")
    with pytest.raises(ValueError, match="cannot pair"):
        cohen([1], [1, 2])
