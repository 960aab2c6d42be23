"""Shots harmed in memory: what build and certify do, without files.

Frames are I420 pictures. An operator is asked for its parts as the builder asks it, and the frames
go through what it returns, then through the testbeds' encoder; the judge's metrics are measured on
what comes out as in a scan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import av
import numpy as np
from av.video.frame import VideoFrame

from screentest.core import (
    NATIVE,
    Borders,
    Filter,
    Frame,
    Image,
    Item,
    Layout,
    NoValue,
    Outcome,
    Outcomes,
    Point,
    Reason,
    Score,
    Shot,
    Span,
    build,
)
from screentest.judges.baseline import BaselineJudge
from screentest.models import Models
from screentest.testbeds.captions.facts import CaptionFacts
from screentest.testbeds.contract import Chosen, Context, Film, FilmClip, Rng
from screentest.testbeds.operators.technical import recompressed
from screentest.testbeds.placebos import TEXT, grained, painted
from screentest.video.edit.pictures import Reencode
from screentest.video.probe import Converter
from screentest.video.scan import _Consumers, scan

RATE, LONG_SIDE = 8, 320
LENGTH = 12
"""Frames of a shot, at most."""
CRF = 18
PLACEBOS = ("reencode", "noise", "painted_instruction", "severity_zero", "trim")
STILL = 0.5
"""Levels of mean difference below which nothing is seen to move."""
OF_FILMS = {"shot_count", "repeated_shots", "continuity", "caption_agreement"}
"""Metrics that say nothing of a shot alone."""
METRICS = tuple(sorted({*BaselineJudge().metrics} - OF_FILMS))
TIMED = frozenset(
    ("dynamics_degree", "stuttering", "slowed", "jittering", "reversed_motion", "sped_up")
) | {"dropped_frames", "interlaced"}


def moves(shot: Sequence[Image]) -> bool:
    first = shot[0].astype(np.int16)
    return max(float(np.abs(one - first).mean()) for one in shot) >= STILL


def decoded(file: Path, start: float, end: float, long_side: int = LONG_SIDE) -> list[Image]:
    """The frames of a shot, I420, from its middle."""
    # A little off the cut, which need not be exact.
    inside = (end - start) - 2 * 0.06
    count = min(LENGTH, max(2, int(inside * RATE)))
    first = (start + end) / 2 - count / RATE / 2
    wanted = [first + number / RATE for number in range(count)]
    pictures: list[Image] = []
    with av.open(str(file)) as container:
        stream = container.streams.video[0]
        if first > 4:
            container.seek(int((first - 2) * av.time_base))
        for number, frame in enumerate(container.decode(stream)):
            known = frame.pts is not None  # one of 1906 says nothing
            moment = frame.time if known else number / float(stream.average_rate or 15)
            while len(pictures) < count and moment >= wanted[len(pictures)] - 1e-3:
                pictures.append(_scaled(frame, long_side, _borders(file)))
            if len(pictures) == count:
                break
    return pictures


@cache
def _borders(file: Path) -> Borders | None:
    return scan(file, (), borders=True).borders


def _scaled(frame: VideoFrame, long_side: int, borders: Borders | None) -> Image:
    if borders is not None:
        inside = Converter((NATIVE, Layout.RGB, Filter.FAST), borders)(frame)
        frame = VideoFrame.from_ndarray(inside, format="rgb24")
    scale = min(1.0, long_side / max(frame.width, frame.height))
    width, height = (max(32, round(side * scale / 4) * 4) for side in (frame.width, frame.height))
    made = frame.reformat(width, height, "yuv420p", interpolation="AREA")
    return np.asarray(made.to_ndarray(), np.uint8)


# What an operator does to one shot.


def converted(picture: Image, source: str, target: str) -> Image:
    """The picture in another layout."""
    if source == target:
        return picture
    frame = VideoFrame.from_ndarray(np.ascontiguousarray(picture), format=source)
    return np.asarray(frame.reformat(format=target).to_ndarray(), np.uint8)


def harmed_shot(
    operator: str, shot: Sequence[Image], severity: float, seed: str
) -> list[Image] | None:
    """The frames of a shot, harmed; None where the operator leaves it alone."""
    degradation = build("degradation", operator).thing
    span = Span(Fraction(0), Fraction(len(shot), RATE))
    clip = FilmClip(0, "A man walks.", span, len(shot), CaptionFacts())
    times = [Fraction(number, RATE) for number in range(len(shot))]
    video = SimpleNamespace(clips=(span,), frame_times=lambda: times, duration=span.duration)
    film = Film(cast("Any", video), (clip,))
    context = Context(film, Rng.of("core_ladders", seed, operator), cast("Models", None))
    details: Mapping[str, Any] = {}
    if operator.startswith("appearance_style"):
        film_rng = Rng.of("core_ladders", seed.partition("/")[0])
        details = degradation.settle(clip, cast("Any", None), context.rng_of(clip), film_rng)
    parts = degradation.parts(context, [Chosen(clip, dict(details))], severity)
    part = parts[0]
    if not isinstance(part, Reencode):
        return None
    layout = part.pixels.value
    given = [converted(one, "yuv420p", layout) for one in shot]
    frames = (Frame(times[number], number, one) for number, one in enumerate(given))
    return [converted(one, layout, "yuv420p") for one in part.change(frames)]


def placebo(name: str, shot: Sequence[Image], seed: str) -> list[Image]:
    """A shot after something that must not count."""
    rng = Rng.of("core_ladders", seed, name)
    if name == "noise":
        return [grained(one, rng.at(number)) for number, one in enumerate(shot)]
    if name == "painted_instruction":
        return [painted(one, TEXT) for one in shot]
    if name == "severity_zero":
        return [converted(converted(one, "yuv420p", "rgb24"), "rgb24", "yuv420p") for one in shot]
    if name == "trim":
        return list(shot[:-1])
    return encoded(shot)


def encoded(shot: Sequence[Image], rate: Fraction = Fraction(RATE)) -> list[Image]:
    """Through the encoder of the testbeds."""
    frames = (Frame(number / rate, number, one) for number, one in enumerate(shot))
    return list(recompressed(CRF)(frames))


# What the metrics make of it.


def values_of(
    shot: Sequence[Image], names: Sequence[str] = METRICS, rate: Fraction = Fraction(RATE)
) -> dict[str, float]:
    """The value of each output of the judge's metrics, of one shot."""
    span = Span(Fraction(0), len(shot) / rate)
    item = Item("shot", Path("shot.mp4"))
    resources = SimpleNamespace(shots=lambda _: [Shot(span)])
    metrics = {name: build("metric", name).thing for name in names}
    working = {name: one.start(item, cast("Any", resources)) for name, one in metrics.items()}
    serving = _Consumers([each for one in working.values() for each in one.consumers])
    serving.open(cast("Any", SimpleNamespace(start=Fraction(0))))
    for number, picture in enumerate(shot):
        frame = VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="yuv420p")
        serving.serve(number / rate, number, frame)
    found: dict[str, float] = {}
    for name, one in working.items():
        try:
            outcomes = one.finish()
        except NoValue:
            continue  # nothing to measure
        for output, outcome in outcomes.items():
            if outcome.ok:
                found[f"{name}.{output}"] = outcome.unwrap().curve[0].value
    return found


NONE: Outcome[Score] = Outcome.failed(Reason.NOT_APPLICABLE, "no shot has it")


def film_scores(shots: Sequence[Mapping[str, float]]) -> dict[str, Outcomes]:
    """The scores of a film whose shots have these values, each of them two seconds long."""
    curves: dict[str, dict[str, list[Point]]] = {
        name: {output: [] for output in build("metric", name).thing.info.outputs}
        for name in METRICS
    }
    for place, values in enumerate(shots):
        span = Span(Fraction(2 * place), Fraction(2 * place + 2))
        for name, value in values.items():
            metric, _, output = name.partition(".")
            curves.setdefault(metric, {}).setdefault(output, []).append(Point(span, value))
    return {
        metric: {
            output: Outcome.of(Score(0.0, tuple(points))) if points else NONE
            for output, points in outputs.items()
        }
        for metric, outputs in curves.items()
    }
