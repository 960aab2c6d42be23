"""What the page shows on demand of each video: values, curves, worst moments, questions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from screentest.analysis.models.margins import margin_of
from screentest.analysis.results import Results, Value
from screentest.core import Outcome, Point, Progress, Score, Span, Time
from screentest.core.item import seconds
from screentest.present.page.data import Report
from screentest.present.page.media import Pictures, Wanted, address, take_pictures

# A curve in one line of text.

BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = "_.:-=+*#"
"""For terminals that have only ASCII."""


def sparkline(curve: Sequence[Point], width: int = 24, levels: str = BLOCKS) -> str:
    """The curve over time, its own lowest value at the bottom and its highest at the top.

    Each column shows the mean of the points over its stretch of time; a stretch that no point
    covers is blank.

    >>> from fractions import Fraction
    >>> from screentest.core import Span
    >>> def at(start, value): return Point(Span(Fraction(start), Fraction(start + 1)), value)
    >>> sparkline([at(0, 0.0), at(1, 1.0), at(3, 0.5)], width=4)
    '▁█ ▅'
    """
    if not curve:
        return ""
    start = min(point.span.start for point in curve)
    length = max(point.span.end for point in curve) - start
    if length <= 0:
        columns = [[point.value] for point in curve[:width]]
    else:
        columns = [[] for _ in range(width)]
        for point in curve:
            first = int((point.span.start - start) * width / length)
            last = int((point.span.end - start) * width / length)
            for place in range(first, min(width, max(first + 1, last))):
                columns[place].append(point.value)
    low = min(point.value for point in curve)
    spread = max(point.value for point in curve) - low
    return "".join(_letter(column, low, spread, levels) for column in columns)


def _letter(column: Sequence[float], low: float, spread: float, levels: str) -> str:
    if not column:
        return " "
    if spread <= 0:
        return levels[len(levels) // 2]
    share = (sum(column) / len(column) - low) / spread
    return levels[min(len(levels) - 1, int(share * len(levels)))]


# Questions that a score rests on, scene by scene, out of its details.

LONGEST = 600
"""Letters of what a model said; all of it is in the run."""


def questions_asked(details: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Scenes with their questions and answers; empty where the metric asks none.

    >>> scene = {"text": "A dog.", "questions": [{"question": "A dog?", "answer": "no"}]}
    >>> questions_asked({"scenes": [scene]})[0]["questions"][0]["answer"]
    'no'
    >>> questions_asked({"scenes": 3}), questions_asked({})
    ([], [])
    """
    scenes = details.get("scenes")
    if not isinstance(scenes, list):
        return []
    found = [_scene(one) for one in scenes if isinstance(one, Mapping)]
    return [one for one in found if one["questions"] or one["failed"]]


def _scene(scene: Mapping[str, Any]) -> dict[str, Any]:
    start, asked = scene.get("start"), scene.get("questions")
    return {
        "text": _text(scene, "text"),
        "start": float(start) if isinstance(start, int | float) else 0.0,
        "failed": _text(scene, "failure"),
        "questions": [
            _question(one) for one in asked if isinstance(one, Mapping) and one.get("question")
        ]
        if isinstance(asked, list)
        else [],
    }


def _question(one: Mapping[str, Any]) -> dict[str, Any]:
    answer = one.get("answer")
    return {
        "question": _text(one, "question"),
        "category": _text(one, "category"),
        "answer": answer if answer in ("yes", "no") else None,
        # A failure says why there is no answer; else what the model said, in its own words.
        "why": _text(one, "reason") or _text(one, "said"),
    }


def _text(source: Mapping[str, Any], name: str) -> str:
    text = source.get(name)
    if not isinstance(text, str):
        return ""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


# Curves, and where they are worst.

MOST_POINTS = 160
"""Of one curve; a longer one keeps the worst point of each stretch."""
WORST = 4
"""Moments that are shown, for one video."""
_BAND = (10, 90)
"""Per cent of a run's values between which a band is drawn."""
_EACH = 2
"""Seconds of a short video for each moment after the first."""
_APART = Fraction(2, 5)
"""Seconds: moments that are nearer than that are one, with several reasons."""
_WORTH = 0.25
"""How far a curve must fall for a mark."""
_MARGINS = 6
"""Of a measure: a fall of so many margins weighs as much as one over the whole of its scale."""
_OFF_SCALE = 0.05
"""How far outside of its pieces a value may be, as a share of their spread."""
_REASONS = 4
"""Of one moment, the strongest first."""
_NOTE = 240
"""Letters of a note."""


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
    """A value over time, or over the pieces of the only shot, whatever their numbers are."""
    score = value.outcome.value
    if score is None:
        return ()
    parts: Any = score.details.get("within", ()) if len(score.curve) < 2 else ()
    found = [Point(Span(seconds(start), seconds(end)), number) for start, end, number in parts]
    return tuple(found) or score.curve


