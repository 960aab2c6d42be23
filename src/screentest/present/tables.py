"""The tables of results: means, every value, why values are missing, and suites added up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from screentest.analysis.models.rows import Part
from screentest.analysis.results import Pool, Results, Total
from screentest.analysis.standings import Standing, StandingLevel, standings
from screentest.analysis.suites import Suite, suites_in
from screentest.core import Outcome
from screentest.core.signature import short_signature
from screentest.core.table import ARROWS, Cell, Column, Table, cell_text
from screentest.present.sentences import say
from screentest.present.text import labels, words

WIDEST = 9
"""Columns of dimensions in one table; a wider tree is printed as rows only."""
_BESIDE = (
    Column("low", "Low", detail=True),
    Column("high", "High", detail=True),
    Column("interval", "95%", derived=True, align="right"),
    Column("scored", "Scored", detail=True),
    Column("total", "Of", detail=True),
    Column("coverage", "Scored", derived=True, align="right"),
)
"""The interval and the coverage beside a mean."""
PARTS = (
    Column("parts", "Parts", detail=True),
    Column("of_parts", "Of parts", detail=True),
    Column("share_of_parts", "Parts", derived=True, align="right"),
)
"""How many parts of a suite a mean is of."""
MOST_ROOTS = 3
"""Roots of a suite's tree that have them beside each other on a terminal."""
MOST_BESIDE = 4
"""Columns of dimensions that leave room for an interval; the table of all levels has it too."""


def result_tables(
    results: Results, by: str = "", *, full: bool = False, pool: Pool = "worst"
) -> list[Table]:
    """Return the tables of a run: those of its suites, and the mean of every value.

    ``full`` writes whole signatures instead of their short form. A suite adds up the scores as they
    are; ``pool`` is for the means of single values.
    """
    group = by.partition("=")[0]
    tables = [
        table for suite in suites_in(results) for table in suite_tables(results, suite, group)
    ]
    return [*tables, summary_table(results, group, full=full, pool=pool)]


def summary_table(
    results: Results, by: str = "", *, full: bool = False, pool: Pool = "worst"
) -> Table:
    """Return the mean of each value with interval and coverage, of all items or of each group."""
    results = results.pooled(pool)
    groups = results.by_group(by) if by else {"": results}
    short = results.short_names
    label_of = {short[name]: text for name, text in labels(results).items()}
    totals: dict[str, list[tuple[str, Total]]] = {name: [] for name in results.outputs}
    for group, part in groups.items():
        for total in part.totals():
            totals.setdefault(total.name, []).append((group, total))
    rows = []
    for name, by_total in totals.items():
        for group, total in by_total:
            summary = total.summary
            cells: tuple[Cell, ...] = (
                summary.value if summary else None,
                total.info.better,
                summary.low if summary else None,
                summary.high if summary else None,
                interval_text(summary.low, summary.high) if summary else "",
                total.scored,
                total.total,
                f"{total.scored:,}/{total.total:,}",
                "; ".join(why_missing(total)),
                total.signature if full else short_signature(total.signature),
            )
            rows.append((short.get(name, name), *([group] if by else []), *cells))
    columns = [
        Column("metric", "Metric", show=lambda name: label_of.get(name, name)),
        Column("mean", "Mean"),
        Column("better", "Better", show=ARROWS.__getitem__),
        *_BESIDE,
        Column("not_scored", "Not scored", detail=True),
        Column("signature", "Signature", detail=not full),
    ]
    if by:
        columns.insert(1, Column(_free(by, {column.name for column in columns})))
    note = pool_note(results, pool)
    return Table("summary", "Means with 95% intervals and coverage", columns, rows, note)


def pool_note(results: Results, pool: Pool) -> str:
    """Return the part of a video that its number is about; empty where all count as a whole."""
    cut = {value.item for value in results.values if value.pools}
    if not cut:
        return ""
    part = Part.MEAN if pool == "mean" else Part.WORST_TENTH
    if pool == "worst" and cut < set(results.items):
        part = Part.MIXED
    return say("counted", part=words("parts")[part])


def interval_text(low: float | None, high: float | None, digits: int | None = None) -> str:
    """Both ends as people read them; empty where there is no interval."""
    if low is None or high is None:
        return ""
    return f"{cell_text(low, digits)} to {cell_text(high, digits)}"


