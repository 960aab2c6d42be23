"""``screentest compare``: judges or systems, pair by pair."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from screentest.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from screentest.certificates.compare import Points
    from screentest.core import Outcome
    from screentest.run import RunReader
    from screentest.stats import RankAgreement


def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN [RUN]", help="One run, or two of a kind.")
    ],
    judges: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B…", help="The judges, where a run has several."),
    ] = None,
    by: Annotated[
        str,
        typer.Option(metavar="GROUP=A,B…", help="Groups of items of one run: model=x,y."),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Compare judges, or systems, on what all of them have.

    Every difference has an interval over whole sources and a p-value corrected for
    the number of rows (Holm). More than two are ranked, with the sets that cannot
    be told apart. Items of two systems are matched by their prompt. Two runs with
    three judges or more are held side by side: do both testbeds rank them alike?

    \b
    Examples:
      screentest compare certificates/ --judges core,sharpness
      screentest compare certificates/ --judges core,sharpness,flicker
      screentest compare monday/ tuesday/ --judges core
      screentest compare scores/ --by model=ours,theirs
    """
    from screentest.cli._comparison import show_agreement, show_pair, show_ranking
    from screentest.core import BadOption
    from screentest.run import RunReader
    from screentest.scores.evaluators import metric_names

    if not 1 <= len(runs) <= 2:
        raise BadOption(f"{len(runs)} runs are too many", advice="Give one run or two.")
    with ExitStack() as stack:
        readers = [stack.enter_context(RunReader(path)) for path in runs]
        judgements = _are_judgements(readers)
        if judgements and by:
            raise BadOption("--by is for runs of `score`", advice="Say which judges: --judges A,B.")
        if not judgements and judges:
            raise BadOption("--judges is for runs of `certify`", advice="Say --by GROUP=A,B.")
        proxy = _between_testbeds(readers) if judgements else None
        if proxy is not None and len(readers) == 2 and not judges:
            show_agreement(proxy, as_json=as_json)
            return
        named = metric_names(judges or [])
        sides = _of_judges(readers, runs, named) if judgements else _of_scores(readers, runs, by)
    if len(sides) == 2:
        show_pair(sides, judgements=judgements, agreement=proxy, as_json=as_json)
    else:
        show_ranking(sides, judgements=judgements, agreement=proxy, as_json=as_json)


def _are_judgements(readers: Sequence[RunReader]) -> bool:
    from screentest.core import BadOption

    commands = {reader.starts()[0].command for reader in readers if reader.starts()}
    if commands not in ({"certify"}, {"score"}):
        raise BadOption(
            f"runs of {', '.join(sorted(commands)) or 'nothing'} cannot be compared",
            advice="Give runs of `score`, or of `certify`, two of a kind.",
        )
    return commands == {"certify"}


def _of_judges(
    readers: Sequence[RunReader], runs: Sequence[Path], given: Sequence[str]
) -> dict[str, Points]:
    """What each judge earned; of two runs the same judge in both, or one of each."""
    from screentest.certificates.compare import judge_points, judges_in
    from screentest.core import BadOption

    known = [judges_in(reader) for reader in readers]
    all_known = ", ".join(dict.fromkeys(name for names in known for name in names))
    for name in given:
        if not any(name in names for names in known):
            raise BadOption(f"there is no judge {name!r} here", advice=f"Judges: {all_known}.")
    if len(readers) == 1:
        names = given or tuple(known[0])
        if len(names) < 2:
            raise BadOption(
                f"there is one judge: {', '.join(names)}", advice="Give a second run, or judge."
            )
        return {name: judge_points(readers[0], name) for name in names}
    pair = list(given or [names[0] for names in known])
    pair = pair * 2 if len(pair) == 1 else pair
    if len(pair) != 2 or (not given and any(len(names) > 1 for names in known)):
        raise BadOption(
            f"the runs have several judges: {all_known}",
            advice="Say which one, or which of each run: --judges A,B.",
        )
    return {
        f"{name} in {run}": judge_points(reader, name)
        for reader, run, name in zip(readers, runs, pair, strict=True)
    }


def _of_scores(readers: Sequence[RunReader], runs: Sequence[Path], by: str) -> dict[str, Points]:
    from screentest.certificates.compare import groups_in, score_points
    from screentest.core import BadOption

    if len(readers) == 2:
        if by:
            raise BadOption("--by is for the groups of one run")
        return {str(run): score_points(one) for run, one in zip(runs, readers, strict=True)}
    group, _, values = by.partition("=")
    known = groups_in(readers[0], group) if group else []
    names = [name.strip() for name in values.split(",") if name.strip()] or known
    unknown = [name for name in names if name not in known]
    if unknown or len(names) < 2:
        what = f"no item has {group} {unknown[0]!r}" if unknown else "there is one side only"
        raise BadOption(what, advice=_sides_there_are(readers[0], group, known))
    return {name: score_points(readers[0], group, name) for name in names}


def _sides_there_are(reader: RunReader, group: str, known: Sequence[str]) -> str:
    """What --by may say of this run."""
    if known:
        return f"{group}: {', '.join(known)}."
    groups = sorted({name for item in reader.items().values() for name in item.groups})
    if groups:
        return f"Say --by GROUP, or --by GROUP=A,B. Groups: {', '.join(groups)}."
    return "No item of this run has a group: give them in a manifest, or a second run."


def _between_testbeds(readers: Sequence[RunReader]) -> Outcome[RankAgreement] | None:
    """Of two runs, or of the two testbeds of one: whether they rank the judges alike."""
    from screentest.certificates.compare import agreement, judge_points, judges_in, testbeds_in

    def side(reader: RunReader, testbed: str = "") -> Mapping[str, Points]:
        return {name: judge_points(reader, name, testbed) for name in judges_in(reader)}

    if len(readers) == 2:
        one, two = (side(reader) for reader in readers)
    else:
        testbeds = testbeds_in(readers[0])
        if len(testbeds) != 2:
            return None
        one, two = (side(readers[0], testbed) for testbed in testbeds)
    return agreement(one, two) if len(one.keys() & two.keys()) > 2 else None


COMMANDS = {"compare": compare}
