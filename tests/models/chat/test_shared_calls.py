"""Identical requests at the same time are one call; all others stay calls of their own."""

from __future__ import annotations

import asyncio
import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from screentest.core import Reason, ServiceError
from screentest.models.chat.limiter import Limiter
from screentest.testing.chat_answers import Act, Answer, Asked, Status
from tests.models.chat.kit import (
    GOOD,
    FakeClock,
    Rating,
    ledger_of,
    plain,
    prices,
    rating,
    serving,
    short,
)


def test_equal_requests_of_a_batch_are_asked_and_paid_once() -> None:
    questions = [plain(number % 6, sampling=short()) for number in range(17)]
    film = re.compile(r"film (\d)")

    def script(asked: Asked) -> Act:
        return Answer("".join(film.findall(asked.texts[0])), delay=0.02)

    with serving(script) as (server, chat):
        ledger = ledger_of(chat, "1", prices())
        answers = [outcome.unwrap() for outcome in chat.ask(questions)]
        assert len(server.asked) == len(ledger.intents) == 6
    assert [one.text for one in answers] == [str(number % 6) for number in range(17)]
    assert [one.attempts for one in answers] == [1] * 6 + [0] * 11
    # What is spent is the same, however it is added up.
    assert sum(Decimal(str(one.cost)) for one in answers) == pytest.approx(ledger.committed)


def test_repeats_samplings_and_forms_are_calls_of_their_own() -> None:
    asked = [plain(), plain(repeat=1), plain(sampling=short()), plain(schema=Rating)]
    with serving(lambda one: Answer(GOOD), concurrency=4) as (server, chat):
        assert all(outcome.ok for outcome in chat.ask(asked * 2))
        assert len(server.asked) == 4


def test_equal_requests_of_threads_at_the_same_time_are_one_call() -> None:
    here = threading.Event()

    def script(_: Asked) -> Act:
        here.wait(10)
        return Answer("yes")

    with serving(script) as (server, chat):
        ledger = ledger_of(chat)
        with ThreadPoolExecutor(4) as threads:
            batches = [threads.submit(chat.ask, [plain(0)]) for _ in range(4)]
            while not server.asked:
                here.wait(0.001)
            here.set()
            assert [batch.result()[0].unwrap().text for batch in batches] == ["yes"] * 4
        assert len(server.asked) == len(ledger.intents) == 1


def test_a_failure_is_one_failure_for_all_that_asked() -> None:
    with serving([Status(500)], max_attempts=2, concurrency=2) as (server, chat):
        outcomes = chat.ask([plain(0)] * 9)
        assert len(server.asked) == 2  # the attempts of one call
        assert {outcome.failure for outcome in outcomes} == {outcomes[0].failure}
        assert not chat.ask([plain(0)])[0].ok  # a later batch asks anew
        assert len(server.asked) == 4


def test_what_stops_a_run_stops_it_once() -> None:
    with serving([Status(401, "wrong key")]) as (server, chat):
        with pytest.raises(ServiceError):
            chat.ask([plain(0)] * 5)
        assert len(server.asked) == 1


def test_no_call_goes_beyond_the_cap_for_equal_requests() -> None:
    with serving([Answer("yes")]) as (server, chat):
        ledger_of(chat, "0", prices())
        outcomes = chat.ask([plain(0, sampling=short())] * 3)
        assert [one.failure.reason for one in outcomes if one.failure] == [Reason.OVER_BUDGET] * 3
        assert not server.asked


def test_each_reads_the_answer_by_its_own_rules_and_equal_repairs_are_one() -> None:
    def even(value: Rating) -> None:
        if value.score % 2:
            raise ValueError("an odd score")

    odd = GOOD.replace("4", "3")
    strict = rating(check=even)
    with serving([Answer(odd), Answer(GOOD)]) as (server, chat):
        answers = [one.unwrap() for one in chat.ask([rating(), strict, strict])]
        assert len(server.asked) == 2
    assert [one.value.score for one in answers if isinstance(one.value, Rating)] == [3, 4, 4]
    assert [one.repairs for one in answers] == [0, 1, 1]


def test_who_waits_goes_on_where_the_first_was_interrupted() -> None:
    async def both() -> list[bool]:
        limiter, begun = Limiter(8, FakeClock(), random.Random(1)), asyncio.Event()

        async def never() -> None:
            async with limiter.slot("q"):
                begun.set()
                await asyncio.Event().wait()

        async def soon() -> bool:
            async with limiter.slot("q") as place:
                return place.again

        first = asyncio.create_task(never())
        await begun.wait()
        second, third = (asyncio.create_task(soon()) for _ in range(2))
        await asyncio.sleep(0)
        third.cancel()  # who gives up takes nobody along
        await asyncio.sleep(0)
        assert not first.done()
        assert not second.done()
        first.cancel()
        return [await second, await soon()]

    assert asyncio.run(both()) == [True, False]
