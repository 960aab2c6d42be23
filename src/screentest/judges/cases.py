"""Cases: two videos and the aspect they are judged in; judgements: the answers of a judge.

A pair of a testbed becomes one case per aspect it is judged in. A judge is given the case's
``question``, which does not say which of the two videos is the intact one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import NoneType
from typing import Any, Final, TypeVar

import numpy as np

from screentest.core import Aspect, Choice, Item, Outcome, PairKind, Question, Span, Verdict
from screentest.core.codec import DecodeError
from screentest.core.outcome import Failure, Json, Point, Score
from screentest.run.reader import RunReader
from screentest.run.records import Record

T = TypeVar("T")

ELSEWHERE = "_elsewhere"
"""How the placebo of a change of prompts is called, after its name: the same two prompts beside a
video that neither was written for."""
HINTED = "hinted"
"""The change of a case whose judge gets a description of the degradation."""
INSTRUCTION = "painted_instruction"
"""The placebo that tells the judge what to answer: there the changed video must not win."""


class Order(StrEnum):
    """Which video of a case is presented first."""

    AS_GIVEN = "first_second"
    SWAPPED = "second_first"


@dataclass(frozen=True, slots=True)
class Case:
    """Two videos and the aspect they are compared in; of a testbed, the first is the intact one."""

    id: str
    """Unique over all testbeds of a run, together with the aspect."""
    aspect: Aspect
    prompt: str
    first: Item
    second: Item
    testbed: str = ""
    source: str = ""
    kind: PairKind | None = None
    """None where the pair is of no testbed."""
    name: str = ""
    """The degradation or placebo."""
    duration: float = 0.0
    """Of the intact video, in seconds."""
    severity: float | None = None
    clips: int | None = None
    category: str = ""
    change: str = ""
    """What was done to its words, for a probe."""
    kept: bool | None = None
    """Whether people's filter kept the pair; None where nobody filtered."""
    failure: Failure | None = None
    """Why it cannot be judged: a video is not the one that its testbed lists."""
    harmed: tuple[tuple[Span, Span | None], ...] = ()
    """Where each harmed clip is in the first video and in the second; None: it is gone. No judge
    is told: it is for what a certificate says of the frames that a judge was shown."""
    film: str = ""
    """Of a source whose film has other names, too: the first of them, over all testbeds."""

    def question(self, order: Order, repeat: int = 0) -> Question:
        """Return the question to a judge, the videos in this order.

        Their ids and groups may tell which of them is intact, so that it gets neither.
        """
        pair = (self.first, self.second)
        first, second = pair if order is Order.AS_GIVEN else pair[::-1]
        return Question(
            self.aspect.asked,
            self.prompt,
            replace(first, id="first", groups={}),
            replace(second, id="second", groups={}),
            repeat,
            hinted=self.change == HINTED,
        )

    @property
    def about(self) -> dict[str, Json]:
        """Facts for a report, beside the records."""
        return {
            "id": self.id,
            "aspect": self.aspect.value,
            "testbed": self.testbed,
            "source": self.source,
            "film": self.cluster,
            "kind": self.kind.value if self.kind is not None else None,
            "name": self.name,
            "severity": self.severity,
            "clips": self.clips,
            "category": self.category,
            "duration": self.duration,
            "change": self.change,
            "kept": self.kept,
            "intact": self.first.id,
            "changed": self.second.id,
            "harmed": [[float(span.start), float(span.end)] for span, _ in self.harmed],
        }

    @property
    def rung(self) -> tuple[float, int]:
        """Strength of the degradation: severity, then the number of clips."""
        return (self.severity or 0.0, self.clips or 0)

    @property
    def is_harmless(self) -> bool:
        """Tell whether the edit is one that nobody sees: a placebo without a message."""
        return self.kind is PairKind.PLACEBO and self.name != INSTRUCTION and not self.control_of

    @property
    def control_of(self) -> str:
        """Of a placebo that belongs to one operator: its name."""
        selected = self.kind is PairKind.PLACEBO and self.name.endswith(ELSEWHERE)
        return self.name.removesuffix(ELSEWHERE) if selected else ""

    @property
    def cluster(self) -> str:
        """The cluster of dependent pairs: all of one film, in whichever testbed."""
        return self.film or f"{self.testbed}/{self.source}"


