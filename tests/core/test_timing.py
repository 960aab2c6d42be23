"""Times are exact."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import BadOption, Clip, Script, Size, Span, seconds, timecode
from tests.core.strategies import spans, times


@given(times)
def test_a_ratio_reads_back_exactly(moment: Fraction) -> None:
    assert seconds(str(moment)) == moment


@given(st.integers(0, 99), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999))
def test_timecode_reads_back(hours: int, minutes: int, secs: int, thousandths: int) -> None:
    moment = Fraction(hours * 3600 + minutes * 60 + secs) + Fraction(thousandths, 1000)
    assert seconds(timecode(moment)) == moment
    assert seconds(timecode(-moment)) == -moment


@pytest.mark.parametrize("wrong", ["", "abc", "1:xx", "1/0", "nan", "inf", float("nan"), "1e", ":"])
def test_what_is_no_time_is_refused(wrong: str | float) -> None:
    with pytest.raises(BadOption, match="not a time"):
        seconds(wrong)


@given(spans(), spans())
def test_overlap_is_mutual(one: Span, two: Span) -> None:
    assert one.overlaps(two) == two.overlaps(one)
    assert one.end not in one


def test_a_span_cannot_run_backwards() -> None:
    with pytest.raises(ValueError, match="before it starts"):
        Span(Fraction(2), Fraction(1))


def test_a_script_is_in_order_and_timed_throughout() -> None:
    first, second = Span(Fraction(0), Fraction(2)), Span(Fraction(1), Fraction(3))
    with pytest.raises(ValueError, match="starts before"):
        Script((Clip("a", first), Clip("b", second)))
    with pytest.raises(ValueError, match="either every clip"):
        Script((Clip("a", first), Clip("b")))
    assert Script((Clip("a"), Clip(""), Clip("b"))).text == "a b"
    assert not Script(()).timed


@given(st.integers(1, 8000), st.integers(1, 8000), st.integers(1, 4000))
def test_sides_limit_and_never_enlarge(width: int, height: int, side: int) -> None:
    wide, high = Size(long_side=side).of(width, height)
    assert max(wide, high) == min(side, max(width, height))
    assert min(wide, high) >= 1
    wide, high = Size(short_side=side).of(width, height)
    assert min(wide, high) == min(side, min(width, height))
