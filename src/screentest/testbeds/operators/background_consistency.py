"""Background consistency: behind what stands in front, the background jumps from frame to frame.

As in SLVMEval the foreground is cut out of every frame and laid over pictures of landscapes,
another one than in the frame before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Aspect, register
from screentest.testbeds.backgrounds import Backgrounds
from screentest.testbeds.contract import (
    Chosen,
    Context,
    DegradationInfo,
    Details,
    FilmClip,
    Look,
    Rng,
    Unfit,
)
from screentest.testbeds.operators.shared import blended, changed_clips, numbered
from screentest.video import Pixels, VideoPart

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.roles import Mask

LEAST, MOST = 0.02, 0.9
"""The share of the picture that the foreground may fill."""


@register(
    "degradation",
    "background_consistency",
    version=1,
    summary="backgrounds that jump",
    neutral=("folder",),  # the pictures themselves are hashed, wherever they are
)
def background_consistency(*, folder: str = "") -> BackgroundConsistency:
    """``folder`` holds the new backgrounds; without one, the packaged landscapes."""
    return BackgroundConsistency(Backgrounds.of(Path(folder).expanduser() if folder else None))


class BackgroundConsistency:
    """Severity is how much the new background covers the old one."""

    def __init__(self, backgrounds: Backgrounds) -> None:
        self.info = DegradationInfo(
            Aspect.BACKGROUND_CONSISTENCY,
            mentions="a background",
            roles=("matting",),
            inputs=backgrounds.digest,
            remarks=tuple(
                f"{name} among the backgrounds cannot be read: it is left out"
                for name in backgrounds.unreadable
            ),
        )
        self._backgrounds = backgrounds

    def eligible(self, clip: FilmClip) -> bool:
        """The caption mentions a background."""
        return bool(clip.facts.background)

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """Something must stand in front, and something must be behind it."""
        mattes = look.models.role("matting").matte(look.pictures(clip))
        shares = [float(np.mean(matte >= 0.5)) for matte in mattes]
        if 2 * sum(LEAST <= share <= MOST for share in shares) <= len(shares):
            raise Unfit("have no foreground that can be told from the background")
        return {"backgrounds": self._backgrounds.digest, "pictures": len(self._backgrounds.paths)}

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """The film with jumping backgrounds in the chosen clips."""
        matting = context.models.role("matting")

        def change(one: Chosen) -> Callable[[int, Image], Image]:
            jumps = Jumps(len(self._backgrounds.paths), context.rng_of(one.clip))

            def replaced(number: int, image: Image) -> Image:
                behind = self._backgrounds.picture(jumps.next(number), image.shape[:2])
                behind = blended(image, behind, severity)
                return laid_over(image, matting.matte([image])[0], behind)

            return replaced

        return changed_clips(context, chosen, lambda one: numbered(change(one)), Pixels.RGB)


class Jumps:
    """Which background stands behind each frame: never the one of the frame before."""

    def __init__(self, count: int, rng: Rng) -> None:
        self._count, self._dice = count, rng
        self._last: int | None = None

    def next(self, frame: int) -> int:
        """The background of the next frame."""
        others = [number for number in range(self._count) if number != self._last]
        self._last = self._dice.pick(others or [0], "background", frame)
        return self._last


def laid_over(image: Image, matte: Mask, behind: Image) -> Image:
    """The foreground of ``image`` over another picture."""
    front = matte[..., None]
    return np.asarray(np.rint(image * front + behind * (1 - front)), np.uint8)
