"""Look at a testbed, check it, count it, draw from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from screentest.testbeds.testbed import Pair, Testbed
    from screentest.testbeds.verify import Verification

Folder = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="A testbed made by `build`.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def show(
    folder: Folder,
    pair: Annotated[
        str | None,
        typer.Argument(metavar="[PAIR]", help="SOURCE/NAME, as the list has it."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what a testbed holds, or all that is known of one pair.

    \b
    Examples:
      screentest testbed show testbed/
      screentest testbed show testbed/ film-7/color
      screentest testbed show testbed/ film-7/color --json
    """
    from screentest.cli._testbed import (
        pair_as_object,
        print_pair,
        print_testbed,
        testbed_as_object,
    )
    from screentest.cli.console import print_json
    from screentest.testbeds.testbed import find_pair, read_testbed

    testbed = read_testbed(folder)
    if pair is None:
        if as_json:
            print_json(testbed_as_object(testbed))
        else:
            print_testbed(testbed)
        return
    found = find_pair(testbed, pair)
    if as_json:
        print_json(pair_as_object(testbed, found))
    else:
        print_pair(testbed, found)


def verify(
    folder: Folder,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Draw and make pairs again, and compare.")
    ] = False,
    pair: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --rebuild: only this pair; may be given often."),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(metavar="K", help="With --rebuild: K pairs, over all aspects.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Which pairs --sample takes.")] = 7,
    sources: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --rebuild: where the sources are.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes.", min=1)] = 1,
    as_json: Json = False,
) -> None:
    """Check that a testbed is what it says, down to the packets.

    Every file is hashed, every number compared. Outside the touched clips both
    videos of a pair must hold the same packets. With --rebuild, clips are drawn
    and pairs made again from their sources, and must come out the same to the
    bit. Ends with 1 where something is wrong or could not be made again.

    \b
    Examples:
      screentest testbed verify testbed/
      screentest testbed verify testbed/ --rebuild --sources films/ --sample 5
      screentest testbed verify testbed/ --rebuild --sources films/ --pair color
    """
    from dataclasses import replace

    from screentest.cli._testbed import print_verification, verification_as_object
    from screentest.cli.console import print_json
    from screentest.cli.progress import watched
    from screentest.core import BadOption
    from screentest.testbeds.testbed import read_testbed
    from screentest.testbeds.verify import verify_testbed

    if not rebuild and (pair or sample is not None or sources is not None):
        raise BadOption("--pair, --sample and --sources say what to rebuild: add --rebuild")
    # What cannot be is told before any work.
    wanted = _wanted(read_testbed(folder), pair or [], sample, seed) if rebuild else []
    with watched() as progress:
        result = verify_testbed(folder, workers=workers, progress=progress)
    if rebuild:
        from screentest.run import LocalEngine
        from screentest.testbeds.remake import remake_pairs

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
    if as_json:
        print_json(verification_as_object(result))
    else:
        print_verification(result)
    if _is_wrong(result):
        raise typer.Exit(1)


def _is_wrong(result: Verification) -> bool:
    # Asked to rebuild and could not: nobody should read that as a yes.
    return bool(result.findings or result.unchecked)


def _wanted(testbed: Testbed, names: list[str], sample: int | None, seed: int) -> list[Pair]:
    from screentest.core import BadOption
    from screentest.testbeds.testbed import draw_evenly, find_pair

    if names and sample is not None:
        raise BadOption("--pair and --sample cannot be given together")
    if names:
        return [find_pair(testbed, name) for name in dict.fromkeys(names)]
    if sample is None:
        return list(testbed.pairs)
    if sample < 1:
        raise BadOption(f"a sample of {sample} pairs cannot be", advice="Give 1 or more.")
    return draw_evenly(testbed, sample, seed)


def stats(
    folder: Folder,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write charts there, as SVG and PNG.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Count pairs per aspect, durations, categories and prompt lengths.

    \b
    Examples:
      screentest testbed stats testbed/
      screentest testbed stats testbed/ --plots charts/
      screentest testbed stats testbed/ --json | jq .aspects
    """
    from screentest.cli._testbed import print_statistics, statistics_as_object
    from screentest.cli.console import err, plural, print_json, shown
    from screentest.testbeds.statistics import statistics_of
    from screentest.testbeds.testbed import read_testbed

    statistics = statistics_of(read_testbed(folder))
    if as_json:
        print_json(statistics_as_object(statistics))
    else:
        print_statistics(statistics)
    if plots is not None:
        from screentest.testbeds.charts import write_charts

        written = write_charts(statistics, plots)
        err().print(f"{plural(len(written), 'file')} in {shown(str(plots))}", soft_wrap=True)


def sample(
    folder: Folder,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The new folder.", show_default=False)],
    count: Annotated[
        int, typer.Option("-n", metavar="N", help="How many pairs.", show_default=False)
    ],
    per_aspect: Annotated[
        bool, typer.Option("--per-aspect", help="N pairs of each aspect, instead of in all.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Decides which.")] = 7,
    copy: Annotated[
        bool, typer.Option("--copy", help="Copy files, also where hard links would do.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Draw a smaller testbed, evenly over aspects.

    With the same seed a larger sample holds the smaller one.

    \b
    Examples:
      screentest testbed sample testbed/ --out small/ -n 50
      screentest testbed sample testbed/ --out small/ -n 5 --per-aspect
    """
    from screentest.cli._testbed import testbed_as_object
    from screentest.cli.console import plural, print_json
    from screentest.cli.tables import print_indented
    from screentest.testbeds.subset import sample_testbed

    made = sample_testbed(folder, out, count, seed=seed, per_aspect=per_aspect, copy=copy)
    if as_json:
        print_json(testbed_as_object(made))
    else:
        pairs, films = plural(len(made.pairs), "pair"), plural(len(made.sources), "source")
        print_indented(f"{pairs} of {films}, in {out}", indent=0)


def page(folder: Folder) -> None:
    """Write testbed.html anew: every pair side by side, to look at.

    `build` and `sample` write it too.

    \b
    Examples:
      screentest testbed page testbed/
    """
    from screentest.cli.tables import print_indented
    from screentest.testbeds.page import write_page
    from screentest.testbeds.testbed import read_testbed

    print_indented(str(write_page(folder, read_testbed(folder))), indent=0)


GROUP = "testbed"
COMMANDS = {"show": show, "verify": verify, "stats": stats, "sample": sample, "page": page}
