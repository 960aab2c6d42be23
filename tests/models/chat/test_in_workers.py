"""Judging in the worker processes of a run: one ledger, one cap, one message when it must stop."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from screentest.core import Outcome, Reason, Score, ServiceError
from screentest.run.engine import LocalEngine
from screentest.run.execute import Execution, Retry, execute
from screentest.run.reader import RunReader
from screentest.run.records import RecordKey
from screentest.run.store import RunStore
from screentest.run.tasks import Job, Task, TaskResults
from screentest.testing.chat_answers import Act, Answer, Asked, Status
from screentest.testing.chat_server import FakeChatServer
from tests.models.chat.kit import GOOD, chat_at, prices, rating, short


def judge(job: Job) -> TaskResults:
    """A task as a judge would be: it asks for one rating per record."""
    with chat_at(job.payload) as chat:
        chat.attach(job.ledger, prices())
        numbers = [int(key.item) for key in job.keys]
        outcomes = chat.ask([rating(n, sampling=short(), use="test.judge") for n in numbers])
        return {
            key: {"judge": outcome.map(lambda answer: Score(float(answer.value.score)))}
            for key, outcome in zip(job.keys, outcomes, strict=True)
        }


def tasks(url: str, count: int) -> list[Task]:
    keys = [RecordKey(str(number), "judge", signature="judge|v:1") for number in range(count)]
    return [Task((key,), judge, url, timeout=60) for key in keys]


def test_every_call_of_every_worker_is_in_the_ledger_and_under_the_cap(tmp_path: Path) -> None:
    cap = Decimal("0.02")
    with FakeChatServer() as server:
        with RunStore(tmp_path, command="test", max_cost=cap) as store:
            engine = LocalEngine(workers=2)
            first = execute(store, tasks(server.url, 12), engine=engine)
        with RunReader(tmp_path) as reader:
            spending = reader.spending()
        assert first.failures.keys() == {Reason.OVER_BUDGET}
        assert spending.calls == spending.answered == len(server.asked) < 12
        assert spending.cost + spending.at_risk <= cap
        # The cap is raised: what was refused is asked, what was answered is not paid again.
        with RunStore(tmp_path, command="test", max_cost=Decimal(5)) as store:
            second = execute(store, tasks(server.url, 12), engine=engine)
            assert (second.reused, not second.failures) == (spending.answered, True)
        assert len(server.asked) == 12


def test_a_wrong_key_stops_the_run(tmp_path: Path) -> None:
    with FakeChatServer([Status(401, "wrong key")]) as server:
        with (
            RunStore(tmp_path, command="test") as store,
            pytest.raises(ServiceError, match="Check the key"),
        ):
            execute(store, tasks(server.url, 40), engine=LocalEngine(workers=2))
        assert len(server.asked) <= 8  # those under way at once


def test_the_number_of_workers_changes_nothing(tmp_path: Path) -> None:
    found = []
    with FakeChatServer() as server:
        for workers in (1, 2):
            folder = tmp_path / str(workers)
            with RunStore(folder, command="test") as store:
                execute(store, tasks(server.url, 6), engine=LocalEngine(workers=workers))
            with RunReader(folder) as reader:
                found.append({r.key.item: r.outcomes["judge"] for r in reader.records()})
    assert found[0] == found[1]
    assert all(isinstance(outcome, Outcome) and outcome.ok for outcome in found[0].values())


def test_a_bad_answer_is_asked_again_where_all_failures_are_retried(tmp_path: Path) -> None:
    """And a good one beside it is not paid for twice."""
    spoilt = [True]

    def script(asked: Asked) -> Act:
        bad = spoilt[0] and "Rate film 1." in asked.texts[0]
        return Answer("It is raining." if bad else GOOD)

    def start(retry: Retry) -> Execution:
        with RunStore(tmp_path, command="test", retry=retry) as store:
            return execute(store, tasks(server.url, 3), engine=LocalEngine(workers=1))

    with FakeChatServer(script) as server:
        assert start(Retry.TRANSIENT).failures == {Reason.UNPARSABLE: 1}
        assert len(server.asked) == 4  # one of them the repair
        assert start(Retry.TRANSIENT).made == 0
        assert len(server.asked) == 4
        assert start(Retry.ALL).failures == {Reason.UNPARSABLE: 1}
        assert len(server.asked) == 6
        spoilt[0] = False
        assert not start(Retry.ALL).failures
        assert len(server.asked) == 7
        assert not start(Retry.ALL).failures
        assert len(server.asked) == 7
