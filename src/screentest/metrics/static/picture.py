"""Metrics of single pictures: sharpness, tones and colours, noise, blocks, local statistics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from screentest.core import Image, SideEffect, Traits
from screentest.metrics.curve import COLOUR, DETAIL, PLANES, declared
from screentest.metrics.functions import metric
from screentest.models.networks import distortions
from screentest.models.pictures import Plane

T = TypeVar("T")

WINDOW = 384
"""Pixels a side, at most: the middle of a larger picture stands for all of it."""
SMALLEST = 32
BLURRED = SideEffect("sharpness")
SMOOTHED = SideEffect("faults.texture_detail", more=False, along="sharpness")
"""As strong compression, enlarging and noise reduction leave them."""
CLIPPED = SideEffect("contrast.exposure", beyond=0.9)
OVERSHARPENED = SideEffect(
    "faults.halos", more=True, beyond=0.2, unless="naturalness.unnaturalness"
)
"""Blur takes halos away, too: beside a blurred picture, which is less natural, an intact one has
more of them."""
VISIBLE_NOISE = 1.0
"""Levels: from here on noise is seen, and makes edges steeper."""
GRAINY = SideEffect("grain", more=True, beyond=VISIBLE_NOISE)
NOISY = SideEffect("noise", more=True, beyond=VISIBLE_NOISE, ambiguous=True)
"""Noise that stands still looks like detail."""
UNNATURAL = SideEffect("naturalness.unnaturalness", more=True, ambiguous=True)
"""Lines and patterns that were added look sharp, and like nothing in nature."""
SEAMED = SideEffect("lens.seams")
"""Pieces that do not belong have edges as sharp as pixels."""
DARK = SideEffect("tones.brightness", more=False, beyond=0.25)
FLAT = SideEffect("contrast", more=False, beyond=0.35)


def _unless_grainy(*effects: SideEffect) -> tuple[SideEffect, ...]:
    """Noise that changes from frame to frame is noise, and no detail that another lost."""
    return tuple(replace(effect, unless="grain", unless_from=VISIBLE_NOISE) for effect in effects)


LEAST_DETAIL = 2.0
"""Pictures whose levels deviate less (black, the end of a fade) show nothing to judge."""


def window(luma: Image) -> Image | None:
    """Return the middle of the picture; None where it shows nothing.

    Its corner is on the grid of coded blocks, so that these stay where they are.
    """
    if min(luma.shape) < SMALLEST:
        return None
    middle = _middle(luma)
    return middle if float(np.std(middle[::4, ::4])) >= LEAST_DETAIL else None


def _middle(picture: Image) -> Image:
    top, left = (max(0, side - WINDOW) // 2 // 16 * 16 for side in picture.shape[:2])
    return picture[top : top + WINDOW, left : left + WINDOW]


def remembered(measure: Callable[[Image], T]) -> Callable[[Image], T]:
    """Return the measurement, done once for a picture that several metrics are handed in turn.

    All consumers of a scan get the same array. Only the last one is kept.
    """
    last: list[tuple[Image, T]] = []

    @wraps(measure)
    def once(luma: Image) -> T:
        available = last[-1] if last else None
        if available is None or available[0] is not luma:
            available = (luma, measure(luma))
            last[:] = [available]
        return available[1]

    return once


@remembered
def levels(luma: Image) -> Plane | None:
    """Return the same as floats. Single precision is quicker by half and differs in the fourth
    digit."""
    middle = window(luma)
    return None if middle is None else middle.astype(np.float32)


STEEPEST = 0.02
"""The share of all places at which detail is measured."""
LEVELS = 1024


@metric(
    summary="how much of the detail is fine",
    outputs=declared("sharpness"),
    traits={"sharpness": Traits((OVERSHARPENED, GRAINY, CLIPPED, NOISY, UNNATURAL, SEAMED))},
    request=DETAIL,
)
@remembered
def sharpness(image: Image) -> float | None:
    """The finest octave's share of the detail in the two finest.

    >>> noise = np.random.default_rng(0).integers(0, 256, (64, 64)).astype(np.uint8)
    >>> import cv2
    >>> soft = cv2.resize(cv2.resize(noise, (32, 32)), (64, 64), interpolation=cv2.INTER_CUBIC)
    >>> sharpness(noise) > 0.6 > 0.4 > sharpness(soft)
    True

    A picture that was enlarged from half its size has nothing in the finest octave. So the detail
    of the picture is compared with that of the picture at half its size: the ratio does not depend
    on contrast, and little on what is shown.
    """
    import cv2

    picture = window(image)
    if picture is None:
        return None
    height, width = picture.shape
    half = cv2.resize(picture, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
    # At the steepest places: elsewhere rounding to whole levels is all the detail.
    fine, coarse = (steepness(cv2.Laplacian(one, cv2.CV_16S))[0] for one in (picture, half))
    return fine / (fine + coarse) if fine + coarse else None


def steepness(steps: ArrayLike) -> tuple[float, float]:
    """Return the mean size of the steepest steps, and of all."""
    import cv2

    sizes = np.abs(np.asarray(steps, np.int16)).view(np.uint16)
    # Counted by level, which is quicker than sorting: no step is above 4 · 255.
    counts = cv2.calcHist([sizes], [0], None, [LEVELS], [0, LEVELS]).ravel().astype(np.float64)
    levels = np.arange(LEVELS)
    most = max(1, int(STEEPEST * sizes.size))
    taken = np.diff(np.minimum(np.cumsum(counts[::-1]), most), prepend=0)
    return float(taken @ levels[::-1]) / most, float(counts @ levels) / sizes.size


CUT_OFF = 4
"""Levels from either end at which nothing is told apart."""


@metric(
    summary="contrast, tonal range and exposure",
    outputs=declared("contrast"),
    traits={"contrast": Traits(visible=0.1), "exposure": Traits((FLAT, BLURRED))},
    request=COLOUR,
)
def contrast(image: Image) -> tuple[float, float, float]:
    """Contrast (deviation of brightness), tonal range, and the share that is not cut off.

    Shadows are cut off where the brightness is, lights where one colour is: what is told by that
    colour is lost, and the others turn into a wrong one.

    >>> half = np.zeros((4, 4, 3), np.uint8)
    >>> half[:2] = 255
    >>> contrast(half)
    (1.0, 1.0, 0.0)
    >>> contrast(np.full((4, 4, 3), 128, np.uint8))
    (0.0, 0.0, 1.0)
    >>> contrast(np.full((4, 4, 3), (255, 180, 90), np.uint8))[2]
    0.0
    """
    import cv2

    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    counts = np.bincount(grey.ravel(), minlength=256)
    levels, size = np.arange(256), grey.size
    mean = counts @ levels / size
    deviation = float(np.sqrt(counts @ (levels - mean) ** 2 / size))
    share = np.cumsum(counts) / size
    low, high = np.searchsorted(share, [0.01, 0.99])
    lost = (grey < CUT_OFF) | (image.max(axis=2) >= 256 - CUT_OFF)
    return deviation / 127.5, float(high - low) / 255, 1 - int(np.count_nonzero(lost)) / size


@metric(
    summary="how colourful each shot is",
    outputs=declared("colourfulness"),
    traits={"colourfulness": Traits(visible=12.0)},
    request=COLOUR,
)
def colourfulness(image: Image) -> float:
    """After Hasler and Süsstrunk (2003), whose formula was fitted to what people said.

    Mean and deviation of red–green and blue–yellow: 0 for grey; in their words 15 is slightly,
    45 averagely, 82 highly colourful.

    >>> colourfulness(np.full((2, 2, 3), 90, np.uint8))
    0.0
    >>> colourfulness(np.tile(np.array([255, 0, 0], np.uint8), (2, 2, 1))).__round__(2)
    85.53
    """
    red, green, blue = (image[..., channel].astype(np.float32) for channel in range(3))
    across, down = red - green, (red + green) / 2 - blue
    spread = np.hypot(across.std(), down.std())
    middle = np.hypot(across.mean(), down.mean())
    return float(spread + 0.3 * middle)


@metric(
    summary="which colour a shot leans to",
    outputs=declared("tint"),
    traits={"yellow": Traits(visible=0.04), "red": Traits(visible=0.04)},
    request=COLOUR,
)
def tint(image: Image) -> tuple[float, float]:
    """Return what a picture leans to says little by itself; that of two models on one prompt does.

    >>> tint(np.full((2, 2, 3), 90, np.uint8))
    (0.0, 0.0)
    >>> tint(np.tile(np.array([255, 255, 0], np.uint8), (2, 2, 1)))
    (1.0, 0.0)
    """
    red, green, blue = (float(item) / 255 for item in image.reshape(-1, 3).mean(axis=0))
    return (red + green) / 2 - blue, red - green


COARSER = 4
"""Noise of colours is looked for in a picture so many times smaller: planes of colour are coded in
half the size, where the encoder leaves little of what is finer."""
COLOUR_WEIGHT = 0.5
"""What a level of colour weighs beside one of brightness: it is seen less."""


@metric(
    summary="noise in the smooth parts of each shot",
    outputs=declared("noise"),
    traits={"noise": Traits(_unless_grainy(BLURRED, SMOOTHED, DARK, FLAT, CLIPPED))},
    request=PLANES,
)
def noise(image: Image) -> tuple[float, float] | None:
    """In levels; reads about a quarter low, being that of the smoothest parts."""
    light = luma_noise(image[..., 0])
    if light is None:
        return None
    return float(np.hypot(light, COLOUR_WEIGHT * colour_noise(image))), light


@remembered
def luma_noise(luma: Image) -> float | None:
    """In levels of brightness."""
    picture = levels(luma)
    return None if picture is None else distortions.noise(picture)


def colour_noise(planes: Image) -> float:
    """In levels of colour, of the calmer one of both planes.

    Noise is in both. What pictures show is often of one colour, and its texture in one of them.

    >>> rng = np.random.default_rng(0)
    >>> plain = np.full((128, 128, 3), 128.0)
    >>> spots = rng.normal(0, 20, (32, 32, 3)).repeat(4, 0).repeat(4, 1)
    >>> colour_noise((plain + spots).astype(np.uint8)) > 10, colour_noise(plain.astype(np.uint8))
    (True, 0.0)
    """
    return min(distortions.noise(plane) for plane in colours(planes))


def colours(planes: Image) -> tuple[Plane, Plane]:
    """Both planes of colour in the middle of the picture, as large as noise is looked for there."""
    import cv2

    middle = _middle(planes)
    height, width = middle.shape[:2]
    size = (width // COARSER, height // COARSER)
    first, second = (
        cv2.resize(middle[..., number].astype(np.float32), size, interpolation=cv2.INTER_AREA)
        for number in (1, 2)
    )
    return first, second


@metric(
    summary="visible blocks of the encoder",
    outputs=declared("blockiness"),
    traits={"blockiness": Traits((BLURRED, GRAINY))},
    rate=1.0,
    request=DETAIL,
)
def blockiness(image: Image) -> float | None:
    """Return how far steps every eight pixels stand above all other steps."""
    picture = levels(image)
    return None if picture is None else distortions.blockiness(picture)


@metric(
    summary="distance from natural-scene statistics",
    outputs=declared("naturalness"),
    traits={"unnaturalness": Traits(_unless_grainy(BLURRED, SMOOTHED, CLIPPED))},
    rate=1.0,
    request=DETAIL,
)
def naturalness(image: Image) -> float | None:
    """In standard deviations: 1 to 4 is usual, above 6 is far."""
    picture = levels(image)
    return None if picture is None else distortions.distance(picture)
