"""Results of the suite with values by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from screentest.analysis.results import Results, Value
from screentest.analysis.suites import Suite, read_suite
from screentest.core import Item, Outcome, OutputInfo, Score
from screentest.suites.locot2v.tables import ALL

Items = Mapping[str, Mapping[str, float]]
SUITE: Suite = read_suite("locot2v")


def results_of(items: Items, groups: Mapping[str, Mapping[str, str]] | None = None) -> Results:
    """Items with the values of some sub-dimensions, and the groups of each."""
    known = groups or {}
    by_name = {one.name: one for one in ALL}
    values = [
        Value(item, one.metric, one.output or one.metric, Outcome.of(Score(number)), "s")
        for item, numbers in items.items()
        for name, number in numbers.items()
        for one in [by_name[name]]
    ]
    outputs = {
        value.name: OutputInfo(value.output)
        for one in ALL
        for value in [Value("", one.metric, one.output or one.metric, Outcome.of(Score(0)), "s")]
    }
    listed = {name: Item(name, Path("x.mp4"), groups=known.get(name, {})) for name in items}
    return Results(listed, tuple(values), outputs)
