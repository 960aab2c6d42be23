"""How the camera moves, from optical flow: the drift and the growth of the whole picture.

A camera that turns left lets the picture move to the right; one that comes closer lets it grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from screentest.models.roles import FlowField

LEAST = 0.02
"""The share of the picture's longer side per second that counts as a movement."""
AGREEING = 0.6
"""The share of looked-at moments that must show it."""


@dataclass(frozen=True, slots=True)
class Movement:
    """Per second and as a share of the longer side: to the right, down, and growing."""

    right: float
    down: float
    growing: float


def movement(field: FlowField, seconds: float) -> Movement:
    """What the picture as a whole does; what moves in it is outvoted by the rest.

    >>> flow = np.zeros((40, 60, 2), np.float32)
    >>> flow[..., 0] = 3.0
    >>> movement(flow, 0.5)
    Movement(right=0.1, down=0.0, growing=0.0)
    """
    height, width = field.shape[:2]
    longer = max(height, width)
    across = np.arange(width, dtype=np.float64) - (width - 1) / 2
    along = (np.arange(height, dtype=np.float64) - (height - 1) / 2)[:, None]
    right, down = float(np.median(field[..., 0])), float(np.median(field[..., 1]))
    radius = np.hypot(across, along)
    outer = radius > 0.25 * longer
    inward = ((field[..., 0] - right) * across + (field[..., 1] - down) * along)[outer]
    growing = float(np.median(inward / radius[outer] ** 2))
    scale = 1.0 / (seconds * longer)
    return Movement(
        round(right * scale, 6), round(down * scale, 6), round(growing / seconds / 2, 6)
    )


_WAYS = {
    "left": ("right", 1),
    "right": ("right", -1),
    "up": ("down", 1),
    "upward": ("down", 1),
    "upwards": ("down", 1),
    "down": ("down", -1),
    "downward": ("down", -1),
    "downwards": ("down", -1),
    "in": ("growing", 1),
    "closer": ("growing", 1),
    "forward": ("growing", 1),
    "forwards": ("growing", 1),
    "out": ("growing", -1),
    "back": ("growing", -1),
    "backward": ("growing", -1),
    "backwards": ("growing", -1),
}


def moves(value: str, seen: Sequence[Movement]) -> bool | None:
    """Whether the camera moves as ``value`` says; None where flow cannot tell.

    >>> drift = [Movement(0.1, 0.0, 0.0)] * 4
    >>> moves("pan left", drift), moves("pan right", drift), moves("timelapse", drift)
    (True, False, None)
    """
    words = value.split()
    if not seen:
        return None
    if value == "static shot":
        return all(max(abs(one.right), abs(one.down), abs(one.growing)) < LEAST for one in seen)
    way = next((_WAYS[word] for word in words if word in _WAYS), None)
    if way is None or words[0].startswith(("orbit", "rotat", "circl", "follow")):
        return None
    along, sign = way
    agreeing = sum(sign * float(getattr(one, along)) >= LEAST for one in seen)
    return agreeing >= AGREEING * len(seen)
