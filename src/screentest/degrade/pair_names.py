"""How a pair is called where people choose one: ``film-7/color``, as its file lies on the disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from screentest.core import UserError
from screentest.degrade.testbed import Pair, Testbed


def pair_name(pair: Pair) -> str:
    """The folder of the source and the name of the changed video."""
    path = PurePosixPath(pair.changed.path)
    return f"{path.parent.name}/{path.stem}"


def find_pair(testbed: Testbed, wanted: str) -> Pair:
    """The pair that a user names: by its name, its path, or its end where only one ends so."""
    for exact in (pair_name, lambda pair: f"{pair.source}/{pair.name}", _path):
        found = [pair for pair in testbed.pairs if exact(pair) == wanted]
        if len(found) == 1:
            return found[0]
    found = [pair for pair in testbed.pairs if pair_name(pair).endswith(f"/{wanted}")]
    if len(found) == 1:
        return found[0]
    if found:
        raise UserError(
            f"{len(found)} pairs are called {wanted!r}", advice=f"Say which: {_some(found)}"
        )
    raise UserError(
        f"the testbed has no pair {wanted!r}",
        advice=f"It has: {_some(testbed.pairs)}" if testbed.pairs else "It has none at all.",
    )


def _path(pair: Pair) -> str:
    return pair.changed.path


def _some(pairs: Sequence[Pair]) -> str:
    names = [pair_name(pair) for pair in pairs[:5]]
    return ", ".join(names) + (", …" if len(pairs) > 5 else "")
