"""Commands on runs and transcripts: scored again, shown answer by answer, compared with people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from screentest._util.collect import grouped
from screentest.analysis.people.agreement import (
    PromptCorrelation,
    Ratings,
    answers_alike,
    closer_to_people,
    prompt_correlation,
)
from screentest.analysis.people.score_tables import read_scores
from screentest.cli.options import JsonOption
from screentest.cli.tables import print_heading, print_indented, show
from screentest.core import Cell, Column, Outcome, Table, UnknownName, UserError
from screentest.judges.votes import VoteRecord, read_votes
from screentest.stats import Difference, holm, holm_levels, kendall, spearman
from screentest.suites.etva.answers import Compat
from screentest.suites.etva.commands import CategoriesOption
from screentest.suites.etva.data import read_transcripts
from screentest.suites.etva.graph import Category
from screentest.suites.etva.metric import SCORE
from screentest.suites.etva.runs import (
    answer_key,
    answers_of_run,
    by_prompt_and_model,
    evidence_of_run,
    judge_run,
    judge_transcripts,
    scores_of_run,
    values_of_run,
)
from screentest.suites.etva.tables import (
    average_table,
    averages_by_model,
    difference_table,
    side_by_side,
)

_MEASURES = (kendall, spearman)
_Correlations: TypeAlias = Sequence[Outcome[PromptCorrelation]]
"""Kendall's and Spearman's."""
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run of the metric etva.")]


def replay(
    places: Annotated[
        list[Path],
        typer.Argument(metavar="TRANSCRIPTS…", help="Files of transcripts, or runs."),
    ],
    categories: CategoriesOption = None,
    compat: Annotated[
        Compat, typer.Option(metavar="RULES", help="strict, or upstream: as published.")
    ] = Compat.STRICT,
    as_json: JsonOption = False,
) -> None:
    """Score transcripts again, without a model.

    Reads every recorded answer anew: [YES] or [NO], and nothing where it has
    neither or both. A file is one model's transcripts, by the file's name; a run
    is broken down by its items' group `model`. The average is over all questions,
    as published tables have it. Of several models every two are compared on the
    questions that both were asked.

    \b
    Examples:
      screentest suite etva replay scores/
      screentest suite etva replay vidu.json --categories questions.json
      screentest suite etva replay vidu.json --categories questions.json \\
          --compat upstream --json
    """
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
    result = evidence_of_run(run)
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


def _answer_table(chosen: Mapping[str, list[dict[str, Any]]]) -> Table:
    details = [Column(name, detail=True) for name in ("id", "said", "reason", "gated")]
    return Table(
        "answers",
        "Answers",
        ("item", "answer", "category", "question", *details),
        [
            (
                *(name, item["answer"], item["category"], item["question"]),
                *(item["id"], item["said"], item.get("reason"), bool(item.get("gated"))),
            )
            for name, asked in chosen.items()
            for item in asked
        ],
    )


def people(
    run: RunArgument,
    votes: Annotated[
        list[Path], typer.Argument(metavar="VOTES…", help="What `annotate export` wrote.")
    ],
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RUN|FILE", help="Other scores of the same items: any run, or a file of scores."
        ),
    ] = None,
    compat: Annotated[
        Compat, typer.Option(metavar="RULES", help="upstream counts no correlation as 0.")
    ] = Compat.STRICT,
    as_json: JsonOption = False,
) -> None:
    """Compare a run with people's ratings and answers, and with other metrics.

    Ratings: Kendall's and Spearman's rank correlation of each prompt over the
    models that made a video for it (the items' group `model`), averaged over
    prompts. A prompt whose scores or ratings are all equal has none; such prompts
    are counted. Answers: the share of questions answered alike.

    --beside puts other scores of the same items next to it, such as a run of
    clipscore and videoscore, or a CSV with the column `item` and a column for
    each score; and tells by how much ETVA is closer to people, prompt by prompt.

    \b
    Examples:
      screentest suite etva people scores/ ratings.json
      screentest suite etva people scores/ ratings.json answers.json --json
      screentest suite etva people scores/ ratings.json --beside baselines/ \\
          --beside viclip.csv
    """
    records = [record for path in votes for record in read_votes(path, whole=True) if record.counts]
    rated = by_prompt_and_model(run, _ratings(records))
    result: dict[str, _Correlations] = {}
    mine = by_prompt_and_model(run, scores_of_run(run, SCORE))
    zeros = compat is Compat.UPSTREAM

    def correlate(scores: Ratings) -> _Correlations:
        return [prompt_correlation(scores, rated, measure, zeros=zeros) for measure in _MEASURES]

    for output in (SCORE, *(category.value for category in Category)):
        values = scores_of_run(run, output)
        if values and rated:
            result[output] = correlate(by_prompt_and_model(run, values))
    differences: dict[str, list[Outcome[Difference]]] = {}
    for name, scores in _beside(beside or []).items() if rated else ():
        theirs = by_prompt_and_model(run, scores)
        if not theirs:
            raise UserError(
                f"{name} has no score of an item of {run}", advice="Items are matched by their ids."
            )
        result[name] = correlate(theirs)
        differences[name] = [
            closer_to_people(mine, theirs, rated, measure, zeros=zeros) for measure in _MEASURES
        ]
    alike = answers_alike(answers_of_run(run), _answers(records)).value
    counts: list[tuple[Cell, ...]] = []
    if alike is not None:
        ends = alike.interval
        same = round(alike.value * alike.n)
        counts = [(same, alike.n, alike.value, ends.low, ends.high)]
    tables = [_correlation_table(result)]
    if beside:
        tables.append(_difference_table(differences))
    columns = ("same", "total", "share", "low", "high")
    alike_table = Table("answers", "Answers as people give them", columns, counts)
    show(*tables, alike_table, as_json=as_json)
    if not as_json and not result:
        print_indented("no ratings of this run's items in these votes", indent=0)
    if not as_json and alike is None:
        print_indented("no question has both a person's and the run's answer", indent=0)


def _beside(places: Iterable[Path]) -> dict[str, dict[str, float]]:
    """Other scores by name: item → number, turned so that higher is better.

    One that is called like a value of ETVA, such as the metric ``motion``, or like another one
    has the name of its run or file before its own.
    """
    taken = {SCORE, *(category.value for category in Category)}
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
    rows: list[tuple[Cell, ...]] = []
    available = {
        name: [item.unwrap() for item in both]
        for name, both in differences.items()
        if all(item.ok for item in both)
    }
    levels = [
        holm_levels(holm([pair[n].p_value for pair in available.values()])) if available else []
        for n in (0, 1)
    ]
    tested = dict(zip(available, zip(*levels, strict=True), strict=True))
    for name, both in differences.items():
        if name not in available:
            why = next(item.failure for item in both if not item.ok)
            rows.append((name, *[None] * 7, str(why)))
            continue
        pair, cells = available[name], list[Cell]()
        for entry, level in zip(pair, tested[name], strict=True):
            ends = entry.at(level).interval
            cells += [entry.value, ends.low if ends else None, ends.high if ends else None]
        rows.append((name, *cells, pair[1].sources, None))
    coefficients = ("kendall", "spearman")
    columns = [
        Column(f"{name}{end}", end.removeprefix("_"))
        for name in coefficients
        for end in ("", "_low", "_high")
    ]
    return Table(
        "closer",
        "How much closer to people the score is than",
        (Column("value"), *columns, Column("prompts"), Column("reason", detail=True)),
        rows,
        note="Differences of correlations, prompt by prompt; above 0 the score is closer. "
        "Intervals are corrected for the number of rows (Holm).",
    )


def _correlation_table(found: Mapping[str, _Correlations]) -> Table:
    columns = [
        column
        for name in ("kendall", "spearman")
        for column in (
            Column(name, name.title()),
            Column(f"{name}_low", detail=True),
            Column(f"{name}_high", detail=True),
            # Both ends in one column: names of values and of runs need the width.
            Column(f"{name}_interval", "95%", derived=True, align="right"),
        )
    ]
    rows = []
    for name, both in found.items():
        cells: list[Cell] = []
        for each in both:
            mean = each.value
            ends = mean.interval if mean is not None else None
            low, high = (ends.low, ends.high) if ends is not None else (None, None)
            between = "" if low is None or high is None else f"{low:.2f} to {high:.2f}"
            cells += [mean.mean if mean is not None else None, low, high, between]
        last = both[-1].value
        counts = (None, None) if last is None else (last.defined, last.undefined)
        rows.append((name, *cells, *counts, str(both[0].failure or "") or None))
    return Table(
        "correlation",
        "Correlation with people, the mean of prompts",
        (
            *(Column("value"), *columns, Column("prompts"), Column("undefined", "without")),
            Column("reason", detail=True),
        ),
        rows,
    )


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
