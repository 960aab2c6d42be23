"""``screentest suite locot2v matrix``: which sub-dimension reacts to which harm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli.options import (
    DeviceOption,
    JsonOption,
    MaxCostOption,
    ModelOption,
    PricesOption,
    ProfileOption,
    PromptsOption,
    WorkersOption,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from screentest.scores.results import Results
    from screentest.suites.locot2v.matrix import Matrix, Reaction

_LETTERS = 4
"""Of an aspect's name, above its column; they differ in these."""


def matrix(
    testbed: Annotated[Path, typer.Argument(metavar="TESTBED", help="A folder made by build.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The run's folder.")] = Path("matrix"),
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it: .svg or .png.")
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Not all metrics of the suite, but these."),
    ] = None,
    model: ModelOption = None,
    profile: ProfileOption = None,
    prompts: PromptsOption = None,
    prices: PricesOption = None,
    max_cost: MaxCostOption = "",
    device: DeviceOption = "auto",
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which of the 26 sub-dimensions react to which harm.

    Every video of the testbed is scored once. A cell is the share of pairs in which
    the intact video is given more than the harmed one, in per cent; a tie is half.
    50 is no reaction, and a star says that it is surely another. Start the same
    command again to go on where it stopped.

    \b
    Examples:
      screentest suite locot2v matrix testbed/ --chart matrix.svg
      screentest suite locot2v matrix testbed/ \\
          --metrics locot2v_warping_error,locot2v_dynamic_degree
    """
    from screentest.cli.console import print_json
    from screentest.cli.options import cap_of, settings_of
    from screentest.cli.progress import watched
    from screentest.run import LocalEngine, RunStore
    from screentest.scores.evaluators import metric_names
    from screentest.scores.results import read_results
    from screentest.scores.suite import read_suite
    from screentest.scores.tasks import score_items
    from screentest.suites.locot2v.matrix import columns, items_of_testbed
    from screentest.suites.locot2v.matrix import matrix as made
    from screentest.suites.locot2v.tables import scores_of
    from screentest.testbeds.testbed import read_testbed

    bed = read_testbed(testbed)
    names = metric_names(metrics) if metrics else list(read_suite("locot2v").metrics)
    settings = settings_of(model, profile, prompts, prices, device=device)
    cap = cap_of(max_cost, settings)
    arguments = {"testbed": str(testbed), "metrics": names, "models": settings.models}
    with RunStore(out, command="matrix", arguments=arguments, max_cost=cap) as store:
        done = score_items(
            store,
            items_of_testbed(testbed, bed),
            names,
            settings,
            engine=LocalEngine(workers=workers),
            progress=watched(),
        )
        results = read_results(store)
    found, across = made(bed, scores_of(results)), columns(bed)
    drawn = _draw(found, list(across), chart) if chart is not None else None
    if as_json:
        print_json(
            {
                "run": str(out),
                "pairs": across,
                "matrix": {
                    name: {column: _cell_object(cell) for column, cell in row.items()}
                    for name, row in found.items()
                },
                "chart": str(drawn) if drawn else None,
                "pending": done.pending,
            }
        )
    else:
        _print(found, across, results)
        _tell_end(out, drawn, done.pending)
    if done.exit_code:
        raise typer.Exit(done.exit_code)
    if not any(found.values()):
        raise typer.Exit(1)


def _draw(found: Matrix, across: list[str], path: Path) -> Path:
    from screentest.reports.charts import heatmap, save
    from screentest.suites.locot2v.tables import titles

    named = titles()
    rows = {
        named[name]: {column: cell.share for column, cell in row.items()}
        for name, row in found.items()
    }
    return save(heatmap(rows, across), path)


def _print(found: Matrix, across: Mapping[str, int], results: Results) -> None:
    from screentest.cli.console import out as console
    from screentest.cli.tables import print_heading, print_indented, table

    heads = [column[:_LETTERS] for column in across]
    lines = [
        (name, *(_shown(row[column]) if column in row else "–" for column in across))
        for name, row in found.items()
        if row
    ]
    lines.append(("pairs", *(f"{pairs:,}" for pairs in across.values())))
    console().print(table(["", *(f">{head}" for head in heads)], lines))
    named = (
        f"{head}: {column.replace('_', ' ')}" for head, column in zip(heads, across, strict=True)
    )
    print_indented("; ".join(named), indent=0)
    if any(cell.pairs < across[column] for row in found.values() for column, cell in row.items()):
        print_indented(
            "Some cells rest on fewer pairs than their column; --json counts them.", indent=0
        )
    lost = [name for name, row in found.items() if not row]
    if lost:
        print_heading(f"Without any value: {len(lost):,}")
        print_indented(", ".join(lost))
        for words in _reasons(results):
            print_indented(words)


def _shown(cell: Reaction) -> str:
    return f"{100 * cell.share:.0f}{'*' if cell.is_sure else ''}"


def _reasons(results: Results) -> list[str]:
    told: dict[str, int] = {}
    for value in results.values:
        if value.outcome.failure is not None:
            words = str(value.outcome.failure).strip().splitlines()[0]
            told[words] = told.get(words, 0) + 1
    return [
        f"{count:,} × {words}" for words, count in sorted(told.items(), key=lambda one: -one[1])
    ]


def _tell_end(out: Path, drawn: Path | None, pending: int) -> None:
    from screentest.cli.console import plural
    from screentest.cli.tables import print_indented

    if drawn is not None:
        print_indented(f"drawn: {drawn}", indent=0)
    words = f"The scores are in {out}"
    if pending:
        words += f"; {plural(pending, 'record')} still to be made: start the same command again"
    print_indented(words, indent=0)


def _cell_object(cell: Reaction) -> dict[str, Any]:
    interval = cell.interval
    return {
        "share": cell.share,
        "interval": [interval.low, interval.high],
        "more": cell.more,
        "less": cell.less,
        "same": cell.same,
    }


COMMANDS = {"matrix": matrix}
