"""The tables of results: means, every value, why values are missing, and suites added up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from screentest._util.collect import grouped
from screentest._util.text import plural
from screentest.analysis.evidence import Evidence
from screentest.analysis.evidence import Standing as Known
from screentest.analysis.models.comparison import GROUPS, MissingValues, ModelComparison
from screentest.analysis.models.coverage import lowest_videos
from screentest.analysis.models.rows import MetricRow, ModelValue, Part, Place, State
from screentest.analysis.results import Pool, Results, Total, Value
from screentest.analysis.standings import Standing, StandingLevel, standings
from screentest.analysis.suites import Suite, suites_in
from screentest.core import Outcome
from screentest.core.signature import short_signature
from screentest.core.table import ARROWS, Cell, Column, Table, cell_text
from screentest.present.text import (
    aligned,
    because,
    columns,
    degradation_words,
    failure_words,
    labels,
    names,
    number,
    p_value,
    percent,
    phrase,
    row_labels,
    say,
    shortened,
    words,
)
from screentest.stats.claims import Claim

Lines: TypeAlias = Iterator[tuple[str, str]]
WIDEST = 9
"""Columns of dimensions in one table; a wider tree is printed as rows only."""
_BESIDE = columns("beside")
"""The interval and the coverage beside a mean."""
PARTS = columns("parts")
"""How many parts of a suite a mean is of."""
_SHOWN_BESIDE = (("interval", "95%"), ("coverage", "videos"))
MOST_LEVELS = 24
"""Rows of a suite on the first screen; of more only those at the top."""
MOST_ROOTS = 3
"""Roots of a suite's tree that have them beside each other on a terminal."""
MOST_BESIDE = 4
"""Columns of dimensions that leave room for an interval; the table of all levels has it too."""


WIDTH = 80
"""Characters of a line on the first screen."""
_LEAST_NEEDED = (
    ("about", "scored", "interval"),
    ("about", "wins", "video"),
    ("about", "wins", "scored", "video", "sees"),
    ("about", "scored", "interval", "sees"),
)
_HEAD = 8
"""Letters of a model's name beside a mean."""


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
        Column("not_scored", "Not scored", detail=not full),
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


def brief_standings(results: Results, by: str = "") -> list[Table]:
    """Return a table for each suite of a run, with what has a value, for a terminal."""
    group = by.partition("=")[0] or results.models_by
    found = ((standings(results, suite, group), suite) for suite in suites_in(results))
    return [_brief(ranked, suite) for ranked, suite in found if ranked]


def _brief(ranked: Sequence[Standing], suite: Suite) -> Table:
    """Return the levels that have a value: with their means, or of several groups side by side, by
    the parts that all of them have."""
    first = ranked[0].compared
    levels = {level.path: first.get(level.path, level) for one in ranked for level in one.levels}
    has = {
        path: [path in each.compared and _has(each, level) for each in ranked]
        for path, level in levels.items()
    }
    # Where one has nothing at all, the others' are shown, and the reason is among what is missing.
    every = [level for path, level in levels.items() if all(has[path])]
    shown = every or [level for path, level in levels.items() if any(has[path])]
    if len(shown) > MOST_LEVELS:
        shown = [level for level in shown if len(level.path) <= 2]
    columns = [Column("dimension", " ")]
    rows: list[list[Cell]] = []
    for level in shown:
        parts = f", {level.parts} of {level.of_parts} parts" if level.parts < level.of_parts else ""
        indent = "  " * (len(level.path) - 1)
        rows.append([f"{indent}{_level_words(level)}{parts} {ARROWS[level.better]}".rstrip()])
    for standing in ranked:
        columns.append(Column(standing.group or "mean", align="right"))
        for row, level in zip(rows, shown, strict=True):
            found = standing.compared.get(level.path)
            row.append(cell_text(found.value, suite.digits) if found else "–")
    if len(ranked) == 1:
        columns += [Column(name, title, align="right") for name, title in _SHOWN_BESIDE]
        for row, level in zip(rows, shown, strict=True):
            _, _, between, _, _, coverage = _beside(level, suite)
            row += [between, coverage if level.of_parts <= 1 else ""]
    return Table(suite.name, suite.heading, columns, rows, _note(ranked, suite))