def timed(value: Value) -> Value:
    """The value over time: where a clip of one shot has no curve, its pieces are one.

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
    """All values over time, so that it is worked out once."""
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
        """The middle of the *other* videos: one that is frozen is not what it is measured by."""
        own, every = self.middles.get(name, {}).get(item), self.ordered.get(name, ())
        skip = len(every) if own is None else bisect_left(every, own)
        rest = len(every) - (own is not None)
        if rest < 1:
            return None
        ends = ((rest - 1) // 2, rest // 2)
        return sum(every[place + (place >= skip)] for place in ends) / 2


def scales_of(results: Results) -> Scales:
    """What is usual in a run."""
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
    ordered = {name: sorted(found.values()) for name, found in middles.items()}
    return Scales(bands, middles, ordered)


def lowest(
    results: Results,
    values: Iterable[Value],
    scales: Scales,
    count: int = WORST,
    *,
    by_time: bool = True,
) -> list[Moment]:
    """The moments at which curves fall furthest below what is good, in order of time.

    Without ``by_time`` the worst one is first.

    What is good is said by the other videos, and by the measure's own scale; never by the middle
    of the video itself, which may be the worst of it. A curve that does not fall has no worst
    moment, and neither has one of which no direction is better.
    """
    found = _drops(results, values, scales)
    moments: list[Moment] = []
    for _, time, low_point in sorted(found, key=lambda one: (-one[0], one[1])):
        near = next((one for one in moments if abs(one.time - time) <= _APART), None)
        if near is not None:
            moments[moments.index(near)] = Moment(near.time, (*near.lows, low_point))
        elif len(moments) < count:
            moments.append(Moment(time, (low_point,)))
    return sorted(moments, key=lambda one: one.time) if by_time else moments


def furthest(
    results: Results, items: Iterable[str], scales: Scales, without: Collection[str] = ()
) -> tuple[str, Time, Low] | None:
    """Of some videos, the one moment at which a curve falls furthest, ``without`` some values."""
    best: tuple[float, str, Time, Low] | None = None
    for item in items:
        values = [one for name, one in results.of_item(item).items() if name not in without]
        for fall, time, low in _drops(results, values, scales):
            if best is None or fall > best[0]:
                best = (fall, item, time, low)
    return best[1:] if best is not None else None


def _drops(
    results: Results, values: Iterable[Value], scales: Scales
) -> Iterator[tuple[float, Time, Low]]:
    """How far each curve falls, and where, where that is worth a mark."""
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
    """How far below what is good each point is: 1 is the whole scale, or the whole of the band."""
    numbers = sign * np.array([point.value for point in curve])
    own = numbers.max() - numbers
    info, margin = results.outputs[value.name], margin_of(value, "mean")
    whole = info.high - info.low
    falls = own / whole if 0 < whole < np.inf else np.zeros(len(own))
    usual, unit = scales.usual(value.name, value.item), _MARGINS * margin.value if margin else 0.0
    if usual is not None:
        low, high = scales.bands[value.name]
        unit = max(high - low, unit)
        own = np.minimum(own, sign * usual - numbers)
    elif margin is None:
        own = np.median(numbers) - numbers
    unit = unit or float(np.ptp(numbers))
    return np.maximum(falls, own / unit) if unit > 0 else falls


def direction(results: Results, name: str) -> int:
    """1 where more is better, -1 where less is, 0 where neither."""
    info = results.outputs[name]
    return 0 if info.descriptive else 1 if info.higher_is_better else -1


def thinned(curve: Sequence[Point], *, higher: bool, most: int = MOST_POINTS) -> list[Point]:
    """At most so many points; of each stretch the worst one stays."""
    if len(curve) <= most:
        return list(curve)
    edges = [number * len(curve) // most for number in range(most + 1)]
    return [
        min(curve[start:end], key=lambda point: point.value if higher else -point.value)
        for start, end in pairwise(edges)
    ]


def _axis(curve: Sequence[Point]) -> list[float] | dict[str, float]:
    """When each point begins, and when the last one ends; an even grid as its start and step."""
    times = [float(point.span.start) for point in curve] + [float(curve[-1].span.end)]
    step = (times[-1] - times[0]) / len(curve)
    if all(abs(times[0] + place * step - one) < 2e-3 for place, one in enumerate(times)):
        return {"start": round(times[0], 4), "step": round(step, 6)}
    return [round(one, 3) for one in times]


def _short(value: float) -> float:
    return float(f"{value:.4g}")


# All of one video, as the script wants it.


@dataclass(frozen=True, slots=True)
class Page:
    """Where the page will be, and what it may hold."""

    folder: Path
    pictures: int = 200
    """For how many videos there are pictures, in the order of the page."""
    embed: bool = False


def videos(
    report: Report,
    order: Sequence[str],
    page: Page,
    scales: Scales,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Plain JSON for each item, in the order in which the page shows them."""
    results = report.results
    place = {name: number for number, name in enumerate(results.names)}
    waiting: dict[str, list[str]] = {}
    for item, name in results.pending:
        waiting.setdefault(item, []).append(name)
    moments = {item: _moments(results, item, scales) for item in order}
    wanted = {
        item: Wanted(results.items[item].video, tuple(one.time for one in moments[item]))
        for item in order[: page.pictures]
        if results.items[item].video.is_file()
    }
    taken = take_pictures(wanted, progress)
    return [
        _about(report, item, page)
        | _scored(results, item, place)
        | _shown(moments[item], taken.get(item, Pictures()), place)
        | {
            "pending": len(waiting.get(item, ())),
            "waiting": ", ".join(waiting.get(item, ())),
        }
        for item in order
    ]


