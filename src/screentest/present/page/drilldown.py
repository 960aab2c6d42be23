"""What the page shows on demand of each video: values, curves, worst moments, questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from screentest._util.collect import grouped
from screentest.analysis.models.moments import WORST, Moment, Scales, lowest, timed
from screentest.analysis.results import Results
from screentest.core import Outcome, Point, Progress, Score
from screentest.present.page.data import Report
from screentest.present.page.media import Pictures, Wanted, address, take_pictures
from screentest.present.text import shortened, words

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
    result = [_scene(scene) for scene in scenes if isinstance(scene, Mapping)]
    return [item for item in result if item["questions"] or item["failed"]]


def _scene(scene: Mapping[str, Any]) -> dict[str, Any]:
    start, asked = scene.get("start"), scene.get("questions")
    return {
        "text": _text(scene, "text"),
        "start": float(start) if isinstance(start, int | float) else 0.0,
        "failed": _text(scene, "failure"),
        "questions": [
            _question(item) for item in asked if isinstance(item, Mapping) and item.get("question")
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
    return shortened(text, LONGEST) if isinstance(text, str) else ""


# Curves, and where they are worst.

MOST_POINTS = 160
"""Of one curve; a longer one keeps the worst point of each stretch."""
_EACH = 2
"""Seconds of a short video for each moment after the first."""
_REASONS = 4
"""Of one moment, the strongest first."""
_NOTE = 240
"""Letters of a note."""


def thinned(curve: Sequence[Point], *, higher: bool) -> list[Point]:
    """At most so many points; of each stretch the worst one stays."""
    if len(curve) <= MOST_POINTS:
        return list(curve)
    edges = [number * len(curve) // MOST_POINTS for number in range(MOST_POINTS + 1)]
    return [
        min(curve[start:end], key=lambda point: point.value if higher else -point.value)
        for start, end in pairwise(edges)
    ]


def _axis(curve: Sequence[Point]) -> list[float] | dict[str, float]:
    """When each point begins, and when the last one ends; an even grid as its start and step."""
    times = [float(point.span.start) for point in curve] + [float(curve[-1].span.end)]
    step = (times[-1] - times[0]) / len(curve)
    if all(abs(times[0] + place * step - time) < 2e-3 for place, time in enumerate(times)):
        return {"start": round(times[0], 4), "step": round(step, 6)}
    return [round(time, 3) for time in times]


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
    waiting = grouped(results.pending)
    moments = {item: _moments(results, item, scales) for item in order}
    wanted = {
        item: Wanted(results.items[item].video, tuple(moment.time for moment in moments[item]))
        for item in order[: page.pictures]
        if results.items[item].video.is_file()
    }
    taken = take_pictures(wanted, progress)
    return [
        _about(report, item, page)
        | _scored(results, item, place)
        | _shown(moments[item], taken.get(item, Pictures()), place)
        | {"pending": len(waiting.get(item, ())), "waiting": ", ".join(waiting.get(item, ()))}
        for item in order
    ]


def _moments(results: Results, item: str, scales: Scales) -> list[Moment]:
    values = results.of_item(item).values()
    curves = [value.outcome.value.curve for value in values if value.outcome.value is not None]
    end = max((curve[-1].span.end for curve in curves if curve), default=Fraction(0))
    return lowest(results, values, scales, min(WORST, 1 + int(end / _EACH)))


def _about(report: Report, item: str, page: Page) -> dict[str, Any]:
    available = report.results.items[item]
    systems = report.systems
    group = available.groups.get(report.by, "")
    return {
        "id": item,
        "prompt": available.text,
        "groups": " · ".join(f"{name} {value}" for name, value in available.groups.items()),
        "model": systems.index(group) if group in systems else None,
        "video": address(available.video, page.folder, embed=page.embed),
        "gone": "" if available.video.is_file() else words("broken")["gone"],
    }


def _scored(results: Results, item: str, place: Mapping[str, int]) -> dict[str, Any]:
    """Values, curves, questions, and what could not be scored."""
    axes: list[list[float] | dict[str, float]] = []
    result: dict[str, list[Any]] = {"values": [], "curves": [], "asked": [], "failed": []}
    for name, value in results.of_item(item).items():
        score, number = timed(value).outcome.value, place[name]
        if score is None:
            result["failed"].append([number, *_why(value.outcome)])
            continue
        result["values"].append([number, _short(score.value)])
        if len(score.curve) > 1:
            higher = results.outputs[name].higher_is_better
            result["curves"].append(_curve(score, number, axes, higher=higher))
        scenes = questions_asked(score.details)
        if scenes:
            result["asked"].append([number, scenes])
    return {**result, "times": axes}


def _why(outcome: Outcome[Score]) -> tuple[str, str, str]:
    failure = outcome.failure
    assert failure is not None
    return failure.reason.value, failure.brief, failure.advice


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
                "t": round(float(moment.time), 3),
                "src": src,
                "why": [
                    [place[low.name], _short(low.value), _cut(low.note)]
                    for low in moment.lows[:_REASONS]
                ],
            }
            for moment, src in zip(moments, stills, strict=False)
        ],
    }


def _cut(text: str) -> str:
    return shortened(" ".join(text.split()), _NOTE)
