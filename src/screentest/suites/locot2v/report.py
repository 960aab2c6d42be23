"""LoCoT2V-Bench beyond its standings: by category and theme, what goes together, the figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from screentest.core.options import parse, split_value_name
from screentest.core.table import Chart, Table
from screentest.reports import charts as drawn
from screentest.reports.charts import figure_chart
from screentest.scores.results import Results
from screentest.suites.locot2v import charts as drawing
from screentest.suites.locot2v.suite import FIVE, METRICS, TITLES
from screentest.suites.locot2v.tables import (
    Scores,
    Standing,
    by_category,
    by_complexity,
    by_theme,
    correlations,
    leaderboard,
    scores_of,
    titles,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Cells: TypeAlias = tuple[str | int | float | None, ...]
Rows: TypeAlias = tuple[tuple[str, ...], list[Cells]]
"""Columns and rows."""
FEWEST_POINTS = 3
"""Fewer videos make no cloud of points."""
FEWEST_METRICS = 4
_LEVELS = (*(TITLES[name].lower() for name in FIVE), "total")


def suite_tables(results: Results, by: str) -> list[Table]:
    """By category and theme, and which scores go together; generators are always compared."""
    if not _has_enough(results):
        return []
    scores = scores_of(results)
    return [
        Table(name, title, columns, rows)
        for name, title, (columns, rows) in (
            (
                "locot2v_categories",
                "LoCoT2V-Bench by category",
                _groups("category", by_category(scores)),
            ),
            ("locot2v_themes", "LoCoT2V-Bench by theme", _groups("theme", by_theme(scores))),
            ("locot2v_together", "LoCoT2V-Bench, what goes together", _together(scores)),
        )
    ]


def suite_charts(results: Results, by: str) -> list[Chart]:
    """Figures 4, 8, 9 and 10 of the paper, as far as there is something to draw."""
    if not _has_enough(results):
        return []
    scores = scores_of(results)
    models = ", ".join(row.model or "all" for row in leaderboard(scores))
    made: list[tuple[str, str, Callable[[], Figure]]] = [
        ("LoCoT2V-Bench", models, lambda: drawing.main_radar(scores))
    ]
    categories = by_category(scores)
    if categories:
        words = f"{models} in {', '.join(categories)}"
        made.append(("LoCoT2V-Bench by category", words, lambda: _category_radar(scores)))
    points = sum("static_quality" in one for one in scores.dimensions().values())
    if points >= FEWEST_POINTS:
        words = f"one point for each of {points:,} videos"
        made.append(("Static quality against the rest", words, lambda: _scatter(scores)))
    grades = by_complexity(scores)
    if grades:
        words = f"{', '.join(grades)} complexity"
        made.append(("Complexity of the prompts", words, lambda: drawn.violins(grades)))
    return [figure_chart(title, make, words) for title, words, make in made]


def _has_enough(results: Results) -> bool:
    """Whether it is the suite, or a good part of it: one or two metrics alone are no standing."""
    found = {parse(split_value_name(name)[0])[0] for name in results.names}
    return len(found.intersection(METRICS)) >= FEWEST_METRICS


def _category_radar(scores: Scores) -> Figure:
    figure = drawing.category_radar(scores)
    assert figure is not None
    return figure


def _scatter(scores: Scores) -> Figure:
    return drawing.static_scatter(scores)


def _levels(standing: Standing) -> Cells:
    found = [standing.dimensions.get(name) for name in FIVE]
    return tuple(level.value if level else None for level in (*found, standing.total))


def _groups(name: str, groups: Mapping[str, Mapping[str, Standing]]) -> Rows:
    rows: list[Cells] = [
        (group, model or "all", *_levels(standing))
        for group, models in groups.items()
        for model, standing in models.items()
    ]
    return (name, "model", *_LEVELS), rows


def _together(scores: Scores) -> Rows:
    named = titles()
    rows: list[Cells] = [
        (
            named[one.first],
            named[one.second],
            *(
                found.value.value if found.value is not None else None
                for found in (one.pearson, one.spearman, one.kendall)
            ),
            one.items,
        )
        for one in correlations(scores)
        if one.items
    ]
    return ("first", "second", "r", "ρ", "τ", "videos"), rows
