"""The values of a run by item and sub-dimension, and what they are worth by generator."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from screentest.core import Outcome
from screentest.scores.results import Results
from screentest.stats import Correlation, Interval, kendall, mean_interval, pearson, spearman
from screentest.suites.locot2v.data import COMPLEXITIES, PROMPT_GROUP, PromptSuite, complexity_of
from screentest.suites.locot2v.suite import ALL, FIVE, TITLES

# Adding up: unweighted means at every level, with what is missing beside them.
#
# From values per item to sub-dimensions (mean over items), from there to the five dimensions and
# to the total (means of their parts), for all items or for those of one theme or category.

Values = Mapping[str, float]
"""By name of the sub-dimension, of one item."""


@dataclass(frozen=True, slots=True)
class Level:
    """A mean, and of how many of its parts it could be taken."""

    value: float
    had: int
    of: int

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return self.had == self.of


@dataclass(frozen=True, slots=True)
class Standing:
    """What all items of one group add up to. What has no value at all is not there."""

    subdimensions: Mapping[str, Level]
    """Counted in items."""
    dimensions: Mapping[str, Level]
    """Counted in sub-dimensions."""
    total: Level | None
    """Counted in dimensions."""


def unweighted(values: Sequence[float], of: int | None = None) -> Level | None:
    """The mean of what there is; None where there is nothing.

    >>> unweighted([0.25, 0.75], of=4)
    Level(value=0.5, had=2, of=4)
    """
    if not values:
        return None
    return Level(math.fsum(values) / len(values), len(values), len(values) if of is None else of)


def dimension_means(subdimensions: Values) -> dict[str, Level]:
    """The five dimensions from sub-dimensions."""
    found = {}
    for name, members in FIVE.items():
        had = [subdimensions[one.name] for one in members if one.name in subdimensions]
        level = unweighted(had, len(members))
        if level is not None:
            found[name] = level
    return found


def total_of_dimensions(dimensions: Mapping[str, Level]) -> Level | None:
    """The mean of the dimensions there are."""
    return unweighted([level.value for level in dimensions.values()], len(FIVE))


def add_up(items: Sequence[Values]) -> Standing:
    """Sub-dimensions, dimensions and total of some items."""
    subdimensions = {}
    for one in ALL:
        level = unweighted([item[one.name] for item in items if one.name in item], len(items))
        if level is not None:
            subdimensions[one.name] = level
    dimensions = dimension_means({name: level.value for name, level in subdimensions.items()})
    return Standing(subdimensions, dimensions, total_of_dimensions(dimensions))


def by_group(items: Mapping[str, Values], groups: Mapping[str, str]) -> dict[str, Standing]:
    """The standing of each group of items; those in no group are left out."""
    members: dict[str, list[Values]] = {}
    for name, values in items.items():
        if groups.get(name):
            members.setdefault(groups[name], []).append(values)
    return {group: add_up(members[group]) for group in sorted(members)}


_BY_OUTPUT = {(one.metric, one.output or one.metric): one.name for one in ALL}


@dataclass(frozen=True, slots=True)
class Scores:
    """One run of the suite: values by item, and which generator, theme and category each is of."""

    items: Mapping[str, Values]
    models: Mapping[str, str] = field(default_factory=dict)
    themes: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    """The id of the prompt behind each item."""
    complexity: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """How complex the prompt of an item is, by kind, where the items tell."""

    def of_model(self, model: str) -> dict[str, Values]:
        """The items of one generator."""
        return {name: one for name, one in self.items.items() if self.models.get(name, "") == model}

    def dimensions(self) -> dict[str, dict[str, float]]:
        """The five dimensions of every item, as far as they can be had."""
        return {
            name: {key: level.value for key, level in dimension_means(values).items()}
            for name, values in self.items.items()
        }


def scores_of(results: Results) -> Scores:
    """The scores of a run; with which options a metric ran does not matter here."""
    items: dict[str, dict[str, float]] = {name: {} for name in results.items}
    for value in results.values:
        name = _BY_OUTPUT.get((value.metric.partition(":")[0], value.output))
        if name is not None and value.outcome.value is not None:
            items.setdefault(value.item, {})[name] = value.outcome.value.value

    def groups(key: str) -> dict[str, str]:
        return {
            name: item.groups[key] for name, item in results.items.items() if key in item.groups
        }

    grades = {name: complexity_of(item) for name, item in results.items.items()}
    return Scores(
        items,
        groups("model"),
        groups("theme"),
        groups("category"),
        groups(PROMPT_GROUP),
        {name: found for name, found in grades.items() if found},
    )


def together(parts: Sequence[Scores]) -> Scores:
    """Several runs as one. Where two have an item, the later one's values come first.

    >>> together([Scores({"a": {"x": 1, "y": 1}}), Scores({"a": {"x": 2}})]).items
    {'a': {'x': 2, 'y': 1}}
    """
    items: dict[str, Values] = {}
    models: dict[str, str] = {}
    themes: dict[str, str] = {}
    categories: dict[str, str] = {}
    prompts: dict[str, str] = {}
    complexity: dict[str, Mapping[str, float]] = {}
    for part in parts:
        for name, values in part.items.items():
            items[name] = {**items.get(name, {}), **values}
        models |= part.models
        themes |= part.themes
        categories |= part.categories
        prompts |= part.prompts
        complexity |= part.complexity
    return Scores(items, models, themes, categories, prompts, complexity)


@dataclass(frozen=True, slots=True)
class Row:
    """One generator in the leaderboard."""

    model: str
    standing: Standing
    total: float | None
    interval: Interval | None
    """Of the mean of the items' own totals; None below two items."""
    items: int


