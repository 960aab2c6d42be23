"""Prepare UniVBench, count its costs, print its tables.

\b
Examples:
  screentest suite univ import UniVBench/ wan/ --task t2v --model wan \\
      --out wan.jsonl
  screentest score wan.jsonl --suite univ --task t2v \\
      --model chat=openai:NAME
  screentest suite univ table scores/ --chart radar.svg
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from screentest.cli.options import JsonOption


def distribution(
    captions: Annotated[
        list[Path],
        typer.Argument(metavar="FILES…", help="captions.jsonl of `suite univ caption`."),
    ],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: .svg or .png.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Count what a corpus is made of, over all 21 sub-dimensions.

    \b
    Examples:
      screentest suite univ distribution captions/captions.jsonl --out corpus.svg
    """
    from screentest.cli.console import out as console
    from screentest.cli.console import print_json, shown
    from screentest.cli.tables import table as drawn
    from screentest.reports.charts import save
    from screentest.suites.univ.captioning import read_shots
    from screentest.suites.univ.distribution import distribution as counted
    from screentest.suites.univ.distribution import draw_distribution

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
      screentest suite univ schema > description.schema.json
    """
    from screentest.cli.console import print_json
    from screentest.suites.univ.schema import description_schema

    print_json(description_schema())


COMMANDS = {"distribution": distribution, "schema": schema}