def _moments(results: Results, item: str, scales: Scales) -> list[Moment]:
    values = results.of_item(item).values()
    curves = [value.outcome.value.curve for value in values if value.outcome.value is not None]
    end = max((curve[-1].span.end for curve in curves if curve), default=Fraction(0))
    return lowest(results, values, scales, min(WORST, 1 + int(end / _EACH)))


def _about(report: Report, item: str, page: Page) -> dict[str, Any]:
    known = report.results.items[item]
    systems = report.systems
    group = known.groups.get(report.by, "")
    return {
        "id": item,
        "prompt": known.text,
        "groups": " · ".join(f"{name} {value}" for name, value in known.groups.items()),
        "model": systems.index(group) if group in systems else None,
        "video": address(known.video, page.folder, embed=page.embed),
        "gone": "" if known.video.is_file() else "The file is no longer there.",
    }


def _scored(results: Results, item: str, place: Mapping[str, int]) -> dict[str, Any]:
    """Values, curves, questions, and what could not be scored."""
    axes: list[list[float] | dict[str, float]] = []
    found: dict[str, list[Any]] = {"values": [], "curves": [], "asked": [], "failed": []}
    for name, value in results.of_item(item).items():
        score, number = timed(value).outcome.value, place[name]
        if score is None:
            found["failed"].append([number, *_why(value.outcome)])
            continue
        found["values"].append([number, _short(score.value)])
        if len(score.curve) > 1:
            higher = results.outputs[name].higher_is_better
            found["curves"].append(_curve(score, number, axes, higher=higher))
        scenes = questions_asked(score.details)
        if scenes:
            found["asked"].append([number, scenes])
    return {**found, "times": axes}


def _why(outcome: Outcome[Score]) -> tuple[str, str, str]:
    failure = outcome.failure
    assert failure is not None
    # Of a traceback the last line says what happened.
    lines = failure.detail.strip().splitlines()
    return failure.reason.value, lines[-1] if lines else "", failure.advice


def _curve(
    score: Score, number: int, axes: list[list[float] | dict[str, float]], *, higher: bool
) -> dict[str, Any]:
    """Curves of one video mostly share their moments, which are written once."""
    points = thinned(score.curve, higher=higher)
    axis = _axis(points)
    if axis not in axes:
        axes.append(axis)
    notes = {place: _cut(point.note) for place, point in enumerate(points) if point.note}
    return {
        "m": number,
        "x": axes.index(axis),
        "value": _short(score.value),
        "v": [_short(point.value) for point in points],
        **({"n": notes} if notes else {}),
    }


def _shown(
    moments: Sequence[Moment], pictures: Pictures, place: Mapping[str, int]
) -> dict[str, Any]:
    stills = [*pictures.stills, *[""] * len(moments)]
    return {
        "poster": pictures.poster,
        "fps": _short(pictures.fps),
        "moments": [
            {
                "t": round(float(one.time), 3),
                "src": src,
                "why": [
                    [place[low.name], _short(low.value), _cut(low.note)]
                    for low in one.lows[:_REASONS]
                ],
            }
            for one, src in zip(moments, stills, strict=False)
        ],
    }


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _NOTE else f"{text[: _NOTE - 1]}…"
