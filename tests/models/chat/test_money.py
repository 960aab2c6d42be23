"""Caps and ledgers: never above the cap, every attempt written down, nothing paid twice."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from screentest.core import BadOption, CallStatus, Reason, RunError, ServiceError
from screentest.models.chat.costs import Price, Prices, read_prices
from screentest.models.chat.messages import ChatRequest, Text, Usage
from screentest.run.reader import RunReader
from screentest.run.store import RunStore
from screentest.testing.chat_answers import Act, Answer, Asked, Reset, Status
from screentest.testing.chat_server import FakeChatServer
from tests.models.chat.kit import (
    GOOD,
    KEY,
    chat_at,
    ledger_of,
    plain,
    prices,
    rating,
    serving,
    short,
    statuses,
)


def cheap(number: int, **more: object) -> ChatRequest:
    return plain(number, sampling=short(), **more)


def actual_cost(server: FakeChatServer) -> Decimal:
    """What the server's own count of tokens comes to at the prices of the kit."""
    tokens_in, tokens_out = server.billed
    return (tokens_in * Decimal(10) + tokens_out * Decimal(30)) / 1_000_000


def test_cost_is_tokens_times_price() -> None:
    # 1,000 in at 2.50 a million and 100 out at 10: 0.0025 + 0.001; three pictures at 0.01.
    price = Price(Decimal("2.5"), Decimal(10), image=Decimal("0.01"))
    assert price.cost(Usage(1000, 100), 0) == Decimal("0.0035")
    assert price.cost(Usage(1000, 100), 3) == Decimal("0.0335")
    assert price.cost(Usage(None, 100), 0) is None


def test_an_answer_says_what_it_cost() -> None:
    with serving([Answer("four"), Answer(GOOD)]) as (server, chat):
        ledger = ledger_of(chat, listed=prices())
        answer = chat.ask([rating()])[0].unwrap()
        assert answer.cost == pytest.approx(float(actual_cost(server)))
        assert sum(receipt.cost for receipt in ledger.receipts.values()) == actual_cost(server)


@pytest.mark.parametrize("cap", ["0", "0.001", "0.0105", "0.08"])
@pytest.mark.parametrize("concurrency", [1, 8, 64])
def test_never_above_the_cap(cap: str, concurrency: int) -> None:
    with serving([Answer("yes " * 20, delay=0.002)], concurrency=concurrency) as (server, chat):
        ledger = ledger_of(chat, cap, prices())
        outcomes = chat.ask([cheap(number) for number in range(80)])
        spent = actual_cost(server)
    assert spent <= ledger.committed <= Decimal(cap)
    failures = [outcome.failure for outcome in outcomes if outcome.failure is not None]
    assert {failure.reason for failure in failures} <= {Reason.OVER_BUDGET}
    assert all(failure.advice for failure in failures)
    assert sum(outcome.ok for outcome in outcomes) == len(server.asked)
    # It does not give up early either: what is left would not pay for one more call at most.
    if failures:
        most = max(intent.max_cost for intent in ledger.intents.values()) if server.asked else 1
        assert Decimal(cap) - spent < most
    if cap == "0.08":  # eighty calls cost 0.062
        assert not failures


def test_calls_of_unknown_fate_count_as_their_most() -> None:
    def script(asked: Asked) -> Act:
        return Reset(after=20) if len(server.asked) % 2 else Answer("yes")

    with serving(script, concurrency=4, max_attempts=3) as (server, chat):
        ledger = ledger_of(chat, "0.01", prices())
        chat.ask([cheap(number) for number in range(30)])
    broken = [
        call for call, receipt in ledger.receipts.items() if receipt.status is CallStatus.FAILED
    ]
    assert broken
    assert all(ledger.receipts[call].cost is None for call in broken)
    assert sum(ledger.intents[call].max_cost for call in broken) < ledger.committed
    assert ledger.committed <= Decimal("0.01")


def test_refused_calls_cost_nothing() -> None:
    with serving([Status(503), Answer("yes")]) as (server, chat):
        ledger = ledger_of(chat, "0.01", prices())
        assert chat.ask([cheap(1)])[0].ok
        assert ledger.committed == actual_cost(server)


def test_servers_that_do_not_count_are_billed_at_their_most() -> None:
    with serving([Answer("yes", count_tokens=False)]) as (_, chat):
        ledger = ledger_of(chat, "0.01", prices())
        answer = chat.ask([cheap(1)])[0].unwrap()
    (intent,) = ledger.intents.values()
    assert ledger.committed == intent.max_cost
    assert answer.cost == pytest.approx(float(intent.max_cost))


def test_a_cap_without_a_price_is_said_before_the_first_call(tmp_path: Path) -> None:
    with serving([Answer("yes")]) as (server, chat):
        ledger_of(chat, "1", prices("another"))
        with pytest.raises(BadOption, match="no price"):
            chat.ask([cheap(1)])
        with RunStore(tmp_path, command="test", max_cost=Decimal(1)) as store:
            chat.attach(store.ledger)
            with pytest.raises(RunError, match="price"):
                chat.ask([cheap(2)])
    assert not server.asked
    with pytest.raises(BadOption, match=r'\[models."judge"\]'):
        Prices().require("judge")