def _level_words(level: StandingLevel) -> str:
    heuristic = " (heuristic)" if level.stand_ins else ""
    return f"{level.path[-1].replace('_', ' ')}{heuristic}"


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
    lacking: dict[tuple[str, str], list[str]] = {}
    before: dict[tuple[str, ...], list[str]] = {}
    for level in ranked[0].levels:
        groups = [each.group for each in ranked if not _has(each, level)]
        before[level.path] = groups
        if groups and (len(level.path) == 1 or groups != before[level.path[:-1]]):
            gaps = [
                each for standing in ranked for each in standing.levels if each.path == level.path
            ]
            told = [failure_words(each.failure) for each in gaps if each.failure is not None]
            who = ", ".join(groups) if len(groups) < len(ranked) else ""
            why = ", ".join(dict.fromkeys(told))
            lacking.setdefault((who, why), []).append(_level_words(level))
    listed = [
        because(", ".join(levels), ": ".join(filter(None, key))) for key, levels in lacking.items()
    ]
    without = say("no_value", levels="; ".join(listed)) if listed else ""
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


# The tables of the first screen.


def table_lines(table: Table) -> list[str]:
    """Return the table as lines of text, each column as wide as its longest cell."""
    brief = table.short()
    cells = (zip(*both, strict=True) for both in zip(brief.texts(), brief.rows, strict=True))
    rows = [["–" if cell is None else text for text, cell in row] for row in cells]
    rows.insert(0, [column.heading for column in brief.columns])
    return aligned(rows, brief.alignments())


def comparison_table(comparison: ModelComparison) -> Table:
    """Return the models side by side, in the metrics in which there is something to see.

    Models whose names are too wide get letters; of more than a terminal has room for, those at both
    ends are shown. Where nothing was tested, the means of what could not be compared are shown, and
    values that only describe where there is nothing else.
    """
    rows = tuple(row for row in comparison.rows if row.shows)
    if not comparison.tested:
        rows = tuple(
            row
            for row in comparison.having(State.NOT_COMPARED)
            if any(value.mean is not None for value in row.values)
        ) or comparison.having(State.DESCRIBED)
    plain = {name: name for name in comparison.models}
    letters = {name: _letter(place) for place, name in enumerate(plain)}
    cells: list[list[Cell]] = [
        [None if value.mean is None else [value.mean, mark(value) or " "] for value in row.values]
        for row in rows
    ]
    for heads in (plain, letters):
        by_model = [Column(f"model.{n}", heads[n], align="right", show=_cell) for n in plain]
        table = _fitted(_comparison_table(comparison, rows, by_model, cells, heads))
        if table is not None:
            return table
    heads = letters if max(map(len, plain)) > _HEAD else plain
    titles = ("best", "worst") if comparison.tested else ("most", "least")
    ends = [Column(title, align="right") for title in titles]
    cells = [list[Cell](_ends(row, heads)) for row in rows]
    whole = _comparison_table(comparison, rows, ends, cells, heads, brief=True)
    return _fitted(whole) or whole


def missing_why(metric: MissingValues) -> str:
    """Return why values are missing."""
    failure = failure_words(metric.failure) if metric.failure is not None else ""
    return next(iter(metric.inapplicable), failure)


def sees_brief(evidence: Evidence | None) -> str:
    """Return how many degradations a value is known to see, of how many, and to prefer."""
    if evidence is None or evidence.standing is not Known.MEASURED:
        return str(words("standings_brief")[evidence.standing]) if evidence else ""
    wrong = len(evidence.having(Claim.PREFERS_DEGRADED))
    count = f"{len(evidence.having(Claim.SEES))}/{len(evidence.operators)}"
    return f"{count} −{wrong}" if wrong else count


def sees_words(evidence: Evidence | None, most: int = 3) -> str:
    """Return the degradations that a value is known to see, and to prefer."""
    if evidence is None or evidence.standing is not Known.MEASURED:
        return str(words("standings")[evidence.standing]) if evidence else ""
    sees, prefers = (
        names(map(degradation_words, evidence.having(claim)), most)
        for claim in (Claim.SEES, Claim.PREFERS_DEGRADED)
    )
    parts = [sees, *([f"prefers {prefers}"] if prefers else [])]
    return "; ".join(filter(None, parts)) or f"nothing shown on {plural(evidence.films, 'film')}"


