"""``screentest suite locot2v analyse``: standings, correlations and charts from a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Mapping

    from screentest.core import Outcome
    from screentest.stats import Correlation
    from screentest.suites.locot2v.tables import Level, Row, Scores, Standing, Together


def analyse(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Runs of the suite.")],
    by: Annotated[
        str, typer.Option(metavar="category|theme", help="Break the standings down by this.")
    ] = "category",
    records: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The prompt suite, where items tell no complexity."),
    ] = None,
    charts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the charts here.")
    ] = None,
    kind: Annotated[str, typer.Option(metavar="svg|png", help="Their format.")] = "svg",
    as_json: JsonOption = False,
) -> None:
    """Show standings and correlations of runs, and draw the paper's charts.

    Generators are told apart by the group "model" of their items. Parts of a mean
    that are missing are counted beside it.

    \b
    Examples:
      screentest suite locot2v analyse scores/
      screentest suite locot2v analyse ours/ theirs/ --by theme
      screentest suite locot2v analyse scores/ --charts charts/
    """
    from screentest.cli.console import print_json
    from screentest.cli.tables import print_indented
    from screentest.core import BadOption
    from screentest.run import RunReader
    from screentest.scores.results import read_results
    from screentest.suites.locot2v.tables import (
        by_category,
        by_theme,
        correlations,
        leaderboard,
        scores_of,
        together,
    )

    ways = {"category": by_category, "theme": by_theme}
    if by not in ways:
        raise BadOption(f"--by cannot be {by!r}", advice=f"One of {', '.join(ways)}.")
    read = []
    for run in runs:
        with RunReader(run) as reader:
            read.append(scores_of(read_results(reader)))
    scores = together(read)
    if not any(scores.items.values()):
        raise BadOption(
            f"{', '.join(map(str, runs))} holds no scores of locot2v",
            advice="Score first: screentest score ITEMS --suite locot2v",
        )
    rows, pairs = leaderboard(scores), correlations(scores)
    written = _draw(scores, records, charts, f".{kind}") if charts is not None else []
    if as_json:
        print_json(
            {
                "leaderboard": [_row_object(row) for row in rows],
                **{
                    f"by_{name}": {
                        group: {model: _standing_object(one) for model, one in models.items()}
                        for group, models in way(scores).items()
                    }
                    for name, way in ways.items()
                },
                "correlations": [_pair_object(one) for one in pairs],
                "charts": [str(path) for path in written],
            }
        )
    else:
        _print_rows(rows)
        _print_groups(ways[by](scores), by)
        _print_parts(rows)
        _print_together(pairs)
        for path in written:
            print_indented(f"drawn: {path}", indent=0)


def _draw(scores: Scores, records: Path | None, folder: Path, suffix: str) -> list[Path]:
    from screentest.core import BadOption
    from screentest.reports import charts
    from screentest.suites.locot2v import charts as drawing
    from screentest.suites.locot2v.data import read_prompt_suite
    from screentest.suites.locot2v.tables import by_complexity

    suite = read_prompt_suite(records) if records is not None else None
    complexity = by_complexity(scores, suite)
    if records is not None and not complexity:
        raise BadOption(f"{records} tells the complexity of none of these prompts")
    made = {
        "radar": drawing.main_radar(scores),
        "scatter": drawing.static_scatter(scores),
        **({"radar_by_category": one} if (one := drawing.category_radar(scores)) else {}),
        **({"complexity": charts.violins(complexity)} if complexity else {}),
    }
    return [charts.save(figure, folder / f"{name}{suffix}") for name, figure in made.items()]


def _level(level: Level | None) -> str:
    if level is None:
        return "–"
    return f"{level.value:.3f}" + ("" if level.complete else f" ({level.had}/{level.of})")


_HEADS = ("Static", "Align", "Temp", "Clarity", "HERD", "Total")


def _cells(standing: Standing) -> list[str]:
    from screentest.suites.locot2v.suite import FIVE

    return [_level(standing.dimensions.get(name)) for name in FIVE]


def _print_rows(rows: list[Row]) -> None:
    from screentest.cli.console import out
    from screentest.cli.tables import table

    lines = []
    for row in rows:
        margin = f"± {row.interval.margin:.3f}" if row.interval else ""
        total = _level(row.standing.total)
        lines.append((row.model or "all", *_cells(row.standing), total, margin))
    out().print(table(["Model", *(f">{head}" for head in _HEADS), ""], lines))


def _print_groups(groups: Mapping[str, Mapping[str, Standing]], by: str) -> None:
    from screentest.cli.console import out
    from screentest.cli.tables import print_heading, table

    for group, models in groups.items():
        print_heading(f"{by}: {group}")
        lines = [
            (model or "all", *_cells(one), _level(one.total))
            for model, one in sorted(models.items(), key=_best_first)
        ]
        out().print(table(["Model", *(f">{head}" for head in _HEADS)], lines))


def _best_first(named: tuple[str, Standing]) -> tuple[float, str]:
    name, standing = named
    return (-standing.total.value if standing.total else 0.0, name)


_MOST_COLUMNS = 6


def _print_parts(rows: list[Row]) -> None:
    """All sub-dimensions, one line each; counted in videos where some have no value."""
    from screentest.cli.console import out
    from screentest.cli.tables import print_heading, print_indented, table
    from screentest.suites.locot2v.suite import ALL

    print_heading("Sub-dimensions")
    if len(rows) > _MOST_COLUMNS:
        print_indented(f"of {len(rows):,} models: with --json")
        return
    lines = [
        (one.title, *(_level(row.standing.subdimensions.get(one.name)) for row in rows))
        for one in ALL
    ]
    out().print(table(["", *(f">{row.model or 'all'}" for row in rows)], lines))


def _print_together(together: list[Together]) -> None:
    from screentest.cli.console import out
    from screentest.cli.tables import print_heading, print_indented, table
    from screentest.suites.locot2v.tables import titles

    named = titles()
    print_heading("What goes together, item by item")
    pairs = [
        (
            f"{named[one.first]}, {named[one.second]}",
            *(_coefficient(value) for value in (one.pearson, one.spearman, one.kendall)),
            f"{one.items:,}",
        )
        for one in together
        if one.items
    ]
    out().print(table(["Scores", ">r", ">ρ", ">τ", ">Items"], pairs))
    lost = sum(not one.items for one in together)
    if lost:
        print_indented(f"{lost:,} more pairs of table 5 have no item with both")


def _coefficient(outcome: Outcome[Correlation]) -> str:
    return "–" if outcome.value is None else f"{outcome.value.value:.3f}"


def _row_object(row: Row) -> dict[str, Any]:
    return {
        "model": row.model,
        "items": row.items,
        "interval": [row.interval.low, row.interval.high] if row.interval else None,
        **_standing_object(row.standing),
    }


def _standing_object(standing: Standing) -> dict[str, Any]:
    def level(one: Level) -> dict[str, Any]:
        return {"value": one.value, "had": one.had, "of": one.of}

    return {
        "total": None if standing.total is None else level(standing.total),
        "dimensions": {name: level(one) for name, one in standing.dimensions.items()},
        "subdimensions": {name: level(one) for name, one in standing.subdimensions.items()},
    }


def _pair_object(one: Together) -> dict[str, Any]:
    def coefficient(outcome: Outcome[Correlation]) -> Any:
        if outcome.value is None:
            return {"failed": str(outcome.failure)}
        return {"value": outcome.value.value, "p": outcome.value.p_value}

    return {
        "first": one.first,
        "second": one.second,
        "items": one.items,
        "pearson": coefficient(one.pearson),
        "spearman": coefficient(one.spearman),
        "kendall": coefficient(one.kendall),
    }


COMMANDS = {"analyse": analyse}
