"""Figures 4, 8, 9 and 10 of the paper, from the results of runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from screentest.analysis.results import Results
from screentest.analysis.standings import Standing, standings
from screentest.analysis.suites import Suite
from screentest.core.table import Chart
from screentest.present.charts import figure_chart, radar, radars, scatter, violins
from screentest.suites.locot2v.data import PromptSuite
from screentest.suites.locot2v.dimensions import FIVE, HERD, TEMPORAL, TITLES
from screentest.suites.locot2v.tables import (
    NAMES,
    ItemScores,
    by_complexity,
    by_group,
    dimensions_of,
    item_scores,
    paired,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEWEST_POINTS = 3
"""Fewer videos make no cloud of points."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure that there is something to draw for."""

    name: str
    """Of its file."""
    title: str
    words: str
    """What it shows, for those who cannot see it."""
    make: Callable[[], Figure]


def drawings(
    suite: Suite, results: Results, by: str = "", prompts: PromptSuite | None = None
) -> list[Drawing]:
    """Return all figures of the paper that these results give."""
    scores = item_scores(suite, results)
    result = standings(results, suite, by or "model")
    models = ", ".join(item.group or "all" for item in result)
    made = [Drawing("radar", "LoCoT2V-Bench", models, lambda: main_radar(result))]
    categories = by_group(suite, results, "category", by)
    if categories:
        words = f"{models} in {', '.join(categories)}"
        title = "LoCoT2V-Bench by category"
        made.append(Drawing("radar_by_category", title, words, lambda: category_radar(categories)))
    points = sum("static_quality" in score for score in scores.values())
    if points >= FEWEST_POINTS:
        words = f"one point for each of {points:,} videos"
        title = "Static quality against the rest"
        made.append(Drawing("scatter", title, words, lambda: static_scatter(scores)))
    grades = by_complexity(results, scores, prompts)
    if grades:
        words = f"{', '.join(grades)} complexity"
        title = "Complexity of the prompts"
        made.append(Drawing("complexity", title, words, lambda: violins(grades)))
    return made


def own_charts(suite: Suite, results: Results, by: str) -> list[Chart]:
    """Return the figures as a report shows them."""
    made = drawings(suite, results, by)
    return [figure_chart(item.title, item.make, item.words) for item in made]


def main_radar(found: Sequence[Standing]) -> Figure:
    """Figure 8: the five dimensions, and beside them temporal quality and HERD in parts.

    Parts of which no generator has a value are left out.
    """
    temporal = {item.name: item.short for item in TEMPORAL}
    expected = {item.name: item.title for item in HERD}
    panels = {
        "Five dimensions": (_five(found), TITLES),
        "Temporal Quality": (_parts(found, temporal), temporal),
        "HERD": (_parts(found, expected), expected),
    }
    shown = {title: panel for title, panel in panels.items() if any(panel[0].values())}
    return radars(shown or panels)


def category_radar(categories: Mapping[str, Sequence[Standing]]) -> Figure:
    """Figure 9: the five dimensions in each category."""
    return radar({title: _five(category) for title, category in categories.items()}, TITLES)


def static_scatter(scores: ItemScores) -> Figure:
    """Figure 4: static quality against the other dimensions that items have, one by one."""
    panels = []
    for name in FIVE:
        if name != "static_quality":
            left, right = paired(scores, "static_quality", name)
            panels.append((NAMES["static_quality"], NAMES[name], left, right))
    return scatter([panel for panel in panels if panel[2]] or panels)


def _five(found: Sequence[Standing]) -> dict[str, dict[str, float]]:
    """Return the dimensions of each generator."""
    return {
        item.group: {name: value for name, value in dimensions_of(item).items() if name in FIVE}
        for item in found
    }


def _parts(found: Sequence[Standing], names: Mapping[str, str]) -> dict[str, dict[str, float]]:
    return {
        item.group: {
            level.path[-1]: level.value
            for level in item.levels
            if level.path[-1] in names and level.value is not None
        }
        for item in found
    }
