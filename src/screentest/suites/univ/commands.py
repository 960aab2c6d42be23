"""``screentest univ``: the benchmark's files, tables, costs and the make-up of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from screentest.cli._options import JsonOption
from screentest.suites.univ import after_commands as _univ_after
from screentest.suites.univ import before_commands as _univ_before


def command(app: typer.Typer) -> None:
    """Add the commands."""
    univ = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    univ.callback()(about)
    _univ_before.command(univ)
    _univ_after.command(univ)
    univ.command()(distribution)
    univ.command()(schema)
    app.add_typer(univ, name="univ")


def about() -> None:
    """Prepare UniVBench, count its costs, print its tables.

    \b
    Examples:
      screentest univ import UniVBench/ wan/ --task t2v --model wan \\
          --out wan.jsonl
      screentest score wan.jsonl --suite univ --task t2v \\
          --model chat=openai:NAME
      screentest univ table scores/ --chart radar.svg
    """


def distribution(
    captions: Annotated[
        list[Path], typer.Argument(metavar="FILES…", help="captions.jsonl of `screentest caption`.")
    ],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: .svg or .png.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Count what a corpus is made of, over all 21 sub-dimensions.

    \b
    Examples:
      screentest univ distribution captions/captions.jsonl --out corpus.svg
    """
    from screentest.cli._console import out as console
    from screentest.cli._console import print_json, shown
    from screentest.cli._tables import table as drawn
    from screentest.reports.charts import save
    from screentest.suites.univ.captioning import read_shots
    from screentest.suites.univ.tables import distribution as counted
    from screentest.suites.univ.tables import draw_distribution

    spreads = counted([shot for path in captions for shot in read_shots(path)])
    if out is not None:
        save(draw_distribution(spreads), out)
    if as_json:
        print_json(
            {
                name: {"counts": dict(one.counts), "silent": one.silent}
                for name, one in spreads.items()
            }
        )
        return
    rows = [
        (
            name.replace("_", " "),
            ", ".join(f"{term} {count:,}" for term, count in list(one.counts.items())[:4]) or "–",
            f"{one.silent:,}",
        )
        for name, one in spreads.items()
    ]
    console().print(drawn(["Sub-dimension", "Seen most", ">Silent"], rows))
    if out is not None:
        console().print(shown(str(out)), soft_wrap=True)


def schema() -> None:
    """Print the JSON Schema of a description.

    \b
    Examples:
      screentest univ schema > description.schema.json
    """
    from screentest.cli._console import print_json
    from screentest.suites.univ.schema import description_schema

    print_json(description_schema())
