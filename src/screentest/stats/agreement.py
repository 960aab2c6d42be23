"""Agreement of raters beyond chance, and raters to review.

Ratings are given unit by unit: each unit is the list of what its raters said. A rating that
is missing is simply not in the list.

>>> round(krippendorff([[1, 1], [2, 2], [1, 2], [2, 2]], level="nominal").unwrap(), 3)
0.533
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

import numpy as np

from screentest._util.collect import grouped
from screentest.core import Outcome
from screentest.stats.arrays import Floats, undefined

Units: TypeAlias = Sequence[Sequence[Hashable]]
Level: TypeAlias = Literal["nominal", "ordinal", "interval"]


def krippendorff(units: Units, *, level: Level = "nominal") -> Outcome[float]:
    """Krippendorff's α: 1 is full agreement, 0 what chance gives; any raters, gaps allowed.

    ``ordinal`` and ``interval`` need numbers. Units with fewer than two ratings say nothing
    about agreement and are left out.
    """
    rated = [list(unit) for unit in units if len(unit) >= 2]
    if not rated:
        return undefined("no unit has two ratings")
    categories = _categories(rated, level)
    if len(categories) < 2:
        return undefined("all ratings are the same, so chance would agree as well")
    place = {category: number for number, category in enumerate(categories)}
    coincidences = np.zeros((len(categories), len(categories)))
    for unit in rated:
        counts = np.bincount([place[rating] for rating in unit], minlength=len(categories))
        pairs = np.outer(counts, counts) - np.diag(counts)
        coincidences += pairs / (len(unit) - 1)
    totals = coincidences.sum(axis=1)
    distance = _distances(categories, totals, level)
    observed = float((coincidences * distance).sum())
    expected = float((np.outer(totals, totals) * distance).sum()) / float(totals.sum() - 1)
    return Outcome.of(1 - observed / expected)


def fleiss(units: Units) -> Outcome[float]:
    """Fleiss' κ of equally many raters per unit, who need not be the same people."""
    if not units or len(units[0]) < 2:
        return undefined("no unit has two ratings")
    raters = len(units[0])
    if any(len(unit) != raters for unit in units):
        return undefined(
            "units have unequally many ratings", "Use Krippendorff's alpha, which allows it."
        )
    counts = [Counter(unit) for unit in units]
    agreed = sum(n * (n - 1) for unit in counts for n in unit.values())
    observed = agreed / (len(units) * raters * (raters - 1))
    pooled = sum(counts, Counter[Hashable]())
    ratings = len(units) * raters
    chance = sum((n / ratings) ** 2 for n in pooled.values())
    if len(pooled) < 2:
        return undefined("all ratings are the same, so chance would agree as well")
    return Outcome.of((observed - chance) / (1 - chance))


def _categories(rated: list[list[Hashable]], level: Level) -> Sequence[Hashable]:
    result = {rating for unit in rated for rating in unit}
    if level == "nominal":
        return sorted(result, key=lambda rating: (str(type(rating)), str(rating)))
    numbers = [rating for rating in result if isinstance(rating, int | float)]
    if len(numbers) < len(result) or not np.isfinite(numbers).all():
        raise ValueError(f"{level} agreement needs ratings that are finite numbers")
    return sorted(numbers)


def _distances(categories: Sequence[Hashable], totals: Floats, level: Level) -> Floats:
    size = len(categories)
    if level == "nominal":
        return 1 - np.eye(size)
    if level == "interval":
        values = np.array(categories, dtype=np.float64)
    else:
        # An ordinal step is as wide as the ratings on it.
        values = np.cumsum(totals) - totals / 2
    return np.subtract.outer(values, values) ** 2


@dataclass(frozen=True, slots=True)
class Vote:
    """One worker's answer on one pair, and its time."""

    worker: str
    pair: str
    task: str
    """The configuration whose votes are comparable, such as the aspect."""
    seconds: float
    duration: float
    """Of the two videos together, in seconds."""
    answer: str
    correct: bool | None = None
    """Return True where the original was preferred; None where that was not asked."""
    watched: float | None = None
    """The share that was played of the video of which less was; None where nobody knows."""
    harmed: float = 0.0
    """Seconds of both videos in which the harm is to be seen; 0 where nobody knows."""


class Sign(StrEnum):
    """A sign against a worker. Stored: members are added, never renamed."""

    TOO_FAST = "too_fast"
    DISAGREES = "disagrees"
    INACCURATE = "inaccurate"
    UNSEEN = "unseen"
    HASTY = "hasty"


