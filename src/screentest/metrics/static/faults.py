"""What sensors, encoders and careless processing leave in a picture, each fault as one number.

Each is made to react to its own fault and little to what the picture shows. Sums are of whole
numbers where they can be, so that they are the same in any order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from screentest.core import Image, NoValue, Reason, SideEffect, Size, Traits, register
from screentest.metrics.curve import (
    COLOUR,
    DETAIL,
    Reduce,
    Rows,
    ShotMetric,
    ShotOutput,
    at_rate,
    declared,
)
from screentest.metrics.functions import metric
from screentest.metrics.static.picture import (
    BLURRED,
    LEAST_DETAIL,
    NOISY,
    OVERSHARPENED,
    SMALLEST,
    SMOOTHED,
    WINDOW,
    steepness,
)

Levels = NDArray[np.int16]
Floats = NDArray[np.float32]

RIM = 0.1
"""The share of each side that is left out: subtitles and logos are there."""


def inner(picture: Image) -> Image:
    """Return the picture without its rim.

    >>> inner(np.zeros((100, 50), np.uint8)).shape
    (80, 40)
    """
    height, width = picture.shape[:2]
    top, left = int(RIM * height), int(RIM * width)
    return picture[top : height - top, left : width - left]


def middle(luma: Image) -> Image | None:
    """Return what is measured of the luma; None where it shows nothing."""
    within = inner(luma)
    height, width = within.shape
    top, left = (max(0, side - WINDOW) // 2 for side in (height, width))
    part = within[top : top + WINDOW, left : left + WINDOW]
    if min(part.shape) < SMALLEST or float(np.std(part[::4, ::4])) < LEAST_DETAIL:
        return None
    return np.ascontiguousarray(part)


@metric(
    summary="faults of sensors, encoders and processing",
    outputs=declared("faults"),
    traits={"texture_detail": Traits((OVERSHARPENED, NOISY))},
    request=DETAIL,
)
def faults(image: Image) -> tuple[float, ...] | None:
    """Softness in two ways, halos, combing, banding, tilt."""
    picture = middle(image)
    if picture is None:
        return None
    levels = picture.astype(np.int16)
    fine = shares(picture)
    if fine is None:
        return None
    reach = max(4, round(LAGS * image.shape[1]))
    return (*fine, halos(levels, reach), combing(levels), bands(picture), level(picture))


def shares(picture: Image) -> tuple[float, float] | None:
    """Return the finest octave's share of the detail in the three finest: of edges, and of
    everything.

    Of both directions that of the softer one: what is smeared along one is soft. Three, since
    strong blur takes the two finest alike.
    """
    import cv2

    height, width = picture.shape
    sizes = [picture]
    for fold in (2, 4):
        size = (width // fold, height // fold)
        smaller = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
        sizes.append(np.asarray(smaller, np.uint8))
    edges, texture = [], []
    for across in (True, False):
        steep, mean = zip(*(_bends(item, across) for item in sizes), strict=True)
        if sum(steep):
            edges.append(steep[0] / sum(steep))
            texture.append(mean[0] / sum(mean))
    return (min(edges), min(texture)) if edges else None


def _bends(picture: Image, across: bool) -> tuple[float, float]:
    """Second differences in one direction: the mean of the steepest, and of all."""
    import cv2

    return steepness(cv2.Sobel(picture, cv2.CV_16S, 2 * across, 2 * (not across), ksize=1))


LAGS = 0.014
"""How far from an edge its echo is looked for, as a share of the width."""
EVERY = 4
"""Of so many lines one is looked at."""


def halos(levels: Levels, reach: int) -> float:
    """Return how strongly slopes are followed by opposite ones at some distance: 0 hardly, 0.5
    much.

    Sharpening and steep filters surround edges with their opposite, at one distance everywhere;
    what pictures show has no such distance. Lag 1 is left out: there noise does the same.

    >>> rng = np.random.default_rng(0)
    >>> scene = np.repeat(rng.integers(0, 200, 24), 8)[None].repeat(32, 0).astype(np.int16)
    >>> echo = np.roll(scene, 5, axis=1) // 2
    >>> halos(scene, 6) < 0.1 < 0.3 < halos(scene - echo, 6)
    True
    """
    result = []
    for here in (levels[::EVERY], levels.T[::EVERY]):
        slope = np.diff(here, axis=1).astype(np.float64)
        # By the power spectrum; zeros beyond the reach, so that ends do not meet.
        length = -(-(slope.shape[1] + reach) // 32) * 32
        power = np.abs(np.fft.rfft(slope, length, axis=1)) ** 2
        along = np.fft.irfft(power.sum(axis=0), length)
        if along[0] > 0:
            result.append(-float(along[2 : reach + 1].min() / along[0]))
    return max(result) if result else 0.0


COMB = 8
"""Levels by which a line must differ from the next to count."""


def combing(levels: Levels) -> float:
    """Return the share of places where lines go to and fro three times, less that of columns that
    do.

    >>> still = np.tile(np.arange(64, dtype=np.int16), (64, 1))
    >>> comb = still.copy()
    >>> comb[1::2] += 40
    >>> combing(still), round(combing(comb), 2)
    (0.0, 1.0)
    """
    across, down = (_to_and_fro(here) for here in (levels, levels.T))
    return down - across


def _to_and_fro(levels: Levels) -> float:
    steps = np.diff(levels, axis=1)
    up, down = steps >= COMB, steps <= -COMB
    first = up[:, :-2] & down[:, 1:-1] & up[:, 2:]
    second = down[:, :-2] & up[:, 1:-1] & down[:, 2:]
    return int(np.count_nonzero(first) + np.count_nonzero(second)) / first.size


NEAR, AROUND = 3, 25
"""Levels over which counts are smoothed, to see what is there and what should be."""


def bands(picture: Image) -> float:
    """Return how unevenly neighbouring levels are used: 0 evenly, above 1 a few levels only.

    >>> ramp = np.arange(256, dtype=np.uint8).repeat(16).reshape(64, 64)
    >>> bands(ramp) < 0.2 < 0.8 < bands(ramp // 26 * 26)
    True
    """
    counts = np.bincount(picture.ravel(), minlength=256).astype(np.float64)
    near, around = (_smoothed(counts, width) for width in (NEAR, AROUND))
    return float(np.abs(near - around).sum() / counts.sum())


def _smoothed(counts: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    padded = np.pad(counts, width // 2)
    sums = np.cumsum(np.concatenate(([0.0], padded)))
    return np.asarray((sums[width:] - sums[:-width]) / width)


NARROW, WIDE = 4.0, 16.0
"""Degrees around level and upright that count as such, and as nearly such."""


def level(picture: Image) -> float:
    """Of the slopes within 16 degrees of level or upright, the share within 4: a quarter is none.

    What people build is level and upright, and so are horizons and trees.

    >>> import cv2
    >>> bars = np.repeat(np.arange(16, dtype=np.uint8) % 2 * 200, 12)[None].repeat(192, 0)
    >>> turn = cv2.getRotationMatrix2D((96, 96), 10, 1.0)
    >>> askew = cv2.warpAffine(bars, turn, (192, 192), borderMode=cv2.BORDER_REFLECT)
    >>> level(bars) > 0.9 > 0.3 > level(np.asarray(askew, np.uint8))
    True
    """
    import cv2

    height, width = picture.shape
    half = cv2.resize(picture, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
    across, down = (
        np.abs(cv2.Sobel(half, cv2.CV_16S, item, 1 - item, ksize=3)).astype(np.int32)
        for item in (1, 0)
    )
    more, less = np.maximum(across, down), np.minimum(across, down)
    narrow, wide = (
        int(more[less * 1000 <= more * round(1000 * np.tan(np.radians(angle)))].sum())
        for angle in (NARROW, WIDE)
    )
    return narrow / wide if wide else NARROW / WIDE


# Light and colours, of a small picture.

DARK, LIGHT = 8, 247
"""Levels up to and from which nothing is told apart."""


@metric(
    summary="light and colours of each shot",
    outputs=declared("tones"),
    traits={"brightness": Traits(visible=0.08)},
    request=COLOUR,
)
def tones(image: Image) -> tuple[float, ...] | None:
    """Numbers of brightness and of colours; see their descriptions."""
    picture = inner(image).astype(np.int32)
    red, green, blue = (picture[..., number] for number in range(3))
    # Rec. 601 in whole numbers; differences of colour as they are coded, in 1/256 levels.
    light = (77 * red + 150 * green + 29 * blue + 128) >> 8
    if light.size < 64:
        return None
    counts = np.bincount(light.ravel(), minlength=256)
    size, levels = light.size, np.arange(256)
    mean = float(counts @ levels) / size
    away = levels - mean
    deviation = float(np.sqrt(counts @ away**2 / size))
    share = np.cumsum(counts) / size
    darkest, lightest = np.searchsorted(share, [0.01, 0.99])
    most, least, third = picture.max(axis=2), picture.min(axis=2), -(-light.shape[0] // 3)
    blues, reds = blue - light, red - light
    inks = _explained(light, blues, reds)
    # Colours by brightness: what is tinged in the light is as tinged in the dark.
    whole = int(light.sum()) + DARK * size
    variance = sum(
        int((plane * plane).sum()) / size - (int(plane.sum()) / size) ** 2
        for plane in (blues, reds)
    )
    return (
        mean / 255,
        deviation / 127.5,
        float(darkest) / 255,
        float(lightest) / 255,
        int(np.count_nonzero(most <= DARK)) / size,
        # One channel that is cut off is seen as a wrong colour.
        int(np.count_nonzero(most >= LIGHT) + np.count_nonzero(least >= LIGHT)) / (2 * size),
        float(np.sqrt(max(0.0, variance * (1 - inks)))) * size / whole,
        *_casts(picture),
        _bleeding(light, blues, reds),
        inks,
        float(counts @ away**3 / size) / deviation**3 if deviation >= 1 else 0.0,
        (int(light[:third].sum()) - int(light[-third:].sum())) / light[:third].size / 255,
    )


def _casts(picture: NDArray[np.int32]) -> tuple[float, float]:
    """Return how much stronger edges are in blue and in red than in green.

    After van de Weijer and others, 2007: what a picture shows may be of any colour, but on
    average its edges are grey. A tinge changes them as it changes the light.
    """
    red, green, blue = (
        int(number)
        for number in sum(np.abs(np.diff(picture, axis=axis)).sum(axis=(0, 1)) for axis in (0, 1))
    )
    # As much as rounding leaves is added: a plain picture has no edges.
    floor = picture[..., 0].size
    return (
        float(np.log2((blue + floor) / (green + floor))),
        float(np.log2((red + floor) / (green + floor))),
    )


def _bleeding(light: NDArray[np.int32], blues: NDArray[np.int32], reds: NDArray[np.int32]) -> float:
    """Of slopes along lines and across: in doublings."""

    def slopes(plane: NDArray[np.int32], axis: int) -> int:
        step = np.diff(plane, axis=axis)
        return int((step * step).sum())

    colours = [slopes(blues, axis) + slopes(reds, axis) for axis in (0, 1)]
    lights = [slopes(light, axis) for axis in (0, 1)]
    # A picture of one colour, or of none, says nothing: as much as rounding leaves is added.
    floor = 16 * light.size
    return float(
        np.log2((colours[0] + floor) / (colours[1] + floor))
        - np.log2((lights[0] + floor) / (lights[1] + floor))
    )


def _explained(
    light: NDArray[np.int32], blues: NDArray[np.int32], reds: NDArray[np.int32]
) -> float:
    """Return the share of the variance of both colour differences that a line through brightness
    has."""
    size = light.size
    lights = int(light.sum())
    power = size * int((light * light).sum()) - lights * lights
    whole = reported = 0.0
    for plane in (blues, reds):
        total = int(plane.sum())
        shared = size * int((light * plane).sum()) - lights * total
        whole += size * int((plane * plane).sum()) - total * total
        reported += shared * shared / power if power else 0.0
    # Below a deviation of a few levels there are no colours to explain.
    return reported / (whole + 16.0 * size * size)


# What a lens, a filter or a generator adds to all pictures of a shot alike.


CORNERS = 0.6
"""The share of the half diagonal from which on the fall-off of light is measured."""
DARKEST, LIGHTEST = 12, 250
"""Levels between which brightness is told apart."""
TILES = 3
"""Tiles a side in which edges of red and blue are held against those of green."""
LEAST_ENERGY = 0.4
"""Squared levels by which noise steepens edges."""
STEPS = 640
"""Steps in the longer side of a picture: motion and shifts are measured in them."""
FARTHEST, NEAREST = 24, 2.5
"""Pixels by which the outlines of a double picture may be apart."""
SEAM = 16
"""Pixels of a straight seam."""
CLEAR_SEAM = 0.8
"""By how much the step at a seam exceeds those beside it, as a share of the detail around."""
MEMORY = 8
"""Pictures after which what was seen before counts for little."""


@register(
    "metric", "lens", version=2, summary="what stays on all pictures of a shot: lens, echo, seams"
)
def lens(*, rate: float = 2.0) -> ShotMetric:
    """Fall-off of light, edges in colour, double outlines and seams; ``rate``: pictures a second.

    Echo and seams are means over pictures: what they show changes, and these stay.
    """
    wants = replace(COLOUR, size=Size(long_side=320))
    return ShotMetric(LENS, at_rate(wants, rate), Lens, about="picture")


class Lens:
    """Measures single pictures, with means over those before."""

    def __init__(self) -> None:
        self._spectrum, *self._seams = (Mean(MEMORY) for _ in range(3))

    def __call__(self, image: Image) -> list[float] | None:
        import cv2

        grey = np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.uint8)
        single = inner(grey).astype(np.float32)
        if min(single.shape) < 2 * FARTHEST + 2 or float(single.std()) < LEAST_DETAIL:
            return None
        pictures = (spectrum(single), *steps(single))
        means = [
            mean(item) for mean, item in zip((self._spectrum, *self._seams), pictures, strict=True)
        ]
        return [fall_off(grey), echo(means[0], single.shape), seams(*means[1:]), *shifts(image)]


class Mean:
    """The mean of arrays as they come, of which old ones fade."""

    def __init__(self, memory: int) -> None:
        self._mean: Floats | None = None
        self._count, self._memory = 0, memory

    def __call__(self, item: Floats) -> Floats:
        if self._mean is None or self._mean.shape != item.shape:
            self._mean, self._count = item, 0
        self._count = min(self._count + 1, self._memory)
        self._mean = self._mean + (item - self._mean) / np.float32(self._count)
        return self._mean


def fall_off(grey: Image) -> float:
    """Return how steeply light falls towards the corners, in e-folds on half a diagonal.

    The median of all places there: what is bright or dark of itself has an outline, and is even.
    NaN where nearly all is too dark or too bright to tell.

    >>> down, across = np.mgrid[-90:90, -160:160] / np.hypot(90, 160)
    >>> light = 200 * np.exp(-(across**2 + down**2))
    >>> round(fall_off(light.astype(np.uint8)), 1), fall_off(np.full((180, 320), 99, np.uint8))
    (1.4, 0.0)
    """
    import cv2

    height, width = (side // 2 for side in grey.shape)
    small = cv2.resize(grey, (width, height), interpolation=cv2.INTER_AREA)
    light = np.log(cv2.GaussianBlur(small.astype(np.float32), (0, 0), width / 80) + 6)
    half = float(np.hypot(height, width)) / 2
    down = (np.arange(height, dtype=np.float32)[:, None] - (height - 1) / 2) / half
    across = (np.arange(width, dtype=np.float32) - (width - 1) / 2) / half
    radius = np.sqrt(across * across + down * down) + np.float32(1e-6)
    slope = (
        half
        / 8
        * (cv2.Sobel(light, cv2.CV_32F, 1, 0) * across + cv2.Sobel(light, cv2.CV_32F, 0, 1) * down)
    )
    counts = (radius > CORNERS) & (small > DARKEST) & (small < LIGHTEST)
    return 0.0 - float(np.median((slope / radius)[counts])) if counts.mean() > 0.05 else np.nan


def spectrum(grey: Floats) -> Floats:
    """Return the logarithm of the power of each frequency, above that of noise."""
    height, width = grey.shape
    shade = np.outer(np.hanning(height), np.hanning(width))
    power = np.abs(np.fft.rfft2((grey - grey.mean()) * shade)) ** 2
    return np.asarray(np.log(power + height * width / 2), np.float32)


def echo(power: Floats, shape: tuple[int, ...]) -> float:
    """Return how far one shift stands out in which a picture is like itself.

    An echo at some distance is a ripple in the spectrum; the ripple is a peak in its spectrum.
    """
    import cv2

    height, width = shape
    lags = np.fft.irfft2(power, s=(height, width))
    reach = np.arange(-FARTHEST, FARTHEST + 1)
    near = lags[: FARTHEST + 1][:, reach].astype(np.float32)
    peaks = near - cv2.medianBlur(near, 5)
    down, across = np.mgrid[: FARTHEST + 1, -FARTHEST : FARTHEST + 1]
    away = np.hypot(down, across)
    return float(peaks[(away > NEAREST) & (away < FARTHEST)].max())


def steps(grey: Floats) -> tuple[Floats, Floats]:
    """Return how far each step across and down exceeds those beside it, by the detail around."""
    import cv2

    detail = cv2.blur(np.abs(grey - cv2.blur(grey, (5, 5))), (SEAM, SEAM)) + 1
    across, down = np.abs(np.diff(grey, axis=1)), np.abs(np.diff(grey, axis=0))
    beyond = across[:, 2:-2] - (across[:, :-4] + across[:, 4:]) / 2
    below = down[2:-2] - (down[:-4] + down[4:]) / 2
    return (np.clip(beyond / detail[:, 3:-2], -2, 2), np.clip(below / detail[3:-2], -2, 2))


def seams(across: Floats, down: Floats) -> float:
    """Return the share of the picture at straight upright and level seams."""
    import cv2

    found = cv2.blur(across, (1, SEAM)) > CLEAR_SEAM, cv2.blur(down, (SEAM, 1)) > CLEAR_SEAM
    return float(sum(np.count_nonzero(item) for item in found)) / (2 * across.size)


def shifts(image: Image) -> list[float]:
    """Return by how much edges of red and of blue are beside those of green, tile by tile.

    Across, down, and how much detail says so: three numbers for each of nine tiles and two colours.
    """
    import cv2

    def tiles(first: Floats, second: Floats) -> NDArray[np.float64]:
        size = (TILES, TILES)
        small = cv2.resize(first * second, size, interpolation=cv2.INTER_AREA)
        return np.asarray(small, np.float64).ravel()

    soft = [cv2.GaussianBlur(image[..., c].astype(np.float32), (0, 0), 0.7) for c in range(3)]
    red, green, blue = (item - cv2.GaussianBlur(item, (0, 0), 3) for item in soft)
    slopes = [cv2.Sobel(green, cv2.CV_32F, *axis) / 8 for axis in ((1, 0), (0, 1))]
    basis = [green, *slopes]
    products = np.array([[tiles(one, other) for other in basis] for one in basis])
    whole = np.moveaxis(products, 2, 0) + LEAST_ENERGY * np.eye(3)
    energy = whole[:, 1, 1] + whole[:, 2, 2]
    scale = STEPS / max(image.shape[:2])
    found = []
    for colour in (red, blue):
        likeness = np.array([tiles(colour, item) for item in basis]).T[..., None]
        share, across, down = np.linalg.solve(whole, likeness)[..., 0].T
        least = np.maximum(np.abs(share), 0.3) / scale
        found.append(np.stack([across / least, down / least, energy], axis=1))
    return [float(number) for number in np.concatenate(found).ravel()]


def fringes(rows: Rows) -> float:
    """Return by how far red and blue are shifted or enlarged against green, in steps.

    Each tile counts by its detail, at its median over the pictures of a shot.
    """
    usual = np.median(rows[:, 3:], axis=0).reshape(2, TILES * TILES, 3)
    down, across = np.mgrid[-1:2, -1:2].reshape(2, -1)
    ones, nothing = np.ones(len(across)), np.zeros(len(across))
    places = np.concatenate(
        [np.stack([ones, nothing, across], axis=1), np.stack([nothing, ones, down], axis=1)]
    )
    total = 0.0
    for tiles in usual:
        weights = np.sqrt(np.tile(tiles[:, 2] / (tiles[:, 2].sum() + 1e-9), 2))[:, None]
        both = np.concatenate([tiles[:, 0], tiles[:, 1]])[:, None]
        fit = np.linalg.lstsq(places * weights, both * weights, rcond=None)[0]
        total += float((fit * fit).sum())
    return float(np.sqrt(total))


def vignette(rows: Rows) -> float:
    """Return the mean fall-off of the pictures that show it."""
    if np.isnan(rows[:, 0]).all():
        raise NoValue(Reason.NOT_APPLICABLE, "the corners are too dark or too bright")
    return float(np.nanmean(rows[:, 0]))


def settled(column: int) -> Reduce:
    """Return the mean of the later half of a shot, where earlier shots have faded."""
    return lambda rows: float(rows[len(rows) // 2 :, column].mean())


_LENS = declared("lens")
BENT = (SideEffect("melting"), SideEffect("coherence.jitter"), SideEffect("lens.doubled"))
"""Edges that are bent, faded or moving are neither seams nor dirt."""
LENS = {
    "vignette": ShotOutput(_LENS["vignette"], vignette),
    "fringes": ShotOutput(_LENS["fringes"], fringes),
    "doubled": ShotOutput(_LENS["doubled"], settled(1), Traits((BLURRED,))),
    "seams": ShotOutput(_LENS["seams"], settled(2), Traits((SMOOTHED, *BENT))),
}
