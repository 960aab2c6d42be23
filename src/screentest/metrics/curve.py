"""From numbers per frame to a curve over shots, and from the curve to one number.

Most metrics are a measurement of single frames: they keep a row of numbers for each frame they
are handed. When the scan is over and the shots are known, the rows of a shot become one point of
the curve, and the worst part of the curve becomes the score: five bad shots in sixty vanish in a
mean. ``@screentest.metric`` makes one of a plain function; ``ShotMetric`` is for a meter that
remembers more than the frame before.
"""

from __future__ import annotations

import math
import tomllib
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from screentest.core.errors import NoValue
from screentest.core.frames import BaseConsumer, Filter, Frame, FrameRequest, Image, Layout, Size
from screentest.core.item import Item, Shot, Span
from screentest.core.metric import Level, MetricInfo, Outcomes, OutputInfo, Resources, Traits
from screentest.core.outcome import Json, Outcome, Point, Reason, Score, attempt
from screentest.stats import lower_tail

Rows: TypeAlias = NDArray[np.float64]

Meter: TypeAlias = Callable[["Image"], Sequence[float] | None]
"""What is measured on a picture; None where it shows nothing to measure."""
Reduce: TypeAlias = Callable[["Rows"], float]
"""The rows of one shot's frames → the value of the shot; raises NoValue where they show none."""
SeenShots: TypeAlias = Sequence[tuple[Shot, "Rows"]]
"""The shots that have rows, with them."""
SumUp: TypeAlias = Callable[[SeenShots, int], Outcomes]
"""Of the shots that have rows, and the number of all."""
FilmScore: TypeAlias = Callable[[SeenShots, int], Score]


_ROUNDING = 1e-6
"""What single precision may add to a range."""


class FrameRows(BaseConsumer):
    """Keeps a row of numbers for each frame, and its time."""

    def __init__(self, wants: FrameRequest, meter: Meter) -> None:
        self.wants = wants
        self._meter = meter
        self._times = array("d")
        self._rows = array("d")
        self._width = 1

    def take(self, frame: Frame) -> None:
        row = self._meter(frame.image)
        if row is not None:
            # Rounding keeps the order of times, so that a frame stays on its side of a cut.
            self._times.append(float(frame.time))
            self._rows.extend(row)
            self._width = len(row)

    def of(self, shot: Shot) -> Rows:
        """Return the rows of the frames of one shot."""
        times = np.frombuffer(self._times) if self._times else np.empty(0)
        first, last = np.searchsorted(times, [float(shot.start), float(shot.end)])
        rows = np.frombuffer(self._rows) if self._rows else np.empty(0)
        return rows.reshape(-1, self._width)[first:last]


_DECLARED: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("outputs.toml").read_text(encoding="utf-8")
)


def declared(metric: str) -> dict[str, OutputInfo]:
    """Return the outputs of a metric of ours by name, as ``outputs.toml`` declares them."""
    return {name: OutputInfo(**info) for name, info in _DECLARED[metric].items()}


USUAL = Traits()


@dataclass(frozen=True, slots=True)
class ShotOutput:
    """One number of a metric: what it says, and how it comes from the rows of a shot."""

    info: OutputInfo
    reduce: Reduce
    traits: Traits = USUAL


class ShotMetric:
    """Measures frames as they come, and sums them up shot by shot."""

    def __init__(
        self,
        outputs: Mapping[str, ShotOutput],
        wants: FrameRequest,
        meter: Callable[[], Meter],
        nothing: str = "no frame shows anything to measure",
        about: str = "time",
    ) -> None:
        """``meter`` makes one for each video, since it may remember the frame before."""
        infos = {name: output.info for name, output in outputs.items()}
        self.info = MetricInfo(
            infos,
            Level.FRAME,
            shots=True,
            inside=wants.inside,
            about=about,
            consecutive=wants.rate is None,
            traits={name: output.traits for name, output in outputs.items()},
        )
        self._wants, self._meter = wants, meter
        self._sum_up = by_shot(outputs, nothing)

    def start(self, item: Item, resources: Resources) -> RowsMeasurement:
        rows = FrameRows(self._wants, self._meter())
        return RowsMeasurement(item, resources, (rows,), self._sum_up)


class FilmMetric:
    """Measures frames as they come, and sums up all shots of the film beside each other."""

    def __init__(self, name: str, wants: FrameRequest, meter: Meter, score: FilmScore) -> None:
        self.info = MetricInfo(
            declared(name), Level.CLIP, shots=True, inside=wants.inside, about="time"
        )
        self._wants, self._meter = wants, meter
        self._sum_up: SumUp = lambda seen, shots: {name: Outcome.of(score(seen, shots))}

    def start(self, item: Item, resources: Resources) -> RowsMeasurement:
        rows = FrameRows(self._wants, self._meter)
        return RowsMeasurement(item, resources, (rows,), self._sum_up, shot_by_shot=False)


WITHIN = "within"
"""The detail of a value that has the pieces of the only shot: start, end, value."""
PIECES, LEAST_ROWS = 8, 3


