"""Metrics of shots beside their captions: agreement, aligned CLIP, colours that captions name.

Every caption is given a shot of its own, in order (see ``captions``). With the built-in backend
of the role image_text they know little; with CLIP they know what CLIP knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from screentest.core.errors import NoValue
from screentest.core.frames import Image
from screentest.core.item import Item
from screentest.core.metric import Level, Resources, Traits
from screentest.core.outcome import Outcome, Point, Reason, Score, attempt
from screentest.metrics.alignment.captions import Similarities, in_any_order, shot_captions
from screentest.metrics.curve import curve_score, declared
from screentest.metrics.functions import metric
from screentest.models.pictures import BASIC_COLOURS, basic_colour, name_pixels

AGREEMENT = declared("caption_agreement")
PRESENCE = declared("named_colours")


@metric(
    summary="shots against captions, in order",
    outputs=AGREEMENT,
    traits=dict.fromkeys(
        ("caption_agreement", "caption_order", "caption_coverage"), Traits(counts_shots=True)
    ),
    level=Level.CLIP,
    roles=("image_text",),
    needs=("text",),
    shots=True,
    inside=True,
)
def caption_agreement(
    item: Item, resources: Resources, *, colours: float = 1.0
) -> Mapping[str, Outcome[Score]]:
    """Does each shot show what its place in the script says?

    ``colours``: what colour words weigh beside the similarity of the role image_text.
    """
    table = shot_captions(item, resources, colours)
    pairs, shots = table.matching.pairs, len(table.shots)
    details = {"shots": shots, "captions": len(table.captions), "pairs": len(pairs)}

    def agreement() -> Score:
        table.must_tell_apart()
        return curve_score(table.points(table.values), AGREEMENT["caption_agreement"], shots=shots)

    def similarity() -> Score:
        table.must_see()
        return curve_score(
            table.points(table.similarity), AGREEMENT["caption_similarity"], shots=shots
        )

    def order() -> Score:
        table.must_tell_apart()
        ordered = table.matching.total / in_any_order(table.values).total
        return Score(max(-1.0, ordered), table.points(table.values), details)

    def coverage() -> Score:
        table.must_have_order()
        return Score(len(pairs) / len(table.captions), (), details)

    return {
        "caption_agreement": attempt(agreement),
        "caption_similarity": attempt(similarity),
        "caption_order": attempt(order),
        "caption_coverage": attempt(coverage),
    }


@metric(
    summary="each shot against its own caption",
    outputs=declared("clip_aligned"),
    level=Level.CLIP,
    roles=("image_text",),
    needs=("text",),
    shots=True,
    inside=True,
)
def clip_aligned(item: Item, resources: Resources) -> Mapping[str, Outcome[Score]]:
    """Mean cosine over the captions of the script; of a prompt, over the shots.

    A caption without a shot counts 0, so that what is missing or out of place lowers the score
    as well as what looks wrong.
    """
    table = shot_captions(item, resources, colours=0.0)
    table.must_see()
    captions = len(table.captions)

    def mean(values: Similarities) -> Score:
        curve = table.points(values)
        total = sum(point.value for point in curve)
        count = len(curve) if table.single else captions
        return Score(total / count, curve, {"captions": captions, "pairs": len(curve)})

    def standing_out() -> Score:
        table.must_have_order()
        return mean(table.values)

    return {
        "clip_aligned": Outcome.of(mean(table.similarity)),
        "standing_out": attempt(standing_out),
    }


ENOUGH = 0.02
"""The share of the picture at which a colour is half seen: a scarf, not a scene."""
_WORD = re.compile(r"[^\W\d_]+")


@metric(
    summary="colours of the caption in its shot",
    outputs=PRESENCE,
    level=Level.CLIP,
    roles=("image_text",),
    needs=("text",),
    shots=True,
    inside=True,
)
def named_colours(item: Item, resources: Resources, *, colours: float = 1.0) -> Score:
    """Are the colours that a caption names in the shot that belongs to it?

    Of a prompt without a script each colour counts in the shot in which it is seen best.
    ``colours`` as in ``caption_agreement``, with which it shares the matching.
    """
    table = shot_captions(item, resources, colours)
    points, every = [], []
    for shot, caption in table.matching.pairs:
        named = colours_in(table.captions[caption])
        if named:
            result = colour_shares(table.thumbnails[shot])
            shares = {name: result[BASIC_COLOURS.index(name)] for name in named}
            every.append([presence(share) for share in shares.values()])
            note = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
            points.append(Point(table.shots[shot].span, float(np.mean(every[-1])), note))
    if not points:
        raise NoValue(Reason.NOT_APPLICABLE, "the prompt names no colour")
    score = curve_score(points, PRESENCE["named_colours"], shots=len(table.shots))
    if table.single:
        return replace(score, value=float(np.max(every, axis=0).mean()))
    return score


def colours_in(caption: str) -> tuple[str, ...]:
    """Return the basic colours that a caption names, each once.

    >>> colours_in("Three red cups and a grey-blue mug on a red cloth")
    ('red', 'grey', 'blue')
    """
    named = (basic_colour(word) for word in _WORD.findall(caption.casefold()))
    return tuple(dict.fromkeys(name for name in named if name is not None))


def colour_shares(picture: Image) -> list[float]:
    """Return the share of each of the eleven basic colours."""
    counts = np.bincount(name_pixels(picture).ravel(), minlength=len(BASIC_COLOURS))
    return [float(count) for count in counts / counts.sum()]


def presence(share: float) -> float:
    """0 where a colour is not there, ½ at ``ENOUGH``, towards 1 beyond.

    >>> presence(0.0), presence(ENOUGH)
    (0.0, 0.5)
    """
    return share / (share + ENOUGH)
