"""Where a metric's questions come from: a questions file, or a writer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from screentest.core import Outcome, Reason, UserError
from screentest.metrics.etva.files import by_prompt, digest_of, key_of, read_question_sets
from screentest.metrics.etva.questions import QuestionSet


class QuestionsFile:
    """The questions of a file, by prompt."""

    def __init__(self, path: Path) -> None:
        try:
            status = os.stat(path)  # noqa: PTH116 - the numbers, not the path's opinion
        except OSError as error:
            raise UserError(
                f"the questions file {path} does not open: {error.strerror}",
                advice="Write one with `screentest etva questions`.",
            ) from None
        self._path = path
        self._sets, self.digest = _read(path, status.st_mtime_ns, status.st_size)

    def write(self, texts: Sequence[str]) -> list[Outcome[QuestionSet]]:
        """The questions of each prompt; a prompt that the file has not has none."""
        return [self._of(text) for text in texts]

    @property
    def all_known(self) -> bool:
        """Whether every prompt comes with its knowledge."""
        return all(one.knowledge is not None for one in self._sets.values())

    def _of(self, text: str) -> Outcome[QuestionSet]:
        found = self._sets.get(key_of(text))
        if found is None:
            return Outcome.failed(
                Reason.NOT_APPLICABLE,
                f"{self._path.name} has no questions for {text[:60]!r}",
                f"Add them: screentest etva questions PROMPTS --out {self._path.name}",
            )
        return Outcome.of(found)


@lru_cache(maxsize=4)
def _read(path: Path, changed: int, size: int) -> tuple[dict[str, QuestionSet], str]:
    # A worker builds its metric anew for every item; the file is read once while it is the same.
    sets = read_question_sets(path)
    return by_prompt(sets), digest_of(sets)
