"""CaptionFacts: what a caption says, sorted by the seven criteria that degradations go by.

>>> facts = CaptionFacts(subject=("car",), color=(Coloured("red", "car"),))
>>> facts.color[0].object
'car'
>>> from screentest.core import from_json, to_json
>>> from_json(CaptionFacts, to_json(facts)) == facts
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Action(NamedTuple):
    """Who does what."""

    agent: str
    action: str


class Coloured(NamedTuple):
    """A colour and the object that has it."""

    color: str
    object: str


class Placed(NamedTuple):
    """A clear position and the object that is there."""

    location: str
    object: str


@dataclass(frozen=True, slots=True)
class CaptionFacts:
    """What one caption says. Nothing said on a criterion is an empty tuple."""

    subject: tuple[str, ...] = ()
    """Things, people and animals; places are scenes."""
    background: tuple[str, ...] = ()
    """What is said to be behind."""
    dynamic_degree: tuple[Action, ...] = ()
    """What moves, the camera apart."""
    human_action: tuple[Action, ...] = ()
    """What people do, be it sitting."""
    color: tuple[Coloured, ...] = ()
    spatial_relationship: tuple[Placed, ...] = ()
    """Left, right, above…; never "near" or "next to"."""
    scene: tuple[str, ...] = ()
    """Places and surroundings."""

    @property
    def sides(self) -> tuple[Placed, ...]:
        """The positions that a mirror image would make wrong: those with left or right.

        >>> CaptionFacts(spatial_relationship=(Placed("above", "kite"),)).sides
        ()
        """
        return tuple(
            placed
            for placed in self.spatial_relationship
            if {"left", "right"} & set(placed.location.lower().replace("-", " ").split())
        )


CRITERIA = (
    "subject",
    "background",
    "dynamic_degree",
    "human_action",
    "color",
    "spatial_relationship",
    "scene",
)
"""The names of the seven, in the order of the paper."""