def test_the_most_is_more_than_any_server_counts() -> None:
    # One token per byte is the worst that a tokenizer on bytes can do.
    price = Price(Decimal(1_000_000), Decimal(1_000_000))
    for text in ("a", "漢字" * 50, "🎬" * 30, "word " * 400):
        request = ChatRequest((Text(text),), sampling=short())
        assert price.most(request, 100) >= len(text.encode()) + 100


def test_in_a_real_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run's own ledger: on the disk, under a cap, and nothing in it is paid for twice."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    requests = [cheap(number, use="test.judge") for number in range(40)]
    with FakeChatServer([Answer(f"yes {KEY}", delay=0.002)]) as server:
        with (
            chat_at(server.url, concurrency=16) as chat,
            RunStore(tmp_path, command="test", max_cost=Decimal("0.012")) as store,
        ):
            chat.attach(store.ledger, prices())
            first = chat.ask(requests)
            done = sum(outcome.ok for outcome in first)
            assert 0 < done < 40
            assert {o.failure.reason for o in first if o.failure} == {Reason.OVER_BUDGET}
            assert actual_cost(server) <= store.ledger.committed <= Decimal("0.012")
        assert len(server.asked) == done
        # Another process, a higher cap: it goes on, and pays only for what is missing.
        with (
            chat_at(server.url, concurrency=16) as chat,
            RunStore(tmp_path, command="test", max_cost=Decimal(5)) as store,
        ):
            chat.attach(store.ledger, prices())
            second = chat.ask(requests)
            assert all(outcome.ok for outcome in second)
        assert len(server.asked) == 40
        texts = [outcome.value.text for outcome in first if outcome.ok]
        assert texts == ["yes [key]"] * done
    with RunReader(tmp_path) as reader:
        spending = reader.spending()
    assert (spending.calls, spending.answered, spending.unknown) == (40, 40, 0)
    assert spending.cost == actual_cost(server)
    assert (spending.tokens_in, spending.tokens_out) == server.billed
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()


def test_resumable_after_the_key_is_fixed(tmp_path: Path) -> None:
    def script(asked: Asked) -> Act:
        return Answer("yes") if len(server.asked) <= 3 else Status(401, "wrong key")

    requests = [cheap(number) for number in range(10)]
    with serving(script, concurrency=1) as (server, chat):
        with RunStore(tmp_path, command="test") as store:
            chat.attach(store.ledger, prices())
            with pytest.raises(ServiceError, match="key"):
                chat.ask(requests)
        assert len(server.asked) == 4
    with (
        serving([Answer("yes")], concurrency=1) as (server, chat),
        RunStore(tmp_path, command="test") as store,
    ):
        chat.attach(store.ledger, prices())
        assert all(outcome.ok for outcome in chat.ask(requests))
    assert len(server.asked) == 7  # three were answered and paid for before


def test_repairs_are_recalled_too(tmp_path: Path) -> None:
    with serving([Answer("four"), Answer(GOOD)]) as (server, chat):
        ledger = ledger_of(chat)
        assert chat.ask([rating()])[0].unwrap().repairs == 1
        again = chat.ask([rating()])[0].unwrap()
        assert (again.repairs, again.attempts) == (1, 0)
        assert len(server.asked) == 2
        assert statuses(ledger) == [CallStatus.ANSWERED] * 2


def test_price_files(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(
        '[models."gpt-5"]\ninput = 1.25\noutput = 10\n\n'
        "[models.tiny]\ninput = 0\noutput = 0\nimage = 0.002\nimage_tokens = 3000\n"
    )
    listed = read_prices(path)
    assert listed.of("gpt-5") == Price(Decimal("1.25"), Decimal(10))
    assert listed.require("tiny").image == Decimal("0.002")
    assert listed.of("gpt-4") is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "lists no model"),
        ("[models]\n", "lists no model"),
        ("models = 3", "lists no model"),
        ("[models.m]\ninput = 1", "output ="),
        ("[models.m]\ninput = 1\noutput = -1", "not an amount"),
        ("[models.m]\ninput = nan\noutput = 1", "not an amount"),
        ('[models.m]\ninput = "x"\noutput = 1', "not an amount"),
        ("[models.m]\ninput = true\noutput = 1", "not an amount"),
        ("[models.m]\ninput = 1\noutput = 1\nouput = 2", "'ouput'"),
        ("[models.m", "cannot read"),
        (f"a = {'[' * 100_000}", "cannot read"),
    ],
)
def test_wrong_price_files(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(content)
    with pytest.raises(BadOption, match=says):
        read_prices(path)


def test_no_price_file(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="cannot read"):
        read_prices(tmp_path / "nowhere.toml")
