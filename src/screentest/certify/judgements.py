"""Judgements: what a judge said of cases, as points for the intact video."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from screentest.certify.cases import Case
from screentest.core import Choice, Outcome, Verdict
from screentest.evaluate.judging import Order
from screentest.run import Record, RunReader

POINTS: Mapping[Choice, float] = {Choice.FIRST: 1.0, Choice.TIE: 0.5, Choice.SECOND: 0.0}


@dataclass(frozen=True, slots=True)
class Judgement:
    """One answer on one case; None where it is still to come."""

    case: Case
    order: Order
    repeat: int
    outcome: Outcome[Verdict] | None
    elapsed: float = 0.0
    requests: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, str]:
        """Which pair it is about, and in which aspect."""
        return (self.case.id, self.case.contest.aspect.value)

    @property
    def choice(self) -> Choice | None:
        """As presented: FIRST is the video that was shown first."""
        if self.outcome is None or self.outcome.value is None:
            return None
        return self.outcome.value.choice

    @property
    def points(self) -> float | None:
        """1 for the intact video, a half for a tie; None without an answer."""
        if self.choice is None:
            return None
        facing = self.choice if self.order is Order.AS_GIVEN else self.choice.flipped
        return POINTS[facing]


def read_judgements(run: RunReader, cases: Sequence[Case], judge: str) -> list[Judgement]:
    """All that the run plans to ask ``judge`` about these cases."""
    by_place = {(case.id, case.contest.aspect.value): case for case in cases}
    records: dict[Any, Record] = {
        record.key: record for record in run.records() if record.key.evaluator == judge
    }
    found: list[Judgement] = []
    for key in run.plan():
        case = by_place.get((key.item, key.aspect))
        if key.evaluator != judge or case is None:
            continue
        record = records.get(key)
        outcome: Outcome[Verdict] | None = None
        if record is not None:
            outcome = record.outcomes[judge]  # type: ignore[assignment]
        found.append(
            Judgement(
                case,
                Order(key.order),
                key.repeat,
                outcome,
                record.elapsed if record else 0.0,
                record.requests if record else (),
            )
        )
    return found


def in_both_orders(judgements: Sequence[Judgement]) -> list[tuple[Choice, Choice]]:
    """The two answers on each case that was answered in both orders."""
    by_case: dict[tuple[str, str, int], dict[Order, Choice]] = {}
    for one in judgements:
        if one.choice is not None:
            by_case.setdefault((*one.place, one.repeat), {})[one.order] = one.choice
    return [
        (answers[Order.AS_GIVEN], answers[Order.SWAPPED])
        for answers in by_case.values()
        if len(answers) == len(Order)
    ]
