"""What a template may be given. Text is a stranger's unless it is said to be ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from screentest.models.chat.messages import Part
from screentest.prompts import slots


@dataclass(frozen=True, slots=True)
class Trusted:
    """Text that we wrote ourselves, such as the description of an aspect."""

    text: str

    def __str__(self) -> str:
        return self.text


class Pictures:
    """Pictures, with their times in words between them, to stand where the template says."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __str__(self) -> str:
        raise TypeError("pictures stand alone in a template: {{ name }}, without filters")


class Untrusted:
    """A stranger's text on its way through a template. Only its harmless forms can be had."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text

    def __str__(self) -> str:
        return slots.neutralise(self._text)

    def __bool__(self) -> bool:
        return bool(self._text.strip())

    def __len__(self) -> int:
        return len(self._text)

    def __eq__(self, other: object) -> bool:
        return str(self) == (str(other) if isinstance(other, Untrusted) else other)

    def __hash__(self) -> int:
        return hash(str(self))

    def _fenced(self) -> str:
        return slots.fence(self._name, self._text)

    def _inline(self) -> str:
        return slots.inline(self._text)


class Withheld:
    """Stands in a system text for what must not stand there; it only tells whether it is."""

    def __init__(self, name: str, there: bool) -> None:
        self._name = name
        self._there = there

    def __bool__(self) -> bool:
        return self._there

    def __str__(self) -> str:
        raise TypeError(
            f"a system text holds neither strangers' words nor pictures, so not {self._name}"
        )


Slot: TypeAlias = (
    "str | int | float | bool | Trusted | Pictures | Sequence[Slot] | Mapping[str, Slot] | None"
)


def prepare(name: str, value: Any) -> Any:
    """A slot's value as templates see it: every plain text becomes Untrusted."""
    if isinstance(value, str):
        return Untrusted(name, value)
    if value is None or isinstance(value, bool | int | float | Trusted | Pictures):
        return value
    if isinstance(value, Mapping):
        return {key: prepare(f"{name} {key}", entry) for key, entry in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [prepare(f"{name} {number}", entry) for number, entry in enumerate(value, start=1)]
    raise TypeError(f"a prompt template cannot be given {type(value).__name__} for {name!r}")


def withhold(value: Any, name: str) -> Any:
    """A prepared value as a system template sees it."""
    if isinstance(value, Untrusted | Pictures):
        return Withheld(name, bool(value))
    if isinstance(value, dict):
        return {key: withhold(entry, f"{name} {key}") for key, entry in value.items()}
    if isinstance(value, list):
        return [withhold(entry, name) for entry in value]
    return value