def why_missing(total: Total) -> list[str]:
    """Return each reason with its count, and how many are still to come."""
    counts = [f"{reason.value} {count:,}" for reason, count in total.failures.items()]
    pending = total.total - total.scored - sum(total.failures.values())
    return [*counts, f"pending {pending:,}"] if pending else counts


def values_table(results: Results, *, full: bool = False) -> Table:
    """Return a row for each value of each item; one that is missing has a reason."""
    groups = dict.fromkeys(name for item in results.items.values() for name in item.groups)
    rows: list[Sequence[Cell]] = []
    for value in results.values:
        item = results.items.get(value.item)
        own_groups = item.groups if item else {}
        rows.append(
            (
                value.item,
                value.name,
                value.number,
                *why(value.outcome),
                value.signature if full else short_signature(value.signature),
                *(own_groups.get(name) for name in groups),
            )
        )
    columns = ("item", "metric", "score", "reason", "detail", "signature")
    return Table(
        "values",
        "Every value of every video",
        (*columns, *(f"group.{group}" for group in groups)),
        rows,
    )


def why(outcome: Outcome[Any]) -> tuple[str | None, str | None]:
    """Reason and detail of a failure."""
    failure = outcome.failure
    return (failure.reason.value, failure.detail) if failure else (None, None)


