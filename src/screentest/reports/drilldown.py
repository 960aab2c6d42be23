"""What the page's script shows on demand: videos with curves, stills and questions; verdicts."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

from screentest.core import Filter, Layout, Point, Progress, Silent, Size, Time
from screentest.reports.charts import share
from screentest.reports.data import Judged, Report
from screentest.reports.sections import known_range
from screentest.scores.results import Value
from screentest.video import Supervisor, sample_frames

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


# Thumbnails of the worst seconds, taken in supervised processes: a bad file costs a picture.

_LONG_SIDE = 192
_QUALITY = 72


@dataclass(frozen=True, slots=True)
class Wanted:
    """Moments of one video."""

    video: Path
    moments: tuple[Time, ...]


def thumbnails(
    wanted: Mapping[str, Wanted], progress: Progress | None = None
) -> dict[tuple[str, Time], str]:
    """JPEGs as data addresses, by item and moment; those that cannot be made are left out."""
    if not wanted:
        return {}
    found: dict[tuple[str, Time], str] = {}
    shown = progress or Silent()
    with Supervisor(workers=2) as workers, shown:
        shown.begin("thumbnails", len(wanted), "videos")
        for (item, one), outcome in zip(
            wanted.items(), workers.map(_taken, list(wanted.values())), strict=True
        ):
            shown.advance(note=item)
            for moment, data in zip(one.moments, outcome.value or [], strict=False):
                found[item, moment] = "data:image/jpeg;base64," + base64.b64encode(data).decode()
    return found


def _taken(wanted: Wanted) -> list[bytes]:
    """One JPEG per moment. Runs in a worker."""
    import cv2

    pictures: list[bytes] = []
    for moment in wanted.moments:
        # One by one: two moments may show the same frame, and each wants its picture.
        frames = sample_frames(
            wanted.video,
            [moment],
            size=Size(long_side=_LONG_SIDE),
            layout=Layout.BGR,
            filter=Filter.AREA,
        )
        for frame in frames:
            done, data = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
            if done:
                pictures.append(data.tobytes())
    return pictures


def worst(points: Sequence[tuple[Time, float]], count: int) -> list[Time]:
    """The moments of the lowest values, in order of time."""
    return sorted(moment for moment, _ in sorted(points, key=lambda one: one[1])[:count])


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


MOST_POINTS = 240
"""Of one curve; a longer one keeps the worst point of each stretch."""
WORST = 4
"""Moments that are shown in pictures, for one video."""


def drilldown(
    report: Report, folder: Path, *, pictures: int, embed: bool, progress: Progress | None = None
) -> dict[str, Any]:
    """Plain JSON. ``folder`` is where the page will be; ``pictures`` counts videos with any."""
    by_item: dict[str, list[Value]] = {item: [] for item in report.results.items}
    for value in report.results.values:
        by_item.setdefault(value.item, []).append(value)
    waiting: dict[str, list[str]] = {}
    for item, name in report.results.pending:
        waiting.setdefault(item, []).append(name)
    stills = thumbnails(_wanted(report, by_item, pictures), progress)
    by_owner: dict[str, list[dict[str, Any]]] = {}
    for (owner, moment), address in stills.items():
        by_owner.setdefault(owner, []).append({"t": float(moment), "src": address})
    return {
        "items": [
            _item(report, item, values, folder, embed=embed)
            | {"worst": by_owner.get(item, []), "pending": waiting.get(item, [])}
            for item, values in by_item.items()
        ],
        "verdicts": [_verdict(one) for one in report.judged],
        "names": report.results.names,
    }


def _wanted(
    report: Report, by_item: Mapping[str, Sequence[Value]], count: int
) -> dict[str, Wanted]:
    """Moments to picture, of the videos that stand lowest."""
    wanted: dict[str, Wanted] = {}
    for item in sorted(by_item, key=lambda item: _standing(report, by_item[item])):
        known = report.results.items.get(item)
        if known is None or len(wanted) >= count:
            continue
        moments = worst_moments(report, by_item[item])
        if moments and known.video.is_file():
            wanted[item] = Wanted(known.video, tuple(moments))
    return wanted


def _item(
    report: Report, item: str, values: Sequence[Value], folder: Path, *, embed: bool
) -> dict[str, Any]:
    known = report.results.items.get(item)
    return {
        "id": item,
        "prompt": known.text if known else "",
        "groups": dict(known.groups) if known else {},
        "video": address(known.video, folder, embed=embed) if known else "",
        "values": [_value(report, one) for one in values],
    }


def _value(report: Report, value: Value) -> dict[str, Any]:
    info = report.results.outputs[value.name]
    found: dict[str, Any] = {"name": value.name, "unit": info.unit, "up": info.higher_is_better}
    failure, score = value.outcome.failure, value.outcome.value
    if failure is not None:
        # Of a traceback the last line says what happened.
        lines = failure.detail.strip().splitlines()
        return found | {
            "failed": failure.reason.value,
            "why": lines[-1] if lines else "",
            "advice": failure.advice,
        }
    assert score is not None
    return found | {
        "value": score.value,
        "curve": [
            [round(float(p.span.start), 3), round(float(p.span.end), 3), _short(p.value), p.note]
            for p in thinned(score.curve, higher=info.higher_is_better)
        ],
        "asked": questions_asked(score.details),
    }


def _short(value: float) -> float:
    return float(f"{value:.5g}")


def thinned(curve: Sequence[Point], *, higher: bool, most: int = MOST_POINTS) -> list[Point]:
    """At most so many points; of each stretch the worst one stays."""
    if len(curve) <= most:
        return list(curve)
    edges = [number * len(curve) // most for number in range(most + 1)]
    return [
        min(curve[start:end], key=lambda point: point.value if higher else -point.value)
        for start, end in pairwise(edges)
    ]


def worst_moments(report: Report, values: Sequence[Value], count: int = WORST) -> list[Time]:
    """The middles of the worst points over all curves, each curve on its own scale."""
    found: dict[Time, float] = {}
    for value in values:
        score = value.outcome.value
        if score is None or len(score.curve) < 2:
            continue
        numbers = [point.value for point in score.curve]
        low, spread = min(numbers), max(numbers) - min(numbers)
        if spread <= 0:
            continue
        higher = report.results.outputs[value.name].higher_is_better
        for point in score.curve:
            place = (point.value - low) / spread
            moment = Fraction(point.span.centre)
            # Below zero, the more the worse: moments that several curves share add up.
            found[moment] = found.get(moment, 0.0) + (place if higher else 1 - place) - 1
    return worst(list(found.items()), count)


def _standing(report: Report, values: Sequence[Value]) -> float:
    """The mean share over all values that have a range; 1 is the best."""
    shares = []
    for value in values:
        known = known_range(report.results.outputs[value.name])
        if value.outcome.value is not None and known is not None:
            shares.append(share(value.outcome.value.value, known))
    return sum(shares) / len(shares) if shares else 1.0


_PLAYABLE: Mapping[str, str] = {
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".webm": "video/webm",
    ".mov": "video/mp4",
}


def address(video: Path, folder: Path, *, embed: bool) -> str:
    """Where the page finds a video: inside itself, or beside it; empty where it cannot play."""
    kind = _PLAYABLE.get(video.suffix.lower())
    if kind is None or not video.is_file():
        return ""
    if embed:
        return f"data:{kind};base64,{base64.b64encode(video.read_bytes()).decode()}"
    try:
        relative = os.path.relpath(video, folder)
    except ValueError:  # another drive
        return ""
    # A name such as "javascript:x.mp4" stays a path.
    return quote(Path(".", relative).as_posix())


def _verdict(one: Judged) -> dict[str, Any]:
    found: dict[str, Any] = {
        "judge": one.judge,
        "item": one.item,
        "aspect": one.aspect,
        "order": "intact first" if one.order == "first_second" else "intact second",
        "kind": one.case.get("kind", ""),
    }
    failure, verdict = one.outcome.failure, one.outcome.value
    if failure is not None:
        return found | {"failed": failure.reason.value, "why": failure.detail}
    assert verdict is not None
    intact = verdict.choice if one.order == "first_second" else verdict.choice.flipped
    points = {"first": 1, "second": 0, "tie": 0.5}[intact.value]
    return found | {"points": points, "why": verdict.rationale}
