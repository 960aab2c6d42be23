"""Which chart shows what: figures 4, 8 and 9 from the scores of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from screentest.reports.charts import radar, radars, scatter
from screentest.suites.locot2v.suite import FIVE, HERD, TEMPORAL, TITLES
from screentest.suites.locot2v.tables import (
    Scores,
    Standing,
    by_category,
    leaderboard,
    paired,
    titles,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def main_radar(scores: Scores) -> Figure:
    """Figure 8: the five dimensions, and beside them temporal quality and HERD in parts.

    Parts of which no generator has a value are left out.
    """
    standings = {row.model: row.standing for row in leaderboard(scores)}
    temporal = {one.name: one.short for one in TEMPORAL}
    expected = {one.name: one.title for one in HERD}
    panels = {
        "Five dimensions": (radar_values(standings), TITLES),
        "Temporal Quality": (_parts(standings, temporal), temporal),
        "HERD": (_parts(standings, expected), expected),
    }
    shown = {title: one for title, one in panels.items() if any(one[0].values())}
    return radars(shown or panels)


def _parts(
    standings: Mapping[str, Standing], names: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    return {
        model: {name: one.subdimensions[name].value for name in names if name in one.subdimensions}
        for model, one in standings.items()
    }


def category_radar(scores: Scores) -> Figure | None:
    """Figure 9: the five dimensions in each category; None where items have no category."""
    found = by_category(scores)
    if not found:
        return None
    return radar({title: radar_values(models) for title, models in found.items()}, TITLES)


def static_scatter(scores: Scores) -> Figure:
    """Figure 4: static quality against the other dimensions that items have, one by one."""
    named = titles()
    panels = []
    for name in FIVE:
        if name != "static_quality":
            left, right = paired(scores, "static_quality", name)
            panels.append((named["static_quality"], named[name], left, right))
    return scatter([panel for panel in panels if panel[2]] or panels)


def radar_values(standings: Mapping[str, Standing]) -> dict[str, dict[str, float]]:
    """The dimensions of each generator."""
    return {
        model: {name: level.value for name, level in one.dimensions.items()}
        for model, one in standings.items()
    }
