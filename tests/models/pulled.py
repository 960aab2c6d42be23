"""Weights for tests: from the cache, or pulled into it; where neither goes, a skip that says so."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from screentest.core import Outcome
from screentest.models.pull import pull


@cache
def _get(name: str) -> Outcome[Path]:
    return pull([name])[name]


def pulled(name: str) -> Path:
    """The file of the weights ``name``."""
    outcome = _get(name)
    if outcome.failure is not None:
        pytest.skip(f"the weights {name!r} cannot be had here: {outcome.failure}")
    return outcome.unwrap()
