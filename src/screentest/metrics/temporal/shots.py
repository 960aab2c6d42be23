"""Shots beside each other: whether they look like one film, were shown before, and follow.

A film has a look: how hard its edges are, how much grain is in its smooth parts, how its
levels of brightness are spread. A shot that was drawn, painted or sharpened among others that
were not stands out in one of them, whatever it shows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import (
    FrameRequest,
    Image,
    Item,
    NoValue,
    Point,
    Reason,
    Resources,
    Score,
    Size,
    register,
    timecode,
)
from screentest.metrics.curve import (
    COLOUR,
    DETAIL,
    SAMPLED,
    FilmMetric,
    at_rate,
    curve_score,
    declared,
)
from screentest.metrics.functions import metric
from screentest.metrics.static.picture import luma_noise, sharpness, window
from screentest.video.samples import evenly

if TYPE_CHECKING:
    from screentest.metrics.curve import Rows, SeenShots
    from screentest.models.roles import Vectors


USUAL = (0.02, 0.45, 0.2)
"""How much sharpness, entropy and the logarithm of noise deviate between shots of one film:
about the median over eight films."""
_LEAST_NOISE = 0.3
(LOOK,) = declared("shot_consistency").values()


@register("metric", "shot_consistency", summary="shots that look unlike their film")
def shot_consistency(*, rate: float = SAMPLED) -> FilmMetric:
    """Compares each shot with the middle one of all; ``rate``: frames a second."""
    return FilmMetric("shot_consistency", at_rate(DETAIL, rate), look, consistency)


def consistency(seen: SeenShots, shots: int) -> Score:
    """Return a point for each shot."""
    if len(seen) < 2:
        item = "a clip of one shot has none"
        few = "fewer than two shots have a look to compare"
        raise NoValue(Reason.NOT_APPLICABLE, few if shots > 1 else item)
    away = distances(np.array([rows.mean(axis=0) for _, rows in seen]))
    points = [Point(shot.span, 1 / (1 + far)) for (shot, _), far in zip(seen, away, strict=True)]
    return curve_score(points, LOOK, shots=shots)


def look(luma: Image) -> Sequence[float] | None:
    """Sharpness, entropy of the levels in bits, logarithm of noise."""
    import cv2

    picture = window(luma)
    hard, grain = sharpness(luma), luma_noise(luma)
    if picture is None or hard is None or grain is None:
        return None
    shares = cv2.calcHist([picture], [0], None, [256], [0, 256]).ravel() / picture.size
    entropy = float(-(shares * np.log2(shares, where=shares > 0, out=np.zeros_like(shares))).sum())
    return hard, entropy, math.log(grain + _LEAST_NOISE)


def distances(looks: Rows) -> list[float]:
    """From the middle of all, in usual deviations.

    >>> distances(np.array([[0.4, 7, 0], [0.4, 7, 0], [0.44, 7, 0]])).__getitem__(2).__round__(3)
    1.155
    """
    away = (looks - np.median(looks, axis=0)) / np.array(USUAL)
    return [float(far) for far in np.sqrt((away**2).mean(axis=1))]


GRID = (8, 6)
"""Columns and rows to which a picture is reduced."""
LEAST_DETAIL = 4.0
"""Deviation of a reduced picture below which it is black or plain: no repetition to speak of."""


@register("metric", "repeated_shots", summary="shots that were shown before")
def repeated_shots(*, rate: float = SAMPLED, level: float = 3.0) -> FilmMetric:
    """Looks each shot up among those before it, as when a generator goes round in a loop.

    ``level``: the mean difference, in levels, up to which two pictures are the same.
    """
    score = partial(repetition, level=level)
    return FilmMetric("repeated_shots", at_rate(COLOUR, rate), reduced, score)


def repetition(seen: SeenShots, shots: int, *, level: float) -> Score:
    """1 for a shot that was there before, 0 for another."""
    if not seen:
        raise NoValue(Reason.NOT_APPLICABLE, "no shot shows anything to compare")
    points = []
    for number, (shot, rows) in enumerate(seen):
        twins = (before for before, other in seen[:number] if same(rows, other, level))
        twin = next(twins, None)
        note = f"as at {timecode(twin.start)}" if twin else ""
        points.append(Point(shot.span, float(twin is not None), note))
    durations = np.array([float(point.span.duration) for point in points]) + 1e-9
    repeated = np.array([point.value for point in points])
    share = float(durations @ repeated / durations.sum())
    return Score(share, tuple(points), {"shots": shots})


def reduced(image: Image) -> list[float] | None:
    """Return the picture in 8 × 6 fields; None where it is plain."""
    import cv2

    fields = cv2.resize(image, GRID, interpolation=cv2.INTER_AREA).astype(np.float64)
    flat: list[float] = fields.ravel().tolist()
    return flat if fields.std() >= LEAST_DETAIL else None


def same(one: Rows, two: Rows, level: float) -> bool:
    """Return whether the shorter of two shots runs through the longer one, picture by picture.

    A second shot from the same angle begins like the first and then goes its own way.
    """
    short, long = sorted((one, two), key=len)
    for start in range(len(long) - len(short) + 1):
        apart = np.abs(long[start : start + len(short)] - short).mean(axis=1)
        if float(apart.max()) <= level:
            return True
    return False


QUANTILES = 16
"""To so many numbers each of two kinds of colours in a picture is reduced."""


@register("metric", "continuity", summary="shots that belong together stand together")
def continuity(*, rate: float = SAMPLED) -> FilmMetric:
    """Compares the colours of each shot with those of the two before it.

    Shots of one scene share their light and their colours, and follow each other: in a film whose
    shots were shuffled, neighbours are farther apart. It knows nothing of the story.
    """
    return FilmMetric("continuity", at_rate(COLOUR, rate), palette, neighbourhood)


def palette(image: Image) -> list[float] | None:
    """Return how blue and how red the fields of the picture are, from least to most, wherever they
    are."""
    import cv2

    fields = cv2.resize(image, GRID, interpolation=cv2.INTER_AREA).astype(np.float64)
    red, green, blue = (fields[..., number].ravel() for number in range(3))
    light = 0.299 * red + 0.587 * green + 0.114 * blue
    if light.std() < LEAST_DETAIL:
        return None
    step = light.size // QUANTILES
    result: list[float] = []
    for colour in (blue, red):
        result += np.sort(colour - light).reshape(QUANTILES, step).mean(axis=1).tolist()
    return result


def neighbourhood(seen: SeenShots, shots: int) -> Score:
    """Return a point for each shot but the first.

    Half of it is the distance to the shot before, half that to the nearer of the two before:
    where two views alternate, a shot belongs to the last but one.
    """
    if len(seen) < 3:
        raise NoValue(Reason.NOT_APPLICABLE, "fewer than three shots have colours to compare")
    looks = np.array([rows.mean(axis=0) for _, rows in seen])
    usual = _between_any_two(looks)
    if usual < 1e-6:
        raise NoValue(Reason.NOT_APPLICABLE, "all shots have the same colours")
    first = np.abs(looks[1:] - looks[:-1]).mean(axis=1)
    second = np.abs(looks[2:] - looks[:-2]).mean(axis=1)
    nearer = np.minimum(first, np.concatenate(([np.inf], second)))
    points = [
        Point(shot.span, float(1 - (far + near) / 2 / usual))
        for (shot, _), far, near in zip(seen[1:], first, nearer, strict=True)
    ]
    value = float(np.mean([point.value for point in points]))
    return Score(value, tuple(points), {"shots": shots, "measured": len(seen)})


def _between_any_two(looks: Rows) -> float:
    """Return the mean distance of all pairs, in the time that sorting takes.

    >>> _between_any_two(np.array([[0.0], [1.0], [5.0]]))  # 1, 4 and 5
    3.3333333333333335
    """
    count = len(looks)
    weights = 2 * np.arange(count) - count + 1
    sums = weights @ np.sort(looks, axis=0)
    return float(sums.mean() * 2 / (count * (count - 1)))


# Consistency by features of pictures: VBench's formula, shot by shot.
#
# VBench takes DINO's features for the subject and CLIP's for the background, and means over frames:
# the mean of a frame's cosine with the frame before and with the first one, none below 0. A video
# of VBench is one shot. Of longer ones each shot is taken for itself, as VBench-Long does within
# its clips, so that a cut is no fault. Frames are whole, as VBench takes them. Which features are
# taken is chosen for each metric: ``--model image_features.subject=dinov2``.

SUBJECT, BACKGROUND = "image_features.subject", "image_features.background"
LONG_SIDE = 336
"""The encoders look at 224 × 224; a wide picture is not enlarged for them."""
_OF_FEATURES: Mapping[str, Any] = {
    "unit": "cosine",
    "frames": 8,
    "long_side": LONG_SIDE,
    "inside": False,
    "nothing": "no shot has two frames",
}


def steady_features(vectors: Vectors) -> float | None:
    """VBench's: of each frame but the first, with the one before and with the first.

    >>> half = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    >>> steady_features(half), steady_features(half[:1])
    (0.5, None)
    """
    if len(vectors) < 2:
        return None
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    with_last = np.clip(np.sum(unit[1:] * unit[:-1], axis=1), 0, 1)
    with_first = np.clip(unit[1:] @ unit[0], 0, 1)
    return float((with_last + with_first).mean() / 2)


@metric(**_OF_FEATURES, roles=(SUBJECT,))
def subject_consistency(shot: Sequence[Image], resources: Resources) -> float | None:
    """Return how much what is shown stays the same within a shot: VBench's formula, features of
    choice."""
    return steady_features(resources.role(SUBJECT).features(shot))


@metric(**_OF_FEATURES, roles=(BACKGROUND,))
def background_consistency(shot: Sequence[Image], resources: Resources) -> float | None:
    """Return how much the scene stays the same within a shot: VBench's formula, features of
    choice."""
    return steady_features(resources.role(BACKGROUND).features(shot))


FACES = FrameRequest(size=Size(long_side=640), inside=True)
_LOOKS = 3
"""Pictures of each shot in which faces are looked for."""


@metric(
    summary="whether shots show the face of one person",
    outputs=declared("face_identity"),
    roles=("faces",),
    shots=True,
    inside=True,
)
def face_identity(item: Item, resources: Resources) -> Score:
    """The mean cosine of the main faces of any two shots, with each shot's mean as the curve.

    The main face of a picture is the largest. A shot without a face is left out: it shows no other
    person.
    """
    shots = resources.shots(item.video)
    spans, rows = [], []
    for shot in shots:
        frames = resources.frames(item.video, evenly(shot.span, _LOOKS), FACES)
        found = resources.role("faces").identities([frame.image for frame in frames])
        if largest := [faces[0] for faces in found if len(faces)]:
            mean = np.mean(largest, axis=0, dtype=np.float64)
            spans.append(shot.span)
            rows.append(mean / np.linalg.norm(mean))
    if len(rows) < 2:
        few = f"{len(rows)} of {len(shots)} shots show a face, and two are needed"
        raise NoValue(Reason.NOT_APPLICABLE, few)
    cosines = np.clip(np.array(rows) @ np.array(rows).T, -1, 1)
    means = (cosines.sum(axis=1) - 1) / (len(rows) - 1)
    curve = tuple(Point(span, float(mean)) for span, mean in zip(spans, means, strict=True))
    return Score(float(means.mean()), curve, {"shots": len(shots), "measured": len(rows)})
