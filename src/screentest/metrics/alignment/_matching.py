"""Which caption of a script belongs to which shot: one to one, in order, as a whole.

Similarities of pictures and texts are weak and lopsided: one caption is near to every picture,
one picture far from every caption. So what counts is how far a pair stands out of its row and
its column. The best one-to-one assignment that keeps the order is found by dynamic
programming (Needleman and Wunsch, 1970); leaving a shot or a caption out costs so much that
it is done only where their numbers differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Table = NDArray[np.float64]

MATCH, SKIP = 3.0, 2.0
"""What a pair earns besides its similarity, and what an unmatched one costs, in deviations."""


@dataclass(frozen=True, slots=True)
class Matching:
    """Pairs of shot and caption, both by number, in order."""

    pairs: tuple[tuple[int, int], ...]
    total: float
    """The sum of the pairs' values."""


def standing_out(similarity: Table) -> Table:
    """How far each value stands out of its row and column, in deviations of all.

    Where nothing does, all are 0: what rounding leaves is no deviation.

    >>> standing_out(np.array([[0.9, 0.8], [0.2, 0.3]])).round(2).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    rows = similarity - similarity.mean(axis=1, keepdims=True)
    both = rows - rows.mean(axis=0, keepdims=True)
    deviation = float(both.std())
    return np.asarray(both / deviation) if deviation > 1e-12 else np.zeros_like(both)


def in_order(values: Table, match: float = MATCH, skip: float = SKIP) -> Matching:
    """The best pairs (row, column) in which neither goes back.

    >>> in_order(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])).pairs
    ((0, 0), (1, 2))
    """
    shots, captions = values.shape
    best = np.zeros((shots + 1, captions + 1))
    best[1:, 0] = -skip * np.arange(1, shots + 1)
    best[0, 1:] = -skip * np.arange(1, captions + 1)
    for shot in range(shots):
        # Up and diagonal steps are known for the whole row; steps to the right run through it.
        row = np.maximum(best[shot, :-1] + values[shot] + match, best[shot, 1:] - skip)
        steps = np.arange(1, captions + 1) * skip
        row = np.maximum.accumulate(np.concatenate(([best[shot + 1, 0]], row + steps)))
        best[shot + 1, 1:] = row[1:] - steps
    return _traced(best, values, match, skip)


def _traced(best: Table, values: Table, match: float, skip: float) -> Matching:
    shot, caption = values.shape
    pairs: list[tuple[int, int]] = []
    while shot and caption:
        here = best[shot, caption]
        if np.isclose(here, best[shot - 1, caption - 1] + values[shot - 1, caption - 1] + match):
            shot, caption = shot - 1, caption - 1
            pairs.append((shot, caption))
        elif np.isclose(here, best[shot - 1, caption] - skip):
            shot -= 1
        else:
            caption -= 1
    pairs.reverse()
    return Matching(tuple(pairs), float(sum(values[one] for one in pairs)))


def in_any_order(values: Table) -> Matching:
    """The best pairs, whatever their order.

    >>> in_any_order(np.array([[0.0, 1.0], [1.0, 0.0]])).pairs
    ((0, 1), (1, 0))
    """
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(values, maximize=True)
    pairs = tuple(zip(rows.tolist(), columns.tolist(), strict=True))
    return Matching(pairs, float(sum(values[one] for one in pairs)))
