"""Comparing judges on the same pairs, and systems on the same items: paired, by source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from screentest.core import Outcome, Reason, Verdict
from screentest.degrade.testbed import Kind
from screentest.evaluate.judging import Order
from screentest.evaluate.results import Results, read_results
from screentest.run import RunReader
from screentest.stats import (
    Difference,
    McNemar,
    holm,
    mcnemar,
    paired_bootstrap,
    sample_size,
)

_SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Row:
    """Two sides compared in one aspect or metric."""

    name: str
    first: float
    second: float
    difference: Difference
    adjusted_p: float
    """Holm's, over all rows of the table."""
    exact: McNemar | None = None
    """McNemar's exact test, for judgements that are right or wrong."""
    needed: int | None = None
    """Pairs that would show a difference of this size four times in five."""
    dropped: int = 0
    """Items that only one side has a value for."""

    @property
    def significant(self) -> bool:
        """Whether the difference is unlikely to be chance."""
        return self.adjusted_p < _SIGNIFICANT


Points = Mapping[str, Mapping[str, float]]
"""By aspect or metric, then by item: what one side earned."""


def judge_points(run: RunReader, judge: str) -> Points:
    """What a judge earned on each degraded pair: the mean over orders and repeats."""
    earned: dict[str, dict[str, list[float]]] = {}
    plain = {
        case["id"]
        for case in run.note("cases") or []
        if case["kind"] == Kind.DEGRADATION.value and "#" not in case["id"]
    }
    for record in run.records():
        key = record.key
        if key.evaluator != judge or key.item not in plain or not key.aspect:
            continue
        outcome: Outcome[object] = record.outcomes[judge]  # type: ignore[assignment]
        if not isinstance(outcome.value, Verdict):
            continue
        choice = outcome.value.choice
        facing = choice if key.order == Order.AS_GIVEN.value else choice.flipped
        points = {"first": 1.0, "tie": 0.5, "second": 0.0}[facing.value]
        earned.setdefault(key.aspect, {}).setdefault(key.item, []).append(points)
    return {
        aspect: {item: sum(found) / len(found) for item, found in by_item.items()}
        for aspect, by_item in earned.items()
    }


def judges_in(run: RunReader) -> list[str]:
    """The judges that a run has heard."""
    return [note.name for note in run.evaluators() if note.kind == "judge"]


def score_points(run: RunReader, group: str = "", value: str = "") -> Points:
    """Scores by metric and item; of one group of items where ``group`` is given.

    Items of two systems are matched by their prompt, since their ids differ.
    """
    results = read_results(run)
    found: dict[str, dict[str, float]] = {}
    for one in results.values:
        if group and results.group(one.item, group) != value:
            continue
        if one.outcome.value is not None:
            sign = 1.0 if results.outputs[one.name].higher_is_better else -1.0
            place = _place(results, one.item)
            found.setdefault(one.name, {})[place] = sign * one.outcome.value.value
    return found


def _place(results: Results, item: str) -> str:
    known = results.items.get(item)
    return known.text if known is not None and known.text else item


def compare(first: Points, second: Points, *, judgements: bool) -> Outcome[tuple[Row, ...]]:
    """One row per aspect or metric that both sides have; p-values corrected over all rows."""
    rows: list[Row] = []
    for name in [name for name in first if name in second]:
        one, two = first[name], second[name]
        both = sorted(one.keys() & two.keys())
        if not both:
            continue
        left, right = [one[item] for item in both], [two[item] for item in both]
        clusters = [_source(item) if judgements else item for item in both]
        difference = paired_bootstrap(left, right, clusters)
        rows.append(
            Row(
                name=name,
                first=sum(left) / len(left),
                second=sum(right) / len(right),
                difference=difference,
                adjusted_p=difference.p_value,
                exact=mcnemar(left, right) if judgements else None,
                needed=_needed(left, right) if judgements else None,
                dropped=len(one.keys() ^ two.keys()),
            )
        )
    if not rows:
        return Outcome.failed(Reason.NOT_APPLICABLE, "the two have nothing in common")
    adjusted = holm([row.difference.p_value for row in rows])
    return Outcome.of(
        tuple(replace(row, adjusted_p=p) for row, p in zip(rows, adjusted, strict=True))
    )


def _source(case: str) -> str:
    """The source in the id of a case, ``testbed/source/degradation``."""
    return case.rpartition("/")[0]


def _needed(left: Sequence[float], right: Sequence[float]) -> int | None:
    """How many pairs would do, going by how often the two differ here."""
    gap = abs(sum(left) - sum(right)) / len(left)
    discordant = sum(abs(a - b) for a, b in zip(left, right, strict=True)) / len(left)
    return sample_size(gap, discordance=discordant) if gap > 0 else None
