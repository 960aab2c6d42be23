"""Results: the values of a run, and what they sum up to with coverage beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from screentest.core import Item, Outcome, OutputInfo, Reason, Score, Summary
from screentest.run import RunReader
from screentest.stats import mean_interval


@dataclass(frozen=True, slots=True)
class Value:
    """One output of one metric on one item."""

    item: str
    metric: str
    output: str
    outcome: Outcome[Score]
    signature: str
    elapsed: float = 0.0

    @property
    def name(self) -> str:
        """``metric.output``, or the metric alone where the output is called like it."""
        return value_name(self.metric, self.output)


@dataclass(frozen=True, slots=True)
class Total:
    """What one output says of many items; the summary is None where nothing was scored."""

    name: str
    info: OutputInfo
    total: int
    summary: Summary | None
    failures: Mapping[Reason, int] = field(default_factory=dict)
    signature: str = ""

    @property
    def scored(self) -> int:
        """Items that have a value."""
        return self.summary.scored if self.summary else 0


@dataclass(frozen=True, slots=True)
class Results:
    """All that a run of metrics holds."""

    items: Mapping[str, Item]
    values: tuple[Value, ...]
    outputs: Mapping[str, OutputInfo]
    """By the name of the value."""
    pending: tuple[tuple[str, str], ...] = ()
    """Item and name of each value that is still to come."""

    def of(self, name: str) -> list[Value]:
        """All values of one name."""
        return [value for value in self.values if value.name == name]

    @property
    def names(self) -> list[str]:
        """The names of values, in the order the metrics declare them."""
        return list(self.outputs)

    def group(self, item: str, by: str) -> str:
        """The group an item is in; empty where it is in none of that kind."""
        known = self.items.get(item)
        return known.groups.get(by, "") if known else ""

    def case(self, item: str) -> str:
        """What was asked for: items of several systems with the same case are compared.

        A benchmark's cases are told by the group ``case``, since what a model was given is not
        always text; otherwise it is the prompt, and an item without one stands for itself.
        """
        known = self.items.get(item)
        return (known.groups.get("case") or known.text or item) if known else item

    def by_case(self, name: str) -> dict[str, float]:
        """One value for each case, turned so that more is better.

        Several videos of one case are one mean, since they hang together.
        """
        sign = 1.0 if self.outputs[name].higher_is_better else -1.0
        found: dict[str, list[float]] = {}
        for one in self.of(name):
            if one.outcome.value is not None:
                found.setdefault(self.case(one.item), []).append(sign * one.outcome.value.value)
        return {case: sum(values) / len(values) for case, values in found.items()}

    def by_group(self, by: str) -> dict[str, Results]:
        """The results of each group of items apart."""
        groups: dict[str, list[Value]] = {}
        for value in self.values:
            groups.setdefault(self.group(value.item, by), []).append(value)
        return {
            name: Results(
                {i: item for i, item in self.items.items() if item.groups.get(by, "") == name},
                tuple(groups[name]),
                self.outputs,
                tuple(one for one in self.pending if self.group(one[0], by) == name),
            )
            for name in sorted(groups)
        }

    def totals(self) -> list[Total]:
        """One total per output."""
        by_name: dict[str, list[Value]] = {name: [] for name in self.outputs}
        for value in self.values:
            by_name.setdefault(value.name, []).append(value)
        waiting = Counter(name for _, name in self.pending)
        return [
            total(name, found, self.outputs[name], pending=waiting[name])
            for name, found in by_name.items()
            if found or waiting[name]
        ]


def value_name(metric: str, output: str) -> str:
    """What a value is called: the output follows the metric where the two names differ.

    >>> value_name("flicker:rate=2", "flicker"), value_name("exposure", "contrast")
    ('flicker:rate=2', 'exposure.contrast')
    """
    return metric if output == metric.partition(":")[0] else f"{metric}.{output}"


def read_results(run: RunReader) -> Results:
    """The current values of a run, and which are still to come."""
    outputs: dict[str, OutputInfo] = {}
    declared: dict[str, tuple[str, ...]] = {}
    for note in run.evaluators():
        if note.kind == "metric":
            declared[note.name] = tuple(note.outputs)
            for name, info in note.outputs.items():
                outputs[value_name(note.name, name)] = info
    records = {record.key: record for record in run.records()}
    values: list[Value] = []
    pending: list[tuple[str, str]] = []
    for key in run.plan():
        if key.aspect:
            continue  # a judge, maybe of the metric's name
        record = records.get(key)
        for output in declared.get(key.evaluator, ()):
            if record is None:
                pending.append((key.item, value_name(key.evaluator, output)))
                continue
            outcome = _outcome(record.outcomes, output, key.evaluator)
            values.append(
                Value(key.item, key.evaluator, output, outcome, key.signature, record.elapsed)
            )
    return Results(run.items(), tuple(values), outputs, tuple(pending))


def _outcome(outcomes: Mapping[str, Outcome[Any]], output: str, evaluator: str) -> Outcome[Score]:
    # A task that failed as a whole is written under the evaluator's own name.
    found = outcomes.get(output) or outcomes.get(evaluator)
    if found is None:
        return Outcome.failed(Reason.CRASHED, "the record has no such value")
    assert found.value is None or isinstance(found.value, Score)
    return found


def total(name: str, values: Sequence[Value], info: OutputInfo, *, pending: int = 0) -> Total:
    """The mean of one output with its interval, and why values are missing."""
    numbers = [value.outcome.unwrap().value for value in values if value.outcome.ok]
    failures = Counter(
        value.outcome.failure.reason for value in values if value.outcome.failure is not None
    )
    signature = values[0].signature if values else ""
    planned = len(values) + pending
    summary = summarise(numbers, planned, signature, bounds=(info.low, info.high))
    return Total(name, info, planned, summary, dict(sorted(failures.items())), signature)


def summarise(
    numbers: Iterable[float], total: int, signature: str = "", *, bounds: tuple[float, float]
) -> Summary | None:
    """The mean of some numbers; None where there are none. One number is its own interval.

    The interval stays within ``bounds``, the range that the output cannot leave.
    """
    found = list(numbers)
    if not found:
        return None
    mean = sum(found) / len(found)
    low = high = mean
    if len(found) > 1:
        interval = mean_interval(found).within(*bounds).holding(mean)
        low, high = interval.low, interval.high
    return Summary(mean, low, high, len(found), total, signature)
