"""Evidence is where two videos part: harm planted at known seconds is found there."""

from __future__ import annotations

import random

import pytest

from screentest.core import Choice, Outcome, Point, Score, Shot, Span, Time
from screentest.judges.cases import MOST, evidence
from screentest.judges.verdicts import verdict
from screentest.metrics.narrative.dense import ClipAnswer, SeenClip, added_up

CLIPS, HARMED, HARM = 60, 5, 3


def curve(*values: float) -> Score:
    points = (Point(Span(Time(n), Time(n + 1)), value) for n, value in enumerate(values))
    return Score(0.5, tuple(points))


def marked(marks: list[int], lengths: list[int]) -> Outcome[Score]:
    """What ``dense`` makes of a marker's answers on clips of these lengths."""
    seen, start = [], Time(0)
    for mark, length in zip(marks, lengths, strict=True):
        said = dict.fromkeys(ClipAnswer.model_fields, mark) | {"caption": 0, "faults": ""}
        shot = Shot(Span(start, start + length))
        seen.append(SeenClip(shot, frozenset(), Outcome.of(ClipAnswer.model_validate(said))))
        start += length
    return added_up(seen, frozenset(), most_failed=0.1)["aesthetics"]


@pytest.mark.parametrize("unsteady", [0, 1])
@pytest.mark.parametrize("shorter", [False, True])
def test_planted_harm_is_the_evidence(unsteady: int, shorter: bool) -> None:
    """Films with bad clips of their own; five clips lose three marks of ten.

    The marker sees them perfectly; or is off by one mark now and then, in either film. With
    ``shorter`` the harmed film lacks its last second.
    """
    rng = random.Random(7)
    hits = shown = by_worst = right = 0
    films = 10
    for _ in range(films):
        own = [rng.choice((3, 4, 7, 8, 9)) for _ in range(CLIPS)]
        lengths = [rng.randint(2, 9) for _ in range(CLIPS)]
        harmed = set(rng.sample(range(CLIPS), HARMED))
        noise = [rng.choice((0, 0, unsteady, -unsteady)) for _ in range(2 * CLIPS)]
        marks = [mark - HARM * (n in harmed) for n, mark in enumerate(own)]
        intact = marked([mark + one for mark, one in zip(own, noise, strict=False)], lengths)
        cut = [*lengths[:-1], lengths[-1] - shorter]
        pairs = zip(marks, noise[CLIPS:], strict=True)
        changed = marked([max(0, mark + one) for mark, one in pairs], cut)
        found = verdict(intact, changed).unwrap()
        if found.choice is not Choice.FIRST:  # an unsteady marker may err
            continue
        right += 1
        planted = [sum(lengths[:n]) for n in sorted(harmed)]
        times = [float(point.span.start) for point in found.evidence_second]
        hits += sum(time in planted for time in times)
        shown += len(times)
        worst = sorted(changed.unwrap().curve, key=lambda point: point.value)[:MOST]
        by_worst += sum(float(point.span.start) in planted for point in worst)
    assert right >= (0.7 if unsteady else 1.0) * films
    assert shown >= 0.95 * right * HARMED
    assert hits / shown >= (0.8 if unsteady else 1.0)
    # The worst moments of the harmed film alone are often its own.
    assert by_worst / (right * MOST) < 0.8


def test_it_speaks_for_the_choice() -> None:
    one, two = curve(0.9, 0.2, 0.5, 0.5), curve(0.9, 0.8, 0.1, 0.5)
    first, second = evidence(one, two, Choice.FIRST)
    # The first is better in the third second only, though worse by more in the second one.
    assert [(float(p.span.start), p.value) for p in first] == [(2.0, 0.5)]
    assert [(float(p.span.start), p.value) for p in second] == [(2.0, 0.1)]
    first, second = evidence(one, two, Choice.SECOND)
    assert [p.value for p in first] == [0.2]
    first, _ = evidence(one, two, Choice.TIE)
    assert [p.value for p in first] == [0.2, 0.5]


def test_what_differs_nowhere_has_no_evidence() -> None:
    same = curve(0.3, 0.9)
    assert evidence(same, same, Choice.FIRST) == ((), ())
    assert evidence(same, Score(0.1), Choice.FIRST) == ((), ())


def test_moments_are_those_of_the_same_part_of_the_film() -> None:
    """The second film runs at half the speed: its third second is the other's second one."""
    one, two = curve(0.9, 0.9), curve(0.9, 0.9, 0.2, 0.2)
    first, second = evidence(one, two, Choice.FIRST)
    assert [float(p.span.start) for p in first] == [1.0]
    assert [float(p.span.start) for p in second] == [2.0, 3.0]
