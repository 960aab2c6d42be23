"""``screentest suite locot2v analyse``: standings, correlations and charts from a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli._options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Mapping

    from screentest.core import Outcome
    from screentest.stats import Correlation
    from screentest.suites.locot2v.adding import Level
    from screentest.suites.locot2v.analysis.correlations import Together
    from screentest.suites.locot2v.analysis.scores import Row, Scores


def command(locot2v: typer.Typer) -> None:
    """Add the command."""
    locot2v.command()(analyse)


def analyse(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run of the suite.")],
    records: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The prompt suite, for complexity.")
    ] = None,
    charts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the charts here.")
    ] = None,
    kind: Annotated[str, typer.Option(metavar="svg|png", help="Their format.")] = "svg",
    as_json: JsonOption = False,
) -> None:
    """Show standings and correlations of a run, and draw the paper's charts.

    Generators are told apart by the group "model" of their items. Parts of a mean
    that are missing are counted beside it.

    \b
    Examples:
      screentest suite locot2v analyse scores/
      screentest suite locot2v analyse scores/ --charts charts/ \\
          --records suite.json
    """
    from screentest.cli._console import print_json
    from screentest.core import BadOption
    from screentest.evaluate.results import read_results
    from screentest.run import RunReader
    from screentest.suites.locot2v.analysis.correlations import correlations
    from screentest.suites.locot2v.analysis.scores import leaderboard, scores_of

    with RunReader(run) as reader:
        scores = scores_of(read_results(reader))
    if not any(scores.items.values()):
        raise BadOption(
            f"{run} holds no scores of locot2v",
            advice="Score first: screentest score ITEMS --suite locot2v",
        )
    rows, together = leaderboard(scores), correlations(scores)
    written = _draw(scores, records, charts, f".{kind}") if charts is not None else []
    if as_json:
        print_json(
            {
                "leaderboard": [_row_object(row) for row in rows],
                "correlations": [_pair_object(one) for one in together],
                "charts": [str(path) for path in written],
            }
        )
    else:
        _print(rows, together, written)


def _draw(scores: Scores, records: Path | None, folder: Path, suffix: str) -> list[Path]:
    from screentest.corpus.locot2v import read_prompt_suite
    from screentest.suites.locot2v.analysis import charts, drawing
    from screentest.suites.locot2v.analysis.complexity import by_complexity

    made = {
        "radar": drawing.main_radar(scores),
        "scatter": drawing.static_scatter(scores),
        **({"radar_by_category": one} if (one := drawing.category_radar(scores)) else {}),
    }
    if records is not None:
        made["complexity"] = charts.violins(by_complexity(scores, read_prompt_suite(records)))
    return [charts.save(figure, folder / f"{name}{suffix}") for name, figure in made.items()]


def _level(level: Level | None) -> str:
    if level is None:
        return "–"
    return f"{level.value:.3f}" + ("" if level.complete else f" ({level.had}/{level.of})")


def _print(rows: list[Row], together: list[Together], written: list[Path]) -> None:
    from screentest.cli._console import out
    from screentest.cli._tables import print_heading, print_indented, table
    from screentest.suites.locot2v.analysis.scores import titles
    from screentest.suites.locot2v.dimensions import FIVE

    named = titles()
    lines = []
    for row in rows:
        margin = f"± {row.interval.margin:.3f}" if row.interval else ""
        cells = [_level(row.standing.dimensions.get(name)) for name in FIVE]
        lines.append((row.model or "all", *cells, f"{_level(row.standing.total)} {margin}".strip()))
    heads = ("Static", "Alignment", "Temporal", "Clarity", "HERD", "Total")
    out().print(table(["Model", *(f">{head}" for head in heads)], lines))
    print_heading("What goes together, item by item")
    pairs = [
        (
            f"{named[one.first]}, {named[one.second]}",
            *(_coefficient(value) for value in (one.pearson, one.spearman, one.kendall)),
            f"{one.items:,}",
        )
        for one in together
    ]
    out().print(table(["Scores", ">r", ">ρ", ">τ", ">Items"], pairs))
    for path in written:
        print_indented(f"drawn: {path}", indent=0)


def _coefficient(outcome: Outcome[Correlation]) -> str:
    return "–" if outcome.value is None else f"{outcome.value.value:.3f}"


def _row_object(row: Row) -> dict[str, Any]:
    def level(one: Level) -> dict[str, Any]:
        return {"value": one.value, "had": one.had, "of": one.of}

    def levels(found: Mapping[str, Level]) -> dict[str, Any]:
        return {name: level(one) for name, one in found.items()}

    total = row.standing.total
    return {
        "model": row.model,
        "items": row.items,
        "total": None
        if total is None
        else {"value": total.value, "had": total.had, "of": total.of},
        "interval": [row.interval.low, row.interval.high] if row.interval else None,
        "dimensions": levels(row.standing.dimensions),
        "subdimensions": levels(row.standing.subdimensions),
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
