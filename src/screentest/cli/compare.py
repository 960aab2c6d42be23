"""``screentest compare``: two judges, two runs or two groups of items, pair by pair."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli._options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from screentest.certify.compare import Points, Row
    from screentest.run import RunReader


def command(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(compare)


def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN [RUN]", help="One run, or two of a kind.")
    ],
    judges: Annotated[
        str, typer.Option(metavar="A,B", help="The two judges, where a run has several.")
    ] = "",
    by: Annotated[
        str, typer.Option(metavar="GROUP=A,B", help="Two groups of items of one run: model=x,y.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Compare two judges or two systems on what both have judged or scored.

    Every difference has an interval over whole sources and a p-value corrected for
    the number of rows (Holm). Items of two systems are matched by their prompt.

    \b
    Examples:
      screentest compare certificates/ --judges core,sharpness
      screentest compare monday/ tuesday/
      screentest compare scores/ --by model=ours,theirs
    """
    from screentest.certify.compare import compare as compared
    from screentest.cli._console import print_json
    from screentest.core import BadOption
    from screentest.run import RunReader

    if not 1 <= len(runs) <= 2:
        raise BadOption("give one run or two")
    with ExitStack() as stack:
        readers = [stack.enter_context(RunReader(path)) for path in runs]
        commands = {reader.starts()[0].command for reader in readers if reader.starts()}
        judgements = commands == {"certify"}
        if not judgements and commands != {"score"}:
            raise BadOption(
                f"runs of {', '.join(sorted(commands)) or 'nothing'} cannot be compared",
                advice="Give runs of `score`, or of `certify`, two of a kind.",
            )
        if judgements:
            names, sides = _of_judges(readers, judges)
        else:
            names, sides = _of_scores(readers, runs, by)
        found = compared(*sides, judgements=judgements).unwrap()
    if as_json:
        print_json([_object(row) for row in found])
    else:
        _print(found, names, judgements=judgements)


def _of_judges(
    readers: Sequence[RunReader], judges: str
) -> tuple[list[str], tuple[Points, Points]]:
    from screentest.certify.compare import judge_points, judges_in
    from screentest.core import BadOption

    given = [name.strip() for name in judges.split(",") if name.strip()]
    if len(readers) == 2:
        known = [judges_in(reader) for reader in readers]
        names = given or [found[0] for found in known]
        names = names * 2 if len(names) == 1 else names
        pairs = list(zip(readers, names, strict=True))
    else:
        names = given or judges_in(readers[0])
        pairs = [(readers[0], name) for name in names]
    if len(names) != 2:
        raise BadOption(
            f"there are {len(names)} judges: {', '.join(names)}",
            advice="Say which two: --judges A,B.",
        )
    first, second = (judge_points(reader, name) for reader, name in pairs)
    return names, (first, second)


def _of_scores(
    readers: Sequence[RunReader], runs: Sequence[Path], by: str
) -> tuple[list[str], tuple[Points, Points]]:
    from screentest.certify.compare import score_points
    from screentest.core import BadOption

    if len(readers) == 2:
        return [str(run) for run in runs], (score_points(readers[0]), score_points(readers[1]))
    group, equals, values = by.partition("=")
    names = [name.strip() for name in values.split(",")]
    if not equals or len(names) != 2:
        raise BadOption("say which two groups of items to compare", advice="--by model=A,B")
    first, second = (score_points(readers[0], group, name) for name in names)
    return names, (first, second)


def _print(rows: Sequence[Row], names: Sequence[str], *, judgements: bool) -> None:
    from screentest.cli._console import out
    from screentest.cli._tables import print_indented, table

    scale = 100 if judgements else 1
    cells = []
    for row in rows:
        interval = row.difference.interval
        between = f"{scale * interval.low:.2f} … {scale * interval.high:.2f}" if interval else "–"
        cells.append(
            (
                row.name,
                f"{scale * row.first:.2f}",
                f"{scale * row.second:.2f}",
                f"{scale * row.difference.value:+.2f}",
                between,
                f"{row.adjusted_p:.3f}{'*' if row.significant else ''}",
                f"{row.difference.pairs:,}",
            )
        )
    columns = ["", ">First", ">Second", ">Differ", ">95% interval", ">p", ">Pairs"]
    out().print(table(columns, cells))
    print_indented(f"First: {names[0]}. Second: {names[1]}. p after Holm; * below 0.05.", indent=0)
    for row in rows:
        if row.needed and not row.significant:
            words = f"{row.name}: a difference like this would take about {row.needed:,} pairs"
            print_indented(words, indent=0)


def _object(row: Row) -> dict[str, Any]:
    interval = row.difference.interval
    return {
        "name": row.name,
        "first": row.first,
        "second": row.second,
        "difference": row.difference.value,
        "interval": [interval.low, interval.high] if interval else None,
        "p": row.difference.p_value,
        "p_holm": row.adjusted_p,
        "p_mcnemar": row.exact.p_value if row.exact else None,
        "pairs": row.difference.pairs,
        "sources": row.difference.sources,
        "pairs_needed": row.needed,
        "dropped": row.dropped,
    }
