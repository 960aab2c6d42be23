"""Appearance style: the chosen clips look drawn or painted, all in the same of five styles.

The OpenCV calls and their parameters are those of SLVMEval's appendix E.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Aspect, BadOption, register
from screentest.testbeds.contract import (
    Chosen,
    Context,
    DegradationInfo,
    Details,
    FilmClip,
    Look,
    Rng,
)
from screentest.testbeds.operators.shared import blended, changed_clips
from screentest.video import Pixels, VideoPart, frame_by_frame

if TYPE_CHECKING:
    from screentest.core.frames import Image


@register("degradation", "appearance_style", version=1, summary="drawn or painted, in one style")
def appearance_style(*, style: str = "any") -> AppearanceStyle:
    """``style`` is one of the five, or ``any``: one is drawn for each film."""
    if style != "any" and style not in STYLES:
        raise BadOption(f"there is no style {style!r}", advice=f"Known: {', '.join(STYLES)}.")
    return AppearanceStyle(style)


class AppearanceStyle:
    """Severity mixes the styled picture with the one it was made of."""

    info = DegradationInfo(Aspect.APPEARANCE_STYLE)

    def __init__(self, style: str) -> None:
        self._style = style

    def eligible(self, clip: FilmClip) -> bool:
        """Any clip is."""
        return True

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """The style, which is the film's."""
        if self._style != "any":
            return {"style": self._style}
        return {"style": film_rng.pick(tuple(STYLES), "style")}

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """The film with the chosen clips in their style."""

        def change(one: Chosen) -> Callable[[Image], Image]:
            style = STYLES[str(one.details["style"])]
            return lambda image: blended(image, style(image), severity)

        return changed_clips(context, chosen, lambda one: frame_by_frame(change(one)), Pixels.BGR)


def cartoon(image: Image) -> Image:
    """Smooth areas with dark outlines."""
    import cv2

    smooth = cv2.edgePreservingFilter(image, flags=1, sigma_s=40, sigma_r=0.20)
    grey = cv2.medianBlur(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), 5)
    edges = cv2.adaptiveThreshold(
        grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, blockSize=11, C=3
    )
    edges = cv2.medianBlur(edges, 5)
    return np.asarray(cv2.bitwise_and(smooth, smooth, mask=edges), np.uint8)


def detail_enhancement(image: Image) -> Image:
    """Fine structure exaggerated."""
    import cv2

    return np.asarray(cv2.detailEnhance(image, sigma_s=5, sigma_r=0.08), np.uint8)


def oil_painting(image: Image) -> Image:
    """Broad strokes."""
    import cv2

    return np.asarray(cv2.xphoto.oilPainting(image, size=5, dynRatio=1), np.uint8)


def coloured_pencil(image: Image) -> Image:
    """A pencil sketch in colour."""
    import cv2

    _, coloured = cv2.pencilSketch(image, sigma_s=40, sigma_r=0.05, shade_factor=0.015)
    return np.asarray(coloured, np.uint8)


def watercolour(image: Image) -> Image:
    """Washed areas."""
    import cv2

    return np.asarray(cv2.stylization(image, sigma_s=40, sigma_r=0.25), np.uint8)


STYLES: Mapping[str, Callable[[Image], Image]] = {
    "cartoon": cartoon,
    "detail_enhancement": detail_enhancement,
    "oil_painting": oil_painting,
    "coloured_pencil": coloured_pencil,
    "watercolour": watercolour,
}
