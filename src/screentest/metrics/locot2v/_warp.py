"""Moving one picture onto another by optical flow, and where that cannot work.

Lai et al. (2018) by way of EvalCrafter: a pixel is not compared where going there and coming
back ends elsewhere, or where the flow itself changes abruptly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.models.roles import FlowField

    Plane: TypeAlias = NDArray[Any]

RELATIVE, ABSOLUTE = 0.01, 0.5
"""A round trip may miss by this: squared pixels, relative to the motion and at all."""
EDGE_RELATIVE, EDGE_ABSOLUTE = 0.01, 0.002
"""How much the flow may change from pixel to pixel."""


@dataclass(frozen=True, slots=True)
class Warp:
    """The earlier picture seen from the later one."""

    picture: Plane
    """height × width × channels"""
    visible: NDArray[np.bool_]
    """Pixels of the later picture that the earlier one shows too."""


def warp(earlier: Plane, there: FlowField, back: FlowField, *, edges: bool = True) -> Warp:
    """``earlier`` moved onto the later picture; ``there`` is the flow to it, ``back`` from it."""
    return Warp(moved(earlier, back), visible(there, back, edges=edges))


def moved(picture: Plane, by: FlowField) -> Plane:
    """The picture as seen from pixels that look ``by`` away; bilinear."""
    import cv2

    across, down = _places(by)
    plane = np.asarray(picture, np.float32)
    return np.asarray(cv2.remap(plane, across, down, cv2.INTER_LINEAR), plane.dtype).reshape(
        plane.shape
    )


def visible(there: FlowField, back: FlowField, *, edges: bool = True) -> NDArray[np.bool_]:
    """Which pixels of the later picture can be compared at all.

    With ``edges``, none that looks outside the earlier one.
    """
    out = moved(there, back)
    allowed = RELATIVE * (_squares(out) + _squares(back)) + ABSOLUTE
    hidden = _squares(out + back) > allowed
    edge = _steepness(back) > EDGE_RELATIVE * _squares(back) + EDGE_ABSOLUTE
    if not edges:
        return np.asarray(~hidden & ~edge)
    across, down = _places(back)
    height, width = across.shape
    inside = (across >= 0) & (across <= width - 1) & (down >= 0) & (down <= height - 1)
    return np.asarray(inside & ~hidden & ~edge)


def _places(by: FlowField) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    height, width = by.shape[:2]
    across, down = np.meshgrid(
        np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32)
    )
    return across + by[..., 0], down + by[..., 1]


def _squares(field: Plane) -> Plane:
    return np.asarray(np.einsum("hwc,hwc->hw", field, field))


def _steepness(field: FlowField) -> Plane:
    """The squared change of the flow to the right and downwards; 0 at the far edges."""
    total = np.zeros(field.shape[:2], np.float32)
    total[:, :-1] += _squares(np.diff(field, axis=1))
    total[:-1, :] += _squares(np.diff(field, axis=0))
    return total
