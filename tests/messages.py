"""What a message names, whatever its wording."""

from __future__ import annotations

from collections.abc import Iterable


def names(message: object, *parts: object) -> bool:
    """Whether a message has all of these in it: names, places and numbers, not sentences."""
    return all(str(part) in str(message) for part in parts)


def each_names(messages: Iterable[object], *parts: tuple[object, ...]) -> bool:
    """Whether there are as many messages as ``parts``, and each names its own."""
    messages = list(messages)
    return len(messages) == len(parts) and all(
        names(message, *named) for message, named in zip(messages, parts, strict=True)
    )
