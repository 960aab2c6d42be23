"""The ledger: every call is written down before it is made, and never above the cap."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from screentest.core import (
    CallIntent,
    CallReceipt,
    CallStatus,
    NoValue,
    Reason,
    RunError,
)
from screentest.run.engine import LocalEngine
from screentest.run.execute import execute
from screentest.run.ledger import Spending
from screentest.run.reader import RunReader
from screentest.run.store import RunStore
from tests.core import strategies
from tests.run.work import task

money = st.decimals(0, 1000, places=12)
receipts = st.builds(
    CallReceipt,
    status=st.sampled_from(CallStatus),
    model=strategies.texts,
    fingerprint=strategies.texts,
    tokens_in=st.none() | st.integers(0, 10**9),
    tokens_out=st.none() | st.integers(0, 10**9),
    cost=st.none() | money,
    latency=st.integers(0, 10**9).map(lambda us: us / 1e6),
    detail=strategies.texts,
    answer=st.none() | st.text(max_size=2000).filter(lambda t: t.isascii()) | strategies.texts,
)
intents = st.builds(
    CallIntent,
    request=strategies.names,
    model=strategies.names,
    attempt=st.integers(1, 9),
    purpose=strategies.texts,
    images=st.integers(0, 99),
    max_cost=st.none() | money,
)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(intents, st.none() | receipts)
def test_round_trip(store: RunStore, intent: CallIntent, receipt: CallReceipt | None) -> None:
    call = store.ledger.intend(intent)
    if receipt is not None:
        store.ledger.settle(call, receipt)
    (found,) = [known for known in store.calls() if known.id == call]
    assert (found.intent, found.receipt) == (intent, receipt)
    if receipt is not None and receipt.answer is not None:
        assert store.ledger.recall(intent.request) == receipt


def test_spending_is_exact(store: RunStore) -> None:
    """Ten calls at a third of a cent and at a hundred-millionth: sums of decimals, by hand."""
    for number in range(10):
        cost = Decimal("0.00333333") if number % 2 else Decimal("0.00000001")
        call = store.ledger.intend(
            CallIntent(f"r{number}", "m", images=3, max_cost=Decimal("0.01"))
        )
        receipt = CallReceipt(CallStatus.ANSWERED, tokens_in=100, tokens_out=7, cost=cost)
        store.ledger.settle(call, receipt)
    store.ledger.intend(CallIntent("lost", "m", max_cost=Decimal("0.25")))
    store.ledger.intend(CallIntent("lost too", "m"))
    assert store.spending() == Spending(
        calls=12,
        answered=10,
        unknown=2,
        unpriced=1,
        tokens_in=1000,
        tokens_out=70,
        images=30,
        cost=Decimal("0.01666670"),
        at_risk=Decimal("0.25"),
    )
    assert store.ledger.committed == Decimal("0.26666670")


def test_never_above_the_cap(tmp_path: Path) -> None:
    """Sixteen threads at once; each call costs 3 cents, so a dollar pays for 33 of them."""
    with RunStore(tmp_path, command="test", max_cost=Decimal(1)) as store:
        refused = []

        def one(number: int) -> None:
            try:
                call = store.ledger.intend(CallIntent(f"r{number}", "m", max_cost=Decimal("0.03")))
            except NoValue as error:
                refused.append(error)
            else:
                receipt = CallReceipt(CallStatus.ANSWERED, cost=Decimal("0.03"))
                store.ledger.settle(call, receipt)

        with ThreadPoolExecutor(16) as threads:
            list(threads.map(one, range(60)))
        assert store.spending().calls == 33
        assert store.ledger.committed == Decimal("0.99")
    assert {error.reason for error in refused} == {Reason.OVER_BUDGET}
    assert "0.03" in refused[0].message
    assert "Raise the cap" in refused[0].advice
    with RunStore(tmp_path, command="test", max_cost=Decimal("1.05")) as store:
        store.ledger.reserve(Decimal("0.06"))
        with pytest.raises(NoValue):
            store.ledger.reserve(Decimal("0.07"))


def test_what_may_be_billed_counts_as_its_most(tmp_path: Path) -> None:
    with RunStore(tmp_path, command="test", max_cost=Decimal(1)) as store:
        store.ledger.intend(CallIntent("cut off", "m", max_cost=Decimal("0.4")))
        cheap = store.ledger.intend(CallIntent("cheap", "m", max_cost=Decimal("0.6")))
        with pytest.raises(NoValue):
            store.ledger.reserve(Decimal("0.01"))
        store.ledger.settle(cheap, CallReceipt(CallStatus.ANSWERED, cost=Decimal("0.1")))
        store.ledger.reserve(Decimal("0.5"))
        timed_out = store.ledger.intend(CallIntent("slow", "m", max_cost=Decimal("0.5")))
        store.ledger.settle(timed_out, CallReceipt(CallStatus.TIMED_OUT))
    with RunStore(tmp_path, command="test", max_cost=Decimal(1)) as store:
        assert store.ledger.committed == 1
        with pytest.raises(NoValue):
            store.ledger.reserve(Decimal("0.000000000001"))


def test_a_refused_intent_leaves_no_trace(tmp_path: Path) -> None:
    with RunStore(tmp_path, command="test", max_cost=Decimal(1)) as store:
        with pytest.raises(NoValue):
            store.ledger.intend(CallIntent("dear", "m", max_cost=Decimal(2)))
        assert list(store.calls()) == []
        assert store.ledger.committed == 0


def test_a_cap_needs_a_price(tmp_path: Path) -> None:
    store = RunStore(tmp_path, command="test", max_cost=Decimal(1))
    with store, pytest.raises(RunError, match="price"):
        store.ledger.intend(CallIntent("r", "m"))


@pytest.mark.parametrize("cost", ["-1", "NaN", "Infinity"])
def test_what_nothing_can_cost(cost: str, store: RunStore) -> None:
    with pytest.raises(ValueError, match="invalid cost"):
        store.ledger.intend(CallIntent("r", "m", max_cost=Decimal(cost)))


def test_the_latest_answer_is_recalled_and_only_to_its_own_request(store: RunStore) -> None:
    for answer in ("first", "second"):
        call = store.ledger.intend(CallIntent("question", "m"))
        store.ledger.settle(call, CallReceipt(CallStatus.ANSWERED, answer=answer))
    found = store.ledger.recall("question")
    assert found is not None
    assert found.answer == "second"
    assert store.ledger.recall("question, repeat 1") is None


def test_answers_survive_what_cannot_be_written(store: RunStore) -> None:
    """A lone surrogate cannot be stored; an answer that was paid for must be."""
    call = store.ledger.intend(CallIntent("r", "m"))
    store.ledger.settle(call, CallReceipt(CallStatus.ANSWERED, answer="half a letter \ud83d"))
    found = store.ledger.recall("r")
    assert found is not None
    assert found.answer == "half a letter \\ud83d"


class TestFromWorkers:
    """The same ledger, used in processes that do not write."""

    def test_calls_of_workers(self, store: RunStore) -> None:
        tasks = [task(item, "pays", ("0.01", 3)) for item in range(6)]
        execute(store, tasks, engine=LocalEngine(workers=2))
        assert store.spending().cost == Decimal("0.18")
        records = list(store.records())
        assert records[0].requests == ("film-0-0", "film-0-1", "film-0-2")

    def test_nothing_is_paid_twice(self, tmp_path: Path) -> None:
        """The records are gone, the answers are not: making them again costs nothing."""
        tasks = [task(item, "pays", ("0.01", 3)) for item in range(4)]
        with RunStore(tmp_path, command="test") as store:
            execute(store, tasks, engine=LocalEngine(workers=2))
            before = [record.outcomes for record in store.records()]
            store._writer.do(lambda db: db.execute("DELETE FROM records"))
            done = execute(store, tasks, engine=LocalEngine(workers=2))
            assert done.made == 4
            assert store.spending().calls == 12
            assert [record.outcomes for record in store.records()] == before

    def test_over_the_cap(self, tmp_path: Path) -> None:
        """Ten calls fit; the rest is refused, has that as its outcome, and goes on later."""
        tasks = [task(item, "pays", ("0.1", 1)) for item in range(15)]
        with RunStore(tmp_path, command="test", max_cost=Decimal(1)) as store:
            done = execute(store, tasks, engine=LocalEngine(workers=2))
            assert done.failures == {Reason.OVER_BUDGET: 5}
            assert store.spending().cost == 1
        with RunStore(tmp_path, command="test", max_cost=Decimal(2)) as store:
            done = execute(store, tasks, engine=LocalEngine(workers=2))
            assert (done.reused, done.made, done.failures) == (10, 5, {})
            assert store.spending().cost == Decimal("1.5")

    def test_many_at_once(self, store: RunStore) -> None:
        execute(store, [task(1, "pays_in_threads", 40)], engine=LocalEngine(workers=1))
        bodies = {call.receipt.answer for call in store.calls() if call.receipt is not None}
        assert bodies == {str(number) for number in range(40)}

    def test_killed_between_paying_and_saying_so(self, store: RunStore) -> None:
        tasks = [task(1, "pays_and_dies")]
        done = execute(store, tasks, engine=LocalEngine(workers=1, max_deaths=1))
        assert done.failures == {Reason.CRASHED: 1}
        (call,) = store.calls()
        assert call.receipt is None
        assert store.spending().at_risk == Decimal("0.25")

    def test_a_wrong_question_is_answered_with_an_error(self, store: RunStore) -> None:
        execute(store, [task(1, "spends_twice")], engine=LocalEngine(workers=1))
        (record,) = store.records()
        failure = record.outcomes["brightness"].failure
        assert failure is not None
        assert "no call 'nobody'" in failure.detail


def test_ledgers_are_read_while_they_are_written(store: RunStore) -> None:
    over = threading.Event()

    def write() -> None:
        while not over.is_set():
            call = store.ledger.intend(CallIntent("r", "m"))
            store.ledger.settle(call, CallReceipt(CallStatus.ANSWERED, answer="yes"))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        with RunReader(store.folder) as run:
            counts = []
            while len(counts) < 3:
                found = run.spending().calls
                if found not in counts:
                    counts.append(found)
    finally:
        over.set()
        thread.join()
    assert counts == sorted(counts)
