"""Any metric as a judge: the video with the better score wins, equal scores are a tie."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

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
    """Return the value that a judge goes by in these aspects; empty where it has several."""
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
class ClipScoreJudge:
    """Rates by one number, whatever the aspect; takes the options of the metric."""

    info = JudgeInfo("the higher CLIPScore of centre frames and prompt wins")

    def __init__(self, *, policy: Policy = "truncate", detector: str = "") -> None:
        named = f",detector={detector}" if detector else ""
        self._metric = f"clipscore:policy={policy}{named}"
        self.metrics = (self._metric,)

    def rate(self, aspect: Aspect, scores: Mapping[str, Outcomes]) -> Outcome[Score]:
        return scores[self._metric]["clipscore"]


# videoscore: VideoScore's five numbers, mapped to the ten aspects as in SLVMEval's table 10.

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
QUALITY_OF = {Aspect(name): number for name, number in _TABLES["paper"].items()}
_NUMBERS = QUALITY_OF | {Aspect(name): number for name, number in _TABLES["ours"].items()}


@register("judge", "videoscore", version=1, summary="VideoScore, one of its numbers per aspect")
class VideoScoreJudge:
    """Rates by the number that fits the aspect; the role videoscore says which version."""

    info = JudgeInfo("the higher of the VideoScore number that fits the aspect wins")
    metrics = ("videoscore",)

    def rate(self, aspect: Aspect, scores: Mapping[str, Outcomes]) -> Outcome[Score]:
        if aspect not in _NUMBERS:
            return Outcome.failed(
                Reason.NOT_APPLICABLE, f"VideoScore has no number for {aspect.title}"
            )
        return scores["videoscore"][_NUMBERS[aspect]]
