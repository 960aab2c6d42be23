"""Subjects and backgrounds of a frame: what the masks of detected subjects show and leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Resources

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core.frames import Image

DILATION = 0.02
"""How far masks are widened before the background is cut out, as a share of the short side."""
SMALLEST = 64
"""A mask of fewer pixels shows nothing."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What a frame shows of each subject, and what is left without them."""

    subjects: Mapping[str, Image]
    background: Image | None
    """None where the subjects fill the frame."""


def cut(image: Image, phrases: Sequence[str], resources: Resources, least: float) -> Cut:
    """The best detection of each phrase, cut out along its shape; ``least`` is its score."""
    best: dict[str, tuple[float, float, float, float]] = {}
    if phrases:
        for one in resources.role("detection").detect(image, list(phrases)):
            if one.score >= least and one.label in phrases:
                best.setdefault(one.label, one.box)
    masks: dict[str, NDArray[np.bool_]] = {}
    if best:
        shapes = resources.role("segmentation").segment(image, list(best.values()))
        for phrase, shape in zip(best, shapes, strict=True):
            mask = np.asarray(shape) >= 0.5
            if mask.sum() >= SMALLEST:
                masks[phrase] = mask
    subjects = {phrase: _cropped(image, mask) for phrase, mask in masks.items()}
    return Cut(subjects, _without(image, list(masks.values())))


def _cropped(image: Image, mask: NDArray[np.bool_]) -> Image:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    part = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    return np.ascontiguousarray(np.where(mask[part][..., None], image[part], 0), np.uint8)


def _without(image: Image, masks: Sequence[NDArray[np.bool_]]) -> Image | None:
    """Equation 16: the frame with all subjects blacked out, and a little around them."""
    import cv2

    if not masks:
        return image
    union = np.asarray(np.any(masks, axis=0), np.uint8)
    reach = max(1, round(DILATION * min(image.shape[:2])))
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    hidden = np.asarray(cv2.dilate(union, kernel)) > 0
    if (~hidden).sum() < SMALLEST:
        return None
    return np.ascontiguousarray(np.where(hidden[..., None], 0, image), np.uint8)