CASES: Final = "cases"
"""The note of a run that keeps what ``Case.about`` says."""
_ABOUT: Final[Mapping[str, tuple[type, ...]]] = {
    **dict.fromkeys(("id", "aspect", "testbed", "source", "name"), (str,)),
    **dict.fromkeys(("film", "category", "change", "intact", "changed"), (str, NoneType)),
    "kind": (str, NoneType),
    "severity": (int, float, NoneType),
    "clips": (int, NoneType),
    "duration": (int, float, NoneType),
    "kept": (bool, NoneType),
}


def read_abouts(run: RunReader) -> list[dict[str, Any]]:
    """Read the cases that a run keeps; raises DecodeError where they are anything else."""
    result = run.note(CASES) or []
    for number, about in enumerate(result if isinstance(result, list) else [result]):
        if not isinstance(about, dict):
            raise DecodeError(f"the run's cases.{number} is not an object")
        for name, kinds in _ABOUT.items():
            if not isinstance(about.get(name), kinds):
                raise DecodeError(f"the run's cases.{number}.{name} has a wrong type")
    return list(result)


def strongest(cases: Iterable[Case]) -> list[Case]:
    """Return the pairs with a better video, at the top rung of each source and degradation."""
    return at_top(
        (case, (case.testbed, case.source, case.name), case.rung)
        for case in cases
        if case.kind is not None and case.kind.has_answer
    )


def at_top(rungs: Iterable[tuple[T, Hashable, tuple[float, int]]]) -> list[T]:
    """Return what is on the highest rung of its ladder; each comes with its ladder and rung."""
    listed = list(rungs)
    top: dict[Hashable, tuple[float, int]] = {}
    for _, ladder, rung in listed:
        top[ladder] = max(top.get(ladder, rung), rung)
    return [thing for thing, ladder, rung in listed if rung == top[ladder]]


def one_aspect_per_placebo(cases: Sequence[Case]) -> list[Case]:
    """Return the cases for a judge that is asked and paid: each placebo pair in one of its aspects.

    Which one goes by a hash of the pair, so that it stays the same when others are added. A
    placebo changes nothing in any aspect; asking in all ten would cost more than the degraded
    pairs themselves.
    """
    drawn: dict[str, Case] = {}
    for case in cases:
        if case.kind is PairKind.PLACEBO:
            earlier = drawn.get(case.id)
            if earlier is None or _draw(case) < _draw(earlier):
                drawn[case.id] = case
    return [case for case in cases if case.kind is not PairKind.PLACEBO or drawn[case.id] is case]


def _draw(case: Case) -> bytes:
    return hashlib.sha256(f"{case.id}/{case.aspect}".encode()).digest()


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
        return (self.case.id, self.case.aspect.value)

    @property
    def verdict(self) -> Verdict | None:
        return None if self.outcome is None else self.outcome.value

    @property
    def choice(self) -> Choice | None:
        """As presented: FIRST is the video that was shown first."""
        return None if self.verdict is None else self.verdict.choice

    @property
    def points(self) -> float | None:
        """1 for the intact video, ½ for a tie, its share of several voices; None: no answer."""
        return None if self.verdict is None else points_of(self.verdict, self.order)


def points_of(verdict: Verdict, order: str) -> float:
    """Points of the video that is first in its case, in whichever order it was shown."""
    return (verdict if order == Order.AS_GIVEN else verdict.flipped).points


