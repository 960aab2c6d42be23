"""Checking a printed table: is every average the mean of what stands beside it?

Printed numbers are rounded, so the mean of n of them is known to half a unit of the last
place; so is the printed average. A row beyond both is a misprint. Where one of its cells,
changed in a single digit, would fix it, that cell is named.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

PLACES = 2


@dataclass(frozen=True, slots=True)
class Misprint:
    """A row whose average does not follow from its cells."""

    row: str
    printed: float
    recomputed: float
    fixed_by: tuple[tuple[str, float], ...] = ()
    """Cells, and the value with one other digit that would make it right."""


def recompute(cells: Sequence[float]) -> float:
    """The unweighted mean."""
    return math.fsum(cells) / len(cells)


def agrees(cells: Sequence[float], printed: float, places: int = PLACES) -> bool:
    """Whether the printed average can be the mean of cells that were rounded.

    >>> agrees([65.38, 71.34], 68.36), agrees([65.38, 71.34], 68.38)
    (True, False)
    """
    # Half a unit from the cells, half a unit from the average itself.
    return abs(recompute(cells) - printed) <= 10.0**-places + 1e-9


def check_rows(
    rows: Mapping[str, tuple[Mapping[str, float], float]], places: int = PLACES
) -> list[Misprint]:
    """The rows that do not add up; each row is its cells by column and its average."""
    wrong = []
    for name, (cells, printed) in rows.items():
        if not agrees(list(cells.values()), printed, places):
            fixes = tuple(_fixes(cells, printed, places))
            wrong.append(Misprint(name, printed, recompute(list(cells.values())), fixes))
    return wrong


def _fixes(cells: Mapping[str, float], printed: float, places: int) -> Iterator[tuple[str, float]]:
    """Cells that, with one digit changed, make the row right to the last printed place."""
    for column, value in cells.items():
        written = f"{value:.{places}f}"
        for place, old in enumerate(written):
            if not old.isdigit():
                continue
            for digit in "0123456789":
                changed = float(f"{written[:place]}{digit}{written[place + 1 :]}")
                others = [changed if name == column else one for name, one in cells.items()]
                if digit != old and round(recompute(others), places) == round(printed, places):
                    yield column, changed
