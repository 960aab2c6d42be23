"""Caption–shot agreement: does each shot show what its place in the script says?

Every caption is given a shot of its own, in order (see ``_matching``), and the score is how far
these pairs stand out among all pairs. With the built-in ``label_text`` it knows nouns only;
with CLIP in the role image_text it knows what CLIP knows. Colour words count beside it, since
they are what either sees least.
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
    attempt,
    register,
)
from screentest.metrics.alignment.captions import ShotCaptions, in_any_order, noted, shot_captions
from screentest.metrics.curve import curve_score

AGREEMENT = OutputInfo(
    "how far shots and their captions stand out", low=-5.0, high=5.0, unit="deviations"
)
SIMILARITY = OutputInfo("cosine of shots with their captions", low=-1.0)


@register("metric", "caption_agreement", version=2, summary="shots against captions, in order")
def caption_agreement(*, colours: float = 1.0) -> CaptionAgreement:
    """``colours``: what colour words weigh beside the similarity of the role image_text."""
    return CaptionAgreement(colours)


class CaptionAgreement:
    """Matches shots and captions."""

    info = MetricInfo(
        {
            "caption_agreement": AGREEMENT,
            "caption_similarity": SIMILARITY,
            "caption_order": OutputInfo(
                "agreement in order over that in any order", low=-1.0, high=1.0
            ),
            "caption_coverage": OutputInfo("share of captions with a shot of their own"),
        },
        Level.CLIP,
        roles=("image_text",),
        needs=("script",),
        shots=True,
    )

    def __init__(self, colours: float) -> None:
        self._colours = colours

    def start(self, item: Item, resources: Resources) -> _Matching:
        """Begin on one video."""
        return _Matching(item, resources, self._colours)


class _Matching:
    consumers = ()

    def __init__(self, item: Item, resources: Resources, colours: float) -> None:
        self._item, self._resources, self._colours = item, resources, colours

    def finish(self) -> Outcomes:
        """All four, with a point for each pair."""
        table = shot_captions(self._item, self._resources, self._colours)
        pairs, shots = table.matching.pairs, len(table.shots)
        details = {"shots": shots, "captions": len(table.captions), "pairs": len(pairs)}

        def agreement() -> Score:
            table.must_tell_apart()
            return curve_score(_points(table, table.values), AGREEMENT, shots=shots)

        def similarity() -> Score:
            table.must_see()
            return curve_score(_points(table, table.similarity), SIMILARITY, shots=shots)

        def order() -> Score:
            table.must_tell_apart()
            ordered = table.matching.total / in_any_order(table.values).total
            return Score(max(-1.0, ordered), _points(table, table.values), details)

        return {
            "caption_agreement": attempt(agreement),
            "caption_similarity": attempt(similarity),
            "caption_order": attempt(order),
            "caption_coverage": Outcome.of(Score(len(pairs) / len(table.captions), (), details)),
        }


def _points(table: ShotCaptions, values: object) -> tuple[Point, ...]:
    import numpy as np

    numbers = np.asarray(values)
    return tuple(
        Point(table.shots[shot].span, float(numbers[shot, caption]), noted(table.captions, caption))
        for shot, caption in table.matching.pairs
    )
