"""Questions for the prompts of a file: what is there stays, what is missing is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from screentest.core import Failure, Outcome, Progress, Silent, UserError
from screentest.core.codec import parse_json
from screentest.inputs.manifest import read_manifest
from screentest.models.networks.runtimes import batches
from screentest.suites.etva.data import read_prompts
from screentest.suites.etva.questions import (
    QuestionSet,
    by_prompt,
    key_of,
    read_question_sets,
    write_question_sets,
)

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
    if path.suffix.lower() == ".csv" or _is_manifest(path):
        texts = []
        for item in read_manifest(path):
            clips = item.script.clips if item.script is not None else ()
            texts += [clip.caption for clip in clips] or [item.text]
        return texts
    if path.suffix.lower() in (".json", ".jsonl", ".ndjson"):
        return [prompt.prompt for prompt in read_prompts(path)]
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise UserError(f"{path} does not open: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8", advice="Give a text file with prompts.") from None


def _is_manifest(path: Path) -> bool:
    """Return whether the first row names a video."""
    if path.suffix.lower() not in (".json", ".jsonl", ".ndjson"):
        return False
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            first = next((line for line in file if line.strip()), "")
        row = parse_json(first)
    except (OSError, ValueError):
        return False
    return isinstance(row, dict) and "video" in row


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
    with progress or Silent() as shown:
        shown.begin("Writing questions", len(texts), "prompts", kept)
        for batch in batches(missing, AT_ONCE):
            for text, outcome in zip(batch, write(batch), strict=True):
                _keep(text, outcome, available, failures)
            _save(file, available)
            shown.advance(len(batch))
        if know is not None:
            bare = [text for text in texts if _unknowing(available.get(key_of(text)))]
            for batch in batches(bare, AT_ONCE):
                given = [Outcome.of(available[key_of(text)]) for text in batch]
                for text, outcome in zip(batch, know(given), strict=True):
                    _keep(text, outcome, available, failures)
                _save(file, available)
    made = sum(key_of(text) in available for text in missing)
    return WrittenQuestions(available, made, kept, failures)


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
