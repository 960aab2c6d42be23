"""The suite's 26 sub-dimensions, and its own tables and figures: by category, theme, complexity.

What generators come to at every level is added up by ``analysis.standings``; here are the values of
single items, which correlations and charts are of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, TypeAlias

from screentest.analysis.results import Results, plain_name
from screentest.analysis.standings import Standing, StandingLevel, standings
from screentest.analysis.suites import Dimension, Suite
from screentest.core import Cell, Column, Outcome, Reason, Score, Table
from screentest.core.signature import value_name
from screentest.core.table import Chart
from screentest.present.charts import figure_chart, radar, radars, scatter, violins
from screentest.present.tables import PARTS, parts_of
from screentest.stats import Correlation, kendall, pearson, spearman
from screentest.suites.locot2v.data import (
    COMPLEXITIES,
    PROMPT_GROUP,
    TERMS,
    PromptSuite,
    complexity_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class SubDimension:
    """One of the 26 sub-dimensions of the paper."""

    name: str
    title: str
    short: str
    """The paper's abbreviation, for narrow tables and charts."""
    metric: str
    output: str = ""
    """Where it differs from the metric's name."""


FIVE: Mapping[str, tuple[SubDimension, ...]] = {
    group["name"]: tuple(SubDimension(*part) for part in group["parts"])
    for group in TERMS["dimensions"]
}
STATIC, ALIGNMENT, TEMPORAL, CLARITY, HERD = FIVE.values()
TITLES: Mapping[str, str] = {group["name"]: group["title"] for group in TERMS["dimensions"]}
ALL: tuple[SubDimension, ...] = tuple(item for group in FIVE.values() for item in group)
METRICS: tuple[str, ...] = tuple(dict.fromkeys(item.metric for item in ALL))


def tree(specs: Mapping[str, str]) -> Dimension:
    """Return the dimensions over the values of metrics; ``specs`` has the spec of each by name."""
    parts = tuple(
        Dimension(
            name,
            parts=tuple(
                Dimension(
                    subdimension.name,
                    (value_of(subdimension, specs.get(subdimension.metric, subdimension.metric)),),
                    title=subdimension.title,
                )
                for subdimension in subdimensions
            ),
            title=TITLES[name],
        )
        for name, subdimensions in FIVE.items()
    )
    return Dimension("overall", parts=parts, title="Total")


def value_of(one: SubDimension, spec: str) -> str:
    """Return what the value of a sub-dimension is called in a run.

    >>> value_of(HERD[0], "locot2v_herd:unclear=wrong"), value_of(STATIC[0], STATIC[0].metric)
    ('locot2v_herd.emotional_response:unclear=wrong', 'locot2v_aesthetic_quality')
    """
    return value_name(spec, one.output or one.metric)


ItemScores: TypeAlias = Mapping[str, Mapping[str, float]]
"""By item, then by name of the dimension or sub-dimension."""
NAMES: Mapping[str, str] = {**{item.name: item.title for item in ALL}, **TITLES}
"""What dimensions and sub-dimensions are called in tables and charts."""
GROUPS = {"category": "categories", "theme": "themes"}


def own_tables(suite: Suite, results: Results, by: str) -> list[Table]:
    """Standings by category and by theme, and what goes together."""
    groups = [
        group_table(suite, results, group, by) for group in GROUPS if group != (by or "model")
    ]
    pairs = correlations(item_scores(suite, results))
    return [*groups, correlation_table(pairs, uncounted(suite, results))]


def by_group(suite: Suite, results: Results, group: str, by: str) -> dict[str, list[Standing]]:
    """By category or theme, the standing of each generator: table 6. What is in none comes last."""
    parts = results.by_group(group)
    if not any(parts):
        return {}
    named = {name: part for name, part in parts.items() if name}
    if "" in parts:
        named[f"no {group}"] = parts[""]
    return {name: standings(part, suite, by or "model") for name, part in named.items()}


def with_categories(results: Results, categories: Mapping[str, str]) -> Results:
    """Return the same results, each item in the category that is given for its theme."""
    items = {}
    for name, item in results.items.items():
        category = categories.get(item.groups.get("theme", ""))
        groups = item.groups if category is None else {**item.groups, "category": category}
        items[name] = replace(item, groups=groups)
    return replace(results, items=items)


