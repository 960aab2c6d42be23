"""Inspect, verify and sample testbeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from screentest.cli.console import out, plural
from screentest.cli.options import JsonOption, ModelOption, ModelsOption
from screentest.cli.progress import watched
from screentest.cli.tables import (
    print_indented,
    show,
)
from screentest.cli.testbed_pairs import Folder, print_testbed_as_json
from screentest.core import BadOption
from screentest.core.table import Column, Table
from screentest.models import read_models
from screentest.run import LocalEngine
from screentest.testbeds.catalogue import operators_table
from screentest.testbeds.page import write_page
from screentest.testbeds.remake import remake_pairs
from screentest.testbeds.subset import sample_testbed
from screentest.testbeds.testbed import (
    Pair,
    Testbed,
    draw_evenly,
    find_pair,
    of_prompts,
    read_testbed,
)
from screentest.testbeds.verify import Verification, VerificationFinding, verify_testbed

MOST = 50
"""Findings that are printed one by one; JSON has all."""


# ---- verify


def verify(
    folder: Folder,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Draw and make pairs again, and compare.")
    ] = False,
    pair: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --rebuild: only this pair; can be repeated."),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(metavar="K", help="With --rebuild: K pairs, over all aspects.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Which pairs --sample takes.")] = 7,
    sources: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --rebuild: where the sources are.")
    ] = None,
    models: ModelsOption = "builtin",
    model: ModelOption = None,
    workers: Annotated[int, typer.Option(help="Processes.", min=1)] = 1,
    as_json: JsonOption = False,
) -> None:
    """Check that a testbed is what it says, down to the packets.

    Every file is hashed, every number compared. Outside the touched clips both
    videos of a pair must hold the same packets; inside, the harm must be there. To
    see whether a removed thing is gone takes a detector: --models light. With
    --rebuild, clips are drawn and pairs made again from their sources, and must come
    out the same to the bit. Exits with 1 if something is wrong or could not be made
    again.

    \b
    Examples:
      screentest testbed verify testbed/
      screentest testbed verify testbed/ --rebuild --sources films/ --sample 5
      screentest testbed verify testbed/ --rebuild --sources films/ --pair color
    """
    if not rebuild and (pair or sample is not None or sources is not None):
        raise BadOption("--pair, --sample and --sources say what to rebuild: add --rebuild")
    # Fail on a wrong name before any work.
    if rebuild and of_prompts(read_testbed(folder)):
        raise BadOption(
            "a testbed of prompts has no videos to make again",
            advice="Leave --rebuild out: its words are checked anyway.",
        )
    wanted = _wanted(read_testbed(folder), pair or [], sample, seed) if rebuild else []
    with watched() as progress:
        result = verify_testbed(
            folder,
            workers=workers,
            progress=progress,
            models=read_models([models, *(model or [])]),
        )
    if rebuild:
        with watched() as progress:
            made = remake_pairs(
                folder,
                result.testbed,
                wanted,
                sources=sources,
                engine=LocalEngine(workers=workers),
                progress=progress,
            )
        result = replace(
            result,
            findings=(*result.findings, *made.findings),
            rebuilt=made.same,
            unchecked=made.unchecked,
        )
    show(
        _findings_table("findings", "Wrong", result.findings, as_json),
        _findings_table("unchecked", "Not made again", result.unchecked, as_json),
        as_json=as_json,
        ok=result.ok,
        files=result.files,
        bytes=result.bytes,
        pairs=len(result.testbed.pairs),
        rebuilt=list(result.rebuilt),
    )
    if not as_json:
        _print_summary(result)
    # Asked to rebuild and could not: that is not a yes.
    if result.findings or result.unchecked:
        raise typer.Exit(1)


def _wanted(testbed: Testbed, names: list[str], sample: int | None, seed: int) -> list[Pair]:
    if names and sample is not None:
        raise BadOption("--pair and --sample exclude each other")
    if names:
        return [find_pair(testbed, name) for name in dict.fromkeys(names)]
    if sample is None:
        return list(testbed.pairs)
    if sample < 1:
        raise BadOption(f"invalid --sample {sample}: must be 1 or more")
    return draw_evenly(testbed, sample, seed)


def _findings_table(
    name: str, title: str, findings: Sequence[VerificationFinding], as_json: bool
) -> Table:
    columns = (Column("check", "Check"), Column("where", "Where"), Column("what", "What"))
    rows = [(one.check, one.where, one.what) for one in findings]
    if as_json or len(rows) <= MOST:
        return Table(name, title, columns, rows)
    return Table(name, title, columns, rows[:MOST], f"{len(rows) - MOST:,} more; --json has all")


def _print_summary(result: Verification) -> None:
    if result.findings or result.unchecked:
        out().print()
    words = [
        f"{plural(result.files, 'file')} ({result.bytes / 1e6:,.1f} MB)",
        plural(len(result.testbed.pairs), "pair"),
    ]
    if result.rebuilt:
        words.append(f"{len(result.rebuilt):,} made again, bit for bit the same")
    if result.unchecked:
        words.append(f"{len(result.unchecked):,} could not be made again")
    found = plural(len(result.findings), "thing is wrong", "things are wrong")
    words.append(found if result.findings else "nothing is wrong")
    print_indented("; ".join(words), indent=0)


# ---- sample, page


def sample(
    folder: Folder,
    into: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The new folder.", show_default=False)
    ],
    count: Annotated[
        int, typer.Option("-n", metavar="N", help="How many pairs.", show_default=False)
    ],
    per_aspect: Annotated[
        bool, typer.Option("--per-aspect", help="N pairs of each aspect, instead of in all.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Decides which pairs.")] = 7,
    copy: Annotated[
        bool, typer.Option("--copy", help="Copy files instead of making hard links.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Draw a smaller testbed, evenly over aspects.

    With the same seed, a larger sample contains the smaller one.

    \b
    Examples:
      screentest testbed sample testbed/ --out small/ -n 50
      screentest testbed sample testbed/ --out small/ -n 5 --per-aspect
    """
    made = sample_testbed(folder, into, count, seed=seed, per_aspect=per_aspect, copy=copy)
    if as_json:
        print_testbed_as_json(made)
    else:
        pairs, films = plural(len(made.pairs), "pair"), plural(len(made.sources), "source")
        print_indented(f"{pairs} of {films}, in {into}", indent=0)


def page(folder: Folder) -> None:
    """Write testbed.html again: every pair side by side.

    `build` and `sample` write it too.

    \b
    Examples:
      screentest testbed page testbed/
    """
    print_indented(str(write_page(folder, read_testbed(folder))), indent=0)


# ---- operators


def list_operators(
    aspects: Annotated[
        str, typer.Option(metavar="NAMES", help="Only those that harm these, with commas.")
    ] = "all",
    as_json: JsonOption = False,
) -> None:
    """List the operators that `build` can harm films with, by aspect.

    Those of the paper are what `build` takes; `--operators family`, `all` or their
    names ask for others.

    \b
    Examples:
      screentest testbed operators
      screentest testbed operators --aspects technical_quality
    """
    show(operators_table(aspects), as_json=as_json)
