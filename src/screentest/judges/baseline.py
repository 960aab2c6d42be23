"""baseline: a judge that needs nothing but the base install, and looks at each video alone.

For each aspect a few measurements say what is wrong with every shot, in one unit: the difference
that a person just notices. A measurement has a range that is usual in films; what lies outside of
it is a fault. And shots are each other's reference: what lies far from the film's other shots is
one too. A shot's faults add up with the worst ahead; those of motion and lens are added one by
one. The film's rating is the mean of its worst tenth, quarter and half and of all of it. So a few
bad shots weigh much, and yet every shot that gets worse lowers the rating, even where the film has
worse ones of its own.

Where nothing in it can see an aspect, there is no rating. ``bench/core_split.py`` says on which
films and operators the figures here were chosen, ``bench/core_ladders.py`` how it does on others.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from screentest.core.aspects import Aspect
from screentest.core.metric import JudgeInfo, Outcomes
from screentest.core.outcome import Outcome, Point, Reason, Score, attempt
from screentest.core.registry import register
from screentest.stats import lower_tails

Values = NDArray[np.float64]

MARGIN = 0.14
"""Ratings that differ by less, in doublings of what is noticed, are a tie."""
WORST = 3.0
"""The exponent by which faults add up: the worst counts most, and none counts for nothing."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One measurement among those that say what is wrong with a shot."""

    metric: str
    output: str
    unit: float
    """What a person just notices."""
    low: float = -math.inf
    high: float = math.inf
    """What is usual in films."""
    apart: float = math.inf
    """By how many units a shot may differ from the middle of its film."""
    less: bool = True
    more: bool = True
    """Whether less than the film's other shots have is a fault, and whether more is."""
    extra: bool = False
    """Whether it is added by itself: the uneven motion of every film must not hide other faults.
    If it does not apply, the film is rated without it."""
    scale: Callable[[float], float] = float
    """Brings a value to a scale on which a step is as good as any other."""

    def faults(self, values: Values) -> Values:
        """Units by which each shot is outside of what is usual, and of its film."""
        outside = np.maximum(np.maximum(self.low - values, values - self.high), 0) / self.unit
        away = (values - np.nanmedian(values)) / self.unit
        beyond = np.maximum(self.more * away, -self.less * away) - self.apart
        both = outside**WORST + np.maximum(beyond, 0) ** WORST
        return np.asarray(np.nan_to_num(both) ** (1 / WORST))


