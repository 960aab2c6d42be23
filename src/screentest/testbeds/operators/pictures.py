"""How pictures look: aesthetics, technical quality, appearance style."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Aspect, BadOption, Image, register
from screentest.testbeds.contract import (
    Chosen,
    Context,
    DegradationInfo,
    Details,
    FilmClip,
    Look,
    Rng,
)
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import mixed, of_planes, planes
from screentest.testbeds.operators.shared import AnyClip, changed_clips
from screentest.video.edit.pictures import Pixels, VideoPart, frame_by_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray


@degradation(aspect="aesthetics", pixels=Pixels.I420, summary="tones inverted and flattened")
def aesthetics(image: Image, severity: float, *, contrast: float = -0.8) -> Image:
    """Severity is how many levels are turned round: first the lights, then the darks.

    SLVMEval applies FFmpeg's ``eq`` filter with contrast −0.8: luma is inverted and its range
    compressed to 80%. Here it is the same lookup on the luma plane; chroma is not touched. A
    contrast in between would not be less of it: at 0 it is plain grey, at −0.8 legible again.
    ``contrast`` is as FFmpeg takes it.
    """
    luma, chroma = planes(image)
    return of_planes(partly(contrast_table(contrast), severity)[luma], chroma)


def contrast_table(contrast: float) -> NDArray[np.uint8]:
    """For every level of luma the one that FFmpeg's ``eq=contrast=…`` makes of it.

    FFmpeg's own fixed-point arithmetic, so that no level is off by one.

    >>> contrast_table(-0.8)[[16, 60, 126, 200, 235]].tolist()
    [216, 181, 128, 69, 41]
    """
    slope = int(contrast * 256 * 16)
    offset = 255 - 128 - int(slope / 32)  # C's division: towards zero
    levels = (np.arange(256) * slope >> 12) + offset
    return np.asarray(np.clip(levels, 0, 255), np.uint8)


def partly(table: NDArray[np.uint8], severity: float) -> NDArray[np.uint8]:
    """Return a lookup on the way from none to ``table``: no level ever comes back to where it was.

    Up to one half, levels that the table lowers go down to it, the ones with the farthest way
    first; from there on, those that it raises go up. In between the lookup has no steps, and
    nowhere is it flat: the picture stays legible all the way.

    >>> table = contrast_table(-0.8)
    >>> [partly(table, severity)[[40, 200]].tolist() for severity in (0, 0.25, 0.5, 0.75, 1)]
    [[40, 200], [40, 127], [40, 69], [154, 69], [197, 69]]
    """
    levels, full = np.arange(256), table.astype(int)
    if severity <= 0.5:
        # Squared, since few films have much of the brightest levels.
        above = round(max(0, (levels - full).max()) * (1 - 2 * severity) ** 2)
        return np.asarray(np.clip(np.minimum(levels, full + above), 0, 255), np.uint8)
    rise = round(max(0, (full - levels).max()) * (2 * severity - 1))
    return np.asarray(np.clip(np.minimum(levels + rise, full), 0, 255), np.uint8)


@register("degradation", "technical_quality", version=1, summary="half the resolution")
class TechnicalQuality(AnyClip):
    """Severity is the share of the way down, in octaves: at one half the sides are 1/√2.

    SLVMEval brings the whole film to a long side of 512 pixels, and the chosen clips down to 256 by
    Lanczos and up again. A film smaller than 512 keeps its size; its clips go to half of it.
    ``base`` and ``low`` are the two long sides.
    """

    def __init__(self, *, base: int = 512, low: int = 256) -> None:
        if not 16 <= low < base:
            raise BadOption(f"invalid base {base} and low {low}: must be 16 <= low < base")
        self.info = DegradationInfo(Aspect.TECHNICAL_QUALITY, long_side=base)
        self._factor = low / base

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        factor = self._factor**severity
        change = frame_by_frame(lambda image: reduced(image, factor))
        return changed_clips(context, chosen, lambda _: change, Pixels.RGB)


def reduced(image: Image, factor: float) -> Image:
    """Return the picture scaled by ``factor`` and back, both by Lanczos."""
    from PIL import Image as Pictures

    height, width = image.shape[:2]
    small = max(1, round(width * factor)), max(1, round(height * factor))
    lanczos = Pictures.Resampling.LANCZOS
    shrunk = Pictures.fromarray(image).resize(small, lanczos)
    return np.asarray(shrunk.resize((width, height), lanczos), np.uint8)


@register("degradation", "appearance_style", summary="redrawn in one painted style")
class AppearanceStyle(AnyClip):
    """Severity mixes the styled picture with the one it was made of.

    The OpenCV calls and their parameters are those of SLVMEval's appendix E.2. ``style`` is one of
    the five, or ``any``: one is drawn for each film.
    """

    info = DegradationInfo(Aspect.APPEARANCE_STYLE)

    def __init__(self, *, style: str = "any") -> None:
        if style != "any" and style not in STYLES:
            raise BadOption(f"invalid style {style!r}: must be any or {', '.join(STYLES)}")
        self._style = style

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        if self._style != "any":
            return {"style": self._style}
        return {"style": film_rng.pick(tuple(STYLES), "style")}

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        def change(choice: Chosen) -> Callable[[Image], Image]:
            style = STYLES[str(choice.details["style"])]
            return lambda image: mixed(image, style(image), severity)

        return changed_clips(
            context, chosen, lambda choice: frame_by_frame(change(choice)), Pixels.BGR
        )


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
    """Return a pencil sketch in colour."""
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
