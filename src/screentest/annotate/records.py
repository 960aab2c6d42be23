"""Records: everything a worker said of one unit, as one row. What is exported and analysed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from screentest.annotate.answers import STEPS, Step, Task, of_two
from screentest.annotate.material import unit_key
from screentest.annotate.store.schema import sittings, units, votes, workers
from screentest.core import Aspect, PairKind
from screentest.stats import FilteredPairs, Retention, filter_pairs
from screentest.testbeds.subset import subset_of, write_subset
from screentest.testbeds.testbed import Testbed, read_testbed

PICKED = {"first": "intact", "second": "changed", "tie": "tie"}
"""The stored choice in the words of testbeds and of `certify`."""


@dataclass(frozen=True, slots=True)
class Record:
    """One worker on one unit. What was not asked is None."""

    task: Task
    unit: str
    source: str
    video: str
    name: str
    aspect: str
    severity: float | None
    clips: int | None
    worker: str
    left: str
    """Which video stood on the left: intact or changed; empty for one video."""
    duration: float
    """Of all videos of the unit."""
    seconds: float
    """From opening the unit to the last answer, by the server's clock."""
    at: float
    gold: bool
    excluded: bool
    finished: bool
    vote: str
    """The id of the last click."""
    choice: str | None = None
    rating: str | None = None
    score: float | None = None
    answers: dict[str, int] | None = None
    verdict: str | None = None
    text: str | None = None
    comment: str = ""
    watched: dict[str, float] = field(default_factory=dict)

    @property
    def correct(self) -> bool | None:
        """Whether the intact video was preferred; None where that was not asked."""
        return None if self.choice is None else self.choice == "intact"


def read_records(
    connection: Connection, task: Task | None = None, *, only_finished: bool = False
) -> list[Record]:
    """All that was said, in the order of the units and workers."""
    query = (
        select(
            votes.c.id.label("vote"),
            votes.c.step,
            votes.c.answer,
            votes.c.comment,
            votes.c.seconds.label("took"),
            votes.c.watched,
            votes.c.at,
            sittings.c.id.label("sitting"),
            sittings.c.left_video,
            sittings.c.done_at,
            workers.c.label,
            workers.c.excluded,
            units,
        )
        .select_from(votes.join(sittings).join(units, votes.c.unit_id == units.c.id))
        .join(workers, votes.c.worker_id == workers.c.id)
        .order_by(units.c.task, units.c.key, workers.c.label)
    )
    if task is not None:
        query = query.where(units.c.task == task.value)
    grouped: dict[str, list[Any]] = {}
    for row in connection.execute(query):
        grouped.setdefault(row.sitting, []).append(row)
    records = [_record(rows) for rows in grouped.values()]
    return [record for record in records if record.finished or not only_finished]


def without_excluded(records: Iterable[Record]) -> list[Record]:
    """What remains when the votes of excluded workers are left out."""
    return [record for record in records if not record.excluded]


def _record(rows: list[Any]) -> Record:
    task = Task(rows[0].task)
    rows = sorted(rows, key=lambda row: STEPS[task].index(Step(row.step)))
    last = rows[-1]
    said: dict[str, Any] = {}
    for row in rows:
        match Step(row.step):
            case Step.CHOICE:
                said["choice"] = PICKED[row.answer["picked"]]
            case Step.CHECK:
                said["rating"] = row.answer["rating"]
            case Step.RATE:
                said["score"] = row.answer["score"]
            case Step.ANSWERS:
                said["answers"] = row.answer["answers"]
            case Step.REVIEW:
                said["verdict"], said["text"] = row.answer["verdict"], row.answer.get("text")
    sides = ("intact", "changed")
    return Record(
        task=task,
        unit=last.key,
        source=last.source,
        video=last.video,
        name=last.name,
        aspect=last.aspect,
        severity=last.severity,
        clips=last.clip_count,
        worker=last.label,
        left=sides[last.left_video] if of_two(task) else "",
        duration=last.seconds,
        seconds=sum(row.took for row in rows),
        at=last.at,
        gold=last.gold is not None,
        excluded=bool(last.excluded),
        finished=last.done_at is not None,
        vote=last.vote,
        comment="\n".join(row.comment for row in rows if row.comment),
        watched=last.watched,
        **said,
    )


# Filtering: which pairs people confirm, the paper's Table 3, and a testbed of what is left.


@dataclass(frozen=True, slots=True)
class Filtering:
    """What became of the pairs."""

    by_aspect: Mapping[str, FilteredPairs]
    unrated: int
    """Pairs with fewer ratings than asked for: neither confirmed nor refused, so left out."""

    @property
    def kept(self) -> frozenset[str]:
        """The units that stay."""
        return frozenset(key for found in self.by_aspect.values() for key in found.kept)

    @property
    def total(self) -> Retention:
        """The last row of the table."""
        return sum((one.retention for one in self.by_aspect.values()), Retention(0, 0, 0))


def filter_records(records: Iterable[Record], *, units: Mapping[str, str], least: int) -> Filtering:
    """Apply the rule to all pairs (``units``: key to aspect) with at least ``least`` ratings."""
    ratings: dict[str, list[str]] = defaultdict(list)
    for record in records:
        if record.rating is not None and not record.gold:
            ratings[record.unit].append(record.rating)
    rated: dict[str, dict[str, list[str]]] = defaultdict(dict)
    unrated = 0
    for key, aspect in units.items():
        if len(ratings[key]) < least:
            unrated += 1
        else:
            rated[aspect][key] = ratings[key]
    order = [aspect.value for aspect in Aspect]
    aspects = sorted(rated, key=lambda one: order.index(one) if one in order else len(order))
    return Filtering({aspect: filter_pairs(rated[aspect]) for aspect in aspects}, unrated)


def write_filtered(folder: Path, out: Path, kept: frozenset[str]) -> Testbed:
    """A testbed with the kept pairs only, and the placebos as they were.

    The folder must be empty, so that nothing of another testbed is mixed in.
    """
    testbed = read_testbed(folder)
    pairs = [
        pair for pair in testbed.pairs if pair.kind is PairKind.PLACEBO or unit_key(pair) in kept
    ]
    rule = {"filtered": "count(C) = 0 and count(A) > count(B)"}
    filtered = subset_of(testbed, pairs, rule)
    write_subset(folder, out, filtered)
    return filtered
