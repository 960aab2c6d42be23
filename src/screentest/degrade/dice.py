"""Dice: every random choice, made by a hash of what it is for and never by a running stream.

The order of work, the number of workers and the version of a random generator change nothing,
and one more choice somewhere leaves all the others as they were.

>>> dice = Dice.of(7, "film", "color")
>>> dice.pick(["red", "green", "blue"], "first") == dice.pick(["red", "green", "blue"], "first")
True
>>> sorted(dice.order(4))
[0, 1, 2, 3]
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Dice:
    """Choices for one purpose; ``at`` gives those for a part of it."""

    purpose: tuple[str, ...]

    @classmethod
    def of(cls, *purpose: object) -> Dice:
        """The dice for a purpose: seed, source, aspect…"""
        return cls(tuple(map(str, purpose)))

    def at(self, *more: object) -> Dice:
        """The dice for a part: a clip, a frame."""
        return Dice((*self.purpose, *map(str, more)))

    def number(self, below: int, *what: object) -> int:
        """A number from 0 on, below ``below``."""
        return int.from_bytes(self._digest(what), "big") % below

    def pick(self, things: Sequence[T], *what: object) -> T:
        """One of ``things``."""
        return things[self.number(len(things), *what)]

    def order(self, count: int, *what: object) -> list[int]:
        """The numbers below ``count``, shuffled."""
        return sorted(range(count), key=lambda number: self._digest((*what, "place", number)))

    def shuffled(self, things: Sequence[T], *what: object) -> list[T]:
        """``things`` in another order, or by chance in the same."""
        return [things[number] for number in self.order(len(things), *what)]

    def bits(self, count: int, *what: object) -> NDArray[np.uint8]:
        """As many random bytes; for noise, where a hash for each would take too long."""
        import numpy as np

        key = int.from_bytes(self._digest(what)[:16], "big")
        words = np.random.Philox(key=key).random_raw(-(-count // 8))
        return np.asarray(words).astype("<u8").view(np.uint8)[:count]

    def _digest(self, what: Sequence[object]) -> bytes:
        text = json.dumps([*self.purpose, *map(str, what)], separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
