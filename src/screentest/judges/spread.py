"""Placebo spread: how far a rating moves where nothing is wrong.

A metric made a judge would prefer the re-encoded copy of every film to its original if one more
pass of the encoder moved it by a millionth. What placebos do to a rating (encoding once more,
another container, a frame less) is its noise: a difference that is not larger is a tie.

The margin for a film is learnt from the placebos of the *other* films. Otherwise every placebo
would lie within a margin that was made of it, and the placebo rate of a certificate would say
nothing. Of each other film the largest difference that any of its placebos makes counts, and
the margin is the ⌈0.9·(n+1)⌉-th smallest of those n: of films of one kind, nine in ten have all
their placebos within it, however the differences are distributed. Below nine other films that rank
does not exist; the largest is taken, which holds in n of n+1 films. Without placebos of other
films the margin is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from screentest.core.aspects import Aspect

WITHIN = 0.9
"""Of films, those all of whose placebos should be ties."""

Moved: TypeAlias = tuple[Aspect, str, float]
"""The aspect in which a placebo was rated, its film, and by how much the rating moved."""


@dataclass(frozen=True, slots=True)
class PlaceboSpread:
    """Ratings that differ by no more are a tie."""

    value: float = 0.0
    films: int = 0
    """Whose placebos it was learnt from."""


@dataclass(frozen=True, slots=True)
class PlaceboSpreads:
    """The largest move by placebos, by aspect and film."""

    largest: Mapping[Aspect, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def learnt(cls, moved: Iterable[Moved]) -> PlaceboSpreads:
        """From what the placebos of a testbed did to one judge's ratings."""
        largest: dict[Aspect, dict[str, float]] = {}
        for aspect, film, difference in moved:
            films = largest.setdefault(aspect, {})
            films[film] = max(films.get(film, 0.0), abs(difference))
        return cls(largest)

    def of(self, aspect: Aspect, film: str | None = None, *, least: float = 0.0) -> PlaceboSpread:
        """Return the margin for a film, by all others; without a film, for one beside them.

        ``least`` is the judge's own: where placebos move it by less, that stands.

        >>> moved = [(Aspect.COLOR, "a", 0.1), (Aspect.COLOR, "b", -0.3), (Aspect.COLOR, "b", 0.2)]
        >>> PlaceboSpreads.learnt(moved).of(Aspect.COLOR, "a")
        PlaceboSpread(value=0.3, films=1)
        """
        others = [largest for name, largest in self.largest.get(aspect, {}).items() if name != film]
        if not others:
            return PlaceboSpread(least)
        rank = min(len(others), math.ceil(round(WITHIN * (len(others) + 1), 9)))
        learnt = PlaceboSpread(sorted(others)[rank - 1], len(others))
        return learnt if learnt.value >= least else PlaceboSpread(least)


def in_signature(margins: Mapping[Aspect, PlaceboSpread]) -> str:
    """Return the margins of a certificate as a part of its signature.

    >>> in_signature({Aspect.COLOR: PlaceboSpread(0.25, 4)})
    '0.25'
    >>> in_signature({Aspect.COLOR: PlaceboSpread(0.25, 4), Aspect.AESTHETICS: PlaceboSpread()})
    'aesthetics=0,color=0.25'
    """
    texts = {aspect.value: f"{margin.value:.6g}" for aspect, margin in margins.items()}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return ",".join(f"{name}={text}" for name, text in sorted(texts.items()))
