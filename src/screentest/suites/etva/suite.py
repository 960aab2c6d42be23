"""The suites ``etva`` and ``etva_builtin``: one metric each, with its categories beside it."""

from __future__ import annotations

from dataclasses import replace

from screentest.analysis.results import Results
from screentest.analysis.standings import StandingLevel, add_up
from screentest.analysis.suites import Dimension, Suite
from screentest.core import Outcome, Summary, register
from screentest.core.signature import value_name
from screentest.stats import Interval
from screentest.suites.etva.metric import SCORE
from screentest.suites.etva.runs import judge_results
from screentest.suites.etva.tables import MACRO, averages

GROUPS = ("model",)


@register(
    "suite", "etva", version=1, summary="questions about each piece of the prompt, by a chat model"
)
def etva(*, metric: str = "etva") -> Suite:
    """ETVA; ``metric`` gives it options: ``metric="etva:gating=true,batch=4"``."""
    return _suite("etva", metric)


@register(
    "suite",
    "etva_builtin",
    version=1,
    summary="the same idea with rules, a small detector and flow; needs no chat model",
)
def etva_builtin(*, metric: str = "etva_builtin") -> Suite:
    """The stand-in, under its own name: its numbers are not ETVA's."""
    return _suite("etva_builtin", metric)


def _suite(name: str, metric: str) -> Suite:
    return Suite(
        name,
        (metric,),
        (Dimension("alignment", values=(value_name(metric, SCORE),)),),
        GROUPS,
        title="ETVA" if name == "etva" else "ETVA's idea without a chat model",
        note="The alignment is over all questions of all prompts, as published tables have it.",
        add_up=micro_average,
    )


def micro_average(results: Results, suite: Suite) -> list[StandingLevel]:
    """Return all questions in one pool, as the paper averages; beside it the mean of prompts.

    Categories are side by side: their mean is nobody's average (see docs/etva.md).
    """
    (mean,) = add_up(results, suite)
    judged = judge_results(results, suite.metrics[0])
    if not judged:  # nothing is known of single questions
        return [mean]
    result = averages(judged)
    parts = {kind.value: outcome for kind, outcome in result.categories.items() if outcome.ok}
    return [
        _level(replace(mean, title="Alignment"), result.micro),
        _level(replace(mean, path=(*mean.path, MACRO), title=MACRO, ends=None), result.macro),
        *(
            _level(replace(mean, path=(*mean.path, name), title=name), outcome)
            for name, outcome in parts.items()
        ),
    ]


def _level(level: StandingLevel, outcome: Outcome[Summary]) -> StandingLevel:
    result = outcome.value
    if result is None:
        return replace(level, value=None, interval=None)
    ends = None
    if result.low is not None and result.high is not None:
        ends = Interval(result.low, result.high)
    return replace(level, value=result.value, interval=ends)
