"""The frames a judge is shown: the middle of each clip, drawn down to what the model takes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from screentest.core import BadOption, Filter, FrameRequest, Resources, Size, Time
from screentest.models.chat.messages import Part
from screentest.models.chat.pictures import Encoding, timed

FFMPEG = "scdet"
"""The detector that works as FFmpeg's own, which the paper uses."""


def must_show(frames: int, long_side: int) -> None:
    """Refuse options under which a judge would see nothing."""
    if frames < 1 or long_side < 16:
        raise BadOption(
            f"{frames} frames of {long_side} pixels show nothing",
            advice="frames is 1 or more, long_side 16 or more.",
        )


def clip_centres(
    video: Path, resources: Resources, *, budget: int, detector: str, seed: int
) -> list[Time]:
    """The middle of each clip, in order; at random as many as the budget allows.

    The draw depends on how many clips there are and on nothing else: two videos cut alike are
    looked at in the same places, whichever comes first.
    """
    centres = [shot.span.centre for shot in resources.shots(video, detector)]
    return drawn(centres, budget, seed)


def drawn(moments: Sequence[Time], budget: int, seed: int) -> list[Time]:
    """``budget`` of the moments, in their order.

    >>> [int(t) for t in drawn([Time(n) for n in range(10)], 3, seed=0)]
    [1, 2, 8]
    """
    if len(moments) <= budget:
        return list(moments)
    dice = random.Random(f"{seed}/{len(moments)}/{budget}")
    return [moments[place] for place in sorted(dice.sample(range(len(moments)), budget))]


def pictures(
    video: Path, moments: Sequence[Time], resources: Resources, *, long_side: int
) -> list[Part]:
    """The frames at these moments, each after its time in words."""
    size = Size(long_side=long_side)
    request = FrameRequest(size=size, filter=Filter.AREA)
    return timed(resources.frames(video, moments, request), Encoding(size))
