from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from screentest.core import NoValue, Outcome, Reason
from screentest.stats import (
    lower_tail,
    source_interval,
    summarise,
)

LOST: Outcome[float] = Outcome.failed(Reason.UNPARSABLE, "no score in the answer")


def some(values: list[float]) -> list[Outcome[float]]:
    return [Outcome.of(value) for value in values]


def test_failures_lower_the_coverage_and_not_the_mean() -> None:
    summary = summarise([*some([0.6, 0.8, 0.7]), LOST], signature="x").unwrap()
    # Without skewness it is Student's t.
    expected = ttest_1samp([0.6, 0.8, 0.7], 0).confidence_interval()
    assert summary.value == pytest.approx(0.7)
    assert (summary.low, summary.high) == pytest.approx((expected.low, expected.high))
    assert (summary.scored, summary.total, summary.signature) == (3, 4, "x")


def test_bounds_cut_the_interval() -> None:
    summary = summarise(some([0.9, 1.0, 0.7]), signature="x", bounds=(0, 1)).unwrap()
    assert summary.high == 1.0


def test_one_value_has_no_interval() -> None:
    for bounds in ((0.0, 1.0), None):
        found = summarise(some([0.7]), bounds=bounds).unwrap()
        assert (found.low, found.value, found.high) == (None, 0.7, None)
        assert str(found) == "0.70 (1/1 scored)"


def test_values_of_one_source_have_no_interval() -> None:
    found = summarise(some([0.7, 0.9]), sources=["a", "a"]).unwrap()
    assert (found.low, found.value, found.high) == (None, 0.8, None)


def test_what_is_still_to_come_counts() -> None:
    found = summarise(some([0.7, 0.9]), total=5).unwrap()
    assert (found.scored, found.total) == (2, 5)


def test_items_of_one_source_count_together() -> None:
    values = np.random.default_rng(1).random(20).tolist()
    source = [n // 4 for n in range(20)]
    summary = summarise([*some(values), LOST], signature="x", sources=[*source, 9]).unwrap()
    means = [sum(values[4 * n : 4 * n + 4]) / 4 for n in range(5)]
    expected = source_interval(means)
    assert (summary.low, summary.high) == pytest.approx((expected.low, expected.high))
    own = summarise(some(values), signature="x", sources=list(range(20))).unwrap()
    assert own == summarise(some(values), signature="x").unwrap()


def test_where_nothing_has_a_value_the_commonest_reason_stands() -> None:
    refused: Outcome[float] = Outcome.failed(Reason.REFUSED, "no")
    outcome = summarise([LOST, refused, refused], signature="x")
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.REFUSED
    nothing = summarise([], signature="x")
    assert nothing.failure is not None
    assert nothing.failure.reason is Reason.NOT_APPLICABLE


@given(st.permutations(range(12)))
@settings(max_examples=15)
def test_order_changes_nothing(order: list[int]) -> None:
    values = np.random.default_rng(2).random(12)
    source = [n % 5 for n in range(12)]
    mixed, sources = values[order], [source[n] for n in order]
    for given_sources, shuffled in ((None, None), (source, sources)):
        assert summarise(some(mixed.tolist()), signature="x", sources=shuffled) == summarise(
            some(values.tolist()), signature="x", sources=given_sources
        )


def test_five_bad_clips_in_sixty() -> None:
    intact = [0.9] * 60
    harmed = [0.9] * 55 + [0.1] * 5
    assert np.mean(intact) - np.mean(harmed) == pytest.approx(0.8 * 5 / 60)
    # By hand: the worst tenth is six clips, five of them bad.
    assert lower_tail(intact) - lower_tail(harmed) == pytest.approx(0.8 * 5 / 6)


values = st.lists(st.floats(-10, 10), min_size=1, max_size=30)


@given(values, st.floats(0.01, 1))
def test_the_tail_lies_between_worst_and_mean(row: list[float], share: float) -> None:
    tail = lower_tail(row, share=share)
    assert min(row) - 1e-9 <= tail <= np.mean(row) + 1e-9
    assert lower_tail(row, share=1) == pytest.approx(np.mean(row), abs=1e-9)
    assert lower_tail([-value for value in row], share=share, higher_is_better=False) == (
        pytest.approx(-tail, abs=1e-9)
    )


@given(values, st.data())
def test_cutting_a_clip_in_two_changes_nothing(row: list[float], data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.floats(0.5, 60), min_size=len(row), max_size=len(row)))
    place = data.draw(st.integers(0, len(row) - 1))
    half = lengths[place] / 2
    cut = lower_tail(
        [*row[: place + 1], *row[place:]], [*lengths[:place], half, half, *lengths[place + 1 :]]
    )
    assert cut == pytest.approx(lower_tail(row, lengths), abs=1e-6)


def test_the_tail_by_duration_by_hand() -> None:
    # A tenth of 100 s is 10 s: 4 s at 0.2, then 6 s of the clip at 0.5.
    assert lower_tail([0.9, 0.2, 0.5], [76, 4, 20]) == pytest.approx((4 * 0.2 + 6 * 0.5) / 10)


def test_nonsense_is_refused() -> None:
    for arguments in (([1.0], [-1.0]), ([1.0], [0.0]), ([1.0], [1.0, 2.0])):
        with pytest.raises(ValueError, match="weights"):
            lower_tail(*arguments)
    with pytest.raises(ValueError, match="share"):
        lower_tail([1.0], share=0)
    with pytest.raises(NoValue):
        lower_tail([])
    with pytest.raises(ValueError, match="sources"):
        summarise(some([1.0]), signature="x", sources=[])
