"""One task, several records: each fails alone, and only what all would meet stops the run."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from screentest.core import (
    BadOption,
    CallIntent,
    CallReceipt,
    CallStatus,
    Choice,
    NoValue,
    Outcome,
    Reason,
    RunError,
    Score,
    Verdict,
)
from screentest.models.chat.costs import MemoryLedger
from screentest.run.records import RecordKey, decode
from screentest.run.tasks import Job
from screentest.run.worker import perform
from tests.messages import names

GOOD, BAD = RecordKey("film", "good"), RecordKey("film", "bad")


class NotWritable:
    """What no record can hold."""


def reasons(outcomes: Any) -> list[str]:
    performance = perform(lambda job: outcomes, [GOOD, BAD], None, MemoryLedger())
    stored = [decode(one.text) for one in performance.outcomes]
    return [
        outcome.failure.reason.value if outcome.failure else "value"
        for values in stored
        for outcome in values.values()
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"bad": Outcome.of(NotWritable())},
        {"bad": 0.5},
        {"bad": Outcome.of(Verdict(Choice.FIRST, rationale=None))},  # type: ignore[arg-type]
        {"bad": Outcome.of(Score(0.5, curve=(None,)))},  # type: ignore[arg-type]
    ],
    ids=["nothing", "no JSON", "no outcome", "no rationale", "no point"],
)
def test_what_cannot_be_written_fails_its_own_record(wrong: Any) -> None:
    fine = {"good": Outcome.of(Score(0.5))}
    assert reasons({GOOD: fine, BAD: wrong}) == ["value", "crashed"]
    assert reasons({GOOD: fine}) == ["value", "crashed"]


def raising(error: Exception) -> Any:
    def function(job: Any) -> Any:
        raise error

    return function


def test_an_option_that_one_item_brings_is_its_own_failure() -> None:
    performance = perform(
        raising(BadOption("clip 3 is beyond the end", advice="Fix the script.")),
        [GOOD],
        None,
        MemoryLedger(),
    )
    (stored,) = (decode(one.text) for one in performance.outcomes)
    failure = stored["good"].failure
    assert failure is not None
    assert (failure.reason, failure.advice) == (Reason.CRASHED, "Fix the script.")


def test_what_every_task_would_meet_stops_the_run() -> None:
    with pytest.raises(RunError):
        perform(raising(RunError("no price")), [GOOD], None, MemoryLedger())


def asks(job: Job, request: str) -> None:
    job.ledger.settle(
        job.ledger.intend(CallIntent(request, "fake-1")),
        CallReceipt(CallStatus.ANSWERED, answer="yes"),
    )


def resting_on(function: Any) -> list[tuple[str, ...]]:
    return list(perform(function, [GOOD, BAD], None, MemoryLedger()).requests)


def test_without_a_word_every_record_rests_on_every_call() -> None:
    def function(job: Job) -> Any:
        asks(job, "b")
        asks(job, "a")
        return {}

    assert resting_on(function) == [("a", "b"), ("a", "b")]


def test_a_call_made_for_one_record_is_noted_there_alone() -> None:
    """Also where another thread makes it, as chat clients do, and where it was paid before."""

    def function(job: Job) -> Any:
        asks(job, "shared")
        with job.noting(GOOD):
            thread = threading.Thread(target=asks, args=(job, "in a thread"))
            thread.start()
            thread.join()
            assert job.ledger.recall("never asked") is None
        with job.noting(BAD):
            assert job.ledger.recall("shared") is not None
            assert job.ledger.recall("in a thread") is not None
        asks(job, "shared later")
        return {}

    good, bad = resting_on(function)
    assert good == ("in a thread", "shared", "shared later")
    assert bad == ("in a thread", "shared", "shared later")

    def apart(job: Job) -> Any:
        with job.noting(GOOD):
            asks(job, "good")
        with job.noting(BAD):
            asks(job, "bad")
            with job.noting(GOOD):
                asks(job, "both")
        raise NoValue(Reason.REFUSED, "what was asked stays asked")

    assert resting_on(apart) == [("both", "good"), ("bad", "both")]


def test_a_record_of_another_task_is_refused() -> None:
    def function(job: Job) -> Any:
        with job.noting(RecordKey("film", "other")):
            return {}

    performance = perform(function, [GOOD], None, MemoryLedger())
    assert names(performance.outcomes[0].text, "film", "other")


def test_a_job_with_any_other_ledger_works_the_same() -> None:
    job = Job((GOOD,), None, MemoryLedger())
    with job.noting(GOOD):
        asks(job, "r")
    assert job.ledger.recall("r") is not None


def test_a_typed_reason_stays_what_it_is() -> None:
    performance = perform(
        raising(NoValue(Reason.NOT_APPLICABLE, "no humans")), [GOOD, BAD], None, MemoryLedger()
    )
    assert {
        outcome.failure.reason
        for one in performance.outcomes
        for outcome in decode(one.text).values()
        if outcome.failure
    } == {Reason.NOT_APPLICABLE}
