"""Questions of a run go out side by side, up to the endpoint's limit, whatever the workers."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from decimal import Decimal
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

from screentest.core import CallIntent, Outcome, Reason, Score
from screentest.models import ModelChoice
from screentest.models.chat.costs import MemoryLedger
from screentest.models.chat.session import run
from screentest.run import channel
from screentest.run.engine import InlineEngine, LocalEngine
from screentest.run.execute import execute
from screentest.run.reader import RunReader
from screentest.run.records import RecordKey
from screentest.run.session import Settings, open_tools
from screentest.run.store import RunStore
from screentest.run.tasks import Engine, Job, Stop, Task, TaskResults
from screentest.testing.chat_answers import Act, Answer, Asked
from screentest.testing.chat_server import FakeChatServer
from tests.models.chat.kit import plain, prices, short

PATIENCE = 60.0
working: list[int] = []
"""In a worker: the tasks that work at this moment, and do not wait."""


class Gate(FakeChatServer):
    """Answers only when so many are asking: fewer at once would wait for ever."""

    def __init__(self, parties: int, script: Any = None) -> None:
        super().__init__(script or (lambda _: Answer("yes")))
        self._gate = threading.Barrier(parties)
        self._counting = threading.Lock()
        self.now = self.most = 0

    def answer(self, client: Any, asked: Asked) -> None:
        with self._counting:
            self.now += 1
            self.most = max(self.most, self.now)
        self._gate.wait(PATIENCE)
        with self._counting:
            self.now -= 1
        super().answer(client, asked)


def settings_for(url: str, **options: object) -> Settings:
    more = "".join(f",{name}={value}" for name, value in options.items())
    choices = [f"{role}=openai:judge,base_url={url}{more}" for role in ("chat", "chat.caption")]
    return Settings(tuple(map(ModelChoice.parse, choices)), prices=prices())


def ask(job: Job) -> TaskResults:
    """Ask one question by one role and, after its answer, another by another."""
    settings, question, deadly = job.payload
    tools = open_tools(settings)
    tools.attach(job.ledger)
    working.append(question)
    answers = []
    for role, text in (("chat.caption", question), ("chat", question + 100))[: 1 + question % 2]:
        assert working == [question], "another task works in this process"
        working.clear()
        (outcome,) = tools.role(role).ask([plain(text, sampling=short())])
        working.append(question)
        answers.append(outcome)
        if question == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.001)  # others may come back meanwhile
    assert working == [question]
    working.clear()
    (key,) = job.keys
    return {key: {"ask": answers[-1].map(lambda answer: Score(float(len(answer.text))))}}


def tasks(settings: Settings, count: int, *, same: bool = False, deadly: int = -1) -> list[Task]:
    return [
        Task((RecordKey(f"{n}", "ask"),), ask, (settings, 2 if same else n, deadly), timeout=300)
        for n in range(count)
    ]


def made(folder: Path, given: list[Task], engine: Engine, **more: Any) -> dict[str, Any]:
    """Do the tasks; the outcomes by item."""
    with RunStore(folder, command="test", **more) as store:
        execute(store, given, engine=engine)
    with RunReader(folder) as reader:
        return {record.key.item: record.outcomes["ask"] for record in reader.records()}


def test_one_worker_asks_for_many_tasks_at_once(tmp_path: Path) -> None:
    """Before, a worker asked for one task after the other: six would never have met."""
    with Gate(6) as server:
        given = tasks(settings_for(server.url), 12)[::2]
        outcomes = made(tmp_path, given, LocalEngine(workers=1))
    assert server.most == 6
    assert all(outcome.ok for outcome in outcomes.values()), outcomes


@pytest.mark.parametrize("workers", [1, 2])
def test_all_workers_share_the_limit_of_the_endpoint(workers: int, tmp_path: Path) -> None:
    with Gate(3) as server:
        given = tasks(settings_for(server.url, concurrency=3), 24)[::2]
        outcomes = made(tmp_path, given, LocalEngine(workers=workers))
    assert server.most == 3
    assert len(outcomes) == 12


def test_neither_workers_nor_the_order_of_answers_change_a_record(tmp_path: Path) -> None:
    """Also what each record rests on: tasks that take turns have a ledger each."""

    def script(asked: Asked) -> Act:
        number = int("".join(filter(str.isdigit, asked.texts[0]))) % 100
        return Answer("yes" * (number + 1), delay=0.01 * (number * 7 % 5))

    found = []
    engines: list[Engine] = [InlineEngine(), LocalEngine(workers=1), LocalEngine(workers=3)]
    with FakeChatServer(script) as server:
        for number, engine in enumerate(engines):
            folder = tmp_path / str(number)
            made(folder, tasks(settings_for(server.url), 20), engine)
            with RunReader(folder) as reader:
                records = sorted(reader.records(), key=lambda record: int(record.key.item))
                found.append([(r.key, r.outcomes, r.requests) for r in records])
    assert found[0] == found[1] == found[2]
    assert [len(requests) for _, _, requests in found[0]] == [1, 2] * 10


def test_a_run_that_stops_begins_no_new_call(tmp_path: Path) -> None:
    """Six tasks of two questions each: the first six are under way when it is asked to stop."""
    stop = Stop()

    def script(_: Asked) -> Act:
        if not stop.requested:
            stop.request()
        return Answer("yes")

    with Gate(6, script) as server, RunStore(tmp_path, command="test") as store:
        given = tasks(settings_for(server.url), 12)[1::2]
        ended = [*LocalEngine(workers=1).run(given, store.ledger, stop)]
        assert len(server.asked) == 6
    assert ended == []


def test_what_two_workers_ask_at_the_same_moment_is_paid_once(tmp_path: Path) -> None:
    with FakeChatServer(lambda _: Answer("yes", delay=0.2)) as server:
        given = tasks(settings_for(server.url), 8, same=True)
        outcomes = made(tmp_path, given, LocalEngine(workers=2))
        assert len(server.asked) == 1
    with RunReader(tmp_path) as reader:
        assert {len(record.requests) for record in reader.records()} == {1}
    assert [*outcomes.values()] == [Outcome.of(Score(3.0))] * 8


def test_only_the_task_that_kills_its_worker_is_given_up(tmp_path: Path) -> None:
    """The others of that worker are done by another; what they were answered is not paid again."""
    with Gate(1, lambda _: Answer("yes", delay=0.3)) as server:
        given = tasks(settings_for(server.url), 12, deadly=4)[::2]
        outcomes = made(tmp_path, given, LocalEngine(workers=1))
        texts = [asked.texts[0] for asked in server.asked]
    dead = outcomes.pop("4")
    assert dead.failure.reason is Reason.CRASHED
    assert "2 of 2 times" in dead.failure.detail
    assert all(outcome.ok for outcome in outcomes.values())
    # Calls under way when the worker died are made again; none is made a third time.
    assert max(map(texts.count, texts)) <= 2


def test_near_the_cap_calls_wait_for_those_of_other_tasks(tmp_path: Path) -> None:
    """As many are answered as one after the other: none fails while others may turn out cheap."""
    answered = []
    with FakeChatServer(lambda _: Answer("yes", delay=0.05)) as server:
        engines: list[Engine] = [InlineEngine(), LocalEngine(workers=2)]
        for number, engine in enumerate(engines):
            given = tasks(settings_for(server.url), 60)[::2]
            cap = {"max_cost": Decimal("0.006")}
            outcomes = made(tmp_path / str(number), given, engine, **cap)
            answered.append(sum(outcome.ok for outcome in outcomes.values()))
            lost = {outcome.failure.reason for outcome in outcomes.values() if outcome.failure}
            assert lost == {Reason.OVER_BUDGET}
    assert answered[0] == answered[1] > 1


def test_a_worker_that_is_gone_gives_back_what_it_held() -> None:
    """Its place, its request, and its call that would be waited for near the cap."""
    server = channel.LedgerServer(MemoryLedger())
    ends = [Pipe() for _ in range(2)]
    gone, other = (channel.RemoteLedger(lambda end=theirs: end) for _, theirs in ends)
    for ours, _ in ends:
        server.serve(ours)

    async def enter(ledger: channel.RemoteLedger) -> bool:
        async with ledger.slot("http://there", 1, "request") as place:
            return place.again

    held = gone.slot("http://there", 1, "request")

    async def stay() -> None:
        await held.__aenter__()

    run(stay())
    gone.intend(CallIntent("request", "judge"))
    assert server._ledger._open_calls == 1
    found: list[bool] = []
    waiting = threading.Thread(target=lambda: found.append(run(enter(other))))
    waiting.start()
    while not any(one.waiting and not one.places for one in list(server._askers)):
        time.sleep(0.001)
    with socket.socket(fileno=os.dup(ends[0][1].fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)  # as when its process ends
    waiting.join(PATIENCE)
    assert found == [True]
    assert server._ledger._open_calls == 0
    server.close()


def test_a_server_that_has_too_many_is_left_alone_by_all() -> None:
    """One worker hears it: the limit of all is halved, and nobody begins before the pause ends."""
    server = channel.LedgerServer(MemoryLedger())
    ours, theirs = Pipe()
    server.serve(ours)
    ledger = channel.RemoteLedger(lambda: theirs)

    async def refused() -> None:
        async with ledger.slot("http://there", 8, "request") as place:
            place.pause = 1e6

    run(refused())
    ledger.recall("request")  # answered after what was sent before it
    limiter = server._limiters["http://there"]
    assert limiter.limit == 4
    assert limiter._closed_until > time.monotonic() + 1e5
    server.close()
