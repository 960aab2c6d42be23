"""Only a regular file with bytes in it is opened, whatever the path leads to."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from screentest.core import Reason, VideoError
from screentest.video.limits import PlainFile


def refused(path: Path) -> VideoError:
    with pytest.raises(VideoError) as caught:
        PlainFile(path)
    assert caught.value.advice
    assert "\n" not in caught.value.message
    return caught.value


def test_reads_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"0123456789")
    file = PlainFile(path)
    assert file.read(4) == b"0123"
    assert file.tell() == 4
    assert file.seek(-2, os.SEEK_END) == 8
    assert file.read(100) == b"89"
    file.close()
    file.close()  # twice is as good as once


def test_a_link_to_a_file_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")
    (tmp_path / "link").symlink_to("x")
    PlainFile(tmp_path / "link").close()


def test_not_there(tmp_path: Path) -> None:
    assert refused(tmp_path / "nowhere.mp4").reason is Reason.MISSING_FILE


def test_empty(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    error = refused(tmp_path / "x")
    assert error.reason is Reason.EMPTY_FILE
    assert "empty" in error.message


def test_link_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nothing")
    error = refused(tmp_path / "link")
    assert error.reason is Reason.MISSING_FILE
    assert "link" in error.message


def test_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    error = refused(tmp_path / "one")
    assert error.reason is Reason.MISSING_FILE
    assert "itself" in error.message


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_unreadable(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")
    (tmp_path / "x").chmod(0)
    assert refused(tmp_path / "x").reason is Reason.MISSING_FILE


def test_unreadable_as_the_system_tells_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_bytes(b"x")

    def forbidden(*_: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("screentest.video.limits.os.open", forbidden)
    error = refused(tmp_path / "x")
    assert error.reason is Reason.MISSING_FILE
    assert "chmod" in error.advice


def test_folder(tmp_path: Path) -> None:
    assert refused(tmp_path).reason is Reason.UNSAFE


def test_a_pipe_without_a_writer_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.mp4")
    assert refused(tmp_path / "x.mp4").reason is Reason.UNSAFE


def test_a_pipe_put_in_place_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.mp4"
    path.write_bytes(b"x")
    honest = path.stat()
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(Path, "stat", lambda *_, **__: honest)  # what it was a moment ago
    assert refused(path).reason is Reason.UNSAFE


def test_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket may not be long
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("x.mp4")
        assert refused(tmp_path / "x.mp4").reason is Reason.UNSAFE


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_device(device: str) -> None:
    if not Path(device).exists():
        pytest.skip(f"no {device} here")
    assert refused(Path(device)).reason is Reason.UNSAFE


@pytest.mark.parametrize("name", ["nul\0byte.mp4", "lone\ud800surrogate.mp4", "x" * 300])
def test_names_that_no_file_has(name: str, tmp_path: Path) -> None:
    assert refused(tmp_path / name).reason is Reason.MISSING_FILE


def test_no_descriptors_left_is_no_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").write_bytes(b"x")

    def exhausted(*_: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("screentest.video.limits.os.open", exhausted)
    with pytest.raises(OSError, match="Too many open files"):
        PlainFile(tmp_path / "x")


def test_a_disk_that_fails_while_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_bytes(b"x")
    file = PlainFile(tmp_path / "x")

    def broken(*_: object) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("screentest.video.limits.os.read", broken)
    with pytest.raises(VideoError) as caught:
        file.read(1)
    assert caught.value.reason is Reason.MISSING_FILE
    file.close()
