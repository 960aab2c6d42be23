"""The record of a prompt suite behind an item, read once per file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from screentest.core import Item
from screentest.corpus.locot2v import PromptRecord, PromptSuite, read_prompt_suite
from screentest.metrics.locot2v._work import inapplicable


class Records:
    """Where metrics look up what a suite says of an item; ``path`` may be empty."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._suite = _read(path, _changed(path)) if path else None

    @property
    def signature_parts(self) -> dict[str, str]:
        """What the file holds, wherever it lies."""
        return {"records": self._suite.digest} if self._suite is not None else {}

    def of(self, item: Item) -> PromptRecord:
        """The record of an item, or one that has only its prompt."""
        found = self._suite.record_of(item) if self._suite is not None else None
        if found is None:
            if not item.text.strip():
                raise inapplicable("the item has no prompt")
            return PromptRecord(item.id, item.text)
        return found


@lru_cache(4)
def _read(path: str, changed: int) -> PromptSuite:
    return read_prompt_suite(Path(path))


def _changed(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0
