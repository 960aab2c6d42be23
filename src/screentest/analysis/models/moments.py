"""Values over time, and the moments at which videos are at their worst."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from screentest.analysis.models.margins import margin_of
from screentest.analysis.results import Results, Value
from screentest.core import Outcome, Point, Span, Time
from screentest.core.item import seconds

WORST = 4
"""Moments that are shown, for one video."""
_BAND = (10, 90)
"""Per cent of a run's values between which a band is drawn."""
_APART = Fraction(2, 5)
"""Seconds: moments that are nearer than that are one, with several reasons."""
_WORTH = 0.25
"""How far a curve must fall for a mark."""
_MARGINS = 6
"""Of a measure: a fall of so many margins weighs as much as one over the whole of its scale."""
_OFF_SCALE = 0.05
"""How far outside of its pieces a value may be, as a share of their spread."""


@dataclass(frozen=True, slots=True)
class Low:
    """A value that is low at a moment."""

    name: str
    value: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a video is at its worst, and in what."""

    time: Time
    lows: tuple[Low, ...]


def pieces(value: Value) -> tuple[Point, ...]:
    """Return a value over time, or over the pieces of the only shot, whatever their numbers are."""
    score = value.outcome.value
    if score is None:
        return ()
    parts: Any = score.details.get("within", ()) if len(score.curve) < 2 else ()
    points = [Point(Span(seconds(start), seconds(end)), number) for start, end, number in parts]
    return tuple(points) or score.curve


def timed(value: Value) -> Value:
    """Return the value over time: where a clip of one shot has no curve, its pieces are one.

    Not where they are on another scale: the longest freeze of a piece ends with the piece.
    """
    score, points = value.outcome.value, pieces(value)
    if score is None or points == score.curve:
        return value
    low, high = (end(point.value for point in points) for end in (min, max))
    slack = _OFF_SCALE * (high - low) + 1e-9
    if not low - slack <= score.value <= high + slack:
        return value
    return replace(value, outcome=Outcome.of(replace(score, curve=points)))


def over_time(results: Results) -> Results:
    """Return all values over time, so that it is worked out once."""
    return replace(results, values=tuple(map(timed, results.values)))


@dataclass(frozen=True, slots=True)
class Scales:
    """What is usual in a run, for each value that has curves."""

    bands: Mapping[str, tuple[float, float]]
    """Where eight of ten points lie, over all videos."""
    middles: Mapping[str, Mapping[str, float]]
    """The middle of each video's curve."""
    ordered: Mapping[str, Sequence[float]]
    """The same, from low to high."""

    def usual(self, name: str, item: str) -> float | None:
        """Return the middle of the *other* videos: one that is frozen is not what it is measured
        by."""
        middle, every = self.middles.get(name, {}).get(item), self.ordered.get(name, ())
        skip = len(every) if middle is None else bisect_left(every, middle)
        rest = len(every) - (middle is not None)
        if rest < 1:
            return None
        ends = ((rest - 1) // 2, rest // 2)
        return sum(every[place + (place >= skip)] for place in ends) / 2


def scales_of(results: Results) -> Scales:
    """Return what is usual in a run."""
    points: dict[str, list[float]] = {}
    middles: dict[str, dict[str, float]] = {}
    for value in map(timed, results.values):
        if value.outcome.value is not None and len(value.outcome.value.curve) > 1:
            numbers = [point.value for point in value.outcome.value.curve]
            points.setdefault(value.name, []).extend(numbers)
            middles.setdefault(value.name, {})[value.item] = float(np.median(numbers))
    bands = {}
    for name, numbers in points.items():
        low, high = np.percentile(numbers, _BAND)
        bands[name] = (float(low), float(high))
    ordered = {name: sorted(by_item.values()) for name, by_item in middles.items()}
    return Scales(bands, middles, ordered)


def lowest(
    results: Results,
    values: Iterable[Value],
    scales: Scales,
    count: int = WORST,
    *,
    by_time: bool = True,
) -> list[Moment]:
    """Return the moments at which curves fall furthest below what is good, in order of time.

    Without ``by_time`` the worst one is first.

    What is good is said by the other videos, and by the measure's own scale; never by the middle
    of the video itself, which may be the worst of it. A curve that does not fall has no worst
    moment, and neither has one of which no direction is better.
    """
    drops = _drops(results, values, scales)
    moments: list[Moment] = []
    for _, time, low_point in sorted(drops, key=lambda drop: (-drop[0], drop[1])):
        near = next((moment for moment in moments if abs(moment.time - time) <= _APART), None)
        if near is not None:
            moments[moments.index(near)] = Moment(near.time, (*near.lows, low_point))
        elif len(moments) < count:
            moments.append(Moment(time, (low_point,)))
    return sorted(moments, key=lambda moment: moment.time) if by_time else moments


def furthest(
    results: Results, items: Iterable[str], scales: Scales, without: Collection[str] = ()
) -> tuple[str, Time, Low] | None:
    """Of some videos, the one moment at which a curve falls furthest, ``without`` some values."""
    best: tuple[float, str, Time, Low] | None = None
    for item in items:
        values = [value for name, value in results.of_item(item).items() if name not in without]
        for fall, time, low in _drops(results, values, scales):
            if best is None or fall > best[0]:
                best = (fall, item, time, low)
    return best[1:] if best is not None else None


def _drops(
    results: Results, values: Iterable[Value], scales: Scales
) -> Iterator[tuple[float, Time, Low]]:
    """Yield how far each curve falls, and where, where that is worth a mark."""
    for value in map(timed, values):
        score, sign = value.outcome.value, direction(results, value.name)
        if score is None or len(score.curve) < 2 or not sign:
            continue
        falls = _falls(results, value, score.curve, sign, scales)
        point = score.curve[int(np.argmax(falls))]
        fall = float(falls.max())
        if fall >= _WORTH:
            yield fall, point.span.centre, Low(value.name, point.value, point.note)


def _falls(
    results: Results, value: Value, curve: Sequence[Point], sign: int, scales: Scales
) -> np.ndarray:
    """Return how far below what is good each point is: 1 is the whole scale, or the whole of the
    band."""
    numbers = sign * np.array([point.value for point in curve])
    below = numbers.max() - numbers
    info, margin = results.outputs[value.name], margin_of(value, "mean")
    whole = info.high - info.low
    falls = below / whole if 0 < whole < np.inf else np.zeros(len(below))
    usual, unit = scales.usual(value.name, value.item), _MARGINS * margin.value if margin else 0.0
    if usual is not None:
        low, high = scales.bands[value.name]
        unit = max(high - low, unit)
        below = np.minimum(below, sign * usual - numbers)
    elif margin is None:
        below = np.median(numbers) - numbers
    unit = unit or float(np.ptp(numbers))
    return np.maximum(falls, below / unit) if unit > 0 else falls


def direction(results: Results, name: str) -> int:
    """1 where more is better, -1 where less is, 0 where neither."""
    info = results.outputs[name]
    return 0 if info.descriptive else 1 if info.higher_is_better else -1
