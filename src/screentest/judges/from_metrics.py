"""Any metric as a judge: the video with the better score wins, equal scores are a tie."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from screentest.core.aspects import Aspect
from screentest.core.errors import BadOption
from screentest.core.metric import JudgeInfo, Metric, MetricInfo, Outcomes
from screentest.core.outcome import Outcome, Reason, Score
from screentest.core.registry import build, register
from screentest.core.signature import value_name
from screentest.metrics.alignment.clipscore import Policy


@dataclass(frozen=True, slots=True)
class MetricJudge:
    """A judge that goes by one value of a metric."""

    metric: str
    """Its spec."""
    declared: MetricInfo
    output: str = ""
    """Which value; empty: the one named like the aspect, or the metric's only one."""

    @property
    def info(self) -> JudgeInfo:
        """The metric's own needs stand in the metric's signature."""
        summary = f"the better {self.output or self.metric} wins"
        return JudgeInfo(summary, reads_text=self.declared.reads_text)

    @property
    def metrics(self) -> tuple[str, ...]:
        return (self.metric,)

    def rate(self, aspect: Aspect, scores: Mapping[str, Outcomes]) -> Outcome[Score]:
        """Return the value, turned round where less is better."""
        name = self._output_for(aspect)
        result = scores[self.metric].get(name)
        if result is None:
            return Outcome.failed(Reason.CRASHED, f"{self.metric} gave no {name}")
        if self.declared.outputs[name].higher_is_better:
            return result
        return result.map(_turned)

    def _output_for(self, aspect: Aspect) -> str:
        outputs = self.declared.outputs
        if self.output:
            return self.output
        selected = self.metric.partition(":")[0]
        for name in (aspect.value, selected):
            if name in outputs:
                return name
        return next(iter(outputs))


def value_of(judge: object, aspects: Sequence[Aspect]) -> str:
    """Return the value that a judge goes by in all of these aspects; empty where it tells them
    apart."""
    if not isinstance(judge, MetricJudge):
        return ""
    names = {judge._output_for(aspect) for aspect in aspects}
    return value_name(judge.metric, names.pop()) if len(names) == 1 else ""


def as_judge(metric: str, output: str = "") -> MetricJudge:
    """Return the judge that goes by a metric, or by one of its values.

    Without ``output`` it takes the value that is named like the aspect in question, then the
    one that is named like the metric, then the first.
    """
    thing = build("metric", metric).thing
    assert isinstance(thing, Metric)
    if output and output not in thing.info.outputs:
        available = ", ".join(thing.info.outputs)
        raise BadOption(f"metric {metric!r} gives no {output!r}", advice=f"It gives {available}.")
    return MetricJudge(metric, thing.info, output)


def _turned(score: Score) -> Score:
    curve = tuple(replace(point, value=-point.value) for point in score.curve)
    return replace(score, value=-score.value, curve=curve)


# clipscore: the same mean cosine for every aspect, as in SLVMEval's equation 5.


@register("judge", "clipscore", version=1, summary="the higher CLIPScore wins, in every aspect")
def clipscore(*, policy: Policy = "truncate", detector: str = "") -> ClipScoreJudge:
    """``policy`` (truncate, ignore, each) and ``detector`` as the metric takes them."""
    return ClipScoreJudge(policy, detector)


class ClipScoreJudge:
    """Rates by one number, whatever the aspect."""

    info = JudgeInfo("the higher CLIPScore of centre frames and prompt wins")

    def __init__(self, policy: Policy, detector: str = "") -> None:
        named = f",detector={detector}" if detector else ""
        self._metric = f"clipscore:policy={policy}{named}"
        self.metrics = (self._metric,)

    def rate(self, aspect: Aspect, scores: Mapping[str, Outcomes]) -> Outcome[Score]:
        return scores[self._metric]["clipscore"]


# videoscore: VideoScore's five numbers, mapped to the ten aspects as in SLVMEval's table 10.

QUALITY_OF = {
    Aspect.AESTHETICS: "visual_quality",
    Aspect.TECHNICAL_QUALITY: "visual_quality",
    Aspect.APPEARANCE_STYLE: "visual_quality",
    Aspect.BACKGROUND_CONSISTENCY: "factual_consistency",
    Aspect.OBJECT_INTEGRITY: "text_alignment",
    Aspect.COLOR: "visual_quality",
    Aspect.DYNAMICS_DEGREE: "dynamic_degree",
    Aspect.COMPREHENSIVENESS: "text_alignment",
    Aspect.SPATIAL_RELATIONSHIP: "text_alignment",
    Aspect.TEMPORAL_FLOW: "text_alignment",
}
_NUMBERS = {**QUALITY_OF, Aspect.TEXT_ALIGNMENT: "text_alignment"}
"""The aspect of prompts is not in the paper, and has a number of its own."""


