"""The store: what goes in comes out, changed inputs make only their own records old."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from screentest.core import (
    BUILTIN_ASPECTS,
    Aspect,
    BadOption,
    Outcome,
    Reason,
    RunDamaged,
    RunError,
    Score,
)
from screentest.run.engine import InlineEngine
from screentest.run.execute import Retry, execute
from screentest.run.reader import RunReader
from screentest.run.records import RecordKey, SqlRow, decode, encode, select
from screentest.run.store import RunStore
from screentest.run.tasks import Finished, Task
from tests.core import strategies
from tests.run.work import key, measure, task

json_objects = st.dictionaries(
    strategies.names,
    st.recursive(
        strategies.scalars,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(strategies.texts, inner, max_size=3)
        ),
        max_leaves=5,
    ),
    max_size=3,
)
outcomes = strategies.outcomes | strategies.verdicts.map(Outcome.of) | json_objects.map(Outcome.of)
keys = st.builds(
    RecordKey,
    item=strategies.names,
    evaluator=strategies.names,
    aspect=st.just("") | st.sampled_from(BUILTIN_ASPECTS),
    order=strategies.texts,
    repeat=st.integers(0, 2**31),
    signature=strategies.signatures.map(str),
    inputs=strategies.texts,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(strategies.names, outcomes, min_size=1, max_size=3))
def test_outcomes_round_trip(given_outcomes: dict[str, Outcome[Any]]) -> None:
    encoded = encode(given_outcomes)
    assert decode(encoded.text) == given_outcomes
    assert encode(dict(reversed(given_outcomes.items()))) == encoded
    json.loads(encoded.text, parse_constant=pytest.fail)  # no NaN, no Infinity


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.dictionaries(
        keys, st.dictionaries(strategies.names, outcomes, min_size=1, max_size=2), max_size=3
    )
)
def test_records_round_trip(
    store: RunStore, made: dict[RecordKey, dict[str, Outcome[Any]]]
) -> None:
    for one, what in made.items():
        store.add_to_plan([one])
        store.write(Finished(Task((one,), measure), (encode(what),), (("request",),), 0.25))
    found = {record.key: record for record in store.records(current=False)}
    for one, what in made.items():
        assert found[one].outcomes == what
        assert (found[one].elapsed, found[one].requests) == (0.25, ("request",))


def test_the_records_of_one_evaluator_are_read_alone(store: RunStore) -> None:
    every = [RecordKey(item, name) for item in "ab" for name in ("noise", "blur")]
    store.add_to_plan([*every, RecordKey("c", "noise")])
    for one in every[:3]:
        store.write(Finished(Task((one,), measure), (encode({"x": Outcome.of(Score(0.5))}),)))
    assert {one.key for one in store.records("noise")} == {every[0], every[2]}
    assert {one.key for one in store.records("blur")} == {every[1]}
    assert {one.item for one in store.plan("noise")} == {"a", "b", "c"}
    assert len(list(store.plan())) == 5


def test_a_key_is_plain_text() -> None:
    assert type(RecordKey("a", "b", aspect=Aspect.COLOR).aspect) is str
    with pytest.raises(ValueError, match="surrogates"):
        RecordKey("caf\udce9", "b")
    with pytest.raises(ValueError, match="needs an item"):
        RecordKey("", "b")


def test_done_is_not_done_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    tasks = [task(item, payload={"log": str(log)}) for item in range(3)]
    for _ in range(2):
        with RunStore(tmp_path / "run", command="test") as store:
            done = execute(store, tasks, engine=InlineEngine())
    assert (done.reused, done.made) == (3, 0)
    assert len(log.read_text("utf-8").split()) == 3


def test_a_changed_input_makes_only_its_own_records_old(store: RunStore, tmp_path: Path) -> None:
    log = tmp_path / "log"

    def tasks(hashes: list[str]) -> list[Task]:
        return [
            Task((key(n, inputs=text),), measure, {"log": str(log)})
            for n, text in enumerate(hashes)
        ]

    execute(store, tasks(["aa", "bb"]), engine=InlineEngine())
    done = execute(store, tasks(["aa", "changed"]), engine=InlineEngine())
    assert (done.reused, done.made) == (1, 1)
    assert log.read_text("utf-8").split() == ["film-0", "film-1", "film-1"]
    assert {r.key.inputs for r in store.records()} == {"aa", "changed"}
    assert {r.key.inputs for r in store.records(current=False)} == {"aa", "bb", "changed"}
    assert store.coverage().total == 2
    # The old file is back: its record is there.
    assert execute(store, tasks(["aa", "bb"]), engine=InlineEngine()).made == 0


def test_one_decode_many_metrics(store: RunStore) -> None:
    """A metric that is added later is made alone; the task is asked for what is missing only."""
    first, second = key(1, "flicker"), key(1, "sharpness")
    execute(store, [Task((first,), measure)], engine=InlineEngine())
    both = Task((first, second), measure)
    done = execute(store, [both], engine=InlineEngine())
    assert (done.reused, done.made) == (1, 1)
    assert store.coverage().scored == 2


@pytest.mark.parametrize(
    ("retry", "again"),
    [
        (Retry.NONE, set()),
        (Retry.ALL, set(Reason)),
        (
            Retry.TRANSIENT,
            {
                Reason.TIMED_OUT,
                Reason.SERVICE_FAILED,
                Reason.OVER_BUDGET,
                Reason.MISSING_MODEL,
                Reason.DECODER_CRASHED,
                Reason.CRASHED,
            },
        ),
    ],
)
def test_which_failures_are_tried_again(retry: Retry, again: set[Reason], store: RunStore) -> None:
    failing = [task(why.value, "no_value", why.value) for why in Reason]
    assert execute(store, failing, engine=InlineEngine()).failures == dict.fromkeys(
        sorted(Reason), 1
    )
    fixed = [task(why.value) for why in Reason]
    store.retry = retry
    execute(store, fixed, engine=InlineEngine())
    records = {record.key.item.removeprefix("film-"): record for record in store.records()}
    assert {name for name, record in records.items() if record.attempts == 2} == again
    assert {name for name, record in records.items() if not record.reasons} == again


def test_what_makes_no_sense_for_an_item_did_not_fail(store: RunStore) -> None:
    nothing = Reason.NOT_APPLICABLE.value
    tasks = [
        task("whole", "outputs", {"score": "", "shape": ""}),
        task("some", "outputs", {"score": nothing, "shape": ""}),
        task("none", "outputs", {"score": nothing, "shape": nothing}),
        task("lost", "outputs", {"score": nothing, "shape": "refused"}),
    ]
    execute(store, tasks, engine=InlineEngine())
    coverage = store.coverage()
    assert (coverage.scored, coverage.inapplicable, coverage.failed) == (2, 1, 1)
    assert coverage.pending == 0
    assert coverage.share == pytest.approx(2 / 3)
    assert coverage.reasons == {Reason.NOT_APPLICABLE: 3, Reason.REFUSED: 1}


def test_coverage(store: RunStore) -> None:
    tasks = [task(1), task(2, "no_value", "refused"), task(3, "no_value", "refused"), task(4)]
    execute(store, tasks[:3], engine=InlineEngine())
    store.add_to_plan([tasks[3].keys[0]])
    coverage = store.coverage()
    assert (coverage.total, coverage.scored, coverage.failed, coverage.pending) == (4, 1, 2, 1)
    assert coverage.reasons == {Reason.REFUSED: 2}


def test_steps_of_one_start_add_up(tmp_path: Path) -> None:
    for _ in range(2):
        with RunStore(tmp_path, command="test") as store:
            execute(store, [task("question")], engine=InlineEngine())
            execute(store, [task("answer")], engine=InlineEngine())
            assert store.coverage().total == 2


def test_starts_say_what_was_asked(tmp_path: Path) -> None:
    for number in range(2):
        with RunStore(tmp_path, command="score", arguments={"workers": number}) as store:
            execute(store, [task(1)], engine=InlineEngine())
    with RunReader(tmp_path) as run:
        first, second = run.starts()
    assert (first.command, first.arguments, first.ending) == ("score", {"workers": 0}, "finished")
    assert first.started < first.ended < second.started


def test_another_command(tmp_path: Path) -> None:
    RunStore(tmp_path, command="score").close()
    with pytest.raises(RunError, match="`score`, not of `build`"):
        RunStore(tmp_path, command="build")
    RunStore(tmp_path, command="score").close()  # the refusal left nothing locked


def test_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="is not a run"):
        RunReader(tmp_path)
    connection = sqlite3.connect(tmp_path / "run.db")
    connection.execute("CREATE TABLE somebody_elses (a)")
    connection.close()
    for opening in (RunReader, lambda folder: RunStore(folder, command="x")):
        with pytest.raises(RunError, match="not one of screentest"):
            opening(tmp_path)


def test_reading_while_writing(store: RunStore) -> None:
    with RunReader(store.folder) as reader:
        assert reader.coverage().total == 0
        execute(store, [task(1)], engine=InlineEngine())
        assert reader.coverage().scored == 1


def test_reading_changes_nothing(tmp_path: Path) -> None:
    with RunStore(tmp_path, command="test") as store:
        execute(store, [task(1)], engine=InlineEngine())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with RunReader(tmp_path) as run:
        list(run.records())
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            run._reading.execute("DELETE FROM records")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_flipped_letter_is_noticed(tmp_path: Path) -> None:
    with RunStore(tmp_path, command="test") as store:
        execute(store, [task(1), task(2)], engine=InlineEngine())
    connection = sqlite3.connect(tmp_path / "run.db")
    connection.execute("UPDATE records SET outcomes = replace(outcomes, '1', '2') WHERE id = 2")
    connection.commit()
    connection.close()
    with RunReader(tmp_path) as run, pytest.raises(RunDamaged, match="row 2 of records"):
        list(run.records())
    with RunStore(tmp_path, command="test") as store:
        # What is there is not read to resume; the results are, at the end of every job.
        assert execute(store, [task(1), task(2)], engine=InlineEngine()).reused == 2
        with pytest.raises(RunDamaged, match="--repair"):
            list(store.records())


def test_records_that_are_there_are_not_read_to_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million of them would take a minute, and a gigabyte."""
    with RunStore(tmp_path, command="test") as store:
        execute(store, [task(1), task(2)], engine=InlineEngine())
    read: list[str] = []

    def counting(connection: sqlite3.Connection, table: str, *rest: Any) -> Iterator[SqlRow]:
        read.append(table)
        return select(connection, table, *rest)

    monkeypatch.setattr("screentest.run.reader.select", counting)
    with RunStore(tmp_path, command="test") as store:
        done = execute(store, [task(1), task(2), task(3)], engine=InlineEngine())
        assert (done.reused, done.made) == (2, 1)
    assert "records" not in read


def test_no_secret_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key may come back in an option, in an error of a service, in an answer."""
    from screentest.core import CallIntent, CallReceipt, CallStatus, Failure

    secret = "sk-very-secret-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    with RunStore(tmp_path, command="test", arguments={"url": f"http://x/?key={secret}"}) as store:
        call = store.ledger.intend(CallIntent("r", f"model {secret}", purpose=secret))
        store.ledger.settle(
            call,
            CallReceipt(CallStatus.FAILED, secret, secret, detail=secret, answer=f"<{secret}>"),
        )
        failure = Failure(Reason.SERVICE_FAILED, f"wrong key {secret}", f"not {secret}")
        store.write(Finished(task(1), (encode({"x": Outcome(failure=failure)}),)))
        inside = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    after = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert secret.encode() not in inside + after
    assert b"[secret]" in inside + after


def test_written_means_on_the_disk(store: RunStore) -> None:
    """Each commit is synced (PRAGMA synchronous 2 is FULL) and logged ahead."""

    def settings_of(connection: sqlite3.Connection) -> list[Any]:
        names = ("synchronous", "journal_mode", "foreign_keys")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    assert store._writer.do(settings_of) == [2, "wal", 1]


def test_one_change_that_fails_undoes_only_itself(store: RunStore) -> None:
    """Several changes share a commit; here a gate holds them until all three wait."""
    import threading

    gate = threading.Event()
    writer = store._writer
    waiting = writer.submit(lambda db: gate.wait(10))
    one = Finished(task(1), (encode({"x": Outcome.of(Score(1.0))}),))
    two = Finished(task(2), (encode({"x": Outcome.of(Score(2.0))}),))
    good = writer.submit(lambda db: store._write(db, one))

    def half(connection: sqlite3.Connection) -> None:
        store._write(connection, two)
        raise LookupError("changed its mind")

    bad = writer.submit(half)
    best = writer.submit(lambda db: db.execute("SELECT count(*) FROM records").fetchone()[0])
    gate.set()
    waiting.result()
    good.result()
    with pytest.raises(LookupError):
        bad.result()
    assert best.result() == 1
    assert [record.key.item for record in store.records(current=False)] == ["film-1"]


def test_a_closed_store_refuses(tmp_path: Path) -> None:
    store = RunStore(tmp_path, command="test")
    store.close()
    with pytest.raises(RuntimeError, match="is closed"):
        store.write(Finished(task(1), (encode({"x": Outcome.of(Score(1.0))}),)))


def test_cap_must_be_a_number(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="max_cost"):
        RunStore(tmp_path, command="test", max_cost=Decimal("NaN"))
    RunStore(tmp_path, command="test", max_cost=Decimal("0.5")).close()
