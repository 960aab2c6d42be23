"""Margins: how far a rating moves where nothing is wrong, learnt from placebos.

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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from screentest.core.aspects import Aspect

WITHIN = 0.9
"""Of films, those all of whose placebos should be ties."""

Moved: TypeAlias = tuple[Aspect, str, float]
"""The aspect in which a placebo was rated, its film, and by how much the rating moved."""


@dataclass(frozen=True, slots=True)
class Margin:
    """Ratings that differ by no more are a tie."""

    value: float = 0.0
    films: int = 0
    """Whose placebos it was learnt from."""


@dataclass(frozen=True, slots=True)
class Margins:
    """What placebos moved at most, by aspect and film."""

    largest: Mapping[Aspect, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def learnt(cls, moved: Iterable[Moved]) -> Margins:
        """From what the placebos of a testbed did to one judge's ratings."""
        largest: dict[Aspect, dict[str, float]] = {}
        for aspect, film, difference in moved:
            films = largest.setdefault(aspect, {})
            films[film] = max(films.get(film, 0.0), abs(difference))
        return cls(largest)

    def of(self, aspect: Aspect, film: str | None = None, *, least: float = 0.0) -> Margin:
        """The margin for a film, by all others; without a film, for one that is not among them.

        ``least`` is the judge's own: where placebos move it by less, that stands.

        >>> moved = [(Aspect.COLOR, "a", 0.1), (Aspect.COLOR, "b", -0.3), (Aspect.COLOR, "b", 0.2)]
        >>> Margins.learnt(moved).of(Aspect.COLOR, "a")
        Margin(value=0.3, films=1)
        """
        others = [largest for name, largest in self.largest.get(aspect, {}).items() if name != film]
        if not others:
            return Margin(least)
        rank = min(len(others), math.ceil(round(WITHIN * (len(others) + 1), 9)))
        learnt = Margin(sorted(others)[rank - 1], len(others))
        return learnt if learnt.value >= least else Margin(least)


def in_signature(margins: Mapping[Aspect, Margin]) -> str:
    """The margins of a certificate as a part of its signature.

    >>> in_signature({Aspect.COLOR: Margin(0.25, 4), Aspect.AESTHETICS: Margin(0.25, 4)})
    '0.25'
    >>> in_signature({Aspect.COLOR: Margin(0.25, 4), Aspect.AESTHETICS: Margin()})
    'aesthetics=0,color=0.25'
    """
    texts = {aspect.value: f"{margin.value:.6g}" for aspect, margin in margins.items()}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return ",".join(f"{name}={text}" for name, text in sorted(texts.items()))


def words(margins: Mapping[Aspect, Margin], failed: Sequence[str] = ()) -> str:
    """The margins of a certificate as a person reads them; ``failed``: kinds of placebo without a
    rating. Who has none there may move by any amount.

    >>> words({Aspect.COLOR: Margin(0.25, 4)})
    'differences up to 0.25 are ties, as placebos of 4 films make them'
    >>> words({Aspect.COLOR: Margin()})
    'none: there are no placebos of other films to learn it from'
    >>> words({Aspect.COLOR: Margin(0.0, 4)}, ["trim"])
    'not known: placebos of kind trim have no rating'
    >>> words({Aspect.COLOR: Margin(0.25, 4)}, ["trim"])[65:]
    '; it may be larger, since placebos of kind trim have no rating'
    """
    unrated = f"placebos of kind {', '.join(failed)} have no rating" if failed else ""
    groups: dict[Margin, list[str]] = {}
    for aspect, margin in margins.items():
        groups.setdefault(margin, []).append(aspect.title)
    found = []
    for margin, aspects in groups.items():
        text = "none: there are no placebos of other films to learn it from"
        if unrated and not margin.value:
            text = f"not known: {unrated}"
        elif margin.value and not margin.films:
            text = f"differences up to {margin.value:.3g} are ties, by the judge's own rule"
        elif margin.films:
            films = f"{margin.films:,} film{'s' if margin.films > 1 else ''}"
            upto = f"differences up to {margin.value:.3g} are ties"
            text = f"{upto}, as placebos of {films} make them"
        if unrated and margin.value:
            text += f"; it may be larger, since {unrated}"
        found.append(text if len(groups) == 1 else f"{', '.join(aspects)}: {text}")
    return "; ".join(found)
