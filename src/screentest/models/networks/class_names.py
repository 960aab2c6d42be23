"""Which of a detector's classes a phrase means: COCO's 80 by their names, and by what is near."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from screentest.models.roles import TextEmbedding, Vectors

FURTHER_NAMES: Mapping[str, list[str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ENDS_HEAD = frozenset(
    {"of", "in", "on", "at", "with", "by", "near", "under", "over", "behind", "beside", "from"}
    | {"wearing", "holding", "who", "that", "which", "is", "are"}
)
_ARTICLES = frozenset({"a", "an", "the", "his", "her", "their", "its", "some", "this"})
_JOINS = frozenset({"and", "or"})


class ClassMatcher:
    """Says which class a phrase means, and how sure it is.

    A phrase means a class if the thing it names bears the class's name or one of the further names
    in ``class_names.toml``; else if a text model finds it near enough to the class's name; else
    none, and the detector cannot answer it.
    """

    def __init__(self, classes: Sequence[str], text: TextEmbedding, least: float) -> None:
        self._by_words = {
            tuple(_singular(word) for word in name.split()): kind
            for kind in classes
            for name in (kind, *FURTHER_NAMES.get(kind, ()))
        }
        self._longest = max(len(words) for words in self._by_words)
        self._classes = classes
        self._text = text
        self._vectors: Vectors = text.embed(classes)
        self._least = least

    def meanings(self, phrases: Sequence[str]) -> list[tuple[str, float] | None]:
        """Per phrase the class it means and their similarity; None where it means none."""
        heads = [_head(phrase) for phrase in phrases]
        meanings = [self._named(head) for head in heads]
        unnamed = [n for n, meaning in enumerate(meanings) if meaning is None and heads[n]]
        if unnamed:
            vectors = self._text.embed([" ".join(heads[n]) for n in unnamed])
            for n, similarities in zip(unnamed, vectors @ self._vectors.T, strict=True):
                best = int(np.argmax(similarities))
                if similarities[best] >= self._least:
                    meanings[n] = (self._classes[best], float(similarities[best]))
        return meanings

    def _named(self, head: Sequence[str]) -> tuple[str, float] | None:
        """Return the class whose name ends last in the head: of a "dog bowl" it is the bowl."""
        words = [_singular(word) for word in head]
        for end in range(len(words), 0, -1):
            for start in range(max(0, end - self._longest), end):
                kind = self._by_words.get(tuple(words[start:end]))
                if kind is not None:
                    return kind, 1.0
        return None


def _head(phrase: str) -> list[str]:
    """Return the words of a phrase that name the thing, without articles and what follows.

    >>> _head("A young woman in a red dress")
    ['young', 'woman']
    >>> _head("a brown and white dog and a cat")
    ['brown', 'white', 'dog']
    """
    words: list[str] = []
    every = _WORD.findall(phrase.casefold())
    for word, following in zip_longest(every, every[1:], fillvalue=""):
        # "brown and white" goes on describing; "and a cat" begins another thing.
        begins_another = word in _JOINS and following in _ARTICLES
        if words and (word in _ENDS_HEAD or begins_another):
            break
        if word not in _ARTICLES | _ENDS_HEAD | _JOINS:
            words.append(word)
    return words


def _singular(word: str) -> str:
    """Return a word without the ending of a plural.

    >>> [_singular(word) for word in ("dogs", "buses", "glass", "knives", "puppies")]
    ['dog', 'bus', 'glass', 'knife', 'puppy']
    """
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ves") and len(word) > 4:
        return word[:-3] + "fe"
    if word.endswith(("ses", "xes", "ches", "shes")) and len(word) > 4:
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        return word[:-1]
    return word
