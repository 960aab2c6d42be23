"""Commands on runs and transcripts: scored again, shown answer by answer, compared with people."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from screentest._util.collect import grouped
from screentest.analysis.people.agreement import (
    PromptCorrelation,
    Ratings,
    Share,
    answers_alike,
    closer_to_people,
    prompt_correlation,
)
from screentest.analysis.people.released import read_text
from screentest.analysis.people.score_tables import read_scores
from screentest.cli.options import JsonOption
from screentest.cli.tables import columns, print_heading, print_indented, show
from screentest.core import Outcome, Table, UnknownName, UserError
from screentest.judges.votes import VoteRecord, read_votes
from screentest.stats import Difference, holm, holm_levels, kendall, spearman
from screentest.suites.etva.answers import Compat
from screentest.suites.etva.commands import CategoriesOption
from screentest.suites.etva.data import read_transcripts
from screentest.suites.etva.graph import Category
from screentest.suites.etva.metric import SCORE
from screentest.suites.etva.runs import (
    Question,
    answer_key,
    answers_of,
    by_prompt_and_model,
    judge_run,
    judge_transcripts,
    read_run,
    recorded,
    scores_of,
    values_of_run,
)
from screentest.suites.etva.tables import (
    average_table,
    averages_by_model,
    difference_table,
    side_by_side,
)

_MEASURES = {"kendall": kendall, "spearman": spearman}
_OUTPUTS = (SCORE, *(category.value for category in Category))
_Correlations: TypeAlias = Sequence[Outcome[PromptCorrelation]]
"""Kendall's and Spearman's."""
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run of the metric etva.")]


def replay(
    places: list[Path],
    categories: CategoriesOption = None,
    compat: Compat = Compat.STRICT,
    as_json: JsonOption = False,
) -> None:
    """Score transcripts again, without a model."""
    judged = []
    for place in places:
        if place.is_dir():
            judged += judge_run(place, compat=compat)
        else:
            read = read_transcripts(place, categories)
            judged += judge_transcripts(read, model=place.stem, compat=compat)
    rows = averages_by_model(judged, signature=f"etva replay|compat:{compat.value}")
    whole = average_table(rows)
    if len(rows) == 1:
        show(whole, as_json=as_json)
    elif as_json:
        show(whole, difference_table(judged), as_json=True)
    else:
        show(whole, side_by_side(rows), difference_table(judged))


def answers(
    run: RunArgument,
    items: list[str] | None = None,
    said: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Show every question of a run with its answer."""
    result = grouped((item, question) for _, item, question in recorded(read_run(run)))
    for name in items or []:
        if name not in result:
            raise UnknownName(f"{run} has no answers for the item {name!r}")
    chosen = {name: asked for name, asked in result.items() if not items or name in items}
    if as_json or not said:
        show(_answer_table(chosen), as_json=as_json)
        return
    for name, asked in chosen.items():
        print_heading(name)
        for item in asked:
            print_indented(f"{item['answer'] or '–'}  {item['question']} ({item['category']})")
            for line in (item["said"] or str(item.get("reason", ""))).splitlines():
                if line.strip():
                    print_indented(line.strip(), indent=6)


def _answer_table(chosen: Mapping[str, Sequence[Question]]) -> Table:
    shown = columns("answers", {"gated": lambda question: bool(question.get("gated"))}, __file__)
    rows = [{**question, "item": name} for name, asked in chosen.items() for question in asked]
    return Table.of("answers", "Answers", shown, rows)


def people(
    run: RunArgument,
    votes: list[Path],
    beside: list[Path] | None = None,
    compat: Compat = Compat.STRICT,
    as_json: JsonOption = False,
) -> None:
    """Compare a run with people's ratings and answers, and with other metrics."""
    csvs = [path for path in votes if path.suffix.lower() == ".csv"]
    tables = [path for path in csvs if "item" in read_text(path).partition("\n")[0].split(",")]
    read = (one for path in votes if path not in tables for one in read_votes(path, whole=True))
    records = [record for record in read if record.counts]
    given = ChainMap(*(scores for path in tables for scores in _read_scores(path).values()))
    results = read_run(run)
    rated = by_prompt_and_model(results, {**_ratings(records), **given})
    zeros = compat is Compat.UPSTREAM
    correlations: dict[str, _Correlations] = {}
    differences: dict[str, list[Outcome[Difference]]] = {}

    def correlate(name: str, scores: Ratings) -> None:
        correlations[name] = [
            prompt_correlation(scores, rated, measure, zeros=zeros)
            for measure in _MEASURES.values()
        ]

    parts = {output: scores_of(results, output) for output in _OUTPUTS}
    others = _beside(beside or [])
    for output, values in parts.items():
        if values and rated:
            correlate(output, by_prompt_and_model(results, values))
    # The released script takes the prompts that have a category, and correlates the whole score.
    for name, values in {SCORE: parts[SCORE], **others}.items() if rated else ():
        for kind, has in parts.items():
            among = by_prompt_and_model(results, {i: n for i, n in values.items() if i in has})
            if kind != SCORE and among:
                correlate(f"{name} of {kind}", among)
    mine = by_prompt_and_model(results, parts[SCORE])
    for name, scores in others.items() if rated else ():
        theirs = by_prompt_and_model(results, scores)
        if not theirs:
            raise UserError(
                f"{name} has no score of an item of {run}", advice="Items are matched by their ids."
            )
        correlate(name, theirs)
        differences[name] = [
            closer_to_people(mine, theirs, rated, measure, zeros=zeros)
            for measure in _MEASURES.values()
        ]
    alike = answers_alike(answers_of(results), _answers(records)).value
    shown = [_correlation_table(correlations)]
    if beside:
        shown.append(_difference_table(differences))
    show(*shown, _alike_table(alike), as_json=as_json)
    if not as_json and not correlations:
        print_indented("no ratings of this run's items in these votes", indent=0)
    if not as_json and alike is None:
        print_indented("no question has both a person's and the run's answer", indent=0)


