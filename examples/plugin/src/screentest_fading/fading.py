"""Fading: takes the colour out of the chosen clips and leaves all others untouched."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from screentest.core import Aspect, register
from screentest.testbeds.contract import (
    Chosen,
    DegradationInfo,
    Details,
    Dice,
    FilmClip,
    Look,
    Workshop,
    pieces,
)
from screentest.video import Part, Pixels, Reencode, frame_by_frame


@register("degradation", "fading", version=1, summary="clips lose their colour")
def fading(*, left: float = 0.0) -> Fading:
    """``left``: the share of the colour that stays at full severity."""
    return Fading(left)


class Fading:
    """Its pairs count for the aspect that it names."""

    info = DegradationInfo(Aspect.AESTHETICS)

    def __init__(self, left: float) -> None:
        self._left = left

    def eligible(self, clip: FilmClip) -> bool:
        """Any clip will do. An operator on things reads ``clip.facts`` here."""
        return True

    def settle(self, clip: FilmClip, look: Look, dice: Dice, film_dice: Dice) -> Details:
        """Nothing to choose. What is returned here is recorded with the pair."""
        return {}

    def parts(self, shop: Workshop, chosen: Sequence[Chosen], severity: float) -> list[Part]:
        """The film, with the chosen clips re-encoded from faded frames."""
        kept = 1 - (1 - self._left) * severity
        change = frame_by_frame(lambda picture: faded(picture, kept))
        replaced: dict[int, Part | None] = {
            one.clip.number: Reencode(one.clip.span, change, Pixels.I420) for one in chosen
        }
        return list(pieces(shop.film, replaced))


def faded(picture: np.ndarray, kept: float) -> np.ndarray:
    """The chroma planes drawn towards grey, which is 128; luma stays to the bit.

    >>> faded(np.array([[200], [200], [28]], np.uint8), 0.5).ravel().tolist()
    [200, 200, 78]
    """
    rows = picture.shape[0] * 2 // 3
    result = picture.copy()
    chroma = picture[rows:].astype(np.float32)
    result[rows:] = np.rint(128 + (chroma - 128) * kept).astype(np.uint8)
    return result
