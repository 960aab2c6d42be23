"""The benchmark's radar: a panel per task, an axis per dimension, a line per model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from screentest.metrics.univ.dimensions import TITLES, Dimension
from screentest.suites.charts import radar
from screentest.suites.univ.tables import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def task_radars(rows: Sequence[Row]) -> Figure:
    """All tasks of a table; what has no value is a gap."""
    panels: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        values = {
            dimension.value: cell.percent / 100
            for dimension, cell in row.cells.items()
            if cell.percent is not None
        }
        panels.setdefault(row.name.upper(), {})[row.model] = values
    return radar(panels, {one.value: TITLES[one] for one in Dimension})
