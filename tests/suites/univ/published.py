"""What can be said of the published table from its printed cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from screentest.suites.univ.vocabulary import Dimension


def published_average(points: Sequence[float]) -> float:
    """Table 4's average: the mean of eight dimensions out of ten, in per cent.

    >>> published_average([7, 8, 6, 7, 8, 8, 9, 7])
    75.0
    """
    if len(points) != len(Dimension):
        raise ValueError(f"an average is of {len(Dimension)} dimensions, not {len(points)}")
    return 10 * math.fsum(points) / len(points)


def agrees_with_print(cells: Sequence[float], printed: float, *, places: int = 1) -> bool:
    """Whether a printed average can be that of these cells, all in per cent and rounded."""
    unit = 10.0**-places
    return abs(math.fsum(cells) / len(cells) - printed) <= unit + 1e-9


def is_imputed(cells: Mapping[Dimension, float], one: Dimension, *, places: int = 1) -> bool:
    """Whether a cell is no more than the mean of the others, to the printed places."""
    others = [value for name, value in cells.items() if name is not one]
    # The cell is rounded to half a unit, and so is each of the others.
    return abs(cells[one] - math.fsum(others) / len(others)) <= 10.0**-places + 1e-9