def group_table(suite: Suite, results: Results, group: str, by: str) -> Table:
    """One row per category or theme and generator, with the five dimensions and the total."""
    found = [
        (name, one) for name, some in by_group(suite, results, group, by).items() for one in some
    ]
    rows = []
    for name, item in found:
        common = item.compared.get(item.top.path)
        means = dimensions_of(item)
        cells = (common.value if common is not None else None, *map(means.get, ("overall", *FIVE)))
        rows.append((name, item.group or "all", *cells, *parts_of(item.top)))
    return Table(
        f"locot2v_{GROUPS[group]}",
        f"LoCoT2V-Bench by {group}",
        (
            *(group, by or "model"),
            Column("shared", "Shared parts", detail=all(item.shared is None for _, item in found)),
            Column("overall", "Total"),
            *(Column(name, TITLES[name]) for name in FIVE),
            *PARTS,
        ),
        rows,
    )


def dimensions_of(standing: Standing) -> dict[str, float]:
    """Return the total and the dimensions that have a value, by name."""
    return {
        level.path[-1]: level.value
        for level in standing.levels
        if len(level.path) <= 2 and level.value is not None
    }


NATURAL: tuple[str, ...] = (
    *("transition_smoothness", "human_action"),
    *(item.name for item in TEMPORAL if item.metric == "locot2v_event_consistency"),
)
"""Parts that a film may lack by its nature: it has no cut, nobody acts, it has one event."""


def item_scores(suite: Suite, results: Results) -> dict[str, dict[str, float]]:
    """Return the sub-dimensions of every item, and its dimensions.

    A dimension is of the same parts for all items, or films without a cut would be better than
    others. An item that lacks one of them has none.
    """
    result: dict[str, dict[str, float]] = {name: {} for name in results.items}
    for part, outcomes in _outcomes(suite, results).items():
        for item, outcome in outcomes.items():
            if outcome.value is not None:
                result.setdefault(item, {})[part] = outcome.value.value
    had = {part for values in result.values() for part in values}
    count = had.difference(uncounted(suite, results))
    for values in result.values():
        for name, members in FIVE.items():
            parts = [member.name for member in members if member.name in count]
            if parts and all(part in values for part in parts):
                values[name] = fmean(values[part] for part in parts)
    return result


def uncounted(suite: Suite, results: Results) -> list[str]:
    """Return the parts that are in no item's dimension: some film lacks them by its nature."""
    reasons = {
        part: {outcome.failure.reason for outcome in outcomes.values() if outcome.failure}
        for part, outcomes in _outcomes(suite, results).items()
    }
    return [part for part in NATURAL if Reason.NOT_APPLICABLE in reasons.get(part, ())]


def _outcomes(suite: Suite, results: Results) -> dict[str, dict[str, Outcome[Score]]]:
    """By part of the suite and item."""
    (root,) = suite.dimensions
    leaves = {
        plain_name(leaf): part.name
        for item in root.parts
        for part in item.parts
        for leaf in part.leaves
    }
    result: dict[str, dict[str, Outcome[Score]]] = {}
    for name in results.outputs:
        part = leaves.get(plain_name(name))
        if part is not None:
            found = result.setdefault(part, {})
            found.update({value.item: value.outcome for value in results.of(name)})
    return result


def paired(scores: ItemScores, first: str, second: str) -> tuple[list[float], list[float]]:
    """Return the values of two dimensions or sub-dimensions on all items that have both."""
    both = [values for values in scores.values() if first in values and second in values]
    return [values[first] for values in both], [values[second] for values in both]


def by_complexity(
    results: Results, scores: ItemScores, prompts: PromptSuite | None = None
) -> dict[str, dict[str, dict[int, list[float]]]]:
    """By kind of complexity and dimension, the values of items at each grade from 1 to 10.

    The grades are the prompt suite's; of prompts that it does not hold, what the items say.
    """
    result: dict[str, dict[str, dict[int, list[float]]]] = {kind: {} for kind in COMPLEXITIES}
    for item, values in scores.items():
        grades = _grades(results, prompts, item)
        for kind in COMPLEXITIES:
            for name in (name for name in FIVE if name in values and kind in grades):
                column = result[kind].setdefault(TITLES[name], {})
                column.setdefault(round(grades[kind]), []).append(values[name])
    return {kind: rows for kind, rows in result.items() if rows}


