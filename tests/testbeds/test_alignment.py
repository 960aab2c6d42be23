"""Alignment: every moment that is in both videos is found, wherever it went."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from screentest.core import Span
from screentest.testbeds.testbed import Touched, stretches


@st.composite
def edits(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Lengths of clips, and the order in which some of them come in the changed video."""
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=8))
    kept = draw(st.lists(st.sampled_from(range(len(lengths))), unique=True))
    if draw(st.booleans()):
        kept = sorted(kept)
    return lengths, kept


@given(edits())
def test_each_second_of_a_clip_is_found_where_the_clip_is(
    edit: tuple[list[int], list[int]],
) -> None:
    lengths, kept = edit
    begins = [0, *accumulate(lengths)]
    ends = dict(zip(kept, accumulate(lengths[clip] for clip in kept), strict=True))
    is_sorted = kept == sorted(kept)
    touched = []
    for clip, length in enumerate(lengths):
        intact = Span(Fraction(begins[clip]), Fraction(begins[clip + 1]))
        if clip not in ends:
            touched.append(Touched(clip, intact))
        elif not is_sorted:  # moved ones are listed; of mere deletions only what is gone
            place = Span(Fraction(ends[clip] - length), Fraction(ends[clip]))
            touched.append(Touched(clip, intact, place))
    found = stretches(touched, Fraction(begins[-1]))
    assert [one.intact.start for one in found[1:]] == [one.intact.end for one in found[:-1]]
    for clip, length in enumerate(lengths):
        for second in range(length):
            moment = Fraction(begins[clip] + second) + Fraction(1, 2)
            (at,) = (one for one in found if moment in one.intact)
            expected = None if clip not in ends else ends[clip] - length + second + Fraction(1, 2)
            there = None if at.changed is None else at.changed + moment - at.intact.start
            assert there == expected


def test_what_stays_between_two_clips_that_change_places_is_found() -> None:
    # Clips of 1, 2 and 3 s; the first and last change places, and the middle one moves by 2 s.
    touched = [
        Touched(0, Span(Fraction(0), Fraction(1)), Span(Fraction(5), Fraction(6))),
        Touched(2, Span(Fraction(3), Fraction(6)), Span(Fraction(0), Fraction(3))),
    ]
    found = {one.intact.start: one.changed for one in stretches(touched, Fraction(6))}
    assert found == {0: 5, 1: 3, 3: 0}
