"""The machine's memory or the limit of its container: the least counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from screentest._util import machine as module
from screentest._util.machine import held_by, memory

SIZE = 50_000_000
MAPPED = """
import mmap, os, sys
from screentest._util.machine import held_by
before = held_by(os.getpid())
with open(sys.argv[1], "rb") as opened:
    with mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        sum(mapped[:: mmap.PAGESIZE])
        print(held_by(os.getpid()) - before)
kept = bytearray(os.urandom(50_000_000))
print(held_by(os.getpid()) - before)
"""


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
    file = tmp_path / "weights"
    file.write_bytes(bytes(SIZE))
    # In a process of its own: a test process gives memory back in the midst of this.
    done = subprocess.run([sys.executable, "-c", MAPPED, file], capture_output=True, text=True)
    mapped, kept = map(int, done.stdout.split())
    assert mapped < SIZE / 2 < kept


def test_who_is_gone_holds_nothing() -> None:
    assert held_by(2**22 + 1) == 0
