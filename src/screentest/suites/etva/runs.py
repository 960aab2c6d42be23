"""Runs and transcripts of the metric: answers read again, and scores beside people's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from screentest._util.collect import grouped
from screentest.analysis.people.agreement import Ratings
from screentest.analysis.results import Results, plain_name
from screentest.analysis.runs import read_results
from screentest.core import Outcome, Reason, Score, UserError
from screentest.core.signature import value_name
from screentest.run.reader import RunReader
from screentest.suites.etva.answers import Compat, read_answer
from screentest.suites.etva.data import ReleasedPrompt
from screentest.suites.etva.graph import Category, read_category
from screentest.suites.etva.metric import COVERAGE, SCORE
from screentest.suites.etva.tables import JudgedQuestion

_CHAT, _OURS = "etva", "etva_builtin"
Question = Mapping[str, Any]
"""A question as it was recorded: text, category, answer, what was said."""


def read_run(folder: Path) -> Results:
    """Return the results of a run."""
    with RunReader(folder) as run:
        return read_results(run)


def recorded(
    results: Results, metric: str = "", *, scored: bool = False
) -> Iterator[tuple[str, str, Question]]:
    """Yield every question with its metric and item; of one metric alone, if one is named.

    With ``scored``, of videos that have a score: of others too few questions have an answer.
    """
    wanted = metric and plain_name(value_name(metric, SCORE))
    by_item: dict[tuple[str, str], dict[str, Outcome[Score]]] = {}
    for value in results.values:
        ours = value.metric.partition(":")[0] in (_CHAT, _OURS)
        if ours and wanted in ("", plain_name(value_name(value.metric, SCORE))):
            by_item.setdefault((value.metric, value.item), {})[value.output] = value.outcome
    for (spec, item), outcomes in by_item.items():
        # The evidence is beside the score, or beside the coverage where there is no score.
        names = (SCORE,) if scored else (SCORE, COVERAGE)
        with_evidence = [outcomes[name] for name in names if outcomes[name].ok]
        for outcome in with_evidence[:1]:
            scenes: Any = outcome.unwrap().details.get("scenes", [])
            for scene in scenes:
                yield from ((spec, item, question) for question in scene.get("questions", []))


def judge_run(folder: Path, *, compat: Compat = Compat.STRICT) -> list[JudgedQuestion]:
    """Return every recorded answer of a run, read anew by the rules of ``compat``."""
    results = read_run(folder)
    judged = [
        JudgedQuestion(
            # The same prompt of several models is compared question by question.
            results.items[item].text or item,
            read_category(question["category"]),
            _read_anew(question, metric, compat),
            question["question"],
            results.group(item, "model"),
        )
        for metric, item, question in recorded(results)
        if _has_column(read_category(question["category"]), compat)
    ]
    if not judged:
        raise UserError(
            f"{folder} holds no answers to questions",
            advice="Make some: screentest score ITEMS --suite etva --out DIR",
        )
    return judged


def judge_results(results: Results, metric: str) -> list[JudgedQuestion]:
    """Return every answer to videos that one metric scored, as it was read then."""
    return [
        JudgedQuestion(
            results.case(item),
            read_category(question["category"]),
            _as_read(question),
            question["question"],
        )
        for _, item, question in recorded(results, metric, scored=True)
    ]


def answer_key(item: str, question: str) -> str:
    """Return one name for a question about an item."""
    return f"{item}\0{question}"


def answers_of(results: Results) -> dict[str, bool]:
    """Item and question, as ``answer_key`` → the recorded answer, where there is one."""
    return {
        answer_key(item, str(question["id"])): question["answer"] == "yes"
        for _, item, question in recorded(results)
        if question["answer"] is not None
    }


def scores_of(results: Results, output: str = SCORE) -> dict[str, float]:
    """Item → its value of one output; items without one are not there."""
    return {
        value.item: value.number
        for value in results.values
        if value.metric.partition(":")[0] in (_CHAT, _OURS)
        and value.output == output
        and value.number is not None
    }


def values_of_run(folder: Path) -> dict[str, dict[str, float]]:
    """Return every value of any run by its name: item → number, turned so that higher is better."""
    results = read_run(folder)
    result: dict[str, dict[str, float]] = {}
    for name in results.names:
        sign = 1.0 if results.outputs[name].higher_is_better else -1.0
        values = {item: sign * number for item, number in results.numbers(name).items()}
        if values:
            result[name] = values
    if not result:
        raise UserError(f"{folder} holds no scores")
    return result


def by_prompt_and_model(results: Results, values: Mapping[str, float]) -> Ratings:
    """Numbers per item as prompt → model → number; the mean where a model has several videos."""
    gathered = grouped(
        ((item.text, item.groups.get("model", "")), values[name])
        for name, item in results.items.items()
        if name in values
    )
    ratings: dict[str, dict[str, float]] = {}
    for (prompt, model), subset in gathered.items():
        ratings.setdefault(prompt, {})[model] = sum(subset) / len(subset)
    return ratings


def _read_anew(question: Question, metric: str, compat: Compat) -> Outcome[bool]:
    by_chat = metric.partition(":")[0] == _CHAT
    # A text that was cut off may hold a token that it was going to take back.
    cut = question.get("failed") == Reason.TRUNCATED and compat is Compat.STRICT
    if by_chat and not cut and not question.get("gated") and question["said"]:
        return read_answer(question["said"], compat)
    return _as_read(question)


def _as_read(question: Question) -> Outcome[bool]:
    if question["answer"] is None:
        reason = Reason(question.get("failed", Reason.NOT_APPLICABLE))
        return Outcome.failed(reason, str(question.get("reason", "")))
    return Outcome.of(question["answer"] == "yes")


def judge_transcripts(
    transcripts: Sequence[ReleasedPrompt], *, model: str = "", compat: Compat = Compat.STRICT
) -> list[JudgedQuestion]:
    """Return every answer read anew by the rules of ``compat``."""
    return [
        JudgedQuestion(
            prompt.number, asked.category, read_answer(asked.answer, compat), asked.text, model
        )
        for prompt in transcripts
        for asked in prompt.questions
        if _has_column(asked.category, compat)
    ]


def _has_column(category: Category, compat: Compat) -> bool:
    """Return whether a category counts: published averages leave out the label without a column."""
    return compat is Compat.STRICT or category is not Category.ENVIRONMENT
