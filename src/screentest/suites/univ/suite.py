"""The suite as ``screentest score --suite univ:task=t2v`` takes it: eight dimensions, per cent.

Points out of ten are counted times ten, shares of a checklist times a hundred. The average is
left out where a dimension has no value for another reason than that the ground truth has no
such item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Literal

from screentest.analysis.results import Results
from screentest.analysis.standings import StandingLevel, add_up
from screentest.analysis.suites import Dimension as Node
from screentest.analysis.suites import Suite, SuiteItems
from screentest.core import BadOption, Cell, Column, Reason, Table, register
from screentest.core.signature import split_value_name, value_name
from screentest.suites.univ.data import read_univbench
from screentest.suites.univ.pieces import PieceLevel, UnivTask
from screentest.suites.univ.vocabulary import ALL_SUBDIMENSIONS, OWNER, TITLES, Dimension

GROUPS = ("model", "task", "shots")
TaskName = Literal["v2t", "t2v", "r2v", "tv2v", "rv2v", "v2v"]


@register(
    "suite", "univ", version=1, summary="UniVBench: six tasks, eight dimensions, by a chat model"
)
def univ(*, task: TaskName = "t2v", level: PieceLevel = "video", truth: str = "") -> Suite:
    """``task`` is v2t, t2v, r2v, tv2v, rv2v or v2v; ``level`` is video, shots or both.

    ``truth`` is the ground truth of v2t: a benchmark folder, or a file of `suite univ caption`.
    """
    chosen = UnivTask(task)
    if chosen is UnivTask.V2T:
        if not truth:
            raise BadOption(
                "the task v2t needs its ground truth",
                advice="Give truth: a benchmark folder, or a file of descriptions.",
            )
        spec = f"{chosen.metric}:truth={json.dumps(truth)}"
    else:
        if truth:
            raise BadOption(f"the task {task} has no use for truth: it looks at the video")
        spec = chosen.metric if level == "video" else f"{chosen.metric}:level={level}"
    return suite_of(spec)


def suite_of(spec: str) -> Suite:
    """One task as one metric judges it: the same task judged whole and by shot is two suites."""
    task = task_of(spec)
    assert task is not None
    parts = tuple(
        Node(item.value, values=(value_name(spec, item.value),), title=TITLES[item])
        for item in Dimension
    )
    return Suite(
        task.metric,
        (spec,),
        (Node("average", parts=parts, title="Average"),),
        GROUPS,
        title=f"UniVBench, {task_name(spec).upper()}, per cent",
        scale=100.0 if task is UnivTask.V2T else 10.0,
        read=partial(read_items, task),
        add_up=average_of_all,
        tables=subdimension_tables if task is UnivTask.V2T else None,
    )


def read_items(task: UnivTask, folder: Path, videos: Path | None, model: str) -> SuiteItems:
    """Return a model's results at one task; ``folder`` is the benchmark's."""
    bench = read_univbench(folder)
    problems = tuple(str(problem) for problem in bench.problems)
    if videos is None:
        return SuiteItems((), problems=problems)
    items = bench.items(task.value, videos, model=model)
    problems += tuple(str(problem) for problem in bench.mixed(task.value, videos))
    return SuiteItems(tuple(items), tuple(bench.missing(task.value, videos)), problems)


def task_of(metric: str) -> UnivTask | None:
    """Return the task that a metric scores; None for any other metric.

    >>> task_of("univ_t2v:level=shots"), task_of("flicker")
    (<UnivTask.T2V: 't2v'>, None)
    """
    name = metric.partition(":")[0]
    return next((task for task in UnivTask if task.metric == name), None)


def task_name(spec: str) -> str:
    """Return the task, and the level it was judged at where that is not the whole video.

    >>> task_name("univ_t2v"), task_name("univ_t2v:fps=1,level=shots")
    ('t2v', 't2v shots')
    """
    task = task_of(spec)
    assert task is not None
    level = re.search(r"\blevel=(shots|both)\b", spec)
    return f"{task.value} {level[1]}" if level else task.value


def average_of_all(results: Results, suite: Suite) -> Sequence[StandingLevel]:
    """Return the dimensions, and their average unless one of them could not be scored."""
    average, *parts = add_up(results, suite)
    truth_lacks = _lacking(results, suite)
    if any(part.value is None and part.path[-1] not in truth_lacks for part in parts):
        average = replace(average, value=None, interval=None)
    return [average, *parts]


def _lacking(results: Results, suite: Suite) -> set[str]:
    """Return the dimensions that are applicable to no item, and for which none is still to come."""
    (spec,) = suite.metrics
    mine = [value for value in results.values if value.metric == spec]
    waiting = (split_value_name(name) for _, name in results.pending)
    others = {output for metric, output in waiting if metric == spec}
    for value in mine:
        failure = value.outcome.failure
        if failure is None or failure.reason is not Reason.NOT_APPLICABLE:
            others.add(value.output)
    return {value.output for value in mine} - others


def subdimension_tables(results: Results, by: str) -> list[Table]:
    """V2T alone is scored in 21 parts, too."""
    group = by or "model"
    columns = [Column(name, name.replace("_", " "), 1) for name in ALL_SUBDIMENSIONS]
    rows: list[tuple[Cell, ...]] = [
        (model, *(values.get(name) for name in ALL_SUBDIMENSIONS))
        for model, values in subdimensions(results, group).items()
    ]
    title = "UniVBench, V2T by sub-dimension, per cent"
    return [Table("univ_v2t_subdimensions", title, (group, *columns), rows)]


def subdimensions(results: Results, by: str = "model") -> dict[str, dict[str, float]]:
    """By model, the sub-dimensions of V2T in per cent; only those that have a value."""
    result: dict[str, dict[str, list[float]]] = {}
    for value in results.values:
        if task_of(value.metric) is UnivTask.V2T and value.output in OWNER and value.outcome.ok:
            model = result.setdefault(results.group(value.item, by), {})
            model.setdefault(value.output, []).append(100 * value.outcome.unwrap().value)
    return {
        model: {name: fmean(points) for name, points in parts.items()}
        for model, parts in sorted(result.items())
    }
