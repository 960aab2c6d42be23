"""Scoring videos in memory, in this process and with no run: what a training loop calls.

Models stay loaded from one call to the next, and nothing else is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from screentest.analysis.results import Results, Value
from screentest.core.calls import Progress
from screentest.core.codec import to_json
from screentest.core.item import Item
from screentest.core.metric import Traits
from screentest.core.signature import value_name
from screentest.measure.evaluators import Evaluator, resolve, sign
from screentest.measure.items import measure
from screentest.measure.tasks import roles_of
from screentest.run.session import Settings, Tools, open_tools


def score_clips(
    items: Sequence[Item],
    metrics: Sequence[str],
    settings: Settings,
    *,
    suite: str = "",
    progress: Progress,
) -> Results:
    """Measure all metrics on items whose videos are held in memory, or are files."""
    tools = open_tools(settings)
    evaluators = _signed_once(tuple(metrics), settings, tools)
    built = {evaluator.text: evaluator.metric for evaluator in evaluators}
    values: list[Value] = []
    with progress:
        progress.begin("scoring", len(items), "clips")
        for item in items:
            outcomes = measure(item, built, tools)
            values += [
                Value(item.id, evaluator.name, output, outcome, str(evaluator.signature))
                for evaluator in evaluators
                for output, outcome in outcomes[evaluator.text].items()
            ]
            progress.advance(note=item.id)
    infos = [(evaluator.name, evaluator.metric.info) for evaluator in evaluators]
    return Results(
        {item.id: item for item in items},
        tuple(values),
        {value_name(name, key): out for name, info in infos for key, out in info.outputs.items()},
        suites=(suite,) if suite else (),
        traits={
            value_name(name, key): replace(info.traits.get(key, Traits()), group=info.group)
            for name, info in infos
            for key in info.outputs
        },
    )


_signed: dict[tuple[tuple[str, ...], str], list[Evaluator]] = {}


def _signed_once(metrics: tuple[str, ...], settings: Settings, tools: Tools) -> list[Evaluator]:
    """Sign the metrics; those of the last call are kept: a loop asks again."""
    key = metrics, to_json(settings)
    if key not in _signed:
        evaluators = [resolve(text) for text in metrics]
        tools.models.must_be_here(roles_of(evaluators))
        _signed.clear()
        _signed[key] = [sign(evaluator, tools) for evaluator in evaluators]
    return _signed[key]