@dataclass(frozen=True, slots=True)
class RowsMeasurement:
    """One such metric at work on one video."""

    item: Item
    resources: Resources
    consumers: tuple[FrameRows]
    sum_up: SumUp
    shot_by_shot: bool = True

    def finish(self) -> Outcomes:
        """Return what comes of the shots that have a row."""
        shots = self.resources.shots(self.item.video)
        seen = [(shot, rows) for shot in shots if len(rows := self.consumers[0].of(shot))]
        result = self.sum_up(seen, len(shots))
        if len(shots) != 1 or len(seen) != 1 or not self.shot_by_shot:
            return result
        return self._with_pieces(result, *seen[0])

    def _with_pieces(self, found: Outcomes, shot: Shot, rows: Rows) -> Outcomes:
        """Return the same, where one shot is all there is, with how its pieces compare: a clip has
        no curve over shots, and still a worst moment."""
        count = min(PIECES, len(rows) // LEAST_ROWS)
        if count < 2:
            return found
        step = shot.span.duration / count
        starts = [shot.start + number * step for number in range(count)]
        pieces = [Shot(Span(start, start + step)) for start in starts]
        finer = self.sum_up(
            [(piece, part) for piece in pieces if len(part := self.consumers[0].of(piece))], 1
        )
        made = dict(found)
        for name, outcome in found.items():
            within = finer[name].value
            if outcome.value is not None and within is not None:
                points: list[Json] = [
                    [float(item.span.start), float(item.span.end), item.value]
                    for item in within.curve
                ]
                details: dict[str, Json] = {**outcome.value.details, WITHIN: points}
                made[name] = Outcome.of(replace(outcome.value, details=details))
        return made


def by_shot(outputs: Mapping[str, ShotOutput], nothing: str) -> SumUp:
    """One score per output, with a point for each shot that has a value."""

    def sum_up(seen: SeenShots, shots: int) -> Outcomes:
        if not seen:
            raise NoValue(Reason.NOT_APPLICABLE, nothing)
        return {name: _of_shots(name, output, seen, shots) for name, output in outputs.items()}

    return sum_up


def _of_shots(name: str, output: ShotOutput, seen: SeenShots, shots: int) -> Outcome[Score]:
    """Return the score of the shots that have a value; where none has, why the first has none."""
    found = [(shot.span, attempt(partial(output.reduce, rows))) for shot, rows in seen]
    values = [(span, each.unwrap()) for span, each in found if each.ok]
    if not values:
        return Outcome(failure=found[0][1].failure)
    return curve_outcome(name, values, output.info, shots)


def curve_outcome(
    name: str, values: Sequence[tuple[Span, float]], info: OutputInfo, shots: int
) -> Outcome[Score]:
    """Return the score of the shots' values; a failure where one of them is out of range."""
    return attempt(
        lambda: curve_score(
            [Point(span, in_range(name, value, info)) for span, value in values], info, shots=shots
        )
    )


def in_range(name: str, value: float, info: OutputInfo) -> float:
    """Return the value; raises NoValue where it is not finite, or out of the declared range.

    >>> in_range("saturation", 0.25, OutputInfo(""))
    0.25
    """
    number = float(value)
    reach = _ROUNDING * max(1.0, abs(number))
    inside = info.low - reach <= number <= info.high + reach
    if math.isfinite(number) and (inside or not info.bounded):
        return number
    raise NoValue(
        Reason.CRASHED,
        f"invalid value {number:g} of {name}: must be in [{info.low:g}, {info.high:g}]",
        advice="This is a fault in the metric, not in the video.",
    )


def curve_score(points: Sequence[Point], info: OutputInfo, *, shots: int) -> Score:
    """Return the score of a curve: its worst part, by duration. The mean stands in the details."""
    values = [point.value for point in points]
    durations = [float(point.span.duration) for point in points]
    if not any(durations):
        durations = [1.0] * len(points)  # a video of one frame may last no time at all
    return Score(
        lower_tail(values, durations, higher_is_better=info.higher_is_better),
        tuple(points),
        {"mean": lower_tail(values, durations, share=1.0), "shots": shots, "measured": len(points)},
    )


def mean_of(column: int) -> Reduce:
    """Return the mean of one column of the rows."""
    return lambda rows: float(rows[:, column].mean())


# The frames that the metrics of the base install ask for. They share a few sizes, since each
# distinct one is a conversion of every frame.

SAMPLED = 4.0
"""Frames a second, where not every one is needed: a shot of a quarter of a second has one."""


DETAIL = FrameRequest(layout=Layout.LUMA, inside=True)
"""Luma as it is coded and in its own size, for what scaling would hide."""
PLANES = FrameRequest(layout=Layout.CODED, inside=True)
"""The same with the planes of colour."""
COLOUR = FrameRequest(size=Size(long_side=160), layout=Layout.RGB, filter=Filter.AREA, inside=True)
GREY = FrameRequest(size=Size(long_side=160), layout=Layout.GRAY, inside=True)


def at_rate(request: FrameRequest, rate: float) -> FrameRequest:
    """Return these frames, so many a second."""
    return replace(request, rate=Fraction(str(rate)))
