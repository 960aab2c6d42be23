"""Writing questions for many prompts into a file: what is there stays, what is missing is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from screentest.core import Failure, Outcome, Progress, Silent
from screentest.metrics.etva.files import by_prompt, key_of, read_question_sets, write_question_sets
from screentest.metrics.etva.questions import QuestionSet
from screentest.models.batches import batches

AT_ONCE = 32
"""Prompts between two savings of the file."""

Writer = Callable[[Sequence[str]], list[Outcome[QuestionSet]]]
Knower = Callable[[Sequence[Outcome[QuestionSet]]], list[Outcome[QuestionSet]]]


@dataclass(frozen=True, slots=True)
class Written:
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
) -> Written:
    """Questions for every prompt that ``file`` has none for. Saved as it goes on.

    ``know`` adds knowledge to those that have none, also to those that were there.
    """
    known = by_prompt(read_question_sets(file)) if file.exists() else {}
    missing = [text for text in texts if key_of(text) not in known]
    failures: dict[str, Failure] = {}
    kept = len(texts) - len(missing)
    with progress or Silent() as shown:
        shown.begin("Writing questions", len(texts), "prompts", kept)
        for some in batches(missing, AT_ONCE):
            for text, outcome in zip(some, write(some), strict=True):
                _keep(text, outcome, known, failures)
            _save(file, known)
            shown.advance(len(some))
        if know is not None:
            bare = [text for text in texts if _unknowing(known.get(key_of(text)))]
            for some in batches(bare, AT_ONCE):
                given = [Outcome.of(known[key_of(text)]) for text in some]
                for text, outcome in zip(some, know(given), strict=True):
                    _keep(text, outcome, known, failures)
                _save(file, known)
    made = sum(key_of(text) in known for text in missing)
    return Written(known, made, kept, failures)


def _unknowing(one: QuestionSet | None) -> bool:
    return one is not None and one.knowledge is None


def _keep(
    text: str,
    outcome: Outcome[QuestionSet],
    known: dict[str, QuestionSet],
    failures: dict[str, Failure],
) -> None:
    if outcome.failure is not None:
        failures[text] = outcome.failure
    else:
        known[key_of(text)] = outcome.unwrap()


def _save(file: Path, known: Mapping[str, QuestionSet]) -> None:
    if known:
        write_question_sets(file, known.values())
