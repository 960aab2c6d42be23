"""Runs of several machines become one, by rules that each have a test."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from screentest.cli import app
from screentest.core import (
    BadOption,
    CallIntent,
    CallReceipt,
    CallStatus,
    Failure,
    Outcome,
    Reason,
    RunBusy,
    RunError,
    Score,
    StorageError,
)
from screentest.run.engine import InlineEngine
from screentest.run.execute import execute
from screentest.run.merge import NOTE, merge
from screentest.run.reader import RunReader
from screentest.run.records import RecordKey, encode
from screentest.run.store import RunStore
from screentest.run.tasks import Finished, Task
from tests.messages import names
from tests.run.conftest import dump
from tests.run.work import item, key, measure, task


def run(folder: Path, values: dict[int, Any], command: str = "test", **parts: Any) -> Path:
    """A run with a record of a value, or of a reason, for each item."""
    with RunStore(folder, command=command) as store:
        keys = {number: key(number, **parts) for number in values}
        store.add_to_plan(keys.values())
        store.keep_items([item(number) for number in values])
        for number, value in values.items():
            outcome: Outcome[Any] = (
                Outcome(failure=Failure(value)) if isinstance(value, Reason) else _score(value)
            )
            write(store, keys[number], {"brightness": outcome})
    return folder


def _score(value: float) -> Outcome[Any]:
    return Outcome.of(Score(value))


def write(store: RunStore, one: RecordKey, outcomes: dict[str, Outcome[Any]]) -> None:
    store.write(Finished(Task((one,), measure), (encode(outcomes),)))


def values(folder: Path) -> dict[str, Any]:
    with RunReader(folder) as merged:
        found = {}
        for record in merged.records():
            outcome = record.outcomes["brightness"]
            failure = outcome.failure
            found[record.key.item] = failure.reason if failure else outcome.unwrap().value
        return found


def test_parts_of_the_work_become_the_whole(tmp_path: Path) -> None:
    """Two machines did half each; one machine did all: the same records."""
    for name, numbers in (("one", range(3)), ("two", range(3, 6)), ("all", range(6))):
        with RunStore(tmp_path / name, command="test") as store:
            store.keep_items([item(number) for number in numbers])
            execute(store, [task(number) for number in numbers], engine=InlineEngine())
    shares = merge([tmp_path / "one", tmp_path / "two"], tmp_path / "both")
    assert dump(tmp_path / "both") == dump(tmp_path / "all")
    assert [(share.records, share.added) for share in shares] == [(3, 3), (3, 3)]
    with RunReader(tmp_path / "both") as both:
        assert both.coverage().scored == both.coverage().total == 6
        assert list(both.items()) == [f"film-{number}" for number in range(6)]
        assert [told["run"] for told in both.note(NOTE)] == [
            str(tmp_path / "one"),
            str(tmp_path / "two"),
        ]


def test_the_same_twice_is_one(tmp_path: Path) -> None:
    one, two = run(tmp_path / "one", {1: 0.5}), run(tmp_path / "two", {1: 0.5, 2: 0.25})
    shares = merge([one, two], tmp_path / "both")
    assert [(share.added, share.same) for share in shares] == [(1, 0), (1, 1)]
    again = merge([one, two], tmp_path / "both")
    assert [(share.added, share.same) for share in again] == [(0, 1), (0, 2)]
    assert values(tmp_path / "both") == {"film-1": 0.5, "film-2": 0.25}


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_a_value_wins_over_a_failure(tmp_path: Path, order: tuple[str, str]) -> None:
    run(tmp_path / "one", {1: Reason.TIMED_OUT, 2: 0.5})
    run(tmp_path / "two", {1: 0.75, 2: Reason.CRASHED})
    merge([tmp_path / name for name in order], tmp_path / "both")
    assert values(tmp_path / "both") == {"film-1": 0.75, "film-2": 0.5}


def test_of_two_failures_the_later_stays(tmp_path: Path) -> None:
    run(tmp_path / "one", {1: Reason.TIMED_OUT})
    run(tmp_path / "two", {1: Reason.CRASHED})
    merge([tmp_path / "two", tmp_path / "one"], tmp_path / "both")
    assert values(tmp_path / "both") == {"film-1": Reason.CRASHED}


def test_two_values_are_refused_and_nothing_is_merged(tmp_path: Path) -> None:
    one, two = run(tmp_path / "one", {1: 0.5, 2: 0.1}), run(tmp_path / "two", {3: 0.2, 1: 0.6})
    with pytest.raises(RunError, match=r"1 record: film-1, brightness"):
        merge([one, two], tmp_path / "both")
    assert not (tmp_path / "both").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "run.sh").write_text("#!/bin/sh")
    with pytest.raises(RunError):
        merge([one, two], tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["run.sh"]
    before = run(tmp_path / "before", {7: 0.3})
    with pytest.raises(RunError):
        merge([one, two], before)
    assert values(before) == {"film-7": 0.3}


def test_a_run_that_another_process_writes_is_not_removed(tmp_path: Path) -> None:
    one = run(tmp_path / "one", {1: 0.5})
    (tmp_path / "both").mkdir()
    with RunStore(tmp_path / "both", command="test") as store:
        with pytest.raises(RunBusy):
            merge([one], tmp_path / "both")
        store.keep_items([item(9)])
    with RunReader(tmp_path / "both") as both:
        assert list(both.items()) == ["film-9"]


@pytest.mark.parametrize("is_busy", [True, False])
def test_a_run_that_another_process_made_meanwhile_is_not_removed(
    is_busy: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes its run between our look at the folder and our own start, or until just after."""

    def opened(into: Path, **options: Any) -> RunStore:
        run(into, {1: 0.9})
        if is_busy:
            raise RunBusy("it is written by another process")
        return RunStore(into, **options)

    one = run(tmp_path / "one", {1: 0.5})
    monkeypatch.setattr("screentest.run.merge.RunStore", opened)
    with pytest.raises(RunBusy if is_busy else RunError):
        merge([one], tmp_path / "both")
    assert values(tmp_path / "both") == {"film-1": 0.9}


