"""Whether a pair's harm was in the frames that its judge was shown, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.analysis.judges.frames import frames_results
from screentest.core import (
    Aspect,
    Choice,
    Clip,
    Item,
    Outcome,
    PairKind,
    Script,
    Span,
    Verdict,
)
from screentest.core.verdict import Shown
from screentest.judges.cases import Case, Judgement, Order

FILM = Item("film", Path("film.mp4"))
COLOR, ORDER, WHOLE = Aspect("color"), Aspect("temporal_flow"), Aspect("comprehensiveness")


def span(start: int, end: int) -> Span:
    return Span(Fraction(start), Fraction(end))


def moments(*seconds: int) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, seconds))


def case(name: str, aspect: Aspect, *harmed: tuple[Span, Span | None]) -> Case:
    return Case(
        name, aspect, "", FILM, FILM, "bed", name, PairKind.DEGRADATION, aspect, harmed=harmed
    )


def judged(
    one: Case, shown: Shown | None, choice: Choice = Choice.FIRST, order: Order = Order.AS_GIVEN
) -> Judgement:
    return Judgement(one, order, 0, Outcome.of(Verdict(choice, shown=shown)))


PAINTED = case("a", COLOR, (span(4, 6), span(4, 6)))
GONE = case("b", WHOLE, (span(4, 6), None))
MOVED = case("c", ORDER, (span(0, 2), span(2, 4)), (span(2, 4), span(0, 2)))


@pytest.mark.parametrize(
    ("one", "first", "second", "seen"),
    [
        (PAINTED, moments(1, 5), moments(1, 5), True),
        (PAINTED, moments(1, 5), moments(1, 3), False),  # the intact film alone shows that clip
        (PAINTED, moments(5), moments(6), False),  # a clip ends before its end
        (GONE, moments(1, 5), moments(1), True),  # what is missing is shown by the intact film
        (GONE, moments(1, 7), moments(1, 5), False),
        (MOVED, moments(1, 3), moments(1, 3), True),
        (MOVED, moments(1), moments(1, 5), False),  # one clip has no order
    ],
)
def test_what_was_shown(
    one: Case, first: tuple[Fraction, ...], second: tuple[Fraction, ...], seen: bool
) -> None:
    (found,) = frames_results([judged(one, Shown(first, second))]).values()
    assert (found.pairs, found.seen, found.judgements) == (1, seen, seen)


def test_the_order_of_presentation_changes_nothing() -> None:
    shown = Shown(moments(5), moments(1))
    swapped = judged(PAINTED, shown, Choice.SECOND, Order.SWAPPED)
    (found,) = frames_results([swapped]).values()
    assert (found.seen, found.points) == (1, 1.0)
    assert Verdict(Choice.FIRST, shown=shown).flipped.shown == Shown(moments(1), moments(5))


def test_the_same_pictures_twice_are_counted_and_show_nothing() -> None:
    same = Shown(moments(5), moments(5), same=True)
    other = replace(PAINTED, id="d", source="d")
    found = frames_results(
        [
            judged(PAINTED, same, Choice.FIRST),
            judged(other, Shown(moments(5), moments(5)), Choice.FIRST),
            judged(other, Shown(moments(5), moments(5)), Choice.FIRST, Order.SWAPPED),
        ]
    )
    one = found[COLOR]
    assert (one.pairs, one.seen, one.same, one.points, one.judgements) == (2, 1, 1, 1.0, 2)


def test_films_in_which_hardly_any_clip_was_found_are_counted() -> None:
    script = Script(tuple(Clip(f"Shot {number}.") for number in range(23)))
    one = replace(PAINTED, first=replace(PAINTED.first, script=script))
    counts = []
    for found in (6, 11, 12, 0):  # 0: nobody looked for clips
        shown = Shown(moments(5), moments(5), found=found)
        (result,) = frames_results([judged(one, shown)]).values()
        counts.append(result.few)
    assert counts == [1, 1, 0, 0]


def test_a_judge_that_does_not_say_what_it_saw() -> None:
    nothing = judged(PAINTED, None)
    lost = replace(nothing, outcome=None)
    assert frames_results([nothing, lost]) == {}