@register("judge", "videoscore", version=1, summary="VideoScore, one of its numbers per aspect")
def videoscore() -> VideoScoreJudge:
    """The role videoscore says which version."""
    return VideoScoreJudge()


class VideoScoreJudge:
    """Rates by the number that fits the aspect."""

    info = JudgeInfo("the higher of the VideoScore number that fits the aspect wins")
    metrics = ("videoscore",)

    def rate(self, aspect: Aspect, scores: Mapping[str, Outcomes]) -> Outcome[Score]:
        """Return the number that table 10 names."""
        if aspect not in _NUMBERS:
            return Outcome.failed(
                Reason.NOT_APPLICABLE, f"VideoScore has no number for {aspect.title}"
            )
        return scores["videoscore"][_NUMBERS[aspect]]


# Placebo spread: how far a rating moves where nothing is wrong.
# A metric made a judge would prefer the re-encoded copy of every film to its original if one more
# pass of the encoder moved it by a millionth. What placebos do to a rating (encoding once more,
# another container, a frame less) is its noise: a difference that is not larger is a tie.
#
# The margin for a film is learnt from the placebos of the *other* films. Otherwise every placebo
# would lie within a margin that was made of it, and the placebo rate of a certificate would say
# nothing. Of each other film the largest difference that any of its placebos makes counts, and
# the margin is the ⌈0.9·(n+1)⌉-th smallest of those n: of films of one kind, nine in ten have all
# their placebos within it, however the differences are distributed. Below nine other films that
# rank does not exist; the largest is taken, which holds in n of n+1 films. Without placebos of
# other films the margin is 0.


WITHIN = 0.9
"""Of films, those all of whose placebos should be ties."""

Moved: TypeAlias = tuple[Aspect, str, float]
"""The aspect in which a placebo was rated, its film, and by how much the rating moved."""


@dataclass(frozen=True, slots=True)
class PlaceboSpread:
    """Ratings that differ by no more are a tie."""

    value: float = 0.0
    films: int = 0
    """Whose placebos it was learnt from."""


@dataclass(frozen=True, slots=True)
class PlaceboSpreads:
    """The largest move by placebos, by aspect and film."""

    largest: Mapping[Aspect, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def learnt(cls, moved: Iterable[Moved]) -> PlaceboSpreads:
        """From what the placebos of a testbed did to one judge's ratings."""
        largest: dict[Aspect, dict[str, float]] = {}
        for aspect, film, difference in moved:
            films = largest.setdefault(aspect, {})
            films[film] = max(films.get(film, 0.0), abs(difference))
        return cls(largest)

    def of(self, aspect: Aspect, film: str | None = None, *, least: float = 0.0) -> PlaceboSpread:
        """Return the margin for a film, by all others; without a film, for one that is not among
        them.

        ``least`` is the judge's own: where placebos move it by less, that stands.

        >>> moved = [(Aspect.COLOR, "a", 0.1), (Aspect.COLOR, "b", -0.3), (Aspect.COLOR, "b", 0.2)]
        >>> PlaceboSpreads.learnt(moved).of(Aspect.COLOR, "a")
        PlaceboSpread(value=0.3, films=1)
        """
        others = [largest for name, largest in self.largest.get(aspect, {}).items() if name != film]
        if not others:
            return PlaceboSpread(least)
        rank = min(len(others), math.ceil(round(WITHIN * (len(others) + 1), 9)))
        learnt = PlaceboSpread(sorted(others)[rank - 1], len(others))
        return learnt if learnt.value >= least else PlaceboSpread(least)


def in_signature(margins: Mapping[Aspect, PlaceboSpread]) -> str:
    """Return the margins of a certificate as a part of its signature.

    >>> in_signature({Aspect.COLOR: PlaceboSpread(0.25, 4)})
    '0.25'
    >>> in_signature({Aspect.COLOR: PlaceboSpread(0.25, 4), Aspect.AESTHETICS: PlaceboSpread()})
    'aesthetics=0,color=0.25'
    """
    texts = {aspect.value: f"{margin.value:.6g}" for aspect, margin in margins.items()}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return ",".join(f"{name}={text}" for name, text in sorted(texts.items()))
