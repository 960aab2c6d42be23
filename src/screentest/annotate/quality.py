"""Quality: which workers to look at, and how far people agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from sqlalchemy import Connection, select

from screentest._util.collect import grouped
from screentest.annotate.answers import SCORES
from screentest.annotate.schema import log, workers
from screentest.annotate.sitting import gold_answers
from screentest.core import Failure
from screentest.judges.votes import VoteRecord, VoteTask
from screentest.stats import (
    Interval,
    Vote,
    WorkerReport,
    WorkerRules,
    fleiss,
    krippendorff,
    review_workers,
    wilson,
)
from screentest.stats.agreement import Level

_LEVELS: Final[Mapping[VoteTask, Level]] = {
    VoteTask.PAIRS: "nominal",
    VoteTask.CHECK: "ordinal",
    VoteTask.RATE: "interval",
    VoteTask.QUESTIONS: "nominal",
    VoteTask.PROMPTS: "nominal",
    VoteTask.ARENA: "nominal",
}


_GRADES: Final[Mapping[float | str, float]] = {"A": 0.0, "B": 1.0, "C": 2.0}
"""Ratings of pairs on an ordinal scale."""


@dataclass(frozen=True, slots=True)
class WorkerState:
    """What is known of a worker, for the person who decides."""

    label: str
    votes: int
    right: int
    asked: int
    """Pairs in which the intact video could be chosen, and how often it was."""
    gold_right: int
    gold_asked: int
    pace: float | None
    """Median of seconds taken per second of video."""
    report: WorkerReport | None
    excluded: bool
    reason: str = ""
    """Why, as the log has it."""

    @property
    def flagged(self) -> bool:
        return self.report is not None and self.report.flagged


@dataclass(frozen=True, slots=True)
class AspectAgreement:
    """How people judged one aspect."""

    aspect: str
    units: int
    votes: int
    accuracy: float | None
    interval: Interval | None
    alpha: float | None
    kappa: float | None
    why: Failure | None = None
    """Why there is no α."""


def worker_votes(records: Iterable[VoteRecord]) -> list[Vote]:
    """Return the records as the rules on workers want them."""
    return [
        Vote(
            worker=record.worker,
            pair=f"{record.unit}{question}",
            task=f"{record.task.value}/{record.aspect}",
            seconds=record.seconds,
            duration=record.duration,
            harmed=record.harmed,
            answer=str(answer),
            correct=record.correct,
            watched=min(record.watched.values(), default=None),
        )
        for record in records
        if record.finished and record.duration > 0
        for question, answer in _answers(record)
    ]


def rules_for(task: VoteTask) -> WorkerRules:
    """Return what contradicts others: A and C, a score two points away, else any other."""
    if task is VoteTask.RATE:
        return WorkerRules(scale=tuple(map(str, SCORES)), steps=4)
    if task is VoteTask.CHECK:
        # The harmed parts are asked for, not the whole videos.
        return WorkerRules(least=0.0)
    return WorkerRules()


def review(
    connection: Connection, records: Sequence[VoteRecord], rules: WorkerRules
) -> list[WorkerState]:
    """Everybody who was invited, those with most signs first; records of one task."""
    reports = {report.worker: report for report in review_workers(worker_votes(records), rules)}
    mine = grouped((record.worker, record) for record in records if record.finished)
    gold = gold_answers(connection)
    reasons = _reasons(connection)
    states = []
    for person in connection.execute(select(workers)).all():
        answer = mine.get(person.label, [])
        choices = [record.correct for record in answer if record.correct is not None]
        paces = [item.seconds / item.duration for item in answer if item.duration > 0]
        available = [right for worker, right in gold if worker == person.id]
        states.append(
            WorkerState(
                label=person.label,
                votes=len(answer),
                right=sum(choices),
                asked=len(choices),
                gold_right=sum(available),
                gold_asked=len(available),
                pace=median(paces) if paces else None,
                report=reports.get(person.label),
                excluded=bool(person.excluded),
                reason=reasons.get(person.id, "") if person.excluded else "",
            )
        )
    return sorted(states, key=lambda item: (-_signs(item), -item.votes, item.label))


def agreement(records: Iterable[VoteRecord]) -> list[AspectAgreement]:
    """Accuracy and agreement by aspect (or by task, where there is none), then all together."""
    by_aspect = grouped(
        (record.aspect or record.task.value, record)
        for record in records
        if record.finished and not record.gold
    )
    rows = [_agreement(aspect, item) for aspect, item in sorted(by_aspect.items())]
    if len(rows) > 1:
        rows.append(_agreement("all", [item for answer in by_aspect.values() for item in answer]))
    return rows


def _agreement(aspect: str, records: Sequence[VoteRecord]) -> AspectAgreement:
    by_unit = grouped((record.unit, record) for record in records)
    choices = [record.correct for record in records if record.correct is not None]
    accuracy, pairs = sum(choices) / len(choices) if choices else None, len(by_unit)
    ratings = _ratings(by_unit.values())
    alpha = krippendorff(ratings, level=_LEVELS[records[0].task])
    most = max(map(len, ratings), default=0)
    kappa = fleiss([unit for unit in ratings if len(unit) == most])
    return AspectAgreement(
        aspect,
        units=pairs,
        votes=len(records),
        accuracy=accuracy,
        # As the paper: the votes of a pair are not independent, so n is the number of pairs.
        interval=None if accuracy is None else wilson(accuracy * pairs, pairs),
        alpha=alpha.value,
        kappa=kappa.value,
        why=alpha.failure,
    )


def _ratings(units: Iterable[Sequence[VoteRecord]]) -> list[list[float | str]]:
    """Return what each unit was called by its raters; A, B and C as 0, 1 and 2."""
    result: list[list[float | str]] = []
    for records in units:
        answers = grouped(answer for record in records for answer in _answers(record))
        for values in answers.values():
            result.append([_GRADES.get(value, value) for value in values])
    return result


def _answers(record: VoteRecord) -> list[tuple[str, float | str]]:
    """Return what was said, question by question where there are several."""
    if record.answers is not None:
        return [(f"?{name}", value) for name, value in record.answers.items()]
    if record.score is not None:
        return [("", record.score)]
    return [("", record.rating or record.choice or record.verdict or "")]


def _signs(state: WorkerState) -> int:
    return 0 if state.report is None else len(state.report.signs)


def _reasons(connection: Connection) -> dict[int, str]:
    rows = connection.execute(select(log).where(log.c.what == "exclude").order_by(log.c.id))
    return {row.worker_id: str(row.details.get("reason", "")) for row in rows}
