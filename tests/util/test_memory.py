"""The machine's memory or the limit of its container: the least counts."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import psutil
import pytest

from screentest._util import machine as module
from screentest._util.machine import held_by, memory


@pytest.mark.parametrize(
    ("limit", "allowed"),
    [("max\n", "all"), ("4096\n", "4096"), ("99999999999999999\n", "all"), ("?", "all")],
)
def test_the_least_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: str, allowed: str
) -> None:
    file = tmp_path / "memory.max"
    monkeypatch.setattr(module, "_LIMIT", file)
    assert memory() == psutil.virtual_memory().total
    file.write_text(limit)
    assert memory() == (psutil.virtual_memory().total if allowed == "all" else int(allowed))


def test_files_that_are_only_mapped_do_not_count(tmp_path: Path) -> None:
    size = 50_000_000
    file = tmp_path / "weights"
    file.write_bytes(bytes(size))
    before = held_by(os.getpid())
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[:: mmap.PAGESIZE]) == 0
        assert held_by(os.getpid()) - before < size / 2
    kept = bytearray(os.urandom(size))
    assert held_by(os.getpid()) - before > size / 2
    del kept


def test_who_is_gone_holds_nothing() -> None:
    assert held_by(2**22 + 1) == 0
