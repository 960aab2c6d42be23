"""Questions files: one line of JSON per prompt, made by a writer or imported, edited by people.

Also the released files can be read as such, so that a published benchmark is used as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from screentest.core import UserError, from_json, to_json
from screentest.corpus.etva import ReleasedPrompt, read_prompts
from screentest.metrics.etva.categories import read_category
from screentest.metrics.etva.questions import Question, QuestionSet

RELEASED = "released"
_ADVICE = "Write one with `screentest etva questions`, or give the released files."


def key_of(prompt: str) -> str:
    """What makes two prompts the same: blanks and capitals do not."""
    return " ".join(prompt.split()).casefold()


def read_question_sets(path: Path, categories: Path | None = None) -> list[QuestionSet]:
    """Our own questions file, or a released one with its ``categories`` file."""
    if categories is not None or _is_released(path):
        return [from_released(one) for one in read_prompts(path, categories)]
    sets = []
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            sets.append(from_json(QuestionSet, line))
        except UserError as error:
            raise UserError(f"{path}, line {number}: {error.message}", advice=_ADVICE) from None
    if not sets:
        raise UserError(f"there are no questions in {path}", advice=_ADVICE)
    return sets


def write_question_sets(path: Path, sets: Iterable[QuestionSet]) -> None:
    """One line per prompt; the file is whole or not there."""
    from screentest.base.atomic import write_whole

    write_whole(path, "".join(f"{to_json(one)}\n" for one in sets))


def by_prompt(sets: Sequence[QuestionSet]) -> dict[str, QuestionSet]:
    """The sets by their prompts; the same prompt twice is an error."""
    found: dict[str, QuestionSet] = {}
    for one in sets:
        key = key_of(one.prompt)
        if key in found:
            raise UserError(f"two lines have the prompt {one.prompt[:60]!r}")
        found[key] = one
    return found


def digest_of(sets: Sequence[QuestionSet]) -> str:
    """Twelve hex digits of all that the questions say, for signatures; order does not count."""
    lines = sorted(to_json(one) for one in sets)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def from_released(prompt: ReleasedPrompt) -> QuestionSet:
    """A released prompt as a set of questions. There is no graph: none was released."""
    for one in prompt.questions:
        if not one.label:
            raise UserError(
                f"nothing says which category {one.text[:60]!r} belongs to",
                advice="Give the file of questions and types too.",
            )
    questions = (
        Question(f"q{number}", one.text, read_category(one.label))
        for number, one in enumerate(prompt.questions, start=1)
    )
    return QuestionSet(
        prompt.prompt,
        tuple(questions),
        knowledge=prompt.knowledge or None,
        writer=RELEASED,
    )


def _is_released(path: Path) -> bool:
    """Whether a file's first line is one of the released kind: its questions are plain texts."""
    for line in _lines(path):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError:
                return False
            questions = row.get("questions") if isinstance(row, dict) else None
            return isinstance(questions, list) and any(isinstance(one, str) for one in questions)
    return False


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise UserError(f"{path} does not open: {error.strerror}", advice=_ADVICE) from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8", advice=_ADVICE) from None
