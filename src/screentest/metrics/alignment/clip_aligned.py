"""CLIP, aligned: each shot against its own caption instead of the whole prompt.

Shots and captions are paired one to one in order. A caption without a shot counts 0, so that
what is missing or out of place lowers the score as well as what looks wrong.
"""

from __future__ import annotations

from screentest.core import (
    Item,
    Level,
    MetricInfo,
    Outcome,
    Outcomes,
    OutputInfo,
    Point,
    Resources,
    Score,
    register,
)
from screentest.metrics.alignment._shot_captions import noted, shot_captions


@register("metric", "clip_aligned", version=2, summary="each shot against its own caption")
def clip_aligned() -> ClipAligned:
    """Needs a script; the role image_text decides what it sees."""
    return ClipAligned()


class ClipAligned:
    """Mean cosine over the captions of the script."""

    info = MetricInfo(
        {
            "clip_aligned": OutputInfo("mean cosine of captions and their shots", low=-1.0),
            "standing_out": OutputInfo(
                "how far these pairs stand out, on average", low=-5.0, high=5.0, unit="deviations"
            ),
        },
        Level.CLIP,
        roles=("image_text",),
        needs=("script",),
        shots=True,
    )

    def start(self, item: Item, resources: Resources) -> _Aligning:
        """Begin on one video."""
        return _Aligning(item, resources)


class _Aligning:
    consumers = ()

    def __init__(self, item: Item, resources: Resources) -> None:
        self._item, self._resources = item, resources

    def finish(self) -> Outcomes:
        """Both means, with a point for each pair."""
        table = shot_captions(self._item, self._resources, colours=0.0)
        table.must_see()
        pairs, captions = table.matching.pairs, len(table.captions)
        details = {"captions": captions, "pairs": len(pairs)}

        def mean(values: object) -> Score:
            found = [float(values[pair]) for pair in pairs]  # type: ignore[index]
            curve = tuple(
                Point(table.shots[shot].span, value, noted(table.captions, caption))
                for (shot, caption), value in zip(pairs, found, strict=True)
            )
            return Score(sum(found) / captions, curve, details)

        return {
            "clip_aligned": Outcome.of(mean(table.similarity)),
            "standing_out": Outcome.of(mean(table.values)),
        }
