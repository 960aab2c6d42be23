"""Runs in temporary folders, and runs in processes that may be killed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from screentest.run.reader import RunReader
from screentest.run.store import RunStore
from tests.conftest import ROOT
from tests.run.canonical import canonical

PATIENCE = 300.0
"""Seconds to wait for what must happen soon, on a machine that is busy."""


@pytest.fixture(autouse=True)
def _processes(worker_processes: None) -> None:
    """Test the processes of runs here."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore(tmp_path / "run", command="test") as opened:
        yield opened


@dataclass
class Children:
    """Starts runs as processes of their own, and leaves none behind."""

    temporary: Path
    """Their TMPDIR: short, since the name of a socket goes into it."""
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, folder: Path, **options: Any) -> subprocess.Popen[str]:
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.run.child", str(folder), *arguments],
            cwd=ROOT,
            env=os.environ | {"TMPDIR": str(self.temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # signals to its group must not reach ours
        )
        self.started.append(child)
        return child

    def finish(self, folder: Path, **options: Any) -> tuple[int, str]:
        """Run to the end; the exit code, and what it said on stderr."""
        child = self.start(folder, **options)
        _, said = child.communicate(timeout=PATIENCE)
        return child.returncode, said


def read_lines(child: subprocess.Popen[str], count: int) -> None:
    """Wait until a child has said so many lines: that it has begun, and one for each record."""
    assert child.stdout is not None
    for _line in zip(range(count), child.stdout, strict=False):
        pass


@contextmanager
def many_children() -> Iterator[Children]:
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        made = Children(Path(folder))
        yield made
        for child in made.started:
            if child.poll() is None:
                child.kill()
            child.communicate()


@pytest.fixture
def children() -> Iterator[Children]:
    with many_children() as made:
        yield made


def dump(folder: Path) -> list[str]:
    """All that may not depend on when, where and in how many starts a run was made."""
    with RunReader(folder) as run:
        return list(canonical(run.records()))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes, where mounting one is allowed."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk needs root")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(path: Path) -> None:
    """Have a file take all the room that there is."""
    with path.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass
