"""Texts as vectors without any weights: two texts are near where they share words.

The classical stand-in beneath the sentence models. It knows spelling and not meaning: "dog"
is near "dogs" and far from "puppy", and "a dog bites a man" equals "a man bites a dog". Words
and the letter triples in them are hashed into a fixed number of places, with a hash that is
the same on every machine and in every run.
"""

from __future__ import annotations

import hashlib
import re
import struct
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import register

if TYPE_CHECKING:
    from screentest.models.roles import Vectors

_WORD = re.compile(r"\w+")
_COMMON_WORDS = (
    "a an the and or but of in on at to by for from with as is are was were be been being it its "
    "this that these those there he she they them his her their while into onto over under then "
    "than so very not no"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_TRIPLE_SHARE = 0.3
"""How much all letter triples of a word weigh together, against the word itself."""
_PLACES = 4
_EMPTY = 0
"""The place of texts without a word, which are near each other and nothing else."""


@register(
    "text_embedding",
    "shared_words",
    version=1,
    summary="hashed words and letter triples: sees shared words, not meaning; needs no weights",
    builtin=9,
)
def shared_words(*, width: int = 2048) -> SharedWords:
    """Words hashed into ``width`` places."""
    return SharedWords(width)


class SharedWords:
    """Fills the role text_embedding."""

    def __init__(self, width: int = 2048) -> None:
        if width < 16:
            raise ValueError(f"{width} places cannot keep words apart")
        self._width = width

    @property
    def identity(self) -> Mapping[str, str]:
        """Nothing beyond its options."""
        return {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        rows = np.zeros((len(texts), self._width), np.float64)
        for row, text in zip(rows, texts, strict=True):
            for feature, weight in _features(text):
                for place, sign in _places(feature):
                    row[1 + place % (self._width - 1)] += sign * weight
            length = float(np.linalg.norm(row))
            if length > 0:
                row /= length
            else:
                row[_EMPTY] = 1.0
        return rows.astype(np.float32)


@lru_cache(maxsize=65_536)
def _places(feature: str) -> tuple[tuple[int, float], ...]:
    """Several places for each feature: that two share all of them is next to impossible."""
    hashed = hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=4 * _PLACES).digest()
    numbers = struct.unpack(f"<{_PLACES}I", hashed)
    # One bit is the sign, so that collisions cancel on average.
    return tuple((number >> 1, 1.0 if number & 1 else -1.0) for number in numbers)


def _features(text: str) -> Iterator[tuple[str, float]]:
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    counts = Counter(word for word in words if word not in _COMMON)
    for word, count in sorted(counts.items()):
        weight = 1 + log(count)
        yield word, weight
        marked = f"<{word}>"
        triples = [marked[at : at + 3] for at in range(len(marked) - 2)]
        for triple in triples:
            yield triple, weight * (_TRIPLE_SHARE / len(triples)) ** 0.5
