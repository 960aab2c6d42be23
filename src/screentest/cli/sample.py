"""The films that come with screentest, to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from screentest._util.text import plural
from screentest.cli.tables import print_indented
from screentest.sample.copies import CHECKPOINTS, copy_checkpoints, copy_films


def copy(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to; made if need be.")],
) -> None:
    """Copy the packaged films, with a manifest of their prompts and timed scripts.

    Four short films under open licences, which ATTRIBUTION.md beside them names.
    The manifest is films.jsonl.

    \b
    Examples:
      screentest sample copy films/
      screentest score films/films.jsonl
    """
    manifest = copy_films(folder)
    print_indented(f"The films are in {folder}; their manifest is {manifest}.", indent=0)


def checkpoints(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to; made if need be.")],
    prompts: Annotated[int, typer.Option(help="How many prompts.")] = 20,
) -> None:
    """Write short clips of two checkpoints, to compare them.

    The checkpoints are stand-ins with a known answer: step-2000 has shots of the
    packaged films, step-1000 the same shots blurred and flickering.

    \b
    Examples:
      screentest sample checkpoints checkpoints/
      screentest score checkpoints/ --by model
    """
    texts = copy_checkpoints(folder, prompts)
    words = f"{plural(len(texts), 'prompt')}, {' and '.join(CHECKPOINTS)}, in {folder}."
    print_indented(words, indent=0)
