"""Pairs whose degradation was in the frames that a judge was shown.

A judge that goes by a few frames cannot see what is between them. Beside its accuracy on all pairs
stands that on the pairs whose degradation it was shown: does it miss it, or is it not shown it?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from screentest._util.collect import grouped
from screentest.core import Aspect, Time
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
    few: int = 0
    """Pairs in which far fewer clips were found than the script has."""


FEW = 0.5
"""Fewer clips than this share of those of the script are far fewer."""


def frames_results(judgements: Sequence[Judgement]) -> dict[Aspect, InFrames]:
    """Results by aspect, of a judge that lists the frames that it was shown."""
    by_aspect: dict[Aspect, list[tuple[Judgement, bool, bool, bool]]] = {}
    for judgement in judgements:
        verdict = judgement.verdict
        if verdict is None or verdict.shown is None or not judgement.case.harmed:
            continue
        # The original is the first of a case, whichever was presented first.
        shown = verdict.shown if judgement.order is Order.AS_GIVEN else verdict.shown.flipped
        seen = not shown.same and _is_in(judgement.case, shown.first, shown.second)
        script = judgement.case.first.script
        few = script is not None and 0 < shown.found < FEW * len(script.clips)
        by_aspect.setdefault(judgement.case.aspect, []).append((judgement, seen, shown.same, few))
    return {aspect: _result(subset) for aspect, subset in by_aspect.items()}


def _is_in(case: Case, first: Sequence[Time], second: Sequence[Time]) -> bool:
    """Tell whether frames show a degraded clip: of one that is gone, the original must show it.

    That clips have changed places can be seen in two of them only.
    """
    looked_at = [
        (intact, first) if harmed is None else (harmed, second) for intact, harmed in case.harmed
    ]
    clips = sum(any(moment in span for moment in moments) for span, moments in looked_at)
    return clips >= (2 if case.aspect.info.about_order and len(case.harmed) > 1 else 1)


def _result(judged: Sequence[tuple[Judgement, bool, bool, bool]]) -> InFrames:
    places = grouped((item.place, (seen, same, few)) for item, seen, same, few in judged)
    counted = [
        (entry, entry.points) for entry, seen, *_ in judged if seen and entry.points is not None
    ]
    points = [earned for _, earned in counted]
    return InFrames(
        pairs=len(places),
        seen=sum(all(seen for seen, *_ in place) for place in places.values()),
        same=sum(any(same for _, same, _ in place) for place in places.values()),
        few=sum(any(few for *_, few in place) for place in places.values()),
        points=sum(points),
        judgements=len(points),
        interval=share_interval(points, [entry.case.cluster for entry, _ in counted])
        if points
        else None,
    )
