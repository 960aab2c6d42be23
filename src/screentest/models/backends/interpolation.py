"""Backends of the role ``interpolation``: half-way by optical flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from screentest.core import Image, register
from screentest.models.backends.flow import DisFlow, Preset
from screentest.models.pictures import Plane, check_pair, to_bytes

HIDDEN_FROM = 1.0
"""A round trip may miss by this many pixels, and a twentieth of the way, before it tells."""
WORST_MISS = 4.0
AGREEMENT_WINDOW = 15


@register(
    "interpolation",
    "flow_midpoint",
    summary="both pictures moved half-way by DIS flow and blended; needs no weights",
)
class FlowMidpoint:
    """The picture between two by optical flow: both are moved half-way and blended.

    Needs no weights. Flow is taken in both directions. Where going there and coming back ends
    elsewhere, one of the pictures hides what the other shows, and it counts less; where moving the
    pictures makes them agree less than they did before, the flow is wrong, and the plain mean of
    both is taken. ``preset`` is that of the flow backend ``dis``.

    Safe to call from several threads.
    """

    def __init__(self, *, preset: Preset = "medium") -> None:
        self._flow = DisFlow(preset=preset)

    @property
    def identity(self) -> Mapping[str, str]:
        return self._flow.identity

    def midpoint(self, pairs: Sequence[tuple[Image, Image]]) -> list[Image]:
        return [self._between(first, second) for first, second in pairs]

    def _between(self, first: Image, second: Image) -> Image:
        check_pair(first, second)
        there, back = self._flow.flow([(first, second), (second, first)])
        return blend_halfway(first, second, there, back)


def blend_halfway(first: Image, second: Image, there: Plane, back: Plane) -> Image:
    """Return the picture half-way, from the flow first → second (``there``) and second → first."""
    # Seen from the middle, the way to either side is half the mean of both flows.
    half = (there - back) / 4
    moved_first, moved_second = _moved(first, -half), _moved(second, half)
    shift = _trust(there, back, -half) - _trust(back, there, half)
    weight = _smoothed(1 / (1 + np.exp(shift)), 5)[..., None]
    moved = moved_first * weight + moved_second * (1 - weight)

    plain = (first.astype(np.float32) + second) / 2
    before = _disagreement(first.astype(np.float32), second.astype(np.float32))
    after = _disagreement(moved_first, moved_second)
    sure = np.minimum(1, (before / after) ** 2)[..., None]
    mixed = moved * sure + plain * (1 - sure)
    return to_bytes(mixed)


def _trust(there: Plane, back: Plane, start: Plane) -> Plane:
    """Failure of a round trip from the pixels at ``start``: 0 none, 2 as badly as counts."""
    out = _moved(there, start)
    home = _moved(back, start + out)
    miss = np.linalg.norm(out + home, axis=-1) - HIDDEN_FROM - np.linalg.norm(out, axis=-1) / 20
    return np.asarray(np.clip(miss, 0, WORST_MISS) / (WORST_MISS / 2), np.float32)


def _moved(picture: Image | Plane, by: Plane) -> Plane:
    """Return the picture as seen from pixels that look ``by`` away."""
    import cv2

    height, width = by.shape[:2]
    across, down = np.meshgrid(
        np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32)
    )
    seen = cv2.remap(
        picture.astype(np.float32, copy=False),
        across + by[..., 0],
        down + by[..., 1],
        cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(seen, np.float32)


def _disagreement(first: Plane, second: Plane) -> Plane:
    """Mean squared difference around each pixel; never 0."""
    return _smoothed(np.abs(first - second).mean(axis=-1) ** 2, AGREEMENT_WINDOW) + 1


def _smoothed(plane: Plane, window: int) -> Plane:
    import cv2

    return np.asarray(cv2.GaussianBlur(plane, (window, window), 0), np.float32)
