"""Questions of a prompt, and the files in which they are saved, edited and used again.

>>> one = PromptQuestion("q1", "Is there a cat in the video?", Category.EXISTENCE)
>>> two = PromptQuestion("q2", "Is there a cat shown in this video?", one.category)
>>> kept = distinct([one, two])
>>> [question.id for question in kept]
['q1']
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from screentest._util.atomic import write_whole
from screentest._util.text import lines
from screentest.analysis.people.released import json_lines, read_text
from screentest.core import Failure, Outcome, Progress, Reason, Silent, UserError
from screentest.core.codec import from_object, parse_json, to_json
from screentest.inputs.manifest import read_manifest
from screentest.models.networks.runtimes import batches
from screentest.suites.etva.data import ReleasedPrompt, read_prompts, wrong_file
from screentest.suites.etva.graph import Category, SceneGraph

_PLACE = re.compile(
    r"\b(?:in|during|at some point in) (?:this|the)(?: part of (?:this|the))?"
    r" (?:video|clip|shot|scene|film)\b"
)
_FILLER = re.compile(r"\b(?:a|an|the|any|there|shown|present|visible|seen|currently)\b")
_SIGNS = re.compile(r"[^\w\s]")


class BadQuestions(UserError):
    """A set of questions that contradicts itself."""


@dataclass(frozen=True, slots=True)
class PromptQuestion:
    """One yes/no question; yes is what the prompt asks for."""

    id: str
    text: str
    category: Category
    element: str = ""
    """The element of the scene graph it asks about; empty: none."""
    needs: tuple[str, ...] = ()
    """Questions that must be answered yes for this one to make sense."""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """All that is asked about videos of one prompt. A line of a questions file."""

    prompt: str
    questions: tuple[PromptQuestion, ...]
    graph: SceneGraph | None = None
    knowledge: str | None = None
    """What the prompt leaves unsaid; None: not looked for yet."""
    writer: str = ""
    """Who wrote them: ``chat``, ``rules``, ``released``; a person may have edited since."""
    left_out: tuple[str, ...] = ()
    """What a writer named that could not be used, with why."""

    def __post_init__(self) -> None:
        ids = [question.id for question in self.questions]
        if len(set(ids)) < len(ids):
            raise BadQuestions(f"two questions of {self.prompt[:60]!r} have the same id")
        for question in self.questions:
            _check(question, set(ids), self.graph)
        try:
            self._sorter().prepare()
        except CycleError as error:
            names = ", ".join(dict.fromkeys(error.args[1]))
            raise BadQuestions(f"the questions {names} need each other in a circle") from None

    def round_by_round(self) -> Iterator[list[PromptQuestion]]:
        """Yield the questions in rounds: each needs only those of earlier rounds."""
        sorter = self._sorter()
        sorter.prepare()
        while sorter.is_active():
            ready = set(sorter.get_ready())
            yield [item for item in self.questions if item.id in ready]
            sorter.done(*ready)

    def _sorter(self) -> TopologicalSorter[str]:
        return TopologicalSorter({item.id: item.needs for item in self.questions})


def distinct(questions: Iterable[PromptQuestion]) -> list[PromptQuestion]:
    """Return each question once: those that differ in filler words only are the same.

    What needed one that goes needs the one that stays.
    """
    kept: dict[str, PromptQuestion] = {}
    stands_for: dict[str, str] = {}
    for question in questions:
        first = kept.setdefault(plain(question.text), question)
        stands_for[question.id] = first.id
    result = []
    for item in kept.values():
        needs = dict.fromkeys(stands_for[need] for need in item.needs if need in stands_for)
        result.append(replace(item, needs=tuple(need for need in needs if need != item.id)))
    return result


def plain(text: str) -> str:
    """Return the words of a question that carry it, for comparing.

    >>> plain("Is there any sand shown in this video?")
    'is sand'
    """
    bare = " ".join(_SIGNS.sub(" ", text.lower()).split())
    return " ".join(_FILLER.sub(" ", _PLACE.sub(" ", bare)).split())


def with_needs(questions: Sequence[PromptQuestion], graph: SceneGraph) -> list[PromptQuestion]:
    """Return the questions, each needing those about the entities that its element hangs on."""
    by_element = {question.element: question.id for question in questions if question.element}
    result = []
    for item in questions:
        needs = (by_element[end] for end in graph.ends(item.element) if end in by_element)
        result.append(replace(item, needs=tuple(need for need in needs if need != item.id)))
    return result


def _check(question: PromptQuestion, ids: set[str], graph: SceneGraph | None) -> None:
    if not question.text.strip():
        raise BadQuestions(f"question {question.id!r} is empty")
    if question.element and (graph is None or graph.element(question.element) is None):
        raise BadQuestions(
            f"question {question.id!r} asks about {question.element!r}, which is not in the graph"
        )
    for need in question.needs:
        if need not in ids:
            raise BadQuestions(f"question {question.id!r} needs {need!r}, which is not there")


RELEASED = "released"
_ADVICE = "Write one with `screentest suite etva questions`, or give the released files."


def key_of(prompt: str) -> str:
    """Return what makes two prompts the same: blanks and capitals do not."""
    return " ".join(prompt.split()).casefold()


def read_question_sets(path: Path, categories: Path | None = None) -> list[QuestionSet]:
    """Our own questions file, or a released one with its ``categories`` file."""
    if categories is not None or _is_released(path):
        return [from_released(prompt) for prompt in read_prompts(path, categories)]
    sets = json_lines(path, _set_of, advice=_ADVICE)
    if not sets:
        raise UserError(f"{path} has no questions", advice=_ADVICE)
    return sets


def _set_of(line: int, row: dict[str, Any]) -> QuestionSet:
    if "questions" not in row:
        raise wrong_file("questions", row)
    return from_object(QuestionSet, row)


def write_question_sets(path: Path, sets: Iterable[QuestionSet]) -> None:
    """One line per prompt; the file is whole or not there."""
    write_whole(path, "".join(f"{to_json(item)}\n" for item in sets))


def by_prompt(sets: Sequence[QuestionSet]) -> dict[str, QuestionSet]:
    """Return the sets by their prompts. Of a prompt that is there twice, as 35 of the released ones
    are, every question is asked once; with two graphs that is an error."""
    result: dict[str, QuestionSet] = {}
    for item in sets:
        key = key_of(item.prompt)
        first = result.setdefault(key, item)
        known = {question.text for question in first.questions}
        new = [question for question in item.questions if question.text not in known]
        if new and (first.graph or item.graph):
            raise UserError(f"two lines have the prompt {item.prompt[:60]!r}")
        numbered = enumerate(new, start=len(known) + 1)
        more = (replace(question, id=f"q{number}") for number, question in numbered)
        result[key] = replace(first, questions=(*first.questions, *more))
    return result


def digest_of(sets: Sequence[QuestionSet]) -> str:
    """Twelve hex digits of all that the questions say, for signatures; order does not count."""
    rows = sorted(to_json(item) for item in sets)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:12]


def from_released(prompt: ReleasedPrompt) -> QuestionSet:
    """Return a released prompt as a set of questions. There is no graph: none was released."""
    questions = tuple(
        PromptQuestion(f"q{number}", item.text, item.category)
        for number, item in enumerate(prompt.questions, start=1)
    )
    known = prompt.knowledge or None
    return QuestionSet(prompt.prompt, questions, knowledge=known, writer=RELEASED)


def _is_released(path: Path) -> bool:
    """Return whether the questions of the first row are plain texts."""
    questions = _first_row(path).get("questions")
    return isinstance(questions, list) and any(isinstance(item, str) for item in questions)


def _first_row(path: Path) -> dict[str, Any]:
    """Return the object on the first line of a file; empty where there is none."""
    try:
        row = parse_json(next(filter(str.strip, read_text(path).split("\n")), ""))
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}


class QuestionsFile:
    """The questions of a file, by prompt."""

    def __init__(self, path: Path) -> None:
        try:
            status = os.stat(path)  # noqa: PTH116 - the numbers, not the path's opinion
        except OSError as error:
            raise UserError(
                f"the questions file {path} does not open: {error.strerror}",
                advice="Write one with `screentest suite etva questions`.",
            ) from None
        self._path = path
        self._sets, self.digest = _read(path, status.st_mtime_ns, status.st_size)

    def write(self, texts: Sequence[str]) -> list[Outcome[QuestionSet]]:
        """Return the questions of each prompt; a prompt that the file has not has none."""
        return [self._of(text) for text in texts]

    @property
    def all_known(self) -> bool:
        """Return whether every prompt comes with its knowledge."""
        return all(item.knowledge is not None for item in self._sets.values())

    def _of(self, text: str) -> Outcome[QuestionSet]:
        result = self._sets.get(key_of(text))
        if result is None:
            return Outcome.failed(
                Reason.NOT_APPLICABLE,
                f"{self._path.name} has no questions for {text[:60]!r}",
                f"Add them: screentest suite etva questions PROMPTS --out {self._path.name}",
            )
        return Outcome.of(result)


@lru_cache(maxsize=4)
def _read(path: Path, changed: int, size: int) -> tuple[dict[str, QuestionSet], str]:
    # A worker builds its metric anew for every item; the file is read once while it is the same.
    sets = read_question_sets(path)
    return by_prompt(sets), digest_of(sets)


AT_ONCE = 32
"""Prompts between two savings of the file."""

Writer = Callable[[Sequence[str]], list[Outcome[QuestionSet]]]
Knower = Callable[[Sequence[Outcome[QuestionSet]]], list[Outcome[QuestionSet]]]


def read_texts(path: Path) -> list[str]:
    """Return the prompts of a file, each once.

    A ``.txt`` has one per line. Of a manifest come the prompts of its items; of an item with a
    script, the captions of its clips, since that is how it will be asked about. A released file
    has prompts with questions, which are not looked at.
    """
    kept: dict[str, str] = {}
    for text in _texts(path):
        if text.strip():
            kept.setdefault(key_of(text), text.strip())
    if not kept:
        raise UserError(f"{path} has no prompts")
    return list(kept.values())


def _texts(path: Path) -> list[str]:
    rows = path.suffix.lower() in (".json", ".jsonl", ".ndjson")
    if path.suffix.lower() == ".csv" or (rows and "video" in _first_row(path)):
        texts = []
        for item in read_manifest(path):
            clips = item.script.clips if item.script is not None else ()
            texts += [clip.caption for clip in clips] or [item.text]
        return texts
    if rows:
        return [prompt.prompt for prompt in read_prompts(path)]
    return lines(read_text(path))


@dataclass(frozen=True, slots=True)
class WrittenQuestions:
    """What became of the prompts."""

    sets: Mapping[str, QuestionSet]
    """All that the file now holds, by prompt."""
    made: int
    kept: int
    """Prompts that had questions already."""
    failures: Mapping[str, Failure]


def write_missing(
    texts: Sequence[str],
    file: Path,
    write: Writer,
    *,
    know: Knower | None = None,
    progress: Progress | None = None,
) -> WrittenQuestions:
    """Questions for every prompt that ``file`` has none for. Saved as it goes on.

    ``know`` adds knowledge to those that have none, also to those that were there.
    """
    available = by_prompt(read_question_sets(file)) if file.exists() else {}
    missing = [text for text in texts if key_of(text) not in available]
    failures: dict[str, Failure] = {}
    kept = len(texts) - len(missing)

    def keep(texts: Sequence[str], outcomes: Sequence[Outcome[QuestionSet]]) -> None:
        for text, outcome in zip(texts, outcomes, strict=True):
            if outcome.failure is not None:
                failures[text] = outcome.failure
            else:
                available[key_of(text)] = outcome.unwrap()
        if available:
            write_question_sets(file, available.values())

    with progress or Silent() as shown:
        shown.begin("Writing questions", len(texts), "prompts", kept)
        for batch in batches(missing, AT_ONCE):
            keep(batch, write(batch))
            shown.advance(len(batch))
        if know is not None:
            there = {text: available.get(key_of(text)) for text in texts}
            bare = [text for text, item in there.items() if item and item.knowledge is None]
            for batch in batches(bare, AT_ONCE):
                keep(batch, know([Outcome.of(available[key_of(text)]) for text in batch]))
    made = sum(key_of(text) in available for text in missing)
    return WrittenQuestions(available, made, kept, failures)
