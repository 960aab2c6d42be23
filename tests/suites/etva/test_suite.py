"""The suites are found by name, and their metrics are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from screentest.analysis.results import Results, Value
from screentest.analysis.standings import standings
from screentest.analysis.suites import read_suite
from screentest.core import Item, Outcome, OutputInfo, Reason, Score
from screentest.core.signature import split_value_name
from screentest.measure.evaluators import resolve
from screentest.suites.etva.metric import COVERAGE, SCORE


@pytest.mark.parametrize("name", ["etva", "etva_builtin"])
def test_a_suite_names_a_metric_with_all_its_values(name: str) -> None:
    suite = read_suite(name)
    (metric,) = suite.metrics
    outputs = resolve(metric).metric.info.outputs
    for dimension in suite.dimensions:
        for value in dimension.values:
            assert split_value_name(value)[1] in outputs


def test_options_go_to_the_metric() -> None:
    suite = read_suite('etva:metric="etva:gating=true,batch=4"')
    (metric,) = suite.metrics
    assert resolve(metric).spec.options[6] == ("gating", True)


def test_answers_to_videos_without_a_score_are_in_no_mean() -> None:
    """One "no" among six questions said 0 of two generators, neither of which had a score."""
    asked = {"question": "Is it red?", "category": "color", "said": "", "id": "q1"}

    def outcomes(answer: str, *, score: float | None) -> dict[str, Outcome[Score]]:
        scenes: dict[str, Any] = {"scenes": [{"questions": [{**asked, "answer": answer}]}]}
        low: Outcome[Score] = Outcome.failed(Reason.LOW_COVERAGE, "1 of 6")
        return {
            SCORE: low if score is None else Outcome.of(Score(score, (), scenes)),
            COVERAGE: Outcome.of(Score(1.0, (), {} if score is not None else scenes)),
        }

    videos = {"a/1": outcomes("yes", score=1.0), "a/2": outcomes("no", score=None)}
    videos["b/1"] = outcomes("no", score=None)
    items = {name: Item(name, Path("x.mp4"), name, groups={"model": name[0]}) for name in videos}
    values = tuple(
        Value(name, "etva_builtin", output, outcome, "")
        for name, both in videos.items()
        for output, outcome in both.items()
    )
    outputs = {value.name: OutputInfo(value.output) for value in values}
    found = standings(Results(items, values, outputs), read_suite("etva_builtin"), "model")
    means = {one.group: (one.top.value, one.top.scored, one.top.total) for one in found}
    assert means == {"a": (1.0, 1, 2), "b": (None, 0, 1)}
