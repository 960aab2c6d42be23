"""What a message names, whatever its wording."""

from __future__ import annotations


def names(message: object, *parts: object) -> bool:
    """Whether a message has all of these in it: names, places and numbers, not sentences."""
    return all(str(part) in str(message) for part in parts)
