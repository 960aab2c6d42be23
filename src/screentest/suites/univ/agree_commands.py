"""``screentest suite univ agree``: does a judge say what people say, and does it favour its own?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from screentest.scores.results import Results
    from screentest.suites.univ.people import JudgeAgreement, SelfPreference, Unit


def agree(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUNS…", help="Runs of `score`, one for each judge."),
    ],
    sample: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw items and write a sheet for people (CSV)."),
    ] = None,
    votes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The sheet, filled in.")
    ] = None,
    values: Annotated[
        str, typer.Option(metavar="NAMES", help="Which values, with commas; all if not given.")
    ] = "",
    share: Annotated[float, typer.Option(help="The share of items to draw.")] = 0.1,
    raters: Annotated[int, typer.Option(min=1, max=99, help="Votes for each value.")] = 3,
    tolerance: Annotated[
        float,
        typer.Option(help="How far apart is still agreement, as a share of the range."),
    ] = 0.1,
    own: Annotated[
        list[str] | None,
        typer.Option(metavar="RUN=MODEL", help="Whose results are a judge's own."),
    ] = None,
    group: Annotated[
        str, typer.Option(metavar="GROUP", help="The group that names who made an item.")
    ] = "model",
    seed: Annotated[int, typer.Option(help="Decides the draw.")] = 7,
    as_json: JsonOption = False,
) -> None:
    """Compare a judge with people, and look for self-preference.

    First draw a tenth of the items and write a sheet, which does not show what the
    judge said. Three people fill it in. Then compare: how often judge and people
    agree, with intervals; who is kinder; how far people agree among themselves.

    \b
    Examples:
      screentest suite univ agree scores/ --sample sheet.csv
      screentest suite univ agree scores/ --votes sheet.csv
      screentest suite univ agree gpt/ qwen/ --votes sheet.csv --own gpt=sora
    """
    from screentest.cli.console import print_json
    from screentest.core import BadOption
    from screentest.suites.univ.people import read_votes

    if not 0 < share <= 1 or not 0 <= tolerance <= 1:
        raise BadOption("--share and --tolerance are between 0 and 1")
    names = [name.strip() for name in values.split(",") if name.strip()]
    read = {run: _read(run) for run in runs}
    if sample is not None:
        _write(sample, read[runs[0]], names, share, raters, seed)
        return
    if votes is None and not own:
        raise BadOption(
            "there is nothing to compare with",
            advice="Write a sheet with --sample, or give one with --votes.",
        )
    voted = read_votes(votes) if votes is not None else None
    found = _compare(read, voted, names, tolerance)
    favours = _favours(read, voted, names, own or [], group)
    if as_json:
        print_json({"agreement": _objects(found), "self_preference": _favour_objects(favours)})
    else:
        _print(found, favours)


def _read(folder: Path) -> Results:
    from screentest.run import RunReader
    from screentest.scores.results import read_results

    with RunReader(folder) as run:
        return read_results(run)


def _write(
    path: Path, results: Results, names: Sequence[str], share: float, raters: int, seed: int
) -> None:
    from screentest.cli.console import out, plural, shown
    from screentest.core import UserError
    from screentest.suites.univ.people import judged, write_sheet

    known = judged(results, names)
    if not known:
        raise UserError(
            "the run has nothing that people could rate",
            advice="Give a run of `score` in which something was scored.",
        )
    drawn = write_sheet(path, results, names, share=share, votes=raters, seed=seed)
    total = len({item for item, _ in known})
    told = (
        f"{shown(str(path))}: {drawn:,} of {plural(total, 'item')}, {plural(raters, 'vote')} each"
    )
    out().print(told, soft_wrap=True)


def _compare(
    read: Mapping[Path, Results],
    voted: Mapping[Unit, Sequence[float]] | None,
    names: Sequence[str],
    tolerance: float,
) -> dict[tuple[str, str], JudgeAgreement]:
    """By run and value, and by run over all values."""
    from screentest.core import NoValue, UserError
    from screentest.suites.univ.people import agree as compare
    from screentest.suites.univ.people import on_one_scale

    found: dict[tuple[str, str], JudgeAgreement] = {}
    for run, results in read.items() if voted is not None else ():
        scores, people = on_one_scale(results, voted or {}, names)
        try:
            found[str(run), "all"] = compare(scores, people, tolerance=tolerance)
        except NoValue as error:
            raise UserError(error.message, advice=error.advice) from None
        both = [unit for unit in people if unit in scores]
        for name in dict.fromkeys(name for _, name in both):
            some = {unit: people[unit] for unit in both if unit[1] == name}
            found[str(run), name] = compare(scores, some, tolerance=tolerance)
    return found


def _favours(
    read: Mapping[Path, Results],
    voted: Mapping[Unit, Sequence[float]] | None,
    names: Sequence[str],
    own: Sequence[str],
    group: str,
) -> list[SelfPreference]:
    from screentest.core import NoValue, UserError
    from screentest.suites.univ.people import on_one_scale, self_preference

    if not own:
        return []
    owns = {str(run): maker for run, maker in (_own(text, list(read)) for text in own)}
    scaled = {str(run): on_one_scale(some, voted or {}, names) for run, some in read.items()}
    makers = {
        item.id: item.groups.get(group, "")
        for results in read.values()
        for item in results.items.values()
    }
    people = {unit: some for _, given in scaled.values() for unit, some in given.items()}
    judges = {name: scores for name, (scores, _) in scaled.items()}
    try:
        return self_preference(judges, makers, owns, None if voted is None else people)
    except NoValue as error:
        raise UserError(error.message, advice=error.advice) from None


def _own(text: str, runs: Sequence[Path]) -> tuple[Path, str]:
    """Which run, and whose results are its judge's own; a run's last name will do."""
    from screentest.core import BadOption

    name, equals, maker = text.rpartition("=")
    found = [run for run in runs if run == Path(name)]
    found = found or [run for run in runs if run.name == Path(name).name]
    if not equals or not maker or len(found) != 1:
        known = ", ".join(map(str, runs))
        raise BadOption(f"--own cannot be {text!r}", advice=f"Write RUN=MODEL; runs: {known}.")
    return found[0], maker


def _print(
    found: Mapping[tuple[str, str], JudgeAgreement], favours: Sequence[SelfPreference]
) -> None:
    from screentest.cli.console import out
    from screentest.cli.tables import print_heading, print_indented, table

    for run in dict.fromkeys(run for run, _ in found):
        mine = {name: one for (where, name), one in found.items() if where == run}
        print_heading(f"{run} beside people")
        rows = [
            (
                name,
                f"{100 * one.share:.0f}%",
                f"{100 * one.within.low:.0f}–{100 * one.within.high:.0f}",
                f"{100 * one.bias:+.1f}",
                _number(one.rank.value),
                f"{one.units:,}",
            )
            for name, one in mine.items()
        ]
        columns = ["Value", ">Agree", ">95%", ">Bias, %", ">Rank", ">Values"]
        out().print(table(columns, rows))
        whole = mine["all"]
        print_indented(
            f"people among themselves: alpha {_number(whole.people.value)}; with the judge as one "
            f"more: {_number(whole.with_judge.value)}; {whole.votes_each:.1f} votes a value"
        )
    if favours:
        print_heading("Self-preference")
    for one in favours:
        ends = one.interval
        between = f", 95% {100 * ends.low:+.1f} to {100 * ends.high:+.1f}" if ends else ""
        print_indented(
            f"{one.judge} gives results of {one.own} {100 * one.value:+.1f} points of 100 more "
            f"than others do{between} ({one.own_items:,} of its own, {one.other_items:,} others)"
        )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _objects(found: Mapping[tuple[str, str], JudgeAgreement]) -> list[dict[str, Any]]:
    return [
        {
            "run": run,
            "value": name,
            "units": one.units,
            "agreement": one.share,
            "interval": [one.within.low, one.within.high],
            "wilson": [one.wilson.low, one.wilson.high],
            "bias": one.bias,
            "bias_interval": [one.bias_interval.low, one.bias_interval.high]
            if one.bias_interval
            else None,
            "rank": one.rank.value,
            "alpha_people": one.people.value,
            "alpha_with_judge": one.with_judge.value,
            "votes_each": one.votes_each,
        }
        for (run, name), one in found.items()
    ]


def _favour_objects(favours: Sequence[SelfPreference]) -> list[dict[str, Any]]:
    return [
        {
            "judge": one.judge,
            "own": one.own,
            "value": one.value,
            "interval": [one.interval.low, one.interval.high] if one.interval else None,
            "own_items": one.own_items,
            "other_items": one.other_items,
        }
        for one in favours
    ]


COMMANDS = {"agree": agree}
