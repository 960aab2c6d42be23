"""``screentest suite univ agree``: does a judge say what people say, and does it favour its own?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from screentest._util.text import plural
from screentest.analysis.people.agreement import (
    ScoreAgreement,
    SelfPreference,
    Votes,
    score_agreement,
    self_preference,
)
from screentest.analysis.people.sheets import (
    judged,
    on_one_scale,
    rateable,
    read_sheet,
    write_sheet,
)
from screentest.analysis.results import Results
from screentest.analysis.runs import read_results
from screentest.cli.console import out, shown
from screentest.cli.options import JsonOption
from screentest.cli.tables import columns, show
from screentest.core import BadOption, NoValue, Table, UserError
from screentest.core.signature import split_value_name
from screentest.run.reader import RunReader
from screentest.suites.univ.suite import task_of
from screentest.suites.univ.vocabulary import Dimension


def agree(
    runs: list[Path],
    sample: Path | None = None,
    votes: Path | None = None,
    values: str = "",
    share: float = 0.1,
    raters: int = 3,
    tolerance: float = 0.1,
    own: list[str] | None = None,
    group: str = "model",
    seed: int = 7,
    as_json: JsonOption = False,
) -> None:
    """Compare a judge with people, and look for self-preference."""
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
    voted = read_sheet(votes) if votes is not None else None
    try:
        result = _compare(read, voted, names, tolerance)
        favours = _favours(read, voted, names, own or [], group)
    except NoValue as error:
        raise UserError(error.message, advice=error.advice) from None
    show(_agreement_table(result), _preference_table(favours), as_json=as_json)


def _values(results: Results, names: Sequence[str]) -> list[str]:
    """Return the values to rate; of UniVBench's metrics the dimensions alone."""

    def is_judgement(name: str) -> bool:
        metric, output = split_value_name(name)
        return task_of(metric) is None or output in set(Dimension)

    return [name for name in rateable(results, names) if names or is_judgement(name)]


def _read(folder: Path) -> Results:
    with RunReader(folder) as run:
        return read_results(run)


def _write(
    path: Path, results: Results, names: Sequence[str], share: float, raters: int, seed: int
) -> None:
    values = _values(results, names)
    available = judged(results, values)
    if not available:
        raise UserError(
            "the run has nothing that people could rate",
            advice="Give a run of `score` in which something was scored.",
        )
    drawn = write_sheet(path, results, values, share=share, votes=raters, seed=seed)
    total = len({item for item, _ in available})
    counts = f"{drawn:,} of {plural(total, 'item')}, {plural(raters, 'vote')} each"
    out().print(f"{shown(str(path))}: {counts}", soft_wrap=True)


def _compare(
    read: Mapping[Path, Results], voted: Votes | None, names: Sequence[str], tolerance: float
) -> dict[tuple[str, str], ScoreAgreement]:
    """By run and value, and by run over all values."""
    result: dict[tuple[str, str], ScoreAgreement] = {}
    for run, results in read.items() if voted is not None else ():
        scores, people = on_one_scale(results, voted or {}, _values(results, names))
        result[str(run), "all"] = score_agreement(scores, people, tolerance=tolerance)
        both = [unit for unit in people if unit in scores]
        for name in dict.fromkeys(name for _, name in both):
            subset = {unit: people[unit] for unit in both if unit[1] == name}
            result[str(run), name] = score_agreement(scores, subset, tolerance=tolerance)
    return result


def _favours(
    read: Mapping[Path, Results],
    voted: Votes | None,
    names: Sequence[str],
    own: Sequence[str],
    group: str,
) -> list[SelfPreference]:
    if not own:
        return []
    owns = {str(run): maker for run, maker in (_own(text, list(read)) for text in own)}
    scaled = {
        str(run): on_one_scale(subset, voted or {}, _values(subset, names))
        for run, subset in read.items()
    }
    makers = {
        item.id: item.groups.get(group, "")
        for results in read.values()
        for item in results.items.values()
    }
    people = {unit: subset for _, given in scaled.values() for unit, subset in given.items()}
    judges = {name: scores for name, (scores, _) in scaled.items()}
    return self_preference(judges, makers, owns, None if voted is None else people)


def _own(text: str, runs: Sequence[Path]) -> tuple[Path, str]:
    """Return a run, and the model whose results are its judge's own; a run's last name will do."""
    name, equals, maker = text.rpartition("=")
    result = [run for run in runs if run == Path(name)]
    result = result or [run for run in runs if run.name == Path(name).name]
    if not equals or not maker or len(result) != 1:
        available = ", ".join(map(str, runs))
        raise BadOption(f"invalid --own {text!r}", advice=f"Write RUN=MODEL; runs: {available}.")
    return result[0], maker


def _agreement_table(found: Mapping[tuple[str, str], ScoreAgreement]) -> Table:
    rows = [{"run": run, "value": name, "agreement": item} for (run, name), item in found.items()]
    note = "α: how far people agree among themselves; α with: with the judge as one more."
    shown = columns("agreement", None, __file__)
    return Table.of("agreement", "Judges beside people", shown, rows, note)


def _preference_table(favours: Sequence[SelfPreference]) -> Table:
    note = "More: what a judge gives results of its own beyond what others give them, of 1."
    shown = columns("self_preference", None, __file__)
    return Table.of("self_preference", "Self-preference", shown, favours, note)
