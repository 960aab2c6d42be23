"""People and ``screentest suite etva``: how far scores and answers agree with theirs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from screentest.annotate.records import Record
    from screentest.core import Outcome
    from screentest.suites.etva.people import AnswerAccuracy, PerPrompt, WithPeople


def people(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run of the metric etva.")],
    votes: Annotated[
        list[Path], typer.Argument(metavar="VOTES…", help="What `annotate export` wrote.")
    ],
    compat: Annotated[
        str, typer.Option(metavar="RULES", help="upstream counts no correlation as 0.")
    ] = "strict",
    as_json: JsonOption = False,
) -> None:
    """Compare a run with people's ratings and answers.

    Ratings: Kendall's and Spearman's rank correlation of each prompt over the
    models that made a video for it (the items' group `model`), averaged over
    prompts. A prompt whose scores or ratings are all equal has none; such prompts
    are counted. Answers: the share of questions answered alike.

    \b
    Examples:
      screentest suite etva people scores/ ratings.json
      screentest suite etva people scores/ ratings.json answers.json --json
    """
    from screentest.annotate.export import read_export
    from screentest.cli.console import print_json
    from screentest.core import BadOption
    from screentest.suites.etva.answers import Compat
    from screentest.suites.etva.graph import Category
    from screentest.suites.etva.people import answer_accuracy, with_people
    from screentest.suites.etva.runs import answers_of_run, by_prompt_and_model, scores_of_run

    if compat not in list(Compat):
        raise BadOption(f"--compat cannot be {compat!r}", advice=f"One of {', '.join(Compat)}.")
    records = [
        record
        for path in votes
        for record in read_export(path)
        if record.finished and not record.excluded
    ]
    rated = by_prompt_and_model(run, _ratings(records))
    found: dict[str, WithPeople] = {}
    for output in ("score", *(category.value for category in Category)):
        values = scores_of_run(run, output)
        if values and rated:
            scores = by_prompt_and_model(run, values)
            found[output] = with_people(scores, rated, compat=Compat(compat))
    ours = _named(answers_of_run(run))
    accuracy = answer_accuracy(ours, _answers(records))
    if as_json:
        print_json(_object(found, accuracy))
    else:
        _print(found, accuracy)


def _ratings(records: Iterable[Record]) -> dict[str, float]:
    """Item → the mean rating."""
    given: dict[str, list[float]] = {}
    for record in records:
        if record.score is not None:
            given.setdefault(record.unit, []).append(record.score)
    return {item: sum(some) / len(some) for item, some in given.items()}


def _answers(records: Iterable[Record]) -> dict[str, bool]:
    """Question of an item → what most people say; a tie says nothing."""
    given: dict[str, list[int]] = {}
    for record in records:
        for question, answer in (record.answers or {}).items():
            given.setdefault(f"{record.unit}\0{question}", []).append(int(answer))
    return {
        name: 2 * sum(some) > len(some)
        for name, some in given.items()
        if 2 * sum(some) != len(some)
    }


def _named(answers: Mapping[str, Mapping[str, bool]]) -> dict[str, bool]:
    return {
        f"{item}\0{question}": answer
        for item, mine in answers.items()
        for question, answer in mine.items()
    }


def _print(found: Mapping[str, WithPeople], accuracy: Outcome[AnswerAccuracy]) -> None:
    from screentest.cli.console import out as console
    from screentest.cli.tables import print_indented, table

    rows = []
    for name, one in found.items():
        cells = [*_cells(one.kendall), *_cells(one.spearman)]
        defined = one.spearman.map(lambda mean: f"{mean.defined}/{mean.defined + mean.undefined}")
        rows.append([name, *cells, defined.value or "–"])
    if rows:
        columns = ["", ">Kendall", "", ">Spearman", "", ">Prompts"]
        console().print(table(columns, rows))
    else:
        print_indented("no ratings of this run's items in these votes", indent=0)
    if accuracy.ok:
        done = accuracy.unwrap()
        told = f"answers: {done.same:,} of {done.total:,} questions as people answer them"
        print_indented(f"{told} = {done.share:.3f} {done.interval}", indent=0)
    else:
        print_indented("no question has both a person's and the run's answer", indent=0)


def _cells(outcome: Outcome[PerPrompt]) -> tuple[str, str]:
    if outcome.failure is not None:
        return "–", ""
    mean = outcome.unwrap()
    return f"{mean.mean:.3f}", f"{mean.interval}" if mean.interval is not None else ""


def _object(found: Mapping[str, WithPeople], accuracy: Outcome[AnswerAccuracy]) -> dict[str, Any]:
    def told(outcome: Outcome[PerPrompt]) -> dict[str, Any]:
        if outcome.failure is not None:
            return {"mean": None, "reason": str(outcome.failure)}
        one = outcome.unwrap()
        interval = [one.interval.low, one.interval.high] if one.interval is not None else None
        return {
            "mean": one.mean,
            "interval": interval,
            "defined": one.defined,
            "undefined": one.undefined,
        }

    answers: dict[str, Any] = {"share": None}
    if accuracy.ok:
        done = accuracy.unwrap()
        interval = [done.interval.low, done.interval.high]
        answers = {
            "share": done.share,
            "same": done.same,
            "total": done.total,
            "interval": interval,
        }
    return {
        "correlation": {
            name: {"kendall": told(one.kendall), "spearman": told(one.spearman)}
            for name, one in found.items()
        },
        "answers": answers,
    }


COMMANDS = {"people": people}
