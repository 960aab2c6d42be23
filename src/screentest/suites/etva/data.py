"""ETVA's released files: prompts with questions, the questions' categories, answer transcripts.

All are JSON lines. The prompts file has ``number``, ``prompt`` and ``questions``, and with the
knowledge stage ``reasoning``; the questions file has one ``question`` with its ``type`` per
line, in the order of the prompts; a transcripts file has ``question_answer`` pairs. Labels are
given as written: what they mean is the metric's business.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from screentest.analysis.people.released import read_text
from screentest.core import ManifestError
from screentest.inputs.fields import Complaint, load_json, one_line

_LINE_END = re.compile(r"\r\n?|\n")
_FORM = "Give one of ETVA's files as they were released: JSON lines."


@dataclass(frozen=True, slots=True)
class ReleasedQuestion:
    """A question, its category as written, and all that a model answered; empty where not said."""

    text: str
    label: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class ReleasedPrompt:
    """A prompt with its questions and the knowledge that goes with it.

    Of a transcript the questions have the answers of one model's video.
    """

    number: str
    prompt: str
    questions: tuple[ReleasedQuestion, ...]
    knowledge: str = ""


def read_prompts(
    path: str | os.PathLike[str], questions: str | os.PathLike[str] | None = None
) -> list[ReleasedPrompt]:
    """Return the prompts with their questions; categories from the ``questions`` file where
    given."""
    place = Path(path)
    return _labelled([_prompt(place, line, row) for line, row in _rows(place)], questions)


def read_questions(path: str | os.PathLike[str]) -> list[ReleasedQuestion]:
    """Return the questions with their categories, one per line."""
    place = Path(path)
    return [
        ReleasedQuestion(_text(place, line, row, "question"), _text(place, line, row, "type"))
        for line, row in _rows(place)
    ]


def read_transcripts(
    path: str | os.PathLike[str], questions: str | os.PathLike[str] | None = None
) -> list[ReleasedPrompt]:
    """Return the transcripts of one model; categories from the ``questions`` file where given."""
    place = Path(path)
    return _labelled([_transcript(place, line, row) for line, row in _rows(place)], questions)


def _labelled(
    prompts: list[ReleasedPrompt], questions: str | os.PathLike[str] | None
) -> list[ReleasedPrompt]:
    """Return the prompts with the categories that the ``questions`` file has for them."""
    if questions is None:
        return prompts
    asked = [item.text for each in prompts for item in each.questions]
    labels = iter(_labels_for(Path(questions), asked))
    return [
        replace(each, questions=tuple(replace(item, label=next(labels)) for item in each.questions))
        for each in prompts
    ]


def _labels_for(path: Path, asked: Sequence[str]) -> list[str]:
    """Return the label of each question, which must stand in ``path`` in the same order."""
    questions = read_questions(path)
    if len(questions) != len(asked):
        raise ManifestError(
            f"{path} has {len(questions)} questions, where {len(asked)} are asked",
            advice="Both files must be of the same benchmark.",
        )
    for number, (item, text) in enumerate(zip(questions, asked, strict=True), start=1):
        if item.text != text:
            raise ManifestError(
                f"question {number} of {path} is {one_line(item.text)}, not {one_line(text)}",
                advice="Both files must have the questions in the same order.",
            )
    return [entry.label for entry in questions]


def _prompt(path: Path, line: int, row: Mapping[str, Any]) -> ReleasedPrompt:
    texts = row.get("questions", [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise _wrong(path, line, "questions is not a list of texts")
    # The types of a prompt name its questions' categories only where there is one for each.
    types = row.get("types")
    each = isinstance(types, list) and len(types) == len(texts)
    labels = [str(label) for label in types] if each and isinstance(types, list) else []
    questions = (
        ReleasedQuestion(text.strip(), labels[place] if labels else "")
        for place, text in enumerate(texts)
    )
    return ReleasedPrompt(
        _number(row, line), _text(path, line, row, "prompt"), tuple(questions), _knowledge(row)
    )


def _transcript(path: Path, line: int, row: Mapping[str, Any]) -> ReleasedPrompt:
    pairs = row.get("question_answer")
    if not isinstance(pairs, list):
        raise _wrong(path, line, "it has no question_answer")
    questions = []
    for pair in pairs:
        if not isinstance(pair, dict) or not isinstance(pair.get("answer"), str):
            raise _wrong(path, line, "question_answer has an entry without question and answer")
        text, label = _text(path, line, pair, "question"), str(pair.get("type", ""))
        questions.append(ReleasedQuestion(text, label, pair["answer"]))
    prompt = _text(path, line, row, "prompt")
    return ReleasedPrompt(_number(row, line), prompt, tuple(questions), _knowledge(row))


def _number(row: Mapping[str, Any], line: int) -> str:
    return str(row.get("number", line - 1))


def _knowledge(row: Mapping[str, Any]) -> str:
    result = row.get("reasoning")
    return result.strip() if isinstance(result, str) else ""


def _text(path: Path, line: int, row: Mapping[str, Any], name: str) -> str:
    result = row.get(name)
    if not isinstance(result, str) or not result.strip():
        raise _wrong(path, line, f"it has no {name}")
    return result.strip()


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file; a text in them may hold other line ends of Unicode."""
    return _LINE_END.split(read_text(path))


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file, one per line, each with the number of its line."""
    for number, line in enumerate(lines_of(path), start=1):
        if not line.strip():
            continue
        try:
            row = load_json(line)
        except Complaint as complaint:
            raise _wrong(path, number, complaint.message) from None
        if not isinstance(row, dict):
            raise _wrong(path, number, "not a JSON object")
        yield number, row


def _wrong(path: Path, line: int, problem: str) -> ManifestError:
    return ManifestError(f"{path}, line {line}: {problem}", advice=_FORM)
