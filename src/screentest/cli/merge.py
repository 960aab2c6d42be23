"""``screentest merge``: runs of several machines become one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from screentest.cli.options import JsonOption


def merge(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs.")],
    into: Annotated[
        Path, typer.Option("--into", metavar="RUN", help="A new run, or one that gets the rest.")
    ],
    prefer: Annotated[
        str,
        typer.Option(metavar="WHICH", help="Where two values differ: first, newest; else refuse."),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Merge runs that several machines made of one job.

    The same record twice is one. A value wins over a failure. Two values that
    differ are refused unless you say which one counts. Paid calls come along
    and are counted once. The merged run tells what it was made of.

    \b
    Examples:
      screentest merge machine1/scores machine2/scores --into scores
      screentest merge monday tuesday --into both --prefer newest
    """
    import json
    from dataclasses import asdict

    from screentest.cli.console import out as console
    from screentest.cli.console import print_json
    from screentest.cli.tables import print_indented, table
    from screentest.core import BadOption
    from screentest.run import RunReader
    from screentest.run.merge import Prefer
    from screentest.run.merge import merge as bring_together

    if prefer not in list(Prefer):
        raise BadOption(f"--prefer cannot be {prefer!r}", advice="Write first or newest.")
    shares = bring_together(runs, into, prefer=prefer)
    if as_json:
        print_json(json.loads(json.dumps([asdict(share) for share in shares])))
        return
    rows = [
        (one.run, *(f"{n:,}" for n in (one.added, one.same, one.replaced, one.left, one.calls)))
        for one in shares
    ]
    heads = ["Run", ">New", ">Same", ">Replaced", ">Left out", ">Calls"]
    console().print(table(heads, rows))
    with RunReader(into) as merged:
        coverage = merged.coverage()
    words = f"{into}: {coverage.scored:,} of {coverage.total:,} records have all values"
    decided = sum(one.conflicts for one in shares)
    if decided:
        words += f"; of {decided:,} with two values, the {prefer} was taken"
    print_indented(words, indent=0)


COMMANDS = {"merge": merge}