def _alike_table(alike: Share | None) -> Table:
    shown = columns("alike", {"same": lambda share: round(share.value * share.n)}, __file__)
    shares = [] if alike is None else [alike]
    return Table.of("answers", "Answers as people give them", shown, shares)


def _beside(places: Iterable[Path]) -> dict[str, dict[str, float]]:
    """Other scores by name: item → number, turned so that higher is better.

    One that is called like a value of ETVA, such as the metric ``motion``, or like another one
    has the name of its run or file before its own.
    """
    taken = set(_OUTPUTS)
    result: dict[str, dict[str, float]] = {}
    for place in places:
        scores = values_of_run(place) if place.is_dir() else _read_scores(place)
        for given, values in scores.items():
            name = f"{place.resolve().stem}.{given}" if given in taken else given
            if name in result:
                raise UserError(f"two of the scores beside are called {name!r}")
            result[name] = values
            taken.add(name)
    return result


def _read_scores(path: Path) -> dict[str, dict[str, float]]:
    tables, problems = read_scores(path)
    if problems:
        raise UserError(f"{path}: {problems[0]}")
    scores: dict[str, dict[str, float]] = {}
    for table in tables:
        for item, outcome in table.values.get("", {}).items():
            if outcome.failure is not None:
                raise UserError(f"{path}, {item}: {outcome.failure.detail}")
            scores.setdefault(table.name, {})[item] = outcome.unwrap().value
    return scores


def _difference_table(differences: Mapping[str, Sequence[Outcome[Difference]]]) -> Table:
    tested = {
        name: [item.unwrap() for item in both]
        for name, both in differences.items()
        if all(item.ok for item in both)
    }
    for place in range(len(_MEASURES)):
        levels = holm_levels(holm([both[place].p_value for both in tested.values()]))
        for both, level in zip(tested.values(), levels, strict=True):
            both[place] = both[place].at(level)
    rows: list[dict[str, Any]] = []
    for name, outcomes in differences.items():
        failure = next((item.failure for item in outcomes if not item.ok), None)
        row: dict[str, Any] = {"value": name, "reason": failure and str(failure)}
        for coefficient, entry in zip(_MEASURES, tested.get(name, ()), strict=False):
            ends = entry.interval
            row |= {coefficient: entry.value, "prompts": entry.sources}
            row |= {f"{coefficient}_{end}": getattr(ends, end, None) for end in ("low", "high")}
        rows.append(row)
    return Table.of(
        "closer",
        "How much closer to people the score is than",
        columns("closer", None, __file__),
        rows,
        note="Differences of correlations, prompt by prompt; above 0 the score is closer. "
        "Intervals are corrected for the number of rows (Holm).",
    )


def _correlation_table(found: Mapping[str, _Correlations]) -> Table:
    # Both ends in one column: names of values and of runs need the width.
    shown = columns(
        "correlation",
        {"reason": lambda row: row["failure"] and str(row["failure"])},
        __file__,
        kendall_interval=_ends,
        spearman_interval=_ends,
    )
    rows = [
        dict(zip(_MEASURES, (each.value for each in both), strict=True))
        | {"value": name, "of": both[-1].value, "failure": both[0].failure}
        for name, both in found.items()
    ]
    title = "Correlation with people, the mean of prompts"
    return Table.of("correlation", title, shown, rows)


def _ends(interval: Mapping[str, float]) -> str:
    return f"{interval['low']:.2f} to {interval['high']:.2f}"


def _ratings(records: Iterable[VoteRecord]) -> dict[str, float]:
    """Item → the mean rating."""
    given = grouped((record.unit, record.score) for record in records if record.score is not None)
    return {item: sum(subset) / len(subset) for item, subset in given.items()}


def _answers(records: Iterable[VoteRecord]) -> dict[str, bool]:
    """Question of an item → what most people say; a tie says nothing."""
    given = grouped(
        (answer_key(record.unit, question), int(answer))
        for record in records
        for question, answer in (record.answers or {}).items()
    )
    return {
        name: 2 * sum(subset) > len(subset)
        for name, subset in given.items()
        if 2 * sum(subset) != len(subset)
    }
