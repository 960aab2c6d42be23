"""The processors that this process may use: fewer than there are, where somebody set a limit."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def processors() -> int:
    """How many, by the scheduler's mask and a container's quota; at least one."""
    allowed = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    with suppress(OSError, ValueError):  # no control groups here, or those of the first version
        quota, period = _QUOTA.read_text(encoding="ascii").split()
        if quota != "max":
            allowed = min(allowed, max(1, round(int(quota) / int(period))))
    return allowed
