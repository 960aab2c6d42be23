"""Pairs whose degradation was in the frames that a judge was shown.

A judge that goes by a few frames cannot see what is between them. Beside its accuracy on all pairs
stands that on the pairs whose degradation it was shown: does it miss it, or is it not shown it?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from screentest.core import Aspect, Span, Time
from screentest.judges.cases import Case, Judgement, Order
from screentest.stats import Interval, share_interval


@dataclass(frozen=True, slots=True)
class InFrames:
    """Results on pairs for which the judge lists the frames that it was shown."""

    pairs: int
    seen: int
    """Pairs whose degradation was in the frames, each time it was asked about."""
    same: int
    """Pairs of which both videos were the same pictures, to the byte, at least once."""
    points: float
    """On answers to pairs whose degradation was in the frames; a tie is a half."""
    judgements: int
    interval: Interval | None = None
    """Over films; None where there is no such answer."""


def frames_results(judgements: Sequence[Judgement]) -> dict[Aspect, InFrames]:
    """Results by aspect, of a judge that lists the frames that it was shown."""
    by_aspect: dict[Aspect, list[tuple[Judgement, bool, bool]]] = {}
    for one in judgements:
        verdict = None if one.outcome is None else one.outcome.value
        if verdict is None or verdict.shown is None or not one.case.harmed:
            continue
        # The original is the first of a case, whichever was presented first.
        shown = verdict.shown if one.order is Order.AS_GIVEN else verdict.shown.flipped
        seen = not shown.same and _is_in(one.case, shown.first, shown.second)
        by_aspect.setdefault(one.case.aspect, []).append((one, seen, shown.same))
    return {aspect: _result(some) for aspect, some in by_aspect.items()}


def _is_in(case: Case, first: Sequence[Time], second: Sequence[Time]) -> bool:
    """Tell whether frames show a degraded clip: of one that is gone, the original must show it.

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
