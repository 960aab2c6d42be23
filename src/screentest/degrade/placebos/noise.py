"""Noise that nobody sees: every second luma value of some clips is one level up or down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import BadOption, register
from screentest.degrade.contract import Film, FilmClip, Workshop, pieces
from screentest.degrade.dice import Dice
from screentest.degrade.operators._kinds import numbered
from screentest.video import Part, Pixels, Reencode, splice

if TYPE_CHECKING:
    from screentest.core.frames import Image


@register("placebo", "noise", version=1, summary="noise of one level, which nobody sees")
def noise(*, clips: int = 5) -> Noise:
    """``clips`` are touched, or as many as there are."""
    if clips < 1:
        raise BadOption(f"noise cannot touch {clips} clips")
    return Noise(clips)


class Noise:
    """The placebo."""

    suffix = ".mp4"

    def __init__(self, clips: int) -> None:
        self._clips = clips

    def eligible(self, film: Film) -> bool:
        """There must be a clip to touch."""
        return bool(film.clips)

    def write(self, shop: Workshop, out: Path) -> None:
        """Touch the first clips that the dice name."""
        some = shop.dice.shuffled(shop.film.clips, "draw")[: self._clips]
        replaced: dict[int, Part | None] = {
            clip.number: Reencode(clip.span, numbered(_grain(shop, clip)), Pixels.I420)
            for clip in some
        }
        splice(shop.film.video, list(pieces(shop.film, replaced)), out)


def _grain(shop: Workshop, clip: FilmClip) -> Callable[[int, Image], Image]:
    dice = shop.dice_of(clip)
    return lambda number, picture: grained(picture, dice.at("frame", number))


def grained(picture: Image, dice: Dice) -> Image:
    """An I420 picture with a quarter of its luma one level up and a quarter one down.

    The squared error is one half, 51 dB below the peak.
    """
    rows = picture.shape[0] * 2 // 3
    luma = picture[:rows]
    coins = dice.bits(luma.size).reshape(luma.shape)
    step = (coins < 64).astype(np.int16) - (coins >= 192).astype(np.int16)
    result = picture.copy()
    result[:rows] = np.clip(luma + step, 0, 255)
    return result
