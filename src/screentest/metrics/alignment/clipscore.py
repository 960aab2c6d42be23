"""CLIPScore as SLVMEval has it: the middle frame of every shot against the whole prompt.

The score is the mean cosine. A prompt of a long film is far longer than CLIP reads, so there
are three ways to go about it: cut it off (the paper's default), ignore the model's maximum (its
IGNMAX), or cut every caption by so much that all together fit (its EACHTRUNC). With a built-in
backend in the role image_text this is not CLIPScore; the signature says what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from screentest.core import (
    FrameRequest,
    Item,
    Level,
    MetricInfo,
    Outcome,
    Outcomes,
    OutputInfo,
    Point,
    Resources,
    Score,
    Size,
    register,
)
from screentest.metrics.alignment.captions import noted, sees_nothing, shot_captions
from screentest.models.runtimes import batches

if TYPE_CHECKING:
    from screentest.models.roles import ImageText, Vectors


Policy = Literal["truncate", "ignore", "each"]
PICTURE = FrameRequest(size=Size(long_side=512))
"""Above what the image towers take; they scale it as they were trained to."""
_AT_ONCE = 32


@register("metric", "clipscore", version=2, summary="centre frames against the whole prompt")
def clipscore(*, policy: Policy = "truncate") -> ClipScore:
    """``policy``: what is done with a prompt longer than the model reads.

    ``truncate`` cuts it, ``ignore`` reads on (at most 31,000 tokens), ``each`` cuts every
    caption of the script evenly.
    """
    return ClipScore(policy)


class ClipScore:
    """Mean cosine of frames and prompt."""

    info = MetricInfo(
        {"clipscore": OutputInfo("mean cosine of centre frames and prompt", low=-1.0)},
        Level.VIDEO,
        roles=("image_text",),
        needs=("text",),
        shots=True,
    )

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def start(self, item: Item, resources: Resources) -> _Scoring:
        """Begin on one video."""
        return _Scoring(item, resources, self._policy)


class _Scoring:
    consumers = ()

    def __init__(self, item: Item, resources: Resources, policy: Policy) -> None:
        self._item, self._resources, self._policy = item, resources, policy

    def finish(self) -> Outcomes:
        """The mean, with the cosine of each shot as the curve."""
        model: ImageText = self._resources.role("image_text")
        text, read = self._vector(model)
        shots = self._resources.shots(self._item.video)
        cosines = []
        for some in batches([shot.span.centre for shot in shots], _AT_ONCE):
            frames = self._resources.frames(self._item.video, some, PICTURE)
            pictures = model.embed_images([frame.image for frame in frames])
            cosines += [float(one) for one in pictures @ text]
        if not any(cosines):
            raise sees_nothing()
        curve = tuple(Point(shot.span, one) for shot, one in zip(shots, cosines, strict=True))
        details = {"tokens": model.count_tokens(self._item.text), "read": read}
        return {"clipscore": Outcome.of(Score(float(np.mean(cosines)), curve, details))}

    def _vector(self, model: ImageText) -> tuple[Vectors, int]:
        prompt, most = self._item.text, model.max_tokens
        if self._policy == "ignore":
            return model.embed_texts([prompt], truncate=False)[0], model.count_tokens(prompt)
        if self._policy == "each" and self._item.script is not None:
            captions = [clip.caption for clip in self._item.script.clips if clip.caption.strip()]
            prompt = evenly_cut(captions, model)
        return model.embed_texts([prompt])[0], min(most, model.count_tokens(prompt))


def evenly_cut(captions: Sequence[str], model: ImageText) -> str:
    """The captions joined, each cut to so many words that the model reads all of it.

    Where not even a word of each fits, one word of each is left, and the model cuts the rest.
    """
    words = [caption.split() for caption in captions]
    fits, too_many = 1, max((len(some) for some in words), default=0) + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if model.count_tokens(_joined(words, middle)) <= model.max_tokens:
            fits = middle
        else:
            too_many = middle
    return _joined(words, fits)


def _joined(words: Sequence[Sequence[str]], most: int) -> str:
    """The first words of each.

    >>> _joined([["A", "dog", "runs."], ["Rain."]], 2)
    'A dog Rain.'
    """
    return " ".join(" ".join(some[:most]) for some in words)


# CLIP, aligned: each shot against its own caption instead of the whole prompt.
#
# Shots and captions are paired one to one in order. A caption without a shot counts 0, so that
# what is missing or out of place lowers the score as well as what looks wrong.


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
