"""More operators to tune the judge `baseline` on, so that those of testbeds can be kept back."""

from __future__ import annotations

import cv2
import numpy as np

from screentest.core import Image
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import lookup, mixed, of_planes, planes, to_levels
from screentest.video.edit.pictures import Pixels


@degradation(aspect="technical_quality", pixels=Pixels.I420)
def x_unsharp(image: Image, severity: float) -> Image:
    """Sharpened, with a mask of one width for all sizes."""
    luma, chroma = planes(image)
    around = cv2.GaussianBlur(luma, (0, 0), 1.6)
    return of_planes(to_levels(luma + 3.0 * severity * (luma.astype(float) - around)), chroma)


@degradation(aspect="technical_quality", pixels=Pixels.I420)
def x_gauss(image: Image, severity: float) -> Image:
    """Out of focus."""
    luma, chroma = planes(image)
    blurred = cv2.GaussianBlur(luma, (0, 0), max(0.1, 2.5 * severity))
    return of_planes(np.asarray(blurred, np.uint8), chroma)


@degradation(aspect="technical_quality", pixels=Pixels.I420)
def x_chroma(image: Image, severity: float) -> Image:
    """Colours blurred along lines, to both sides."""
    luma, chroma = planes(image)
    size = (max(1, round(16 * severity)), 1)
    return of_planes(luma, np.stack([np.asarray(cv2.blur(one, size), np.uint8) for one in chroma]))


@degradation(aspect="technical_quality", pixels=Pixels.I420)
def x_salt(image: Image, severity: float, rng: np.random.Generator) -> Image:
    """Black and white specks."""
    luma, chroma = planes(image)
    drawn, specked = rng.random(luma.shape), luma.copy()
    specked[drawn < 0.02 * severity] = 235
    specked[drawn > 1 - 0.02 * severity] = 16
    return of_planes(specked, chroma)


@degradation(aspect="technical_quality")
def x_mosaic(image: Image, severity: float) -> Image:
    """In squares of up to eight pixels."""
    height, width = image.shape[:2]
    fold = 1 + round(7 * severity)
    small = cv2.resize(image, (width // fold, height // fold), interpolation=cv2.INTER_AREA)
    large = cv2.resize(small, (width, height), interpolation=cv2.INTER_NEAREST)
    return np.asarray(large, np.uint8)


@degradation(aspect="technical_quality")
def x_median(image: Image, severity: float) -> Image:
    """Texture smoothed away, edges left."""
    return np.asarray(cv2.medianBlur(image, 1 + 2 * max(1, round(4 * severity))), np.uint8)


@degradation(aspect="aesthetics")
def x_gamma_up(image: Image, severity: float) -> Image:
    """Pale: darks lifted."""
    return lookup(lambda level: 255 * (level / 255) ** (1 / (1 + 1.5 * severity)))[image]


@degradation(aspect="aesthetics")
def x_gamma_down(image: Image, severity: float) -> Image:
    """Murky: lights lowered."""
    return lookup(lambda level: 255 * (level / 255) ** (1 + 1.5 * severity))[image]


@degradation(aspect="aesthetics")
def x_fog(image: Image, severity: float) -> Image:
    """Behind a light grey veil."""
    return mixed(image, np.full_like(image, 200), 0.6 * severity)


@degradation(aspect="aesthetics")
def x_hue(image: Image, severity: float) -> Image:
    """All hues turned by up to a third of the circle."""
    turned = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
    turned[..., 0] = (turned[..., 0].astype(int) + round(60 * severity)) % 180
    return np.asarray(cv2.cvtColor(turned, cv2.COLOR_HSV2RGB), np.uint8)


@degradation(aspect="aesthetics")
def x_vignette(image: Image, severity: float) -> Image:
    """Dark towards the corners."""
    height, width = image.shape[:2]
    down, across = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]  # type: ignore[misc]
    far = np.clip((down**2 + across**2) / 1.3, 0, 1)[..., None]
    return to_levels(image * (1 - 0.85 * severity * far))


@degradation(aspect="appearance_style")
def x_grey(image: Image, severity: float) -> Image:
    """Black and white."""
    light = cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
    return mixed(image, np.asarray(light, np.uint8), severity)


@degradation(aspect="aesthetics")
def x_enlarged(image: Image, severity: float) -> Image:
    """Two thirds of the picture, enlarged to its size."""
    height, width = image.shape[:2]
    down, across = (round(side * severity / 6) for side in (height, width))
    inside = image[down : height - down, across : width - across]
    return np.asarray(cv2.resize(inside, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)


@degradation(aspect="appearance_style")
def x_negative(image: Image, severity: float) -> Image:
    """A negative."""
    return mixed(image, 255 - image, severity)


@degradation(aspect="appearance_style")
def x_emboss(image: Image, severity: float) -> Image:
    """As if stamped into metal."""
    stamp = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]])
    return mixed(image, np.asarray(cv2.filter2D(image, -1, stamp), np.uint8), severity)
