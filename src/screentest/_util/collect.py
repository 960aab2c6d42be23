"""Groups by a key, and clusters of what belongs together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return the values of each key, in the order of their coming.

    >>> grouped([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def clustered(links: Iterable[Sequence[K]]) -> dict[K, K]:
    """Return for each thing the first to come of all that it is linked with, even through others.

    >>> clustered([("a",), ("b", "x"), ("c", "x"), ("d",)])
    {'a': 'a', 'b': 'b', 'x': 'b', 'c': 'b', 'd': 'd'}
    """
    parent: dict[K, K] = {}
    order: dict[K, int] = {}

    def root(key: K) -> K:
        while parent[key] != key:
            parent[key] = key = parent[parent[key]]
        return key

    for link in links:
        for key in link:
            parent.setdefault(key, key)
            order.setdefault(key, len(order))
        roots = {root(key) for key in link}
        parent |= dict.fromkeys(roots, min(roots, key=order.__getitem__))
    return {key: root(key) for key in parent}
