"""Damage: it is noticed, and every record that is intact and that SQLite can read is kept."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest

from screentest.core import (
    CallIntent,
    CallReceipt,
    CallStatus,
    RunBusy,
    RunDamaged,
    RunError,
    ScreentestError,
)
from screentest.run.engine import InlineEngine
from screentest.run.execute import execute
from screentest.run.notes import EvaluatorNote
from screentest.run.reader import RunReader
from screentest.run.repair import repair
from screentest.run.store import RunStore
from screentest.run.tasks import Task
from tests.run.canonical import canonical
from tests.run.conftest import Children, dump, read_lines
from tests.run.work import item, task

RECORDS = 60


def tasks() -> list[Task]:
    """Short records, and long ones that go on over several pages of the database."""
    sizes = [0, 50, 3000, 9000, 30_000]
    return [task(n, payload={"bytes": sizes[n % len(sizes)]}) for n in range(RECORDS)]


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with records and a ledger; one record was made in two attempts."""
    folder = tmp_path_factory.mktemp("healthy") / "run"
    with RunStore(folder, command="test") as store:
        execute(store, [task(0, "no_value", "timed_out")], engine=InlineEngine())
        execute(store, tasks(), engine=InlineEngine())
        store.keep_items([item(n, prompt="before") for n in range(RECORDS)])
        store.keep_items([item(n, prompt="word " * n) for n in range(RECORDS)])
        store.keep_evaluators([EvaluatorNote("brightness", "metric", "brightness|v:1", {"x": 1})])
        store.keep_note("remark", {"text": "x" * 10_000})
        for number in range(20):
            call = store.ledger.intend(CallIntent(f"r{number}", "m", max_cost=Decimal(1)))
            receipt = CallReceipt(CallStatus.ANSWERED, cost=Decimal("0.5"), answer="word " * number)
            store.ledger.settle(call, receipt)
    return folder


def everything(folder: Path) -> list[object]:
    with RunReader(folder) as run:
        return [
            run.starts(),
            list(run.plan()),
            list(canonical(run.records())),
            list(run.calls()),
            run.coverage(),
            run.spending(),
            run.items(),
            run.evaluators(),
            run.notes(),
        ]


def copied(healthy: Path, target: Path) -> Path:
    shutil.copytree(healthy, target)
    return target


def test_a_healthy_run_stays_what_it_is(healthy: Path, tmp_path: Path) -> None:
    folder = copied(healthy, tmp_path / "run")
    done = repair(folder)
    assert done.lost == {}
    assert everything(folder) == everything(healthy)
    assert (done.backup / "run.db").read_bytes() == (healthy / "run.db").read_bytes()


@pytest.mark.parametrize("seed", range(60))
def test_a_flipped_byte_anywhere(seed: int, healthy: Path, tmp_path: Path) -> None:
    """Noticed or harmless; after repair at most the one row that holds the byte is gone.

    The first hundred bytes, which everything hangs on, are hit more often than the rest.
    """
    rng = random.Random(seed)
    folder = copied(healthy, tmp_path / "run")
    data = bytearray((folder / "run.db").read_bytes())
    place = rng.randrange(100 if seed % 3 == 0 else len(data))
    data[place] ^= rng.randrange(1, 256)
    (folder / "run.db").write_bytes(data)
    with suppress(ScreentestError):  # noticed, and said in a way that a user understands
        assert everything(folder) == everything(healthy)
    done = repair(folder)
    whole = dump(healthy)
    with RunReader(folder) as run:
        kept = list(canonical(run.records(current=False)))
        calls = list(run.calls())
    assert set(kept) <= set(whole)
    assert len(whole) - len(kept) + sum(map(len, done.lost.values())) <= 2
    assert len(calls) >= 19
    with RunStore(folder, command="test") as store:
        made = execute(store, tasks(), engine=InlineEngine()).made
    assert made <= 1
    assert dump(folder) == whole


