"""A fault of one metric or judge is its own; what every item would meet ends the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

import pytest

from screentest.core import (
    Aspect,
    BadOption,
    Choice,
    Failure,
    Item,
    JudgeInfo,
    NoValue,
    Outcome,
    Outcomes,
    Question,
    Reason,
    Resources,
    RunDamaged,
    Score,
    ServiceError,
    Spec,
    StorageError,
    UnknownName,
    Verdict,
)
from screentest.core.outcome import guarded
from screentest.judges.cases import Case, Order
from screentest.judges.verdicts import _answer, rate_cases
from screentest.measure.evaluators import Evaluator
from screentest.run.session import Settings, Tools
from screentest.run.store import RunStore
from screentest.sample import sample_videos


def raising(error: Exception) -> Callable[[], NoReturn]:
    def step() -> NoReturn:
        raise error

    return step


def test_what_a_step_gives_is_handed_on() -> None:
    assert guarded(lambda: 7, "metric") == 7


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (NoValue(Reason.REFUSED, "no"), Reason.REFUSED),
        (BadOption("a script beyond the end"), Reason.CRASHED),
        (ZeroDivisionError("a slip"), Reason.CRASHED),
    ],
)
def test_a_fault_becomes_a_failure(error: Exception, reason: Reason) -> None:
    found = guarded(raising(error), "judge")
    assert isinstance(found, Failure)
    assert found.reason is reason
    assert ("Traceback" in found.detail) == isinstance(error, ZeroDivisionError)


@pytest.mark.parametrize("kind", [RunDamaged, ServiceError, StorageError, UnknownName])
def test_what_every_item_would_meet_is_raised(kind: type[Exception]) -> None:
    with pytest.raises(kind):
        guarded(raising(kind("everywhere")), "metric")


def resolved(name: str, thing: object) -> Evaluator:
    spec = Spec("judge", name, 1)
    return Evaluator("judge", name, spec, thing, spec.signature)


class Slipping:
    """A judge that cannot rate one aspect."""

    info = JudgeInfo("a judge with a slip")
    metrics = ("one",)

    def rate(self, aspect: Aspect, scores: Mapping[str, Outcomes]) -> Outcome[Score]:
        if aspect is Aspect.COLOR:
            raise ZeroDivisionError("a slip in the judge")
        return scores["one"]["one"]


def test_a_rating_that_fails_leaves_the_others(tmp_path: Path) -> None:
    first, second = Item("a", tmp_path / "a.mp4"), Item("b", tmp_path / "b.mp4")
    cases = [
        Case(aspect.value, aspect, "", first, second)
        for aspect in (Aspect.COLOR, Aspect.AESTHETICS)
    ]
    judge = resolved("slipping", Slipping())
    scores = {
        name: {"one": {"one": Outcome.of(Score(value))}} for name, value in (("a", 1.0), ("b", 2.0))
    }
    with RunStore(tmp_path / "run", command="test") as store:
        rate_cases(store, cases, judge, scores, orders=tuple(Order))
        found = {
            (record.key.aspect, record.key.order): record.outcomes["slipping"]
            for record in store.records()
        }
    assert len(found) == 4
    for order in Order:
        lost = found["color", order.value].failure
        assert lost is not None
        assert lost.reason is Reason.CRASHED
        assert found["aesthetics", order.value].ok


class Babbling:
    """A judge that returns whatever it was made with."""

    info = JudgeInfo("nonsense")
    metrics = ("one",)

    def __init__(self, said: object) -> None:
        self.said = said

    def rate(self, aspect: Aspect, scores: Mapping[str, Outcomes]) -> Outcome[Score]:
        return self.said  # type: ignore[return-value]

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        return self.said  # type: ignore[return-value]


NONSENSE = [None, 0.5, "first", Score(0.5), Outcome.of("first"), Outcome.of({"choice": "first"})]


@pytest.mark.parametrize("said", NONSENSE, ids=str)
def test_a_rating_that_is_none_fails_and_ends_no_run(said: object, tmp_path: Path) -> None:
    first, second = Item("a", tmp_path / "a.mp4"), Item("b", tmp_path / "b.mp4")
    judge = resolved("babbling", Babbling(said))
    cases = [Case("pair", Aspect.COLOR, "", first, second)]
    with RunStore(tmp_path / "run", command="test") as store:
        rate_cases(store, cases, judge, {"a": {}, "b": {}}, orders=tuple(Order))
        reasons = [list(record.reasons) for record in store.records()]
    assert reasons == [[Reason.CRASHED], [Reason.CRASHED]]


@pytest.mark.parametrize("said", NONSENSE, ids=str)
def test_a_verdict_that_is_none_fails(said: object, tmp_path: Path) -> None:
    item = Item("a", tmp_path / "a.mp4")
    question = Case("pair", Aspect.COLOR, "", item, item).question(Order.AS_GIVEN)
    found = _answer(Babbling(said), question, Tools(Settings()))
    assert found.failure is not None
    assert found.failure.reason is Reason.CRASHED


class Shown:
    """A judge that a model answers for; it likes whatever comes first."""

    def __init__(self, *roles: str) -> None:
        self.info = JudgeInfo("the first", roles=roles)

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        return Outcome.of(Verdict(Choice.FIRST))


def test_half_a_film_is_not_put_before_a_model(tmp_path: Path) -> None:
    film = sample_videos()[2].item
    half = tmp_path / "half.mp4"
    half.write_bytes(film.video.read_bytes()[:-400_000])
    question = Question(Aspect.COLOR, "", film, Item("half", half))
    lost = _answer(Shown("chat.judge"), question, Tools(Settings())).failure
    assert lost is not None
    assert lost.reason is Reason.UNDECODABLE
    assert _answer(Shown("chat.judge"), question, Tools(Settings(allow_damaged=True))).ok
    assert _answer(Shown(), question, Tools(Settings())).ok, "people's votes need no frames"
