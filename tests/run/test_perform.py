"""One task, several records: each fails alone, and only what all would meet stops the run."""

from __future__ import annotations

from typing import Any

import pytest

from screentest.core import BadOption, NoValue, Outcome, Reason, RunError, Score
from screentest.models.chat.ledger import MemoryLedger
from screentest.run._perform import perform
from screentest.run.records import RecordKey, decode

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
    [{}, {"bad": Outcome.of(NotWritable())}, {"bad": 0.5}],
    ids=["nothing", "no JSON", "no outcome"],
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
        raising(BadOption("clip 3 lies beyond the end", advice="Mend the script.")),
        [GOOD],
        None,
        MemoryLedger(),
    )
    (stored,) = (decode(one.text) for one in performance.outcomes)
    failure = stored["good"].failure
    assert failure is not None
    assert (failure.reason, failure.advice) == (Reason.CRASHED, "Mend the script.")


def test_what_every_task_would_meet_stops_the_run() -> None:
    with pytest.raises(RunError):
        perform(raising(RunError("no price")), [GOOD], None, MemoryLedger())


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