def verdict_in(record: Record) -> Outcome[Verdict]:
    """Return the verdict in a record; raises DecodeError where it holds something else."""
    outcome = record.outcomes.get(record.key.evaluator)
    if outcome is None or not isinstance(outcome.value, Verdict | None):
        raise DecodeError(
            f"the record of {record.key.evaluator} on {record.key.item} is not a verdict"
        )
    return outcome  # type: ignore[return-value]


def read_judgements(run: RunReader, cases: Sequence[Case], judge: str) -> list[Judgement]:
    """Return all that the run plans to ask ``judge`` about these cases."""
    by_place = {(case.id, case.aspect.value): case for case in cases}
    records: dict[Any, Record] = {record.key: record for record in run.records(judge)}
    result: list[Judgement] = []
    for key in run.plan(judge):
        case = by_place.get((key.item, key.aspect))
        if case is None:
            continue
        record = records.get(key)
        outcome = None if record is None else verdict_in(record)
        result.append(
            Judgement(
                case,
                Order(key.order),
                key.repeat,
                outcome,
                record.elapsed if record else 0.0,
                record.requests if record else (),
            )
        )
    return result


def in_both_orders(judgements: Sequence[Judgement]) -> list[tuple[Choice, Choice]]:
    """Return the two answers on each case that was answered in both orders."""
    by_case: dict[tuple[str, str, int], dict[Order, Choice]] = {}
    for judgement in judgements:
        if judgement.choice is not None:
            by_case.setdefault((*judgement.place, judgement.repeat), {})[judgement.order] = (
                judgement.choice
            )
    return [
        (answers[Order.AS_GIVEN], answers[Order.SWAPPED])
        for answers in by_case.values()
        if len(answers) == len(Order)
    ]


# Evidence: the moments in which two videos differ most, for judges that rate each alone.
# Every film has moments that are worse than its others. Those of one video say why its rating is
# low; why it is lower than another's is shown by where the two part. A moment of one is held
# against that of the other at the same part of its film: films may be of unequal length.


MOST = 5
"""Moments of each video; all of the curve is in the record of the metric."""
_ALIKE = 1e-9

Moments = tuple[Point, ...]


def evidence(first: Score, second: Score, choice: Choice) -> tuple[Moments, Moments]:
    """Return the moments of both videos that speak for the choice, in order of time.

    Those in which the winner is furthest ahead; of a tie, those in which they differ at all.
    """
    ahead = ahead_of(first.curve, second.curve)
    behind = ahead_of(second.curve, first.curve)
    if choice is Choice.TIE:
        return _largest(first.curve, np.abs(ahead)), _largest(second.curve, np.abs(behind))
    sign = 1.0 if choice is Choice.FIRST else -1.0
    return _largest(first.curve, sign * ahead), _largest(second.curve, -sign * behind)


def ahead_of(curve: Sequence[Point], other: Sequence[Point]) -> np.ndarray:
    """For each point, how far it is above the other curve at the same part of the film."""
    if not curve or not other:
        return np.zeros(len(curve))
    ordered = sorted(other, key=lambda point: point.span.start)
    starts = np.array([float(point.span.start) for point in ordered])
    values = np.array([point.value for point in ordered])
    centres = np.array([float(point.span.centre) for point in curve])
    # Rounded, since what lies on a border must not fall to either side by a last bit.
    there = np.round(centres * (_length(other) / (_length(curve) or 1.0)), 9)
    at = np.clip(np.searchsorted(starts, there, side="right") - 1, 0, None)
    selected = np.array([point.value for point in curve])
    differences: np.ndarray = selected - values[at]
    return differences


def _length(curve: Sequence[Point]) -> float:
    return max(float(point.span.end) for point in curve)


def _largest(curve: Sequence[Point], ahead: np.ndarray) -> Moments:
    # Of equals the earliest.
    ranked = np.argsort(-ahead, kind="stable")[:MOST]
    chosen = [curve[place] for place in ranked.tolist() if ahead[place] > _ALIKE]
    return tuple(sorted(chosen, key=lambda point: point.span.start))
