"""A file is whole or not there, whatever step of writing it fails."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import pytest

import screentest
from screentest._util import atomic
from screentest._util.atomic import atomic_output, own_folder
from screentest.core import StorageError

STEPS = ("write", "lseek", "fsync", "link", "replace", "open")


@pytest.fixture(params=["nameless", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of writing out of sight."""
    way: str = request.param
    if way == "named":
        monkeypatch.delattr(os, "O_TMPFILE")
    return way


def write(target: Path, *pieces: bytes) -> None:
    with atomic_output(target) as file:
        for piece in pieces:
            file.write(piece)
        file.seek(0)
        file.write(b"W")


@pytest.mark.usefixtures("way")
def test_the_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with atomic_output(target) as file:
        file.write(b"half")
        assert not target.exists()
    assert target.read_bytes() == b"half"
    write(target, b"whole ", b"again")
    assert target.read_bytes() == b"Whole again"
    assert list(tmp_path.iterdir()) == [target]
    # As any file that is opened for writing: what the umask allows.
    (tmp_path / "plain").write_bytes(b"")
    assert target.stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("step", STEPS)
def test_a_failure_at_any_step(
    step: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if step == "link" and way == "named":
        return  # there is no such step
    target = tmp_path / "out"
    target.write_bytes(b"old")

    def fail(*arguments: object, **options: object) -> None:
        raise OSError(28, "no space left")

    if step == "replace":
        monkeypatch.setattr(Path, "replace", fail)
    else:
        monkeypatch.setattr(atomic.os, step, fail)
    with pytest.raises(StorageError, match=r"out'.*: no space left") as failed:
        write(target, b"new")
    monkeypatch.undo()
    assert failed.value.advice
    assert [one.name for one in tmp_path.iterdir()] == ["out"]
    assert target.read_bytes() == b"old"


@pytest.mark.usefixtures("way")
def test_a_failure_that_the_writer_swallowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(28, "no space left")

    def write_on() -> None:
        with atomic_output(tmp_path / "out") as file:
            with suppress(StorageError):
                file.write(b"lost")
            monkeypatch.undo()  # as if space had been freed: the file has a hole all the same

    monkeypatch.setattr(atomic.os, "write", fail)
    with pytest.raises(StorageError, match="no space left"):
        write_on()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("way")
def test_an_error_elsewhere_stays_what_it_is(tmp_path: Path) -> None:
    def break_off() -> None:
        with atomic_output(tmp_path / "out") as file:
            file.write(b"half")
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        break_off()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("way")
def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="nowhere/out'"):
        write(tmp_path / "nowhere" / "out", b"new")


def test_what_users_have_is_replaced_as_a_whole() -> None:
    """Others write into folders of their own, that are removed or made again."""
    own = {"trackers.py", "pull.py", "progress.py"}
    source = Path(screentest.__file__).parent
    plain = {
        path.name
        for path in source.rglob("*.py")
        if re.search(r"\.write_(text|bytes)\(", path.read_text(encoding="utf-8"))
    }
    assert plain <= own


def test_a_link_stays_and_one_to_itself_is_replaced(tmp_path: Path) -> None:
    link, loop = tmp_path / "link", tmp_path / "loop"
    link.symlink_to("file")
    loop.symlink_to(loop)
    for target in (link, loop):
        write(target, b"x")
    assert link.is_symlink()
    assert (tmp_path / "file").read_bytes() == loop.read_bytes()


@pytest.mark.usefixtures("way")
def test_a_name_as_long_as_names_can_be(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 255)
    write(target, b"long")
    assert target.read_bytes() == b"Wong"


def test_a_folder_is_its_makers_until_the_end(tmp_path: Path) -> None:
    with own_folder(tmp_path, "x-") as one:
        os.utime(one, (0, 0))  # as after a clock that jumped by years
        with own_folder(tmp_path, "x-") as other:
            assert one != other
            assert sorted(tmp_path.iterdir()) == sorted([one, other])
        assert list(tmp_path.iterdir()) == [one]
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="has no locks of folders")
def test_folders_of_killed_processes_are_removed(tmp_path: Path) -> None:
    code = f"""
        import os, pathlib
        from screentest._util.atomic import own_folder
        with own_folder(pathlib.Path({str(tmp_path)!r}), "x-") as folder:
            (folder / "file").touch()
            os.kill(os.getpid(), {int(signal.SIGKILL)})
    """
    done = subprocess.run([sys.executable, "-c", dedent(code)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert list(tmp_path.glob("x-*/file"))
    (tmp_path / "x-kept.txt").touch()  # of somebody else
    target = tmp_path / "target"
    target.mkdir()
    (tmp_path / "x-link").symlink_to(target)
    with own_folder(tmp_path, "x-") as folder:
        names = {path.name for path in tmp_path.iterdir()}
        assert names == {folder.name, "x-kept.txt", "x-link", "target"}


def test_a_folder_that_another_process_removes_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its making and its lock it looks like one that was left."""
    lock, removed = atomic._lock, []

    def late(folder: Path) -> int | None:
        if not removed:
            removed.append(folder)
            folder.rmdir()
        return lock(folder)

    monkeypatch.setattr(atomic, "_lock", late)
    with own_folder(tmp_path, "x-") as folder:
        assert [folder] == list(tmp_path.iterdir()) != removed