@dataclass(frozen=True, slots=True)
class WorkerRules:
    """The thresholds; where the paper gives none, ours, which lean to sparing workers."""

    fastest: float = 0.1
    """A vote is too fast among this share of its task's, seconds per second of video."""
    pace: float = 0.25
    """A vote is hasty that took less than this share of the seconds in which the harm is seen."""
    agreeing: float = 0.8
    """Others agree where this share of them gave one answer (4 of 5)…"""
    others: int = 4
    """…and they are at least so many."""
    scale: tuple[str, ...] = ("A", "B", "C")
    steps: int = 2
    """Answers so far apart on the scale contradict each other; off it, any two do."""
    easy: float = 0.8
    """A task is easy where most workers are right at least so often."""
    low: float = 0.2
    """A worker is inaccurate who is right at most so often on easy tasks."""
    least: float = 0.5
    """A video is unseen of which less than this share was played."""
    consistently: float = 0.5
    """Too fast, or unseen, in this share of all votes is a sign."""
    repeatedly: float = 0.2
    """So is contradicting others in this share of the votes where they agree, and at least
    twice. Who answers at random on three steps contradicts a third of the time."""
    votes: int = 5
    """A sign needs so many votes to rest on."""
    signs: int = 2
    """So many signs together flag a worker; being hasty does so alone, since it needs no others to
    compare with: where a third are lazy, hardly anybody is faster than the rest."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One sign against a worker: in how many of the votes that could show it."""

    sign: Sign
    count: int
    of: int

    @property
    def share(self) -> float:
        return self.count / self.of


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """Summary of the votes of one worker."""

    worker: str
    votes: int
    signs: tuple[Evidence, ...]
    flagged: bool
    """For review by a person, not for exclusion by itself."""


def review_workers(votes: Iterable[Vote], rules: WorkerRules = WorkerRules()) -> list[WorkerReport]:
    """Return a report on every worker, by name.

    Three signs are those of the SLVMEval paper's appendix A.4; the others are that videos were not
    played, and that there was no time to see the harm, where that is known. A worker is flagged by
    the last or where several agree, and a person decides.
    """
    everything = list(votes)
    result: dict[str, list[Evidence]] = defaultdict(list)
    for evidence in (
        _too_fast(everything, rules),
        _disagreeing(everything, rules),
        _inaccurate(everything, rules),
        _unseen(everything, rules),
        _hasty(everything, rules),
    ):
        for worker, sign in evidence.items():
            result[worker].append(sign)
    cast = Counter(vote.worker for vote in everything)
    return [
        WorkerReport(
            worker,
            cast[worker],
            tuple(result[worker]),
            len(result[worker]) >= rules.signs
            or any(evidence.sign is Sign.HASTY for evidence in result[worker]),
        )
        for worker in sorted(cast)
    ]


def _too_fast(votes: Sequence[Vote], rules: WorkerRules) -> dict[str, Evidence]:
    paces: dict[str, list[float]] = defaultdict(list)
    for vote in votes:
        if vote.duration <= 0 or vote.seconds < 0:
            raise ValueError(f"invalid times of {vote.worker}'s vote on {vote.pair}")
        paces[vote.task].append(vote.seconds / vote.duration)
    # Strictly below, so that where all take equally long nobody is fast.
    border = {task: float(np.quantile(pace, rules.fastest)) for task, pace in paces.items()}
    shown = [(vote.worker, vote.seconds / vote.duration < border[vote.task]) for vote in votes]
    return _habits(Sign.TOO_FAST, shown, rules.consistently, rules)


def _unseen(votes: Sequence[Vote], rules: WorkerRules) -> dict[str, Evidence]:
    shown = [
        (vote.worker, vote.watched < rules.least) for vote in votes if vote.watched is not None
    ]
    return _habits(Sign.UNSEEN, shown, rules.consistently, rules)


def _hasty(votes: Sequence[Vote], rules: WorkerRules) -> dict[str, Evidence]:
    shown = [
        (vote.worker, vote.seconds < rules.pace * vote.harmed) for vote in votes if vote.harmed
    ]
    return _habits(Sign.HASTY, shown, rules.consistently, rules)


def _disagreeing(votes: Sequence[Vote], rules: WorkerRules) -> dict[str, Evidence]:
    answers: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for vote in votes:
        answers[vote.task, vote.pair][vote.answer] += 1
    shown = []
    for vote in votes:
        others = answers[vote.task, vote.pair].copy()
        others[vote.answer] -= 1
        answer, count = max(others.items(), key=lambda entry: entry[1])
        if others.total() >= rules.others and count >= rules.agreeing * others.total():
            if {vote.answer, answer} <= set(rules.scale):
                apart = abs(rules.scale.index(vote.answer) - rules.scale.index(answer))
                shown.append((vote.worker, apart >= rules.steps))
            else:
                shown.append((vote.worker, vote.answer != answer))
    return _habits(Sign.DISAGREES, shown, rules.repeatedly, rules)


def _inaccurate(votes: Sequence[Vote], rules: WorkerRules) -> dict[str, Evidence]:
    right: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for vote in votes:
        if vote.correct is not None:
            right[vote.task][vote.worker].append(vote.correct)
    on_easy: dict[str, list[bool]] = defaultdict(list)
    for workers in right.values():
        good = sum(_share(mine) >= rules.easy for mine in workers.values())
        if good > len(workers) / 2:
            for worker, mine in workers.items():
                on_easy[worker] += mine
    return {
        worker: Evidence(Sign.INACCURATE, len(mine) - sum(mine), len(mine))
        for worker, mine in on_easy.items()
        if len(mine) >= rules.votes and _share(mine) <= rules.low
    }


def _habits(
    sign: Sign, shown: Iterable[tuple[str, bool]], often: float, rules: WorkerRules
) -> dict[str, Evidence]:
    return {
        worker: Evidence(sign, sum(mine), len(mine))
        for worker, mine in grouped(shown).items()
        if len(mine) >= rules.votes and sum(mine) > 1 and _share(mine) >= often
    }


def _share(marks: Sequence[bool]) -> float:
    return sum(marks) / len(marks)
