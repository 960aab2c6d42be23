"""Ask whether a video shows each piece of its prompt (ETVA).

\b
Examples:
  screentest suite etva questions prompts.txt --out questions.jsonl
  screentest score manifest.jsonl --model chat=openai:NAME \\
      --metrics etva:questions=questions.jsonl
  screentest suite etva replay scores/
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from screentest.core import Outcome, Summary
    from screentest.suites.etva.tables import Row

CategoriesOption = Annotated[
    Path | None,
    typer.Option(
        "--categories", metavar="FILE", help="Released questions with types, one per line."
    ),
]
CompatOption = Annotated[
    str, typer.Option("--compat", metavar="RULES", help="strict, or upstream: as published.")
]


def replay(
    places: Annotated[
        list[Path],
        typer.Argument(metavar="TRANSCRIPTS…", help="Files of transcripts, or runs."),
    ],
    categories: CategoriesOption = None,
    compat: CompatOption = "strict",
    as_json: JsonOption = False,
) -> None:
    """Score transcripts again, without a model.

    Reads every recorded answer anew: [YES] or [NO], and nothing where it has
    neither or both. A file is one model's transcripts, by the file's name; a run
    is broken down by its items' group `model`. The average is over all questions,
    as published tables have it.

    \b
    Examples:
      screentest suite etva replay scores/
      screentest suite etva replay vidu.json --categories questions.json
      screentest suite etva replay vidu.json --categories questions.json \\
          --compat upstream --json
    """
    from screentest.cli.console import print_json
    from screentest.suites.etva.data import read_transcripts
    from screentest.suites.etva.runs import judge_run, judge_transcripts
    from screentest.suites.etva.tables import rows_by_model

    rules = _compat(compat)
    judged = []
    for place in places:
        if place.is_dir():
            judged += judge_run(place, compat=rules)
        else:
            read = read_transcripts(place, categories)
            judged += judge_transcripts(read, model=place.stem, compat=rules)
    rows = rows_by_model(judged, signature=f"etva replay|compat:{rules.value}")
    if as_json:
        print_json([_object(row) for row in rows])
    else:
        _print(rows)


def benchmark(
    files: Annotated[
        list[Path], typer.Argument(metavar="QUESTIONS…", help="Questions files, or released ones.")
    ],
    categories: CategoriesOption = None,
    draw: Annotated[
        int, typer.Option(metavar="N", help="Draw N prompts spread as all are.", min=0)
    ] = 0,
    seed: Annotated[int, typer.Option(help="Another seed draws other prompts.", min=0)] = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the (drawn) questions here.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw a chart: .svg, .png or .pdf.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show how questions are spread; draw smaller benchmarks.

    \b
    Examples:
      screentest suite etva benchmark questions.jsonl --plot spread.svg
      screentest suite etva benchmark prompts.json --categories types.json \\
          --out questions.jsonl
      screentest suite etva benchmark questions.jsonl --draw 105 --out small.jsonl
    """
    from screentest.cli.console import print_json
    from screentest.core import BadOption
    from screentest.suites.etva.benchmark import (
        distance,
        distribution,
        plot_distributions,
        sub_benchmark,
    )
    from screentest.suites.etva.questions import read_question_sets, write_question_sets

    if categories is not None and len(files) > 1:
        raise BadOption("--categories belongs to one file", advice="Give one file at a time.")
    sets = {file.stem: read_question_sets(file, categories) for file in files}
    if draw:
        name, drawn_from = next(iter(sets.items()))
        sets[f"{name}-{draw}"] = sub_benchmark(drawn_from, draw, seed=seed)
    spread = {name: distribution(some) for name, some in sets.items()}
    last = list(sets)[-1]
    if out is not None:
        write_question_sets(out, sets[last])
    if plot is not None:
        plot_distributions(spread, plot)
    if as_json:
        print_json(
            {
                name: {
                    "prompts": len(sets[name]),
                    "questions": sum(counts.values()),
                    "categories": {kind.value: count for kind, count in counts.items()},
                    "distance": distance(counts, spread[next(iter(spread))]),
                }
                for name, counts in spread.items()
            }
        )
    else:
        _print_spread(spread, {name: len(some) for name, some in sets.items()})


def _compat(name: str) -> Any:
    from screentest.core import BadOption
    from screentest.suites.etva.answers import Compat

    if name not in list(Compat):
        raise BadOption(f"--compat cannot be {name!r}", advice=f"One of {', '.join(Compat)}.")
    return Compat(name)


def _print(rows: Sequence[Row]) -> None:
    from screentest.cli.console import out as console
    from screentest.cli.tables import print_heading, table

    for row in rows:
        if row.model:
            print_heading(row.model)
        yes, answered, asked = row.total
        lines = [
            ("all questions", *_cells(row.micro), f"{yes}/{answered}", f"{answered}/{asked}"),
            ("mean of prompts", *_cells(row.macro), "", ""),
        ]
        for kind, outcome in row.categories.items():
            yes, answered, asked = row.counts[kind]
            if asked:
                shares = (f"{yes}/{answered}", f"{answered}/{asked}")
                lines.append((kind.value, *_cells(outcome), *shares))
        columns = ["", ">Score", ">Interval", ">Yes", ">Answered"]
        console().print(table(columns, lines))
    if len(rows) > 1:
        print_heading("Side by side")
        console().print(table(["", *(f">{row.model}" for row in rows)], _side_by_side(rows)))


def _side_by_side(rows: Sequence[Row]) -> list[list[str]]:
    """One line per average and category, one column per model."""
    lines = [
        ["all questions", *(_cells(row.micro)[0] for row in rows)],
        ["mean of prompts", *(_cells(row.macro)[0] for row in rows)],
    ]
    for kind in rows[0].categories:
        lines.append([kind.value, *(_cells(row.categories[kind])[0] for row in rows)])
    return lines


def _cells(outcome: Outcome[Summary]) -> tuple[str, str]:
    if outcome.failure is not None:
        return "–", outcome.failure.reason.value
    found = outcome.unwrap()
    return f"{found.value:.3f}", f"{found.low:.3f}–{found.high:.3f}"


def _object(row: Row) -> dict[str, Any]:
    return {
        "model": row.model,
        "micro": _summary(row.micro),
        "macro": _summary(row.macro),
        "categories": {
            kind.value: _summary(outcome)
            | dict(zip(("yes", "answered", "asked"), row.counts[kind], strict=True))
            for kind, outcome in row.categories.items()
        },
    }


def _summary(outcome: Outcome[Summary]) -> dict[str, Any]:
    if outcome.failure is not None:
        return {"value": None, "reason": str(outcome.failure)}
    found = outcome.unwrap()
    return {
        "value": found.value,
        "interval": [found.low, found.high],
        "scored": found.scored,
        "total": found.total,
    }


def _print_spread(spread: dict[str, Any], prompts: dict[str, int]) -> None:
    from screentest.cli.console import out as console
    from screentest.cli.tables import table
    from screentest.suites.etva.benchmark import shares
    from screentest.suites.etva.graph import Category

    rows = [["prompts", *(f"{prompts[name]:,}" for name in spread)]]
    rows.append(["questions", *(f"{sum(counts.values()):,}" for counts in spread.values())])
    for kind in Category:
        cells = [f"{counts[kind]:,} ({shares(counts)[kind]:.1%})" for counts in spread.values()]
        rows.append([kind.value, *cells])
    console().print(table(["", *(f">{name}" for name in spread)], rows))


COMMANDS = {"replay": replay, "benchmark": benchmark}