def _grades(results: Results, prompts: PromptSuite | None, item: str) -> Mapping[str, float]:
    available = results.items.get(item)
    prompt = available.groups.get(PROMPT_GROUP, item) if available is not None else item
    record = prompts.records.get(prompt) if prompts is not None else None
    if record is not None:
        return record.complexity
    return complexity_of(available) if available is not None else {}


TABLE_5: Sequence[tuple[str, str]] = [(first, second) for first, second in TERMS["table_5"]]
"""The pairs that the paper looks at."""


@dataclass(frozen=True, slots=True)
class PairCorrelation:
    """How two scores go together; each coefficient or the reason why there is none."""

    first: str
    second: str
    items: int
    pearson: Outcome[Correlation]
    spearman: Outcome[Correlation]
    kendall: Outcome[Correlation]


def correlations(
    scores: ItemScores, pairs: Sequence[tuple[str, str]] = TABLE_5
) -> list[PairCorrelation]:
    """Pearson's r, Spearman's ρ and Kendall's τ of each pair, on items that have both."""
    result = []
    for first, second in pairs:
        left, right = paired(scores, first, second)
        coefficients = (pearson(left, right), spearman(left, right), kendall(left, right))
        result.append(PairCorrelation(first, second, len(left), *coefficients))
    return result


def correlation_table(found: Sequence[PairCorrelation], uncounted: Sequence[str] = ()) -> Table:
    """Pairs without an item that has both are counted in the note, and uncounted parts named."""
    rows = []
    for item in found:
        outcomes = (item.pearson, item.spearman, item.kendall)
        coefficients: list[Cell] = [each.value.value if each.value else None for each in outcomes]
        chances: list[Cell] = [each.value.p_value if each.value else None for each in outcomes]
        if item.items:
            names = (NAMES[item.first], NAMES[item.second])
            rows.append((*names, *coefficients, item.items, *chances))
    lost = len(found) - len(rows)
    listed = ", ".join(NAMES[name] for name in uncounted)
    notes = (
        f"{lost:,} more pairs of table 5 have no item with both." if lost else "",
        f"Temporal Quality is without what some videos cannot have: {listed}." if listed else "",
    )
    return Table(
        "locot2v_together",
        "LoCoT2V-Bench, what goes together",
        (
            *("first", "second", "r", "ρ", "τ", "videos"),
            *(Column(f"p_{name}", detail=True) for name in ("r", "ρ", "τ")),
        ),
        rows,
        " ".join(note for note in notes if note),
    )


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
        panels = {name: _compared(part) for name, part in categories.items()}
        listed = [item.group for item in result]  # with the looks of figure 8
        draw = partial(radar, panels, TITLES, listed)  # figure 9
        made.append(Drawing("radar_by_category", title, words, draw))
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
        "Five dimensions": (_compared(found), TITLES),
        "Temporal Quality": (_parts(found, temporal), temporal),
        "HERD": (_parts(found, expected), expected),
    }
    shown = {title: panel for title, panel in panels.items() if any(panel[0].values())}
    return radars(shown or panels)


def static_scatter(scores: ItemScores) -> Figure:
    """Figure 4: static quality against the other dimensions that items have, one by one."""
    panels = []
    first, *others = FIVE
    for name in others:
        left, right = paired(scores, first, name)
        panels.append((NAMES[first], NAMES[name], left, right))
    return scatter([panel for panel in panels if panel[2]] or panels)


def _parts(found: Sequence[Standing], names: Mapping[str, str]) -> dict[str, dict[str, float]]:
    return {item.group: _named(item.levels, names) for item in found}


def _compared(found: Sequence[Standing]) -> dict[str, dict[str, float]]:
    """Return the five dimensions of the parts that all generators have."""
    return {item.group: _named(item.compared.values(), TITLES) for item in found}


def _named(levels: Iterable[StandingLevel], names: Mapping[str, str]) -> dict[str, float]:
    return {
        level.path[-1]: level.value
        for level in levels
        if level.path[-1] in names and level.value is not None
    }
