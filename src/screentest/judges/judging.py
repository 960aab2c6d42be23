"""Judging pairs into a run: each question is one record, in both orders of presentation.

A judge that looks at both videos is asked; one that rates videos alone is worked out from the
scores of its metrics, which are measured once per video.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from screentest.core import (
    Aspect,
    Failure,
    Item,
    Judge,
    Outcome,
    Outcomes,
    Point,
    Question,
    RatingJudge,
    Reason,
    Score,
    Signature,
    Verdict,
    prefer_higher,
)
from screentest.run import (
    Finished,
    Job,
    RecordKey,
    Results,
    RunStore,
    Stamp,
    Task,
    hash_parts,
)
from screentest.run.records import encode
from screentest.run.session import Settings, Tools, open_tools
from screentest.score.evaluators import Evaluator, Signed, resolve
from screentest.score.measure import guarded, must_be_outcome, refuse_faults

ASK = "screentest.judges.judging:ask_judge"
_EVIDENCE = 5
"""Points of a curve that go into a verdict; all of it is in the record of the metric."""
_WRITTEN_TOGETHER = 500
_ROUNDING = 1e-9
"""Scores nearer than this share of theirs differ by the order of additions alone."""


class Order(StrEnum):
    """Which video of a contest is presented first."""

    AS_GIVEN = "first_second"
    SWAPPED = "second_first"


@dataclass(frozen=True, slots=True)
class Contest:
    """Two videos and the aspect they are compared in."""

    id: str
    aspect: Aspect
    prompt: str
    first: Item
    second: Item

    def question(self, order: Order, repeat: int = 0) -> Question:
        """What a judge is asked, the videos in this order.

        Their ids and groups may tell which of them is intact, so that it gets neither.
        """
        pair = (self.first, self.second)
        first, second = pair if order is Order.AS_GIVEN else pair[::-1]
        return Question(
            self.aspect,
            self.prompt,
            replace(first, id="first", groups={}),
            replace(second, id="second", groups={}),
            repeat,
        )


@dataclass(frozen=True, slots=True)
class Asking:
    """What a worker is given."""

    judge: str
    contests: Mapping[RecordKey, Contest]
    settings: Settings


def ask_judge(job: Job) -> Results:
    """Ask a judge about some contests, one question after the other. Runs in a worker."""
    task: Asking = job.payload
    tools = open_tools(task.settings)
    tools.attach(job.ledger)
    judge = resolve(task.judge, "judge").judge
    assert isinstance(judge, Judge)
    answers: dict[RecordKey, dict[str, Outcome[Verdict]]] = {}
    for key in job.keys:
        question = task.contests[key].question(Order(key.order), key.repeat)
        with job.noting(key):
            answers[key] = {key.evaluator: _answer(judge, question, tools)}
    return answers


def _answer(judge: Judge, question: Question, tools: Tools) -> Outcome[Verdict]:
    """The verdict; a fault on one question is its own, not that of those beside it."""

    def ask() -> Outcome[Verdict]:
        # Whoever is shown frames would take half a film for a short one. Votes are no frames.
        if judge.info.roles and not tools.settings.allow_damaged:
            for item in (question.first, question.second):
                refuse_faults(tools.info(item.video))
        return must_be_outcome(judge.judge(question, tools), Verdict)

    found = guarded(ask, "judge")
    return Outcome(failure=found) if isinstance(found, Failure) else found


def contest_key(
    store: RunStore, contest: Contest, signed: Signed, order: Order, repeat: int = 0
) -> RecordKey:
    """The record of one question to one judge."""
    inputs = {
        "first": store.inputs.of_item(contest.first),
        "second": store.inputs.of_item(contest.second),
        "prompt": contest.prompt,
    }
    return RecordKey(
        contest.id,
        signed.evaluator.name,
        contest.aspect,
        order.value,
        repeat,
        str(signed.signature),
        hash_parts(inputs),
    )


def asking_tasks(
    store: RunStore,
    contests: Iterable[Contest],
    judge: Signed,
    settings: Settings,
    *,
    orders: Sequence[Order],
    repeats: int = 1,
) -> list[Task]:
    """One task for all questions about one first video in one aspect.

    They share what is asked of that video alone, such as its description, and its shots. In
    tasks of their own two workers could pay for the same at the same moment.
    """
    groups: dict[tuple[Path, Aspect], dict[RecordKey, Contest]] = {}
    for contest in contests:
        group = groups.setdefault((contest.first.video, contest.aspect), {})
        for order in orders:
            for repeat in range(repeats):
                group[contest_key(store, contest, judge, order, repeat)] = contest
    return [_asking_task(group, judge.evaluator.text, settings) for group in groups.values()]


def _asking_task(group: Mapping[RecordKey, Contest], judge: str, settings: Settings) -> Task:
    videos = {item.video for one in group.values() for item in (one.first, one.second)}
    stamps = [Stamp.of(video) for video in sorted(videos)]
    return Task(
        tuple(group),
        ASK,
        Asking(judge, group, settings),
        timeout=settings.limits.wall_seconds * len(group),
        files=tuple(stamp for stamp in stamps if stamp is not None),
        on_death=Reason.CRASHED,
    )


def rating_signature(evaluator: Evaluator, base: Signature, metrics: Iterable[Signed]) -> Signature:
    """A rating depends on all that its metrics depend on."""
    digests = {f"metric.{one.evaluator.name}": one.signature.digest for one in metrics}
    return base.with_parts(digests)


def rate_contests(
    store: RunStore,
    contests: Sequence[Contest],
    judge: Signed,
    scores: Mapping[str, Mapping[str, Outcomes]],
    *,
    orders: Sequence[Order],
) -> None:
    """Work the verdicts of a rating judge out and write them.

    ``scores`` has the outcomes by item and by spec of the metric; an item that is not there
    yet leaves its contests pending.
    """
    rating = judge.evaluator.judge
    assert isinstance(rating, RatingJudge)
    known = store.reasons()
    planned: list[RecordKey] = []
    ready: list[Finished] = []
    ratings: dict[tuple[str, Aspect], Outcome[Score]] = {}

    def rated(item: Item, aspect: Aspect) -> Outcome[Score] | None:
        if item.id not in scores:
            return None
        if (item.id, aspect) not in ratings:
            found = guarded(
                lambda: must_be_outcome(rating.rate(aspect, scores[item.id]), Score), "judge"
            )
            ratings[item.id, aspect] = (
                Outcome(failure=found) if isinstance(found, Failure) else found
            )
        return ratings[item.id, aspect]

    for contest in contests:
        pair = rated(contest.first, contest.aspect), rated(contest.second, contest.aspect)
        for order in orders:
            key = contest_key(store, contest, judge, order)
            planned.append(key)
            one, two = pair if order is Order.AS_GIVEN else pair[::-1]
            if one is None or two is None or known.get(key) == ():
                continue
            encoded = encode({key.evaluator: verdict(one, two)})
            ready.append(Finished(Task((key,), ASK), (encoded,)))
    store.add_to_plan(planned)
    for start in range(0, len(ready), _WRITTEN_TOGETHER):
        store.write(*ready[start : start + _WRITTEN_TOGETHER])


def verdict(first: Outcome[Score], second: Outcome[Score]) -> Outcome[Verdict]:
    """The higher rating wins; without both ratings there is no verdict."""
    for outcome in (first, second):
        if outcome.failure is not None:
            return Outcome(failure=outcome.failure)
    one, two = first.unwrap(), second.unwrap()
    margin = _ROUNDING * max(abs(one.value), abs(two.value))
    plain = prefer_higher(one.value, two.value, margin=margin)
    return Outcome.of(Verdict(plain.choice, one.value, two.value, "", evidence(one), evidence(two)))


def evidence(score: Score) -> tuple[Point, ...]:
    """The worst moments of a curve, in order of time."""
    worst = sorted(score.curve, key=lambda point: point.value)[:_EVIDENCE]
    return tuple(sorted(worst, key=lambda point: point.span.start))
