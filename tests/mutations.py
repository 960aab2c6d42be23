"""Mutations: a JSON document with one thing wrong, for readers of files that others wrote."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

DEEP = '{"a":' * 100_000 + "1" + "}" * 100_000
WRONG: tuple[Any, ...] = (
    *(None, True, -1, 0, 0.5, 1e308, 10**400, float("nan"), float("inf")),
    *("", "x", "-1", "nan", "1/0", "../x", "a\0b", "\ud800", "<script>", "9" * 5000),
    *([], {}, [[]], [None], {"": None}, [{}], ["x"], {"a": {"a": 1}}),
)
TEXTS = ("{", DEEP, "[{}]", "{}", "", "null", "[]", "3", '"x"', "[", '{"a": NaN}', "\ufeff{}", "\0")


def mutated(document: Any, most: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """``most`` documents as text, each with one thing wrong, and what that is.

    Every place is dropped or replaced before any is so a second time.
    """
    for text in TEXTS:
        yield text[:20], text
    rng = random.Random(seed)
    places = list(_places(document))
    changes = [(place, wrong) for place in places for wrong in (..., *WRONG)]
    rng.shuffle(changes)
    seen: dict[tuple[Any, ...], int] = {}
    # Lists of many alike: the kinds of places take turns, not the places.
    ranked = []
    for place, wrong in changes:
        kind = tuple("*" if isinstance(step, int) else step for step in place)
        seen[kind] = seen.get(kind, 0) + 1
        ranked.append((seen[kind], place, wrong))
    ranked.sort(key=lambda one: one[0])
    for _, place, wrong in ranked[:most]:
        changed = copy.deepcopy(document)
        *way, last = place
        inner = changed
        for step in way:
            inner = inner[step]
        if wrong is ...:
            del inner[last]
        else:
            inner[last] = wrong
        what = ".".join(map(str, place)) + (" dropped" if wrong is ... else f" = {wrong!r:.30}")
        yield what, json.dumps(changed)


def _places(document: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner: list[tuple[Any, Any]] = []
    if isinstance(document, dict):
        inner = list(document.items())
    elif isinstance(document, list):
        inner = list(enumerate(document))[:3]
    for step, value in inner:
        yield (*way, step)
        yield from _places(value, (*way, step))
