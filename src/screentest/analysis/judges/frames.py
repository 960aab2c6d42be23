"""Whether the harm of a pair was in the frames that a judge was shown.

A judge that goes by a few frames cannot see what is between them. Its accuracy on all pairs is what
it is worth; that on the pairs whose harm it was shown says whether it looks or is not shown enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from screentest.core import Aspect, Span, Time
from screentest.judges.cases import Case, Judgement, Order
from screentest.stats import Interval, share_interval


@dataclass(frozen=True, slots=True)
class InFrames:
    """What came of the pairs whose judge says which frames it was shown."""

    pairs: int
    seen: int
    """Pairs whose harm was in the frames, each time it was asked about."""
    same: int
    """Pairs of which both videos were the same pictures, to the byte, at least once."""
    points: float
    """On answers to pairs whose harm was in the frames; a tie is a half."""
    judgements: int
    interval: Interval | None = None
    """Over films; None where there is no such answer."""


def frames_results(judgements: Sequence[Judgement]) -> dict[Aspect, InFrames]:
    """By aspect, where a judge says which frames it was shown; else there is nothing to say."""
    by_aspect: dict[Aspect, list[tuple[Judgement, bool, bool]]] = {}
    for one in judgements:
        verdict = None if one.outcome is None else one.outcome.value
        if verdict is None or verdict.shown is None or not one.case.harmed:
            continue
        # The intact video is the first of a case, whichever was presented first.
        shown = verdict.shown if one.order is Order.AS_GIVEN else verdict.shown.flipped
        seen = not shown.same and _is_in(one.case, shown.first, shown.second)
        by_aspect.setdefault(one.case.aspect, []).append((one, seen, shown.same))
    return {aspect: _result(some) for aspect, some in by_aspect.items()}


def _is_in(case: Case, first: Sequence[Time], second: Sequence[Time]) -> bool:
    """Whether frames show a harmed clip: of one that is gone, the intact film must show it.

    That clips have changed places can be seen in two of them only.
    """
    clips = sum(
        _within(intact, first) if harmed is None else _within(harmed, second)
        for intact, harmed in case.harmed
    )
    return clips >= (2 if case.aspect.info.about_order and len(case.harmed) > 1 else 1)


def _within(span: Span, moments: Sequence[Time]) -> bool:
    return any(moment in span for moment in moments)


def _result(judged: Sequence[tuple[Judgement, bool, bool]]) -> InFrames:
    places: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for one, seen, same in judged:
        places.setdefault(one.place, []).append((seen, same))
    counted = [(one, one.points) for one, seen, _ in judged if seen and one.points is not None]
    points = [earned for _, earned in counted]
    return InFrames(
        pairs=len(places),
        seen=sum(all(seen for seen, _ in some) for some in places.values()),
        same=sum(any(same for _, same in some) for some in places.values()),
        points=sum(points),
        judgements=len(points),
        interval=share_interval(points, [one.case.cluster for one, _ in counted])
        if points
        else None,
    )


def frames_words(found: Mapping[Aspect, InFrames]) -> Iterator[tuple[str, str]]:
    """What there is to say, aspect by aspect."""
    for aspect, one in found.items():
        words = f"the harm was in the frames of {one.seen:,} of {one.pairs:,} pairs"
        if one.interval is not None:
            right = f"{100 * one.points / one.judgements:.1f}% of {one.judgements:,}"
            low, high = (100 * end for end in (one.interval.low, one.interval.high))
            words += f"; right {right} where it was [{low:.0f}–{high:.0f}]"
        if one.same:
            words += f"; {one.same:,} showed the same pictures twice"
        yield f"Frames shown, {aspect.value}", words
