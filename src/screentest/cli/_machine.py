"""This machine: what there is to work with."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from screentest._util.machine import processors


@dataclass(frozen=True, slots=True)
class Machine:
    """Interpreter, system and resources. Sizes in bytes; None: the system does not say."""

    python: str
    executable: str
    system: str
    cores: int
    cores_allowed: int
    """What this process may use: containers and batch systems give less than there is."""
    memory: int | None
    memory_allowed: int | None
    disk_free_here: int
    disk_free_temp: int
    temp: str


def survey_machine() -> Machine:
    """Look at the machine."""
    memory = _memory()
    temp = tempfile.gettempdir()
    return Machine(
        python=f"{platform.python_implementation()} {platform.python_version()}",
        executable=sys.executable,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        cores=os.cpu_count() or 1,
        cores_allowed=processors(),
        memory=memory,
        memory_allowed=min(filter(None, [memory, _memory_limit()]), default=None),
        disk_free_here=shutil.disk_usage(".").free,
        disk_free_temp=shutil.disk_usage(temp).free,
        temp=temp,
    )


def _memory() -> int | None:
    with suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None


def _memory_limit() -> int | None:
    with suppress(OSError, ValueError):
        return int(Path("/sys/fs/cgroup/memory.max").read_text())
    return None