def interior_pages(folder: Path) -> list[int]:
    """The places of the pages that lead to the pages of a table."""
    data = (folder / "run.db").read_bytes()
    return [at for at in range(4096, len(data), 4096) if data[at] == 5]


def test_a_page_overwritten(healthy: Path, tmp_path: Path) -> None:
    """Half a page of zeros, as a torn write leaves it, in each page in turn."""
    size = (healthy / "run.db").stat().st_size
    whole = set(dump(healthy))
    for number in range(0, size // 4096, 7):
        folder = copied(healthy, tmp_path / f"run-{number}")
        with (folder / "run.db").open("r+b") as file:
            file.seek(number * 4096 + 2048)
            file.write(bytes(2048))
        done = repair(folder)
        with RunReader(folder) as run:
            kept = set(canonical(run.records(current=False)))
        assert kept <= whole
        lost = len(done.lost.get("records", ()))
        assert len(whole) - len(kept) <= lost + 1  # the last of all leaves no gap
        on_other_pages = number * 4096 in interior_pages(healthy)
        assert lost < 12 or on_other_pages  # what half a page can hold


def test_a_page_that_leads_to_others(healthy: Path, tmp_path: Path) -> None:
    """Rows on pages that nothing leads to any more are lost, and reported; all others are kept."""
    interior = interior_pages(healthy)
    assert interior
    for at in interior:
        folder = copied(healthy, tmp_path / f"run-{at}")
        with (folder / "run.db").open("r+b") as file:
            file.seek(at)
            file.write(bytes(4096))
        done = repair(folder)
        with RunReader(folder) as run:
            kept = set(canonical(run.records(current=False)))
            calls = list(run.calls())
        assert kept <= set(dump(healthy))
        assert len(kept) + len(done.lost.get("records", ())) == RECORDS
        assert len(calls) + len(done.lost.get("calls", ())) == 20


def test_an_index_that_is_gone(healthy: Path, tmp_path: Path) -> None:
    folder = copied(healthy, tmp_path / "run")
    connection = sqlite3.connect(folder / "run.db")
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("DELETE FROM sqlite_master WHERE name = 'sqlite_autoindex_records_2'")
    connection.commit()
    connection.close()
    with pytest.raises(RunError, match="--repair"):
        RunReader(folder)
    assert repair(folder).lost == {}
    assert everything(folder) == everything(healthy)


def test_an_index_that_leads_astray(healthy: Path, tmp_path: Path) -> None:
    """Rows are whole but cannot be found: that must not pass for `not made yet`."""
    folder = copied(healthy, tmp_path / "run")
    connection = sqlite3.connect(folder / "run.db")
    root = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_records_2'"
    ).fetchone()[0]
    connection.close()
    data = bytearray((folder / "run.db").read_bytes())
    start = (root - 1) * 4096
    at = data.index(b"film-", start)
    assert at < start + 4096
    data[at : at + 4] = b"fiml"
    (folder / "run.db").write_bytes(data)
    with pytest.raises(RunError, match="--repair"):
        RunReader(folder)
    assert repair(folder).lost == {}
    assert everything(folder) == everything(healthy)


