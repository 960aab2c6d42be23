"""Batches for models that take them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def batches(things: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Consecutive pieces of at most ``size``.

    >>> [list(piece) for piece in batches("abcde", 2)]
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    for start in range(0, len(things), size):
        yield things[start : start + size]
