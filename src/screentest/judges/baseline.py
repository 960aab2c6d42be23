"""baseline: a judge that needs nothing but the base install, and looks at each video alone.

For each aspect a few measurements say how good every shot is. A shot's points are brought to
one scale, and the film's rating is the mean of its lower tails: of its worst tenth, quarter and
half, and of all of it. So a few bad shots weigh much, and yet every shot that gets worse lowers
the rating, even where the film has worse ones of its own.

Ratings are rounded to a step that is above what another encoding of the same film changes:
nearly equal films are a tie. Where nothing in it can see an aspect, there is no rating.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from screentest.core.aspects import Aspect
from screentest.core.metric import JudgeInfo, Outcomes
from screentest.core.outcome import Outcome, Point, Reason, Score
from screentest.core.registry import register
from screentest.stats import lower_tail

TAILS = (0.1, 0.25, 0.5, 1.0)
"""The shares of the film, from its worst moments on, whose means make the rating."""


@dataclass(frozen=True, slots=True)
class Term:
    """One measurement in the rating of an aspect."""

    metric: str
    output: str
    better: Callable[[float], float] = float
    """Brings a value to a scale on which more is better and a step is as good as any other."""
    weight: float = 1.0
    whole: bool = False
    """A value of the film as a whole; else its shots' values count."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How an aspect is rated: a sum of terms, rounded to a step."""

    terms: tuple[Term, ...]
    step: float


def _less(value: float) -> float:
    return -value


def _calm(value: float) -> float:
    """Flicker, in doublings."""
    return -math.log2(1 + value)


def _moving(value: float) -> float:
    """Speed from 0 to 1; half at a fiftieth of the diagonal a second, which is a slow pan."""
    return value / (value + 0.02)


def _like_its_film(value: float) -> float:
    """Consistency as a distance again: a shot far out must not count like one just outside."""
    return 1 - 1 / value


def _photographed(value: float) -> float:
    """How little of the edges is harder than lenses and encoders leave them.

    0 up to about 0.4; beyond 0.45 it falls by one for every 0.02.
    """
    return -math.log1p(math.exp((value - 0.45) / 0.02))


RULES: Mapping[Aspect, Rule] = {
    Aspect.AESTHETICS: Rule((Term("contrast", "contrast"),), 0.004),
    Aspect.TECHNICAL_QUALITY: Rule((Term("sharpness", "sharpness"),), 0.004),
    Aspect.APPEARANCE_STYLE: Rule(
        (
            Term("shot_consistency", "shot_consistency", _like_its_film),
            Term("sharpness", "sharpness", _photographed),
        ),
        0.05,
    ),
    Aspect.BACKGROUND_CONSISTENCY: Rule((Term("flicker", "flicker", _calm),), 0.1),
    # What is painted over frame by frame is unsteady; and its name no longer fits the shot.
    Aspect.OBJECT_INTEGRITY: Rule(
        (
            Term("flicker", "flicker", _calm),
            Term("caption_agreement", "caption_similarity", weight=5.0),
        ),
        0.05,
    ),
    Aspect.COLOR: Rule((Term("named_colours", "named_colours"),), 0.01),
    Aspect.DYNAMICS_DEGREE: Rule(
        (Term("frozen", "frozen", _less), Term("motion", "motion", _moving)), 0.05
    ),
    Aspect.COMPREHENSIVENESS: Rule((Term("shot_count", "shots_had", whole=True),), 0.005),
    Aspect.TEMPORAL_FLOW: Rule((Term("caption_agreement", "caption_order", whole=True),), 0.01),
}
"""Left and right are not here: no measurement of the base install tells them apart."""


@register("judge", "baseline", version=1, summary="plain measurements, each video alone; no model")
def baseline() -> BaselineJudge:
    """Rates by what the base install can measure."""
    return BaselineJudge(RULES)


class BaselineJudge:
    """Rates each video from the curves of the core metrics."""

    info = JudgeInfo("plain measurements of each video alone, by its worst shots")

    def __init__(self, rules: Mapping[Aspect, Rule]) -> None:
        self._rules = rules
        named = (term.metric for rule in rules.values() for term in rule.terms)
        self.metrics = tuple(dict.fromkeys(named))

    def rate(self, aspect: Aspect, scores: Mapping[str, Outcomes]) -> Outcome[Score]:
        """The rating, with the points of its first term as evidence."""
        rule = self._rules.get(aspect)
        if rule is None:
            return Outcome.failed(
                Reason.NOT_APPLICABLE,
                f"nothing in the base install sees {aspect.title}",
                "Choose a judge that asks a vision-language model.",
            )
        total, parts = 0.0, {}
        curve: tuple[Point, ...] = ()
        for term in rule.terms:
            outcome = scores[term.metric][term.output]
            if outcome.failure is not None:
                return Outcome(failure=outcome.failure)
            score = outcome.unwrap()
            points = tuple(replace(one, value=term.better(one.value)) for one in score.curve)
            value = term.better(score.value) if term.whole else tails(points)
            parts[term.output] = value
            total += term.weight * value
            curve = curve or points
        return Outcome.of(Score(round(total / rule.step) * rule.step, curve, parts))


def tails(points: tuple[Point, ...]) -> float:
    """The mean of the lower tails of a curve, by duration."""
    values = [point.value for point in points]
    durations = [float(point.span.duration) for point in points]
    weights = durations if any(durations) else None
    return sum(lower_tail(values, weights, share=share) for share in TAILS) / len(TAILS)