def evidence_lines(evidence: Evidence, better: bool = True) -> Lines:
    """Yield what is known of a value: what it sees, what fools it, what moves nothing, people and
    cost; of a value without a better direction, what lowers and what raises it."""
    if evidence.standing is not Known.MEASURED:
        yield "evidence", sees_words(evidence)
        return
    operators = evidence.operators
    labels_of = ("sees", "prefers") if better else ("falls with", "rises with")
    for text, claim in zip(labels_of, (Claim.SEES, Claim.PREFERS_DEGRADED), strict=True):
        found = evidence.having(claim)
        count = [(operators[name].wins, operators[name].losses) for name in found]
        if found:
            listed = [
                because(degradation_words(name), f"{max(both)} of {operators[name].films}")
                for name, both in zip(found, count, strict=True)
            ]
            yield text, names(listed, len(listed))
    for text, claim in (("no reaction", Claim.CHANCE), ("undecided", Claim.UNDECIDED)):
        if found := evidence.having(claim):
            yield text, names(map(degradation_words, found), 8)
    moved = [
        because(name.replace("_", " "), f"{each.films - each.ties} of {each.films}")
        for name, each in evidence.placebos.items()
        if each.films > each.ties
    ]
    if evidence.placebos:
        yield "placebos", names(moved) or phrase("all_tie")
    if evidence.cost is not None:
        yield "cost", phrase("cost", seconds=number(evidence.cost))
    settings = [f"{name} {text}" for name, text in evidence.settings.items()]
    source = evidence.source or phrase("shipped", films=plural(evidence.films, "film"))
    yield "tested", names([source, *settings], 9)


def people_lines(agreements: Sequence[Mapping[str, Any]]) -> Lines:
    """Yield in how many pairs a released score agrees with people, and one person does."""
    for release, about in grouped((each["release"], each) for each in agreements).items():
        listed = [
            f"{percent(each['in_place'] or each['right'])} on {each['about']}"
            + (f" (a person {percent(each['person'])})" if each["person"] else "")
            for each in about
        ]
        yield "people", because(f"{about[0]['score']} agrees in {names(listed)}", release)


def evidence_table(known: Iterable[Evidence]) -> Table:
    """Return a row for each value: what it sees and prefers, films and cost."""
    rows = [
        (
            *(one.value, one.films, f"{len(one.having(Claim.SEES))}/{len(one.operators)}"),
            *(len(one.having(Claim.PREFERS_DEGRADED)), len(one.having(Claim.CHANCE))),
            *(one.cost, dict(one.settings)),
        )
        for one in known
    ]
    shown = columns("evidence", cost=number)
    return Table("evidence", "What metrics are known to see", shown, rows, phrase("cost_unit"))


def _ends(row: MetricRow, heads: Mapping[str, str]) -> Iterator[str]:
    """Yield the best of the models that have a value, and the worst; several that share it are
    counted."""
    means = [value.mean for value in row.values if value.mean is not None]
    for place in (max, min) if row.sign > 0 else (min, max):
        end = place(means)
        alike = [value for value in row.values if value.mean == end]
        who = heads[alike[0].model] if len(alike) == 1 else f"{len(alike)} models"
        yield f"{who} {_cell([end, mark(alike[0]) or ' '])}"


def _comparison_table(
    comparison: ModelComparison,
    rows: Sequence[MetricRow],
    columns: Sequence[Column],
    cells: Sequence[Sequence[Cell]],
    heads: Mapping[str, str],
    *,
    brief: bool = False,
) -> Table:
    label_of = row_labels(comparison.rows)
    titles = [row.group.capitalize() for row in rows]
    why = {metric.name: missing_why(metric) for metric in comparison.missing}
    before = ["", *titles]
    bare = not comparison.tested
    beside = (
        Column("about", " ", detail=set(titles) == {"Other"}),
        Column("metric", " "),
        *columns,
        Column("wins", "place" if brief else "wins", align="right", detail=bare),
        Column("p", align="right", show=p_value, detail=bare),
        Column("sees", detail=not any(row.evidence and row.evidence.operators for row in rows)),
    )
    lines = [
        (
            "" if title == last else title,
            f"{label_of[row.name]} {ARROWS[row.better]}".rstrip(),
            *own,
            row_wins(row, heads, brief=brief),
            row.p,
            sees_brief(row.evidence) if row.better else "",
        )
        for row, own, title, last in zip(rows, cells, titles, before, strict=False)
    ]
    gaps: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if lacking := [value.model for value in row.values if value.mean is None]:
            key = names(lacking, last=" and "), why.get(row.name) or "missing"
            gaps.setdefault(key, []).append(label_of[row.name])
    letters = ", ".join(f"{head}: {name}" for name, head in heads.items() if head != name)
    empty = [f"– {models}: {because(names(of), reason)}" for (models, reason), of in gaps.items()]
    note = "\n".join(filter(None, [letters, *empty]))
    return Table("answer", f"By {comparison.by}", beside, lines, note)


