"""The videos of a testbed as items, and what sub-dimensions say of each of its pairs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from screentest.core import Aspect, Item
from screentest.degrade import Testbed
from screentest.suites.locot2v.analysis.reactions import PairScores, Reaction, reactions
from screentest.suites.locot2v.analysis.scores import Scores
from screentest.suites.locot2v.dimensions import ALL

PLACEBOS = "placebos"
"""The column of edits that should change nothing."""


def items_of_testbed(folder: Path, testbed: Testbed) -> list[Item]:
    """Every video of every pair once, with the prompt of its source."""
    prompts = {one.id: (folder / one.prompt).read_text(encoding="utf-8") for one in testbed.sources}
    videos: dict[str, Item] = {}
    for pair in testbed.pairs:
        for path in (pair.intact, pair.changed.path):
            videos[path] = Item(path, folder / path, prompt=prompts[pair.source])
    return list(videos.values())


Matrix = Mapping[str, Mapping[str, Reaction]]
"""By sub-dimension, in the paper's order, and column; a cell without pairs is not there."""


def matrix(testbed: Testbed, scores: Scores) -> Matrix:
    """How each sub-dimension takes each harm, and the placebos together."""
    found = reactions(
        PairScores(
            pair.aspect.value if pair.aspect is not None else PLACEBOS,
            scores.items.get(pair.intact, {}),
            scores.items.get(pair.changed.path, {}),
        )
        for pair in testbed.pairs
    )
    return {one.name: found.get(one.name, {}) for one in ALL}


def columns(testbed: Testbed) -> dict[str, int]:
    """The columns that this testbed has, in the order of the aspects, with their pairs."""
    counted: dict[str, int] = {}
    for aspect in Aspect:
        pairs = sum(pair.aspect is aspect for pair in testbed.pairs)
        if pairs:
            counted[aspect.value] = pairs
    placebos = sum(pair.aspect is None for pair in testbed.pairs)
    return {**counted, **({PLACEBOS: placebos} if placebos else {})}
