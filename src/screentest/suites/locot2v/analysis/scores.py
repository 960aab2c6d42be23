"""The values of a run by item and sub-dimension, and what they are worth by generator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from screentest.corpus.locot2v import PROMPT_GROUP, complexity_of
from screentest.evaluate.results import Results
from screentest.stats import Interval, mean_interval
from screentest.suites.locot2v.adding import Standing, Values, add_up, by_group, dimension_means
from screentest.suites.locot2v.adding import total_of as total_of_dimensions
from screentest.suites.locot2v.dimensions import ALL, FIVE

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
    from screentest.suites.locot2v.dimensions import TITLES

    return {**{one.name: one.title for one in ALL}, **{name: TITLES[name] for name in FIVE}}
