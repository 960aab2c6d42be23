"""ETVA's released files: prompts with questions, the questions' categories, answer transcripts.

All are JSON lines. The prompts file has ``number``, ``prompt`` and ``questions``, and with the
knowledge stage ``reasoning``; the questions file has one ``question`` with its ``type`` per
line, in the order of the prompts; a transcripts file has ``question_answer`` pairs. Labels are
given as written: what they mean is the metric's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from screentest._util.text import plural
from screentest.analysis.people.released import json_lines
from screentest.core import ManifestError, UserError
from screentest.inputs.fields import Complaint, one_line
from screentest.suites.etva.graph import Category, read_category

_KINDS = {
    "question_answer": "These are answers: `screentest suite etva replay FILE` reads them.",
    "questions": "These are prompts: `screentest suite etva benchmark FILE` reads them.",
    "type": "These are types of questions: give them as `--categories`.",
    "": "Give one of ETVA's files as they were released: JSON lines.",
}
"""By what their rows have, what ETVA's released files are."""
_Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReleasedQuestion:
    """A question, its category as written, and all that a model answered; empty where not said."""

    text: str
    label: str = ""
    answer: str = ""

    @property
    def category(self) -> Category:
        if not self.label:
            raise UserError(
                f"nothing says which category {self.text[:60]!r} belongs to",
                advice="Give the file of questions and types too: `categories`.",
            )
        return read_category(self.label)


@dataclass(frozen=True, slots=True)
class ReleasedPrompt:
    """A prompt with its questions and the knowledge that goes with it.

    Of a transcript the questions have the answers of one model's video.
    """

    number: str
    prompt: str
    questions: tuple[ReleasedQuestion, ...]
    knowledge: str = ""


def read_prompts(path: Path, questions: Path | None = None) -> list[ReleasedPrompt]:
    """Return prompts with questions; categories from the ``questions`` file where given."""
    return _labelled(json_lines(path, lambda line, row: _prompt(line, row, _asked)), questions)


def read_questions(path: Path) -> list[ReleasedQuestion]:
    """Return the questions with their categories, one per line."""
    return json_lines(
        path, lambda _, row: ReleasedQuestion(_text(row, "question"), _text(row, "type"))
    )


def read_transcripts(path: Path, questions: Path | None = None) -> list[ReleasedPrompt]:
    """Return the transcripts of one model; categories from the ``questions`` file where given."""
    return _labelled(json_lines(path, lambda line, row: _prompt(line, row, _answered)), questions)


def _labelled(prompts: list[ReleasedPrompt], path: Path | None) -> list[ReleasedPrompt]:
    """Return the prompts with the categories of ``path``, whose questions are in their order."""
    if path is None:
        return prompts
    questions = read_questions(path)
    asked = [item.text for each in prompts for item in each.questions]
    if len(questions) != len(asked):
        raise ManifestError(
            f"{path} has {plural(len(questions), 'question')}, not {len(asked)}",
            advice="Both files must be of the same benchmark.",
        )
    for number, (item, text) in enumerate(zip(questions, asked, strict=True), start=1):
        if item.text != text:
            raise ManifestError(
                f"question {number} of {path} is {one_line(item.text)}, not {one_line(text)}",
                advice="Both files must have the questions in the same order.",
            )
    labels = iter([item.label for item in questions])
    return [
        replace(each, questions=tuple(replace(item, label=next(labels)) for item in each.questions))
        for each in prompts
    ]


def _prompt(
    line: int, row: _Row, questions: Callable[[_Row], Iterator[ReleasedQuestion]]
) -> ReleasedPrompt:
    knowledge = row.get("reasoning")
    return ReleasedPrompt(
        str(row.get("number", line - 1)),
        _text(row, "prompt"),
        tuple(questions(row)),
        knowledge.strip() if isinstance(knowledge, str) else "",
    )


def _asked(row: _Row) -> Iterator[ReleasedQuestion]:
    texts = row.get("questions", [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise Complaint("questions is not a list of texts")
    # The types of a prompt name its questions' categories only where there is one for each.
    types = row.get("types")
    labels = types if isinstance(types, list) and len(types) == len(texts) else [""] * len(texts)
    for text, label in zip(texts, labels, strict=True):
        yield ReleasedQuestion(text.strip(), str(label))


def _answered(row: _Row) -> Iterator[ReleasedQuestion]:
    pairs = row.get("question_answer")
    if not isinstance(pairs, list):
        raise wrong_file("question_answer", row)
    for pair in pairs:
        if not isinstance(pair, dict) or not isinstance(pair.get("answer"), str):
            raise Complaint("question_answer has an entry without question and answer")
        text, label = _text(pair, "question"), str(pair.get("type", ""))
        yield ReleasedQuestion(text, label, pair["answer"])


def _text(row: _Row, name: str) -> str:
    result = row.get(name)
    if not isinstance(result, str) or not result.strip():
        raise wrong_file(name, row)
    return result.strip()


def wrong_file(name: str, row: _Row) -> Complaint:
    """Return what is wrong with a row without ``name``: it may be of another of the files."""
    kind = next((advice for key, advice in _KINDS.items() if key in row or not key))
    return Complaint(f"it has no {name}", kind)
