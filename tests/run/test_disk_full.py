"""A full disk: a clean stop that names the place, old data intact, and a run that goes on."""

from __future__ import annotations

import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from screentest.core import CallIntent, CallReceipt, CallStatus, StorageError
from screentest.run.engine import InlineEngine
from screentest.run.execute import execute
from screentest.run.reader import RunReader
from screentest.run.store import RunStore
from tests.run.conftest import PATIENCE, Children, dump, fill, read_lines
from tests.run.work import task

EX_IOERR = 74  # sysexits.h


def test_file_size_limit(tmp_path: Path, children: Children) -> None:
    """RLIMIT_FSIZE: the log cannot grow beyond 600 kB; each record takes some 20 kB."""
    folder = tmp_path / "run"
    options = {"tasks": 80, "bytes": 20_000}
    code, said = children.finish(folder, file_limit=600_000, **options)
    assert code == EX_IOERR
    assert str(folder / "run.db") in said
    assert "again" in said
    with RunReader(folder) as run:
        written = len(list(run.records()))
        assert run.starts()[-1].ending in ("failed", "")
    assert 0 < written < 80
    assert children.finish(folder, **options)[0] == 0
    assert len(dump(folder)) == 80


def test_small_disk(small_disk: Path, children: Children) -> None:
    folder = small_disk / "run"
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(800_000))
    options = {"tasks": 60, "bytes": 20_000}
    code, said = children.finish(folder, **options)
    assert code == EX_IOERR
    assert str(folder / "run.db") in said
    with RunReader(folder) as run:
        written = len(list(run.records()))
    assert 0 < written < 60
    code, said = children.finish(folder, **options)  # still full: says so, harms nothing
    assert code == EX_IOERR
    with RunReader(folder) as run:
        assert len(list(run.records())) >= written
    ballast.unlink()
    # Reading has folded the log into the database; now there is room for more of it.
    code, said = children.finish(folder, tasks=30, bytes=20_000)
    assert code == 0, said
    assert len(dump(folder)) == 30


def test_answers_already_paid_for_are_written_into_the_room_kept_back(small_disk: Path) -> None:
    folder = small_disk / "run"
    with RunStore(folder, command="test") as store:
        call = store.ledger.intend(CallIntent("question", "fake-1"))
        fill(small_disk / "ballast")
        with pytest.raises(StorageError):  # nothing new is begun
            store.ledger.intend(CallIntent("x" * 100_000, "fake-1"))
        receipt = CallReceipt(CallStatus.ANSWERED, answer="y" * 100_000)
        store.ledger.settle(call, receipt)  # what was paid for is kept
        with pytest.raises(StorageError):
            store.ledger.intend(CallIntent("another", "fake-1"))
    with RunReader(folder) as run:
        (known,) = run.calls()
        assert known.receipt == receipt


def test_no_room_at_all(small_disk: Path) -> None:
    fill(small_disk / "ballast")
    folder = small_disk / "run"
    with pytest.raises(StorageError, match="No space left"):
        RunStore(folder, command="test")
    (small_disk / "ballast").unlink()
    with RunStore(folder, command="test") as store:
        assert execute(store, [task(1)]).made == 1


def test_folder_that_may_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot make the folder"):
        RunStore(tmp_path / "file" / "run", command="test")


def test_room_is_given_back_in_the_end(tmp_path: Path) -> None:
    with RunStore(tmp_path, command="test"):
        assert (tmp_path / "run.reserve").stat().st_size == 512 * 1024
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.db", "run.lock"]


def test_reading_where_nothing_may_be_written(small_disk: Path, children: Children) -> None:
    finished, killed = small_disk / "finished", small_disk / "killed"
    assert children.finish(finished, tasks=3)[0] == 0
    child = children.start(killed, tasks=50, gate=small_disk / "never", free=6)
    read_lines(child, 4)
    child.kill()
    child.wait()
    deadline = time.monotonic() + PATIENCE
    while subprocess.run(["mount", "-o", "remount,ro", str(small_disk)]).returncode:
        assert time.monotonic() < deadline, "the killed run's workers are still there"
        time.sleep(0.1)
    assert len(dump(finished)) == 3
    assert 3 <= len(dump(killed)) < 50
    with pytest.raises(StorageError, match="Read-only file system"):
        RunStore(finished, command="test")


@pytest.mark.parametrize("code", [1034, 1290, 778])  # fsync, fsync of the folder, write
def test_an_error_of_the_disk_is_not_swallowed(tmp_path: Path, code: int) -> None:
    """Played on the connection: a commit that the system could not carry out is not reported."""
    with RunStore(tmp_path, command="test") as store:
        execute(store, [task(1)], engine=InlineEngine())
        store._writer._connection = Failing(store._writer._connection, code)  # type: ignore[assignment]
        with pytest.raises(StorageError, match="cannot write to"):
            execute(store, [task(1), task(2)], engine=InlineEngine())
        store._writer._connection = store._writer._connection.connection  # type: ignore[attr-defined]
    with RunReader(tmp_path) as run:
        assert [record.key.item for record in run.records(current=False)] == ["film-1"]


class Failing:
    """A connection to a disk that has begun to fail."""

    def __init__(self, connection: sqlite3.Connection, code: int) -> None:
        self.connection = connection
        self.code = code

    def __getattr__(self, name: str) -> object:
        return getattr(self.connection, name)

    def execute(self, statement: str, *arguments: object) -> object:
        if statement == "COMMIT":
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = self.code
            raise error
        return self.connection.execute(statement, *arguments)  # type: ignore[arg-type]