def test_truncated(healthy: Path, tmp_path: Path) -> None:
    folder = copied(healthy, tmp_path / "run")
    data = (folder / "run.db").read_bytes()
    (folder / "run.db").write_bytes(data[: len(data) * 2 // 3 + 100])
    with pytest.raises(RunError, match="damaged"):
        RunReader(folder)
    kept = repair(folder).kept["records"]
    assert 10 < kept < RECORDS
    with RunStore(folder, command="test") as store:
        assert execute(store, tasks(), engine=InlineEngine()).made == RECORDS - kept
    assert dump(folder) == dump(healthy)


def test_records_still_in_the_log(tmp_path: Path, children: Children) -> None:
    """A killed run has its latest records in the write-ahead log only."""
    folder = tmp_path / "run"
    never = tmp_path / "never"
    child = children.start(folder, tasks=40, bytes=6000, gate=never, free=30)
    read_lines(child, 25)
    child.kill()
    child.wait()
    assert (folder / "run.db-wal").stat().st_size > 100_000
    copy = copied(folder, tmp_path / "copy")
    before = dump(copy)
    header = bytearray((folder / "run.db").read_bytes())
    header[:100] = bytes(100)
    (folder / "run.db").write_bytes(header)
    repair(folder)
    assert dump(folder) == before


def test_a_repair_that_was_killed_is_started_again(healthy: Path, tmp_path: Path) -> None:
    """Killed at its most delicate: the log is gone, the new database has no name yet."""
    folder = copied(healthy, tmp_path / "run")
    (folder / "repairing" / "new").mkdir(parents=True)
    shutil.move(folder / "run.db", folder / "repairing" / "run.db")
    (folder / "repairing" / "new" / "run.db").write_bytes(b"half of it")
    (folder / "run.db").write_bytes(b"nothing of use")
    repair(folder)
    assert everything(folder) == everything(healthy)
    (folder / "repairing" / "new").mkdir(parents=True)  # killed before it was put away
    (folder / "repairing" / "run.db").write_bytes(b"of no use any more")
    assert repair(folder).lost == {}
    assert everything(folder) == everything(healthy)
    assert not (folder / "repairing").exists()


def test_only_runs_that_nobody_writes(healthy: Path, tmp_path: Path) -> None:
    folder = copied(healthy, tmp_path / "run")
    with RunStore(folder, command="test"), pytest.raises(RunBusy):
        repair(folder)
    with pytest.raises(RunError, match="is not a run"):
        repair(tmp_path)


def test_somebody_elses_database_is_left_alone(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "run.db")
    connection.execute("CREATE TABLE somebody_elses (a)")
    connection.close()
    before = (tmp_path / "run.db").read_bytes()
    with pytest.raises(RunError, match=r"run\.db; nothing was changed"):
        repair(tmp_path)
    assert (tmp_path / "run.db").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.db", "run.lock"]


def many_changes(data: bytearray, rng: random.Random, kind: int) -> None:
    """All over the file, in the header and in the schema, whose names SQLite does not check."""
    if kind == 0:
        places = [rng.randrange(len(data)) for _ in range(200)]
    elif kind == 1:
        places = [rng.randrange(400) for _ in range(20)]
    else:
        names = [at for word in (b"arguments", b"evaluator", b"probe") for at in _found(data, word)]
        places = [rng.choice(names) + rng.randrange(4) for _ in range(3)]
    for place in places:
        data[place] = rng.randrange(128, 256)


def _found(data: bytearray, word: bytes) -> list[int]:
    """Where a word is in the schema."""
    starts = range(0, len(data), 4096)
    pages = [start for start in starts if b"CREATE TABLE" in data[start : start + 4096]]
    return [
        page + match.start()
        for page in pages
        for match in re.finditer(word, data[page : page + 4096])
    ]


@pytest.mark.parametrize("seed", range(12))
def test_no_damage_is_taken_for_a_fault_of_ours(seed: int, healthy: Path, tmp_path: Path) -> None:
    """Python decodes names and messages of a damaged database, and raised UnicodeDecodeError."""
    folder = tmp_path / "run"
    data = bytearray((healthy / "run.db").read_bytes())
    many_changes(data, random.Random(seed), seed % 3)
    for use in (everything, repair, lambda folder: RunStore(folder, command="test").close()):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "run.db").write_bytes(data)
        with suppress(ScreentestError):  # anything else fails the test
            use(folder)


@pytest.mark.parametrize("name", ["arguments", "evaluator", "probe"])
def test_a_wrong_name_in_the_schema_costs_no_row(name: str, healthy: Path, tmp_path: Path) -> None:
    folder = copied(healthy, tmp_path / "run")
    data = bytearray((folder / "run.db").read_bytes())
    for place in _found(data, name.encode()):
        data[place] = 0xFF
    (folder / "run.db").write_bytes(data)
    with pytest.raises(RunDamaged, match="is damaged"):
        everything(folder)
    assert repair(folder).lost == {}
    assert dump(folder) == dump(healthy)
