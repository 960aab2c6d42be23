"""The scheduler's mask or the quota of a container: the least counts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from screentest._util import machine as module
from screentest._util.machine import processors


@pytest.fixture
def eight(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine whose scheduler allows eight, and the file of its container's quota."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    quota = tmp_path / "cpu.max"
    monkeypatch.setattr(module, "_QUOTA", quota)
    return quota


@pytest.mark.parametrize(
    ("quota", "allowed"),
    [("max 100000", 8), ("250000 100000", 2), ("1000 100000", 1), ("9900000 100000", 8), ("?", 8)],
)
def test_the_least_counts(eight: Path, quota: str, allowed: int) -> None:
    eight.write_text(quota)
    assert processors() == allowed


@pytest.mark.usefixtures("eight")
def test_without_a_quota() -> None:
    assert processors() == 8


def test_without_a_mask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(module, "_QUOTA", tmp_path / "none")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processors() == 1
