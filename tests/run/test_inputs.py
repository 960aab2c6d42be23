"""Inputs: the same bytes are the same input, other bytes another; a file is read once."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
from concurrent.futures import CancelledError
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.core import Clip, Item, Script, Silent, Span
from screentest.run import inputs as module
from screentest.run.engine import InlineEngine
from screentest.run.execute import execute
from screentest.run.inputs import ABSENT, Stamp, hash_file, hash_item
from screentest.run.store import RunStore
from screentest.run.tasks import Task
from tests.run.work import key, no_value


@pytest.fixture
def film(tmp_path: Path, sample: Path) -> Path:
    return Path(shutil.copy(sample / "frenchgp_1906_214x160.mp4", tmp_path / "film.mp4"))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Which files were read to be hashed. The clock is a day ahead, so that all are settled."""
    seen: list[Path] = []
    monkeypatch.setattr(
        module, "hash_file", lambda path, *more: seen.append(path) or hash_file(path, *more)
    )
    now = module.time.time_ns
    monkeypatch.setattr(module.time, "time_ns", lambda: now() + 86_400 * 10**9)
    return seen


def test_hash_is_sha256(film: Path) -> None:
    assert hash_file(film) == hashlib.sha256(film.read_bytes()).hexdigest()


def test_a_file_is_read_once(film: Path, reads: list[Path], tmp_path: Path) -> None:
    for _ in range(2):
        with RunStore(tmp_path / "run", command="test") as store:
            assert store.inputs.of_file(film) == hash_file(film)
            assert store.inputs.of_file(film) == hash_file(film)
    assert reads == [film]


def test_a_changed_file_is_read_again(film: Path, reads: list[Path], store: RunStore) -> None:
    before = store.inputs.of_file(film)
    stat = film.stat()
    data = bytearray(film.read_bytes())
    data[1000] ^= 1
    film.write_bytes(data)
    os.utime(film, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # same size, and an old date
    after = store.inputs.of_file(film)
    assert after == hash_file(film) != before
    assert len(reads) == 2


def test_a_file_that_may_still_change_unseen_is_not_remembered(
    film: Path, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written this very moment: a second write could leave size and times the same."""
    monkeypatch.setattr(module.time, "time_ns", lambda: film.stat().st_ctime_ns + 1)
    store.inputs.of_file(film)
    count = store._writer.do(lambda db: db.execute("SELECT count(*) FROM inputs").fetchone()[0])
    assert count == 0


def test_a_name_that_is_not_text(film: Path, store: RunStore) -> None:
    odd = Path(os.fsdecode(os.fsencode(film.parent) + b"/caf\xe9.mp4"))
    film.rename(odd)
    assert store.inputs.of_file(odd) == hash_file(odd)


def test_what_is_not_a_plain_file(tmp_path: Path, store: RunStore) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for name in ("pipe", "loop", "socket", "nowhere", ".", "nul\0"):
            assert hash_file(tmp_path / name) == ABSENT
            assert store.inputs.of_file(tmp_path / name) == ABSENT
            assert Stamp.of(tmp_path / name) is None


def test_everything_that_can_change_a_result_is_in_the_hash(film: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"other")
    plain = Item("film", film, prompt="a race")
    second = Span(Fraction(0), Fraction(1))
    changed = [
        plain,
        replace(plain, video=other),
        replace(plain, prompt="a chase"),
        replace(plain, instruction="make it blue"),
        replace(plain, source=other),
        replace(plain, source=film),
        replace(plain, references=(other,)),
        replace(plain, references=(other, film)),
        replace(plain, references=(film, other)),
        replace(plain, script=Script((Clip("a race"),))),
        replace(plain, script=Script((Clip("a race", second),))),
    ]
    assert len({hash_item(item) for item in changed}) == len(changed)


def test_names_are_not_in_the_hash(film: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(film, tmp_path / "copy.mp4"))
    first = Item("film", film, prompt="a race", groups={"model": "a"})
    assert hash_item(first) == hash_item(Item("other", copy, prompt="a race"))


def test_a_video_that_appears_is_a_changed_input(store: RunStore, film: Path) -> None:
    item = Item("film", film.with_name("late.mp4"))

    def made() -> int:
        inputs = store.inputs.of_item(item)
        task = Task((key("late", inputs=inputs),), no_value, "missing_file")
        return execute(store, [task], engine=InlineEngine()).made

    assert (made(), made()) == (1, 0)  # a missing file is not looked for over and over
    shutil.copy(film, item.video)
    assert made() == 1


# Files that take long, or claim any size.


def test_a_file_above_the_limit_is_not_read(tmp_path: Path, store: RunStore) -> None:
    sparse = tmp_path / "sparse.mp4"
    sparse.touch()
    os.truncate(sparse, 15 << 40)
    assert hash_file(sparse) == f"too_large {15 << 40}"
    assert store.inputs.of_file(sparse) == f"too_large {15 << 40}"
    assert not store.inputs.is_large(sparse), "nothing to read ahead"
    store.inputs.largest = 10
    assert store.inputs.of_file(tmp_path) == ABSENT
    small = tmp_path / "small.mp4"
    small.write_bytes(b"eleven bytes")
    assert store.inputs.of_file(small) == "too_large 12"
    store.inputs.largest = 12
    assert store.inputs.of_file(small) == hashlib.sha256(b"eleven bytes").hexdigest()


def test_large_files_are_hashed_ahead(
    film: Path, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGE", 1)
    assert store.inputs.is_large(film)
    store.inputs.begin([film, film])
    store.inputs.wait(Silent())
    assert store.inputs.of_file(film) == hash_file(film)


def test_closing_a_run_stops_the_hashing(tmp_path: Path) -> None:
    """Of 90 GB, which take a minute; the test would wait for it."""
    sparse = tmp_path / "sparse.mp4"
    sparse.touch()
    os.truncate(sparse, 90_000_000_000)
    with RunStore(tmp_path / "run", command="test") as store:
        store.inputs.begin([sparse])
        (begun,) = store.inputs._ahead.values()
    assert begun.done()
    with pytest.raises(CancelledError):
        begun.result()