def _fitted(table: Table) -> Table | None:
    """Return a table that a terminal has room for, without some columns if need be; else None."""
    for hidden in ((), ("about",), ("about", "wins"), ("about", "scored"), *_LEAST_NEEDED):
        columns = [replace(c, detail=c.detail or c.name in hidden) for c in table.columns]
        fitted = replace(table, columns=tuple(columns))
        if max(map(len, table_lines(fitted))) <= WIDTH:
            return fitted
    return None


def row_wins(row: MetricRow, heads: Mapping[str, str], *, brief: bool = False) -> str:
    """On how many prompts each of two models is best, in their order; of several models the leader
    and on how many, or who is last, or which differences are significant; ``brief`` without
    names."""
    if not row.pairs:
        return ""
    two = sum(value.mean is not None for value in row.values) == 2
    pair = row.pairs[0]
    if two:
        first = next(value.model for value in row.values if value.mean is not None)
        counts = (pair.ahead, pair.behind) if pair.better == first else (pair.behind, pair.ahead)
        return ":".join(f"{count:,}" for count in counts)
    shown = [pair for pair in row.pairs if pair.significant]
    if row.state is State.SIGNIFICANT and not row.settled:
        return f"{len(shown)} of {len(row.pairs)} pairs" if brief else _orders(row, heads)
    leader = "first" if brief else heads.get(row.leader, "")
    last = "last" if brief else f"{heads.get(row.last, '')} last"
    if row.claim is Place.FIRST:
        return f"{leader} {row.ahead:,}/{row.prompts:,}"
    if row.claim is Place.LAST:
        return f"{last} {row.behind:,}/{row.prompts:,}"
    return "" if brief else f"{heads[pair.better]} over {heads[pair.worse]}"


def _orders(row: MetricRow, heads: Mapping[str, str]) -> str:
    """Return the significant differences: ``A over C``."""
    over = grouped((pair.better, heads[pair.worse]) for pair in row.pairs if pair.significant)
    sides = grouped((", ".join(sorted(worse)), heads[better]) for better, worse in over.items())
    return "; ".join(f"{', '.join(better)} over {worse}" for worse, better in sides.items())


def mark(value: ModelValue) -> str:
    """Return the sign beside a mean; the notes below the table explain it."""
    return "*" if value.best else "°" if value.explained else ""


def _cell(cell: Any) -> str:
    return f"{number(cell[0])}{cell[1]}"


def _letter(place: int) -> str:
    return chr(ord("A") + place % 26) * (place // 26 + 1)


def scores_table(results: Results, pool: Pool, known: Mapping[str, Evidence]) -> Table:
    """Return the mean of every value that there is, with its interval, the worst video and what it
    is known to see; where there are others, without those that only describe."""
    label_of = labels(results)
    totals = [total for total in results.totals() if total.summary is not None]
    totals = [total for total in totals if total.info.better] or totals
    group_of = {total.name: results.traits_of(total.name).group for total in totals}
    totals.sort(key=lambda total: GROUPS.index(group_of[total.name] or "other"))
    several, lowest = len(results.items) > 1, lowest_videos(results, pool)
    partly = any(total.scored < total.total for total in totals)
    columns = (
        Column("about", " ", detail=not any(group_of.values())),
        Column("metric", " "),
        Column("mean", "mean" if several else "value", align="right", show=number),
        Column("interval", "95% interval", align="right", detail=not several),
        Column("worst", "worst", align="right", detail=not several),
        Column("video", "video", detail=not several),
        Column("scored", "scored", align="right", detail=not partly),
        Column("sees", detail=not any(each.operators for each in known.values())),
    )
    titles = [(group_of[total.name] or "other").capitalize() for total in totals]
    cells = [
        (
            *_total_cells(each, lowest.get(each.name), label_of[each.name]),
            sees_brief(known.get(each.name)) if each.info.better else "",
        )
        for each in totals
    ]
    rows = [
        ("" if title == last else title, *row)
        for row, title, last in zip(cells, titles, ["", *titles], strict=False)
    ]
    used = [any(row[place] for row in rows) for place in range(len(columns))]
    shown = [replace(c, detail=c.detail or not has) for c, has in zip(columns, used, strict=True)]
    table = Table("scores", "Scores", shown, rows)
    return _fitted(table) or table


def _total_cells(total: Total, worst: Value | None, name: str) -> tuple[Cell, ...]:
    better, summary = total.info.better, total.summary
    assert summary is not None
    low, high = summary.low, summary.high
    return (
        f"{name} {ARROWS[better]}".rstrip(),
        summary.value,
        "" if low is None or high is None else f"{number(low)} to {number(high)}",
        *((number(worst.outcome.unwrap().value), shortened(worst.item, 16)) if worst else ("", "")),
        f"{total.scored:,}/{total.total:,}",
    )