@dataclass(frozen=True, slots=True)
class Faults:
    """Shot by shot, what several measurements say is wrong with it."""

    measures: tuple[Measure, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(measure.metric for measure in self.measures)

    def rate(self, scores: Mapping[str, Outcomes]) -> Score:
        """Return the tails of what is wrong, in doublings of what is noticed."""
        found = {each: scores[each.metric][each.output] for each in self.measures}
        measures = [each for each, outcome in found.items() if outcome.ok or not each.extra]
        curves = [
            {point.span: each.scale(point.value) for point in found[each].unwrap().curve}
            for each in measures
        ]
        spans = sorted({span for curve in curves for span in curve}, key=lambda span: span.start)
        faults = np.array(
            [
                item.faults(np.array([curve.get(span, math.nan) for span in spans]))
                for item, curve in zip(measures, curves, strict=True)
            ]
        )
        extra = np.array([item.extra for item in measures])
        usual = (faults[~extra] ** WORST).sum(axis=0) ** (1 / WORST)
        lost = np.log2(1 + usual) + np.log2(1 + faults[extra]).sum(axis=0)
        worst = [measures[place].output for place in faults.argmax(axis=0)]
        curve = tuple(
            Point(span, -float(less), _note(name, fault))
            for span, less, fault, name in zip(spans, lost, faults.max(axis=0), worst, strict=True)
        )
        largest = {
            item.output: float(each.max()) for item, each in zip(measures, faults, strict=True)
        }
        return Score(tails(curve), curve, largest)


def _note(output: str, fault: float) -> str:
    return f"{output.replace('_', ' ')}: {fault:.1f} × noticeable" if fault >= 1 else ""


@dataclass(frozen=True, slots=True)
class Order:
    """Order of shots: those that belong together are together, and none comes again."""

    metrics = ("continuity", "repeated_shots")

    def rate(self, scores: Mapping[str, Outcomes]) -> Score:
        """Rate how much nearer neighbours are than any two, less the share of repeats.

        Of unrelated shots some order is always the nearest: what chance makes does not count, and
        films of such shots are a tie.
        """
        near = scores["continuity"]["continuity"].unwrap()
        again = scores["repeated_shots"]["repeated_shots"].unwrap()
        chance = BY_CHANCE / math.sqrt(len(near.curve) + 1)
        return replace(near, value=(max(0.0, near.value - chance) - again.value) / ORDER)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Share of the script that is there: shots that are new and of some length, for its clips."""

    metrics = ("shot_count", "repeated_shots")

    def rate(self, scores: Mapping[str, Outcomes]) -> Score:
        """Return the share of clips that have a shot of their own."""
        counted = scores["shot_count"]["shots_had"].unwrap()
        seen = scores["repeated_shots"]["repeated_shots"].unwrap()
        again = {point.span: point for point in seen.curve if point.value}
        shots = counted.curve
        usual = float(np.median([float(shot.span.duration) for shot in shots]))
        points = []
        for shot in shots:
            whole = min(1.0, float(shot.span.duration) / (CUT_SHORT * usual)) if usual else 1.0
            twin = again.get(shot.span)
            points.append(Point(shot.span, 0.0, twin.note) if twin else Point(shot.span, whole))
        shown = sum(point.value for point in points)
        wanted = counted.details["clips"]
        assert isinstance(wanted, int)
        return Score(min(1.0, shown / wanted) / TELLING, tuple(points))


ORDER = 0.1
"""By how much nearer neighbours must be for the order to be seen."""
BY_CHANCE = 1.0
"""How much nearer neighbours may be by chance, times the root of the number of shots."""
TELLING = 0.1
"""The share of a script that is missed."""
CUT_SHORT = 0.4
"""A shot below this share of the usual length is not shown to its end."""


def _octaves(floor: float) -> Callable[[float], float]:
    """Return a scale on which a doubling is a step; far below ``floor`` all is the same."""
    return lambda value: math.log2(value + floor)


SCALES: Mapping[str, Callable[[float], float]] = {
    "": float,
    "sqrt": math.sqrt,
    "grain": _octaves(0.3),
    "colours": _octaves(0.06),
    "steps": _octaves(1.0),
}
"""By the name that ``baseline.toml`` has for it."""


_MEASURES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
RULES: Mapping[Aspect, Faults | Coverage | Order] = {
    **{
        Aspect(name): Faults(
            tuple(Measure(**{**row, "scale": SCALES[row.get("scale", "")]}) for row in rows)
        )
        for name, rows in _MEASURES.items()
    },
    Aspect.COMPREHENSIVENESS: Coverage(),
    Aspect.TEMPORAL_FLOW: Order(),
}
"""What is not here, no measurement of the base install sees: backgrounds that change, left and
right, and which thing has which colour or is whole."""


@register("judge", "baseline", version=2, summary="plain measurements, each video alone; no model")
class BaselineJudge:
    """Rates each video from the curves of the core metrics."""

    info = JudgeInfo("plain measurements of each video alone, by its worst shots", margin=MARGIN)
    metrics = tuple(dict.fromkeys(name for rule in RULES.values() for name in rule.metrics))

    def rate(self, aspect: Aspect, scores: Mapping[str, Outcomes]) -> Outcome[Score]:
        """Return the rating, with what is wrong with each shot as evidence."""
        rule = RULES.get(aspect)
        if rule is None:
            return Outcome.failed(
                Reason.NOT_APPLICABLE,
                f"nothing in the base install sees {aspect.title}",
                "Choose a judge that asks a vision-language model.",
            )
        return attempt(lambda: rule.rate(scores))


def tails(points: Sequence[Point]) -> float:
    """Return the mean of the lower tails of a curve, by duration."""
    values = [point.value for point in points]
    durations = [float(point.span.duration) for point in points]
    return lower_tails(values, durations if any(durations) else None)
