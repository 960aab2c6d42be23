"""Versions: a store of every past release opens, one of a later release is refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from screentest.core import RunDamaged, RunTooNew
from screentest.run import database as migrations
from screentest.run.database import APPLICATION_ID, MIGRATIONS, newest
from screentest.run.engine import InlineEngine
from screentest.run.execute import execute
from screentest.run.reader import RunReader
from screentest.run.store import RunStore
from tests.run.work import task

HERE = Path(__file__).parent

# What make_schema.py of its time kept about the run; the first version had no place for it.
ABOUT: dict[str, list[object]] = {
    "schema_1": [[], [], {}],
    "schema_2": [["film-1", "film-2"], ["brightness"], {"remark": {"text": "kept"}}],
}


def from_text(folder: Path, text: str) -> None:
    """A database as a release left it: its own words, made into a file again."""
    folder.mkdir(exist_ok=True)
    connection = sqlite3.connect(folder / "run.db")
    connection.executescript(text)
    connection.close()


@pytest.mark.parametrize("path", sorted(HERE.glob("schema_*.sql")), ids=lambda path: path.stem)
def test_stores_of_past_releases_open(path: Path, tmp_path: Path) -> None:
    """Each was written by ``make_schema.py`` of its time: three records, one of them failed."""
    from_text(tmp_path, path.read_text("utf-8"))
    for _ in range(2):
        with RunReader(tmp_path) as run:
            assert run.coverage().scored == 2
            assert run.coverage().failed == 1
            assert run.spending().calls == 2
            assert run.spending().unknown == 1
            told = [[*run.items()], [note.name for note in run.evaluators()], run.notes()]
            assert told == ABOUT[path.stem]
        with RunStore(tmp_path, command="test") as store:
            assert execute(store, [task(1)], engine=InlineEngine()).reused == 1
            execute(store, [task(2), task(3, "no_value", "refused")], engine=InlineEngine())


def test_there_is_a_past_release_for_every_version() -> None:
    assert [path.stem for path in sorted(HERE.glob("schema_*.sql"))] == [
        f"schema_{number}" for number in range(1, newest() + 1)
    ]


def test_a_later_version_is_refused(tmp_path: Path) -> None:
    RunStore(tmp_path, command="test").close()
    connection = sqlite3.connect(tmp_path / "run.db")
    connection.execute(f"PRAGMA user_version = {newest() + 1}")
    connection.close()
    before = (tmp_path / "run.db").read_bytes()
    for opening in (RunReader, lambda folder: RunStore(folder, command="test")):
        with pytest.raises(RunTooNew, match=rf"\b{newest() + 1}\b.*\b{newest()}\b") as caught:
            opening(tmp_path)
        assert "pip install --upgrade" in caught.value.advice
    assert (tmp_path / "run.db").read_bytes() == before


def test_a_step_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the next release will do: reading looks at a copy, writing takes the step."""
    with RunStore(tmp_path, command="test") as store:
        execute(store, [task(1)], engine=InlineEngine())
    step = "CREATE TABLE remarks (id INT PRIMARY KEY, text TEXT, checksum TEXT);"
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, step))
    before = (tmp_path / "run.db").read_bytes()
    with RunReader(tmp_path) as run:
        assert len(list(run.records())) == 1
    assert (tmp_path / "run.db").read_bytes() == before
    RunStore(tmp_path, command="test").close()
    assert _version(tmp_path) == newest()


def test_a_step_that_fails_leaves_the_shape_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    RunStore(tmp_path, command="test").close()
    broken = "CREATE TABLE remarks (id INT PRIMARY KEY); CREATE TABLE plan (id);"
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, broken))
        with pytest.raises(RunDamaged, match="already exists"):
            RunStore(tmp_path, command="test")
    assert _version(tmp_path) == len(MIGRATIONS)
    RunStore(tmp_path, command="test").close()


def _version(folder: Path) -> int:
    connection = sqlite3.connect(folder / "run.db")
    try:
        assert connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        return version
    finally:
        connection.close()
