"""Warping error: what differs between consecutive frames beyond their motion.

EvalCrafter's protocol: frames at half their size; the earlier one is moved onto the later by
optical flow; the squared difference, summed over the channels, is averaged over the pixels that
both show, then over all pairs of frames. The paper takes the negative logarithm, so that more
is better.

A logarithm has no upper end, and the paper does not say how it was brought to 0–1. Here an
error of 1 gives 0 and one of a single grey level in every channel gives 1. With
``scale="exponential"`` the score is exp(−5 × error), as in the code of the second edition; the
range of the printed values fits that one. ``compat="upstream"`` also takes over what that code
does otherwise: the flow network is handed pictures 255 times too dark, pixels that look outside
the picture are compared with black, and a pair in which nothing can be compared counts as
perfect.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from screentest.core.errors import BadOption
from screentest.core.frames import Filter, FrameRequest, Image, Size
from screentest.core.item import Item
from screentest.core.metric import Level, MetricInfo, Outcomes, OutputInfo, Resources
from screentest.core.outcome import Outcome, Score
from screentest.core.registry import register
from screentest.suites.locot2v.metrics.motion import STILLNESS
from screentest.suites.locot2v.requests import Timeline, Work, inapplicable
from screentest.suites.locot2v.similarity import Pair, Pairwise

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
    """Return the picture as seen from pixels that look ``by`` away; bilinear."""
    import cv2

    across, down = _places(by)
    plane = np.asarray(picture, np.float32)
    return np.asarray(cv2.remap(plane, across, down, cv2.INTER_LINEAR), plane.dtype).reshape(
        plane.shape
    )


def visible(there: FlowField, back: FlowField, *, edges: bool = True) -> NDArray[np.bool_]:
    """Return which pixels of the later picture can be compared at all.

    With ``edges``, none that looks outside the earlier one.

    Lai et al. (2018) by way of EvalCrafter: a pixel is not compared where going there and coming
    back ends elsewhere, or where the flow itself changes abruptly.
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
    """Return the squared change of the flow to the right and downwards; 0 at the far edges."""
    total = np.zeros(field.shape[:2], np.float32)
    total[:, :-1] += _squares(np.diff(field, axis=1))
    total[:-1, :] += _squares(np.diff(field, axis=0))
    return total


NAME = "locot2v_warping_error"
ONE_LEVEL = 3 / 255**2
"""The error of pictures that differ by one grey level in each channel everywhere."""
TOO_DARK = 1 / 255
"""How bright the second edition's code shows pictures to the flow network."""
Scale = Literal["negative_log", "exponential"]
Compat = Literal["paper", "upstream"]


@register("metric", NAME, version=1, summary="what differs between frames beyond their motion")
def warping_error(
    *,
    scale: Scale = "negative_log",
    alpha: float = 5.0,
    shrink: float = 0.5,
    compat: Compat = "paper",
) -> WarpingError:
    """``alpha`` is the steepness of the exponential; ``shrink`` the size of frames."""
    if alpha <= 0:
        raise BadOption(f"invalid alpha {alpha}: must be above 0")
    return WarpingError(scale, alpha, shrink, compat)


@dataclass(frozen=True)
class WarpingError:
    """Higher is better: the error went through a falling function."""

    scale: Scale
    alpha: float
    shrink: float
    compat: Compat

    info = MetricInfo(
        outputs={NAME: OutputInfo("negative logarithm of the error after motion is undone")},
        traits={NAME: STILLNESS},
        level=Level.FRAME,
        roles=("flow",),
        consecutive=True,
    )

    def start(self, item: Item, resources: Resources) -> Work:
        flow = resources.role("flow")
        video = resources.info(item.video)
        small = tuple(max(1, round(side * self.shrink)) for side in (video.width, video.height))
        wants = FrameRequest(size=Size(exact=(small[0], small[1])), filter=Filter.BILINEAR)
        errors = Timeline()
        hidden = 0
        slipped = self.compat == "upstream"

        def compare(pairs: Sequence[Pair]) -> None:
            nonlocal hidden
            images = [(first.image, second.image) for first, second in pairs]
            both = [way for first, second in images for way in ((first, second), (second, first))]
            fields = flow.flow(both, gain=TOO_DARK) if slipped else flow.flow(both)
            for place, (before, after) in enumerate(pairs):
                there, back = fields[2 * place], fields[2 * place + 1]
                error = pair_error(before.image, after.image, there, back, edges=not slipped)
                if error is None:
                    hidden += 1
                    error = 0.0 if slipped else None
                if error is not None:
                    errors.add(after.time, error)

        def conclude() -> Outcomes:
            if not errors.count:
                what = "no two frames show the same things" if hidden else "the video has one frame"
                raise inapplicable(f"{what}, so there is nothing to compare")
            frames.light.require()
            details = {"error": errors.mean, "pairs": errors.count, "without_overlap": hidden}
            curve = errors.curve(video.span.end)
            scaled = tuple(type(entry)(entry.span, self._scaled(entry.value)) for entry in curve)
            return {NAME: Outcome.of(Score(self._scaled(errors.mean), scaled, details))}

        frames = Pairwise(wants, compare)
        return Work(conclude, [frames])

    def _scaled(self, error: float) -> float:
        if self.scale == "exponential":
            return math.exp(-self.alpha * error)
        return negative_log(error)


def pair_error(
    before: Image, after: Image, there: FlowField, back: FlowField, *, edges: bool = True
) -> float | None:
    """Return the squared error per pixel that both frames show; None where there is none.

    With ``edges``, pixels that look outside the picture are not compared.
    """
    import numpy as np

    earlier = warp(before, there, back, edges=edges)
    shared = int(earlier.visible.sum())
    if not shared:
        return None
    gap = (earlier.picture - after.astype(np.float32))[earlier.visible].astype(np.float64) / 255
    return float((gap * gap).sum() / shared)


def negative_log(error: float) -> float:
    """−log(error), from 0 at an error of 1 to 1 at an error of one grey level and below.

    >>> negative_log(1.0), negative_log(ONE_LEVEL), negative_log(0.0)
    (0.0, 1.0, 1.0)
    >>> round(negative_log(math.sqrt(ONE_LEVEL)), 12)
    0.5
    """
    if error <= ONE_LEVEL:
        return 1.0
    return max(0.0, math.log(error) / math.log(ONE_LEVEL))
