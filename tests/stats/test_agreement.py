from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from screentest.core import Reason
from screentest.stats import fleiss, krippendorff

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


def test_what_cannot_be_said_has_a_reason() -> None:
    outcomes = [
        krippendorff([[1], [2], []]),
        krippendorff([[1, 1], [1, 1]]),
        fleiss([]),
        fleiss([[1, 2], [1, 2, 3]]),
    ]
    for outcome in outcomes:
        assert outcome.failure is not None
        assert outcome.failure.reason is Reason.NOT_APPLICABLE


def test_words_have_no_order() -> None:
    with pytest.raises(ValueError, match="finite numbers"):
        krippendorff([["A", "B"], ["A", "A"]], level="ordinal")
    with pytest.raises(ValueError, match="finite numbers"):
        krippendorff([[1.0, float("nan")], [1.0, 2.0]], level="interval")
