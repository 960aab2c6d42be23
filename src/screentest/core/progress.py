"""Progress as a contract: those who work long report; who shows it decides how."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self


class Progress(Protocol):
    """One long job. Use it as a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def begin(self, what: str, total: float | None, unit: str, done: float = 0) -> None:
        """Name the job and its size; ``done`` is what an earlier start finished."""

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Some of it is done."""


class Silent:
    """Progress that nobody watches."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing was shown, nothing to clear."""

    def begin(self, what: str, total: float | None, unit: str, done: float = 0) -> None:
        """Say nothing."""

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Say nothing."""
