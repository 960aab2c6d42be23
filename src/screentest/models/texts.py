"""Texts as tokenizers take them."""

from __future__ import annotations


def readable(text: str) -> str:
    """The text with what has no place in UTF-8 replaced: tokenizers raise on it.

    A JSON file may hold half of a surrogate pair, and Python reads it.

    >>> readable("a \\ud83d dog")
    'a ? dog'
    """
    return text.encode("utf-8", "replace").decode("utf-8")