def leaderboard(scores: Scores) -> list[Row]:
    """Generators, best total first; those without any value last."""
    rows = []
    for model in dict.fromkeys(scores.models.get(name, "") for name in scores.items):
        items = scores.of_model(model)
        standing = add_up(list(items.values()))
        totals = [one for one in map(_total, items.values()) if one is not None]
        interval = mean_interval(totals) if len(totals) > 1 else None
        total = standing.total.value if standing.total else None
        rows.append(Row(model, standing, total, interval, len(items)))
    return sorted(rows, key=lambda row: (row.total is None, -(row.total or 0.0), row.model))


def _total(values: Values) -> float | None:
    level = total_of_dimensions(dimension_means(values))
    return level.value if level else None


def by_category(scores: Scores) -> dict[str, dict[str, Standing]]:
    """Standings by category, then by generator: table 6."""
    return _apart(scores, scores.categories)


def by_theme(scores: Scores) -> dict[str, dict[str, Standing]]:
    """Standings by theme, then by generator."""
    return _apart(scores, scores.themes)


def _apart(scores: Scores, groups: Mapping[str, str]) -> dict[str, dict[str, Standing]]:
    found: dict[str, dict[str, Standing]] = {}
    for row in leaderboard(scores):
        for group, standing in by_group(scores.of_model(row.model), groups).items():
            found.setdefault(group, {})[row.model] = standing
    return dict(sorted(found.items()))


def paired(
    scores: Scores, first: str, second: str, items: Sequence[str] | None = None
) -> tuple[list[float], list[float]]:
    """The values of two dimensions or sub-dimensions on all items that have both."""
    dimensions = scores.dimensions()
    left, right = [], []
    for name in items if items is not None else scores.items:
        known = {**scores.items[name], **dimensions[name]}
        if first in known and second in known:
            left.append(known[first])
            right.append(known[second])
    return left, right


def titles() -> dict[str, str]:
    """What dimensions and sub-dimensions are called in tables and charts."""
    from screentest.suites.locot2v.suite import TITLES

    return {**{one.name: one.title for one in ALL}, **{name: TITLES[name] for name in FIVE}}


# How scores depend on the complexity of prompts: what figure 10 shows.


def by_complexity(
    scores: Scores, suite: PromptSuite | None = None
) -> dict[str, dict[str, dict[int, list[float]]]]:
    """By kind of complexity and dimension, the values of items at each grade from 1 to 10.

    The grades are the suite's; of prompts that it does not hold, what the items tell.
    """
    dimensions = scores.dimensions()
    found: dict[str, dict[str, dict[int, list[float]]]] = {kind: {} for kind in COMPLEXITIES}
    for item, values in dimensions.items():
        grades = _grades(scores, suite, item)
        for kind in COMPLEXITIES:
            if kind in grades:
                for name, value in values.items():
                    column = found[kind].setdefault(TITLES[name], {})
                    column.setdefault(round(grades[kind]), []).append(value)
    return {kind: rows for kind, rows in found.items() if rows}


def _grades(scores: Scores, suite: PromptSuite | None, item: str) -> Mapping[str, float]:
    record = suite.records.get(scores.prompts.get(item, item)) if suite is not None else None
    return record.complexity if record is not None else scores.complexity.get(item, {})


# Which scores go together: table 5, over single items.

TABLE_5: tuple[tuple[str, str], ...] = (
    ("static_quality", "temporal_quality"),
    ("static_quality", "text_video_alignment"),
    ("static_quality", "content_clarity"),
    ("static_quality", "herd"),
    ("event_alignment", "intra_event_subject"),
    ("event_alignment", "intra_event_background"),
    ("event_alignment", "inter_event_subject"),
    ("event_alignment", "inter_event_background"),
)
"""The pairs that the paper looks at."""


@dataclass(frozen=True, slots=True)
class Together:
    """How two scores go together; each coefficient or the reason why there is none."""

    first: str
    second: str
    items: int
    pearson: Outcome[Correlation]
    spearman: Outcome[Correlation]
    kendall: Outcome[Correlation]


def correlations(scores: Scores, pairs: Sequence[tuple[str, str]] = TABLE_5) -> list[Together]:
    """Pearson's r, Spearman's ρ and Kendall's τ of each pair, on items that have both."""
    found = []
    for first, second in pairs:
        left, right = paired(scores, first, second)
        found.append(
            Together(
                *(first, second, len(left)),
                pearson(left, right),
                spearman(left, right),
                kendall(left, right),
            )
        )
    return found
