"""Runs and transcripts of the metric: answers read again, and scores beside people's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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


def judge_run(folder: Path, *, compat: Compat = Compat.STRICT) -> list[JudgedQuestion]:
    """Return every recorded answer of a run, read anew by the rules of ``compat``."""
    judged = []
    with RunReader(folder) as run:
        items = run.items()
        for name, item_id, outcomes in _records(run):
            item = items.get(item_id)
            model = item.groups.get("model", "") if item is not None else ""
            for question in _questions(outcomes):
                answer = _answer(question, name, compat)
                category = read_category(question["category"])
                # The same prompt of several models is compared question by question.
                prompt = item.text if item is not None and item.text else item_id
                judged.append(JudgedQuestion(prompt, category, answer, question["question"], model))
    if not judged:
        raise UserError(
            f"{folder} holds no answers to questions",
            advice="Make some: screentest score ITEMS --suite etva --out DIR",
        )
    return judged


def judge_results(results: Results, metric: str) -> list[JudgedQuestion]:
    """Return every answer that one metric has in these results, as it was read then."""
    wanted = plain_name(value_name(metric, SCORE))
    result: dict[str, dict[str, Outcome[Score]]] = {}
    for value in results.values:
        if plain_name(value_name(value.metric, SCORE)) == wanted:
            result.setdefault(value.item, {})[value.output] = value.outcome
    return [
        JudgedQuestion(
            results.case(item),
            read_category(question["category"]),
            _recorded(question),
            question["question"],
        )
        for item, outcomes in result.items()
        for question in _questions(outcomes)
    ]


def evidence_of_run(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Item → its questions as they were recorded: text, category, answer, what was said."""
    with RunReader(folder) as run:
        return {item_id: list(_questions(outcomes)) for _, item_id, outcomes in _records(run)}


def answer_key(item: str, question: str) -> str:
    """Return one name for a question about an item."""
    return f"{item}\0{question}"


def answers_of_run(folder: Path) -> dict[str, bool]:
    """Item and question, as ``answer_key`` → the recorded answer, where there is one."""
    return {
        answer_key(item_id, str(asked["id"])): asked["answer"] == "yes"
        for item_id, questions in evidence_of_run(folder).items()
        for asked in questions
        if asked["answer"] is not None
    }


def scores_of_run(folder: Path, output: str = SCORE) -> dict[str, float]:
    """Item → its value of one output; items without one are not there."""
    with RunReader(folder) as run:
        return {
            item_id: outcomes[output].unwrap().value
            for _, item_id, outcomes in _records(run)
            if output in outcomes and outcomes[output].ok
        }


def values_of_run(folder: Path) -> dict[str, dict[str, float]]:
    """Return every value of any run by its name: item → number, turned so that higher is better."""
    with RunReader(folder) as run:
        results = read_results(run)
    result: dict[str, dict[str, float]] = {}
    for name in results.names:
        sign = 1.0 if results.outputs[name].higher_is_better else -1.0
        values = {item: sign * number for item, number in results.numbers(name).items()}
        if values:
            result[name] = values
    if not result:
        raise UserError(f"{folder} holds no scores")
    return result


def by_prompt_and_model(folder: Path, values: Mapping[str, float]) -> Ratings:
    """Numbers per item as prompt → model → number; the mean where a model has several videos."""
    gathered: dict[str, dict[str, list[float]]] = {}
    with RunReader(folder) as run:
        for item_id, item in run.items().items():
            if item_id in values:
                models = gathered.setdefault(item.text, {})
                models.setdefault(item.groups.get("model", ""), []).append(values[item_id])
    return {
        prompt: {model: sum(subset) / len(subset) for model, subset in models.items()}
        for prompt, models in gathered.items()
    }


def _records(run: RunReader) -> Iterator[tuple[str, str, Mapping[str, Outcome[Any]]]]:
    for record in run.records():
        name = record.key.evaluator.partition(":")[0]
        if name in (_CHAT, _OURS):
            yield name, record.key.item, record.outcomes


def _questions(outcomes: Mapping[str, Outcome[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the evidence: beside the score, or beside the coverage where there is no score."""
    for output in (SCORE, COVERAGE):
        outcome = outcomes.get(output)
        if outcome is not None and outcome.ok:
            score = outcome.unwrap()
            scenes: Any = score.details.get("scenes", []) if isinstance(score, Score) else []
            for scene in scenes:
                yield from scene.get("questions", [])
            return


def _answer(question: Mapping[str, Any], name: str, compat: Compat) -> Outcome[bool]:
    if name == _CHAT and not question.get("gated") and question["said"]:
        return read_answer(question["said"], compat)
    return _recorded(question)


def _recorded(question: Mapping[str, Any]) -> Outcome[bool]:
    if question["answer"] is None:
        return Outcome.failed(Reason.NOT_APPLICABLE, str(question.get("reason", "")))
    return Outcome.of(question["answer"] == "yes")


def judge_transcripts(
    transcripts: Sequence[ReleasedPrompt], *, model: str = "", compat: Compat = Compat.STRICT
) -> list[JudgedQuestion]:
    """Return every answer read anew by the rules of ``compat``."""
    judged = []
    for each in transcripts:
        for asked in each.questions:
            answer, category = read_answer(asked.answer, compat), asked.category
            # Printed averages leave out the label that has no column.
            if compat is Compat.UPSTREAM and category is Category.ENVIRONMENT:
                continue
            judged.append(JudgedQuestion(each.number, category, answer, asked.text, model))
    return judged
