"""Named colours: are the colours that a caption names in the shot that belongs to it?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import (
    Item,
    Level,
    MetricInfo,
    NoValue,
    Outcome,
    Outcomes,
    OutputInfo,
    Point,
    Reason,
    Resources,
    register,
)
from screentest.metrics.alignment.captions import shot_captions
from screentest.metrics.curve import curve_score
from screentest.models.colours import BASIC_COLOURS, basic_colour, name_pixels

if TYPE_CHECKING:
    from screentest.core.frames import Image

ENOUGH = 0.02
"""The share of the picture at which a colour is half seen: a scarf, not a scene."""
PRESENCE = OutputInfo("how clearly the named colours are seen")
_WORD = re.compile(r"[^\W\d_]+")


@register("metric", "named_colours", version=1, summary="colours of the caption in its shot")
def named_colours(*, colours: float = 1.0) -> NamedColours:
    """``colours`` as in ``caption_agreement``, with which it shares the matching."""
    return NamedColours(colours)


class NamedColours:
    """Looks for the colours of each caption in its shot."""

    info = MetricInfo(
        {"named_colours": PRESENCE},
        Level.CLIP,
        roles=("image_text",),
        needs=("script",),
        shots=True,
    )

    def __init__(self, colours: float) -> None:
        self._colours = colours

    def start(self, item: Item, resources: Resources) -> _Looking:
        """Begin on one video."""
        return _Looking(item, resources, self._colours)


class _Looking:
    consumers = ()

    def __init__(self, item: Item, resources: Resources, colours: float) -> None:
        self._item, self._resources, self._colours = item, resources, colours

    def finish(self) -> Outcomes:
        """A point for each shot whose caption names a colour."""
        table = shot_captions(self._item, self._resources, self._colours)
        points = []
        for shot, caption in table.matching.pairs:
            named = colours_in(table.captions[caption])
            if named:
                shares = colour_shares(table.thumbnails[shot])
                seen = [presence(shares[BASIC_COLOURS.index(name)]) for name in named]
                note = ", ".join(
                    f"{name} {shares[BASIC_COLOURS.index(name)]:.0%}" for name in named
                )
                points.append(Point(table.shots[shot].span, float(np.mean(seen)), note))
        if not points:
            raise NoValue(Reason.NOT_APPLICABLE, "no caption of a shot names a colour")
        return {"named_colours": Outcome.of(curve_score(points, PRESENCE, shots=len(table.shots)))}


def colours_in(caption: str) -> tuple[str, ...]:
    """The basic colours that a caption names, each once.

    >>> colours_in("Three red cups and a grey-blue mug on a red cloth")
    ('red', 'grey', 'blue')
    """
    named = (basic_colour(word) for word in _WORD.findall(caption.casefold()))
    return tuple(dict.fromkeys(name for name in named if name is not None))


def colour_shares(picture: Image) -> list[float]:
    """The share of each of the eleven basic colours."""
    counts = np.bincount(name_pixels(picture).ravel(), minlength=len(BASIC_COLOURS))
    return [float(count) for count in counts / counts.sum()]


def presence(share: float) -> float:
    """0 where a colour is not there, ½ at ``ENOUGH``, towards 1 beyond.

    >>> presence(0.0), presence(ENOUGH)
    (0.0, 0.5)
    """
    return share / (share + ENOUGH)
