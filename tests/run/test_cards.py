"""Workers with models on GPUs: no more than were asked for, each with a card of its own."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from screentest.core import Outcome, Score
from screentest.models import ModelChoice
from screentest.models.chat.costs import MemoryLedger
from screentest.run import session
from screentest.run.engine import CARDS, LocalEngine, Pool, cards_here
from screentest.run.execute import execute
from screentest.run.reader import RunReader
from screentest.run.records import RecordKey
from screentest.run.session import Settings, WorkOptions, open_engine
from screentest.run.store import RunStore
from screentest.run.tasks import Job, Stop, Task, TaskResults


def card(job: Job) -> TaskResults:
    number = float(os.environ[CARDS])
    return {key: {"card": Outcome.of(Score(number))} for key in job.keys}


def test_a_worker_sees_its_card_alone(tmp_path: Path) -> None:
    with RunStore(tmp_path, command="test") as store:
        tasks = [Task((RecordKey(f"{n}", "card"),), card) for n in range(3)]
        execute(store, tasks, engine=LocalEngine(1, cards=("7",)))
    with RunReader(tmp_path) as reader:
        assert {record.outcomes["card"].unwrap().value for record in reader.records()} == {7.0}


def test_cards_are_shared_evenly_also_after_a_death() -> None:
    stop = Stop()
    with Pool(MemoryLedger(), cards=("0", "1")) as pool:
        pool.ensure(4)
        assert sorted(worker.card for worker in pool._workers) == ["0", "0", "1", "1"]
        while not all(worker.ready for worker in pool._workers):
            pool.wait(stop.wake)
        pid = pool._workers[0].process.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        while len(pool._workers) == 4:
            pool.wait(stop.wake)
        pool.ensure(4)
        assert sorted(worker.card for worker in pool._workers) == ["0", "0", "1", "1"]
    stop.close()


@pytest.mark.parametrize(
    ("model", "device", "options", "workers", "cards"),
    [
        ("flow=raft", "auto", {}, 4, ("0", "1", "2", "3")),
        ("flow=raft", "cuda", {"gpus": 0.5}, 8, ("0", "1", "2", "3")),
        ("flow=raft", "cuda", {"gpus": 2.0, "workers": 9}, 2, ("0", "1", "2", "3")),
        ("flow=raft", "cuda", {"workers": 3}, 3, ("0", "1", "2", "3")),
        ("flow=raft", "cuda:1", {"gpus": 0.5}, 2, ()),
        ("flow=raft", "cuda", {"gpus": 0.0}, None, ()),
        ("flow=raft", "cpu", {}, None, ()),
        ("chat=openai:gpt-5", "auto", {}, None, ()),
    ],
)
def test_no_more_workers_than_cards_have_room_for(
    model: str,
    device: str,
    options: WorkOptions,
    workers: int | None,
    cards: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before, each of as many workers as processors loaded its models onto the first card."""
    monkeypatch.setattr(session, "cards_here", lambda: ["0", "1", "2", "3"])
    monkeypatch.setattr(session, "processors", lambda: 120)
    settings = Settings((ModelChoice.parse(model),), device)
    with open_engine(options, settings) as (engine, _):
        local: Any = engine
        assert (local.workers, local.cards) == (workers, cards)


def test_cards_are_those_that_the_user_leaves_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CARDS, "2, 3")
    assert cards_here() == ["2", "3"]
    monkeypatch.setenv(CARDS, "")
    assert cards_here() == []
