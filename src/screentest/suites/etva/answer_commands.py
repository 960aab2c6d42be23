"""The evidence of ``screentest suite etva``: every question of a run with its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from screentest.cli.options import JsonOption


def answers(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run of the metric etva.")],
    items: Annotated[
        list[str] | None, typer.Argument(metavar="[ITEM…]", help="Some items only.")
    ] = None,
    said: Annotated[bool, typer.Option("--said", help="Also all that the model said.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show every question of a run with its answer.

    \b
    Examples:
      screentest suite etva answers scores/
      screentest suite etva answers scores/ cat-01 --said
    """
    from screentest.cli.console import print_json
    from screentest.core import UnknownName
    from screentest.suites.etva.runs import evidence_of_run

    found = evidence_of_run(run)
    for name in items or []:
        if name not in found:
            raise UnknownName(f"{run} has no answers for the item {name!r}")
    chosen = {name: asked for name, asked in found.items() if not items or name in items}
    if as_json:
        print_json(chosen)
        return
    for name, asked in chosen.items():
        _print(name, asked, said=said)


def _print(name: str, asked: list[dict[str, Any]], *, said: bool) -> None:
    from screentest.cli.console import out as console
    from screentest.cli.tables import print_heading, print_indented, table

    print_heading(name)
    if not said:
        rows = [[one["answer"] or "–", one["category"], one["question"]] for one in asked]
        console().print(table(["Answer", "Category", "Question"], rows))
        return
    for one in asked:
        print_indented(f"{one['answer'] or '–'}  {one['question']} ({one['category']})")
        for line in (one["said"] or str(one.get("reason", ""))).splitlines():
            if line.strip():
                print_indented(line.strip(), indent=6)


COMMANDS = {"answers": answers}