@pytest.mark.parametrize(("prefer", "value"), [("first", 0.5), ("newest", 0.6)])
def test_the_user_may_say_which_value_counts(tmp_path: Path, prefer: str, value: float) -> None:
    one, two = run(tmp_path / "one", {1: 0.5}), run(tmp_path / "two", {1: 0.6})
    shares = merge([one, two], tmp_path / "both", prefer=prefer)
    assert values(tmp_path / "both") == {"film-1": value}
    assert shares[1].conflicts == 1
    with RunReader(tmp_path / "both") as both:
        assert both.note(NOTE)[1]["prefer"] == prefer


def test_values_that_agree_fill_each_others_gaps(tmp_path: Path) -> None:
    """Each run lacks one of two outputs; the record with fewer gaps stays, and none conflicts."""
    for name, sharp in (("one", Outcome.failed(Reason.CRASHED, "x")), ("two", _score(0.3))):
        with RunStore(tmp_path / name, command="test") as store:
            store.add_to_plan([key(1)])
            write(store, key(1), {"brightness": _score(0.5), "sharp": sharp})
    merge([tmp_path / "two", tmp_path / "one"], tmp_path / "both")
    with RunReader(tmp_path / "both") as both:
        assert [record.reasons for record in both.records()] == [frozenset()]


def test_one_id_for_two_videos_is_refused(tmp_path: Path) -> None:
    one = run(tmp_path / "one", {1: 0.5}, inputs="aa")
    two = run(tmp_path / "two", {1: 0.6}, inputs="bb")
    with pytest.raises(RunError, match="another video or prompt"):
        merge([one, two], tmp_path / "both")
    merge([one, two], tmp_path / "both", prefer="newest")
    assert values(tmp_path / "both") == {"film-1": 0.6}


def test_paid_calls_come_along_and_count_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with RunStore(run(tmp_path / name, {1: 0.5}), command="test") as store:
            call = store.ledger.intend(CallIntent(f"ask-{name}", "m", max_cost=Decimal(2)))
            paid = CallReceipt(CallStatus.ANSWERED, "m", cost=Decimal("1.5"), answer=name)
            store.ledger.settle(call, paid)
            store.ledger.intend(CallIntent("lost", "m", max_cost=Decimal(1)))
            store.add_to_plan([key(1)])
    sources = [tmp_path / "one", tmp_path / "two"]
    merge(sources, tmp_path / "both")
    merge(sources, tmp_path / "both")
    with RunReader(tmp_path / "both") as both:
        spending = both.spending()
    assert (spending.calls, spending.unknown) == (4, 2)
    assert (spending.cost, spending.at_risk) == (Decimal(3), Decimal(2))
    with RunStore(tmp_path / "both", command="test") as store:
        answer = store.ledger.recall("ask-two")
        assert answer is not None
        assert answer.answer == "two"


def test_what_cannot_be_merged_is_refused(tmp_path: Path) -> None:
    one = run(tmp_path / "one", {1: 0.5})
    other = run(tmp_path / "other", {2: 0.5}, command="judge")
    with pytest.raises(RunError, match="different commands"):
        merge([one, other], tmp_path / "both")
    for sources, into in (([one, one], tmp_path / "both"), ([one], one), ([], tmp_path / "both")):
        with pytest.raises(BadOption):
            merge(sources, into)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for sources, into in (([tmp_path / "loop"], tmp_path / "both"), ([one], tmp_path / "loop")):
        with pytest.raises((RunError, StorageError)):
            merge(sources, into)


def test_the_command(tmp_path: Path) -> None:
    one, two = run(tmp_path / "one", {1: 0.5}), run(tmp_path / "two", {2: 0.6})
    into = str(tmp_path / "both")
    done = CliRunner().invoke(app, ["merge", str(one), str(two), "--into", into])
    assert done.exit_code == 0, done.output
    assert names(" ".join(done.output.split()), "2 of 2 records")
    wrong = CliRunner().invoke(app, ["merge", str(one), "--into", into, "--prefer", "any"])
    assert wrong.exit_code != 0
