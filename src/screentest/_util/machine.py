"""The processors and the memory that this process may use: less than there is, where limited."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def processors() -> int:
    """Return how many, by the scheduler's mask and a container's quota; at least one."""
    allowed = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    with suppress(OSError, ValueError):  # no control groups here, or those of the first version
        quota, period = _QUOTA.read_text(encoding="ascii").split()
        if quota != "max":
            allowed = min(allowed, max(1, round(int(quota) / int(period))))
    return allowed


_LIMIT = Path("/sys/fs/cgroup/memory.max")
_STATM = Path("/proc/self/statm")


def memory() -> int | None:
    """Bytes, of the machine or of its container; None where the system does not say."""
    try:
        allowed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    with suppress(OSError, ValueError):  # no control groups here, or "max"
        allowed = min(allowed, int(_LIMIT.read_text(encoding="ascii")))
    return allowed


def can_be_watched() -> bool:
    """Return whether this system says how much a process holds."""
    return _STATM.exists()


def held_by(pid: int) -> int:
    """Bytes that a process holds for itself; files that it only maps, such as weights, are not.

    They belong to the system, which can drop them, and to everybody who maps them.
    """
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text("ascii").split()
    except (OSError, ValueError):  # it has just ended
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