def missing_table(results: Results) -> Table:
    """Reasons for missing values with advice; the same words once, with what they are about."""
    short = results.short_names
    reasons: dict[tuple[str, str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for value in results.values:
        failure = value.outcome.failure
        if failure is not None:
            key = (failure.reason.value, failure.brief, failure.advice.strip())
            metrics, items = reasons.setdefault(key, ({}, {}))
            metrics[short.get(value.name, value.name)] = None
            items[value.item] = None
    rows = [
        (reason, detail, _few(items, "videos"), _few(metrics, "values"), advice)
        for (reason, detail, advice), (metrics, items) in sorted(reasons.items())
    ]
    columns = ("reason", "detail", "items", "values", "advice")
    return Table("not_scored", "Not scored", columns, rows)


def _few(names: Iterable[str], things: str) -> str:
    listed = sorted(names)
    return ", ".join(listed) if len(listed) < 4 else f"{len(listed):,} {things}"


def standing_tables(ranked: Sequence[Standing], suite: Suite, by: str = "") -> list[Table]:
    """One row per group with its first levels where there are groups; one row per level."""
    if not ranked:
        return []
    grouped = by if any(standing.group for standing in ranked) else ""
    wide = [_wide(ranked, suite, grouped)] if grouped and len(_columns(ranked)) > 1 else []
    return [*wide, _long(ranked, suite, grouped)]


def suite_tables(results: Results, suite: Suite, by: str = "") -> list[Table]:
    """Return all tables of one suite: its standings, then its own; those without rows are left
    out."""
    special = suite.tables(results, by) if suite.tables is not None else ()
    tables = [*standing_tables(standings(results, suite, by), suite, by), *special]
    return [table for table in tables if table.rows]


def _columns(ranked: Sequence[Standing]) -> list[StandingLevel]:
    """Return the root and its parts, where they are few enough to be columns."""
    levels = [level for level in ranked[0].levels if len(level.path) <= 2]
    roots = [level for level in levels if len(level.path) == 1]
    return levels if len(levels) <= WIDEST else roots if len(roots) <= WIDEST else roots[:1]


def _wide(ranked: Sequence[Standing], suite: Suite, by: str) -> Table:
    """Return a row for each group: each root of the tree with its parts, its interval and its
    coverage."""
    columns = _columns(ranked)
    roots = [level for level in columns if len(level.path) == 1]
    shared = ranked[0].shared is not None
    taken = {by, "shared", *(column.name for column in (*_BESIDE, *PARTS))}
    names = {level.path: _free(level.path[-1], taken) for level in columns}
    shown = [Column(by)]
    for root in roots:
        below = [level for level in columns if level.path[0] == root.path[0]]
        first = root is roots[0]
        if shared:
            name = "shared" if first else f"{names[root.path]}.shared"
            shown.append(Column(name, "Shared parts", digits=suite.digits, better=root.better))
        shown += [
            Column(names[level.path], level.title, digits=suite.digits, better=level.better)
            for level in below
        ]
        # Beside many roots there is no room for it: the table of all levels has it too.
        shown += [
            replace(
                column,
                name=column.name if first else f"{names[root.path]}.{column.name}",
                detail=column.detail
                or len(roots) > MOST_ROOTS
                or (column.name == "interval" and len(columns) > MOST_BESIDE),
            )
            for column in (*_BESIDE, *(PARTS if root.of_parts > 1 else ()))
        ]
    rows = []
    for standing in ranked:
        levels = {level.path: level for level in standing.levels}
        cells: list[Cell] = [standing.group]
        for root in roots:
            paths = [path for path in names if path[0] == root.path[0]]
            if shared:
                common = standing.compared.get(root.path)
                cells.append(common.value if common is not None else None)
            cells += [levels[path].value if path in levels else None for path in paths]
            top = levels.get(root.path, replace(root, value=None, interval=None, scored=0, parts=0))
            cells += _beside(top, suite)
            cells += parts_of(top) if root.of_parts > 1 else ()
        rows.append(cells)
    return Table(suite.name, f"{suite.heading} by {by}", shown, rows, _note(ranked, suite))


def _long(ranked: Sequence[Standing], suite: Suite, by: str) -> Table:
    many = any(level.of_parts > 1 for level in ranked[0].levels)
    columns = [
        Column("dimension", "Dimension"),
        Column("mean", "Mean", digits=suite.digits),
        Column("better", "Better", show=ARROWS.__getitem__),
        *_BESIDE,
        *(PARTS if many else PARTS[:2]),
    ]
    group = f"{by} (group)" if by in {column.name for column in columns} else by
    rows = []
    for level in ranked[0].levels if ranked else ():
        for standing in ranked:
            part = next((each for each in standing.levels if each.path == level.path), None)
            if part is not None:
                name = _level_name(part)
                cells: tuple[Cell, ...] = (
                    *(name, part.value, part.better, *_beside(part, suite)),
                    *parts_of(part)[: None if many else 2],
                )
                rows.append((cells[0], standing.group, *cells[1:]) if by else cells)
    if by:
        columns.insert(1, Column(group))
    name, title = (f"{suite.name}_parts", "all levels") if by else (suite.name, "standings")
    return Table(name, f"{suite.heading}, {title}", columns, rows, _note(ranked, suite))


def _level_name(level: StandingLevel) -> str:
    """Return the path below the root; the root has its own name. With what stood in for a model."""
    beside = f"[{'+'.join(level.stand_ins)}]" if level.stand_ins else ""
    return f"{' / '.join(level.path[1:]) or level.path[0]}{beside}"


def _note(ranked: Sequence[Standing], suite: Suite) -> str:
    lacking = {
        level.path: [each.group for each in ranked if not _has(each, level)]
        for level in ranked[0].levels
    }
    listed = []
    for level in ranked[0].levels:
        groups = lacking[level.path]
        if groups and (len(level.path) == 1 or groups != lacking[level.path[:-1]]):
            who = f" ({', '.join(groups)})" if len(groups) < len(ranked) else ""
            listed.append(f"{_level_name(level)}{who}")
    without = say("no_value", levels=", ".join(listed)) if listed else ""
    return " ".join(part for part in (suite.note, without) if part)


def _has(standing: Standing, level: StandingLevel) -> bool:
    return any(each.path == level.path and each.value is not None for each in standing.levels)


def parts_of(level: StandingLevel) -> tuple[Cell, ...]:
    """Return the cells of ``PARTS``."""
    return level.parts, level.of_parts, f"{level.parts:,}/{level.of_parts:,}"


def _beside(level: StandingLevel, suite: Suite) -> tuple[Cell, ...]:
    """Return the interval and the coverage of a level, for records and for people."""
    interval = level.interval
    low, high = (interval.low, interval.high) if interval else (None, None)
    coverage = f"{level.scored:,}/{level.total:,}"
    between = interval_text(low, high, suite.digits)
    return (low, high, between, level.scored, level.total, coverage)


def _free(name: str, taken: set[str]) -> str:
    """Return a name that no other column has."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
