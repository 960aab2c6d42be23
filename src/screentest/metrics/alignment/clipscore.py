"""CLIPScore as SLVMEval has it: the middle frame of every shot against the whole prompt.

The score is the mean cosine. A prompt of a long film is far longer than CLIP reads, so there
are three ways to go about it: cut it off (the paper's default), ignore the model's maximum (its
IGNMAX), or cut every caption by so much that all together fit (its EACHTRUNC). With a built-in
backend in the role image_text this is not CLIPScore; the signature says what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from screentest.core import FrameRequest, Item, Point, Resources, Score, Size
from screentest.metrics.alignment.captions import sees_nothing
from screentest.metrics.curve import declared
from screentest.metrics.functions import metric
from screentest.models.networks.runtimes import batches
from screentest.models.roles import ImageText, Vectors

Policy = Literal["truncate", "ignore", "each"]
PICTURE = FrameRequest(size=Size(long_side=512))
"""Above what the image towers take; they scale it as they were trained to."""
_AT_ONCE = 32


@metric(
    summary="centre frames against the whole prompt",
    outputs=declared("clipscore"),
    roles=("image_text",),
    needs=("text",),
    shots=True,
)
def clipscore(
    item: Item, resources: Resources, *, policy: Policy = "truncate", detector: str = ""
) -> Score:
    """The mean cosine, with that of each shot as the curve.

    ``policy``: what is done with a prompt longer than the model reads. ``truncate`` cuts it,
    ``ignore`` reads on (at most 31,000 tokens), ``each`` cuts every caption of the script evenly.
    ``detector`` finds the shots, by default the run's; the paper takes FFmpeg's cuts, ``scdet``.
    """
    model: ImageText = resources.role("image_text")
    text, read = _vector(item, model, policy)
    shots = resources.shots(item.video, detector)
    cosines: list[float] = []
    for batch in batches([shot.span.centre for shot in shots], _AT_ONCE):
        frames = resources.frames(item.video, batch, PICTURE)
        pictures = model.embed_images([frame.image for frame in frames])
        cosines += [float(entry) for entry in pictures @ text]
    if not any(cosines):
        raise sees_nothing()
    curve = tuple(Point(shot.span, cosine) for shot, cosine in zip(shots, cosines, strict=True))
    details = {"tokens": model.count_tokens(item.text), "read": read}
    return Score(float(np.mean(cosines)), curve, details)


def _vector(item: Item, model: ImageText, policy: Policy) -> tuple[Vectors, int]:
    prompt, most = item.text, model.max_tokens
    if policy == "ignore":
        return model.embed_texts([prompt], truncate=False)[0], model.count_tokens(prompt)
    if policy == "each" and item.script is not None:
        captions = [clip.caption for clip in item.script.clips if clip.caption.strip()]
        prompt = evenly_cut(captions, model)
    return model.embed_texts([prompt])[0], min(most, model.count_tokens(prompt))


def evenly_cut(captions: Sequence[str], model: ImageText) -> str:
    """Return the captions joined, each cut to so many words that the model reads all of it.

    Where not even a word of each fits, one word of each is left, and the model cuts the rest.
    """
    words = [caption.split() for caption in captions]
    fits, too_many = 1, max((len(word) for word in words), default=0) + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if model.count_tokens(_joined(words, middle)) <= model.max_tokens:
            fits = middle
        else:
            too_many = middle
    return _joined(words, fits)


def _joined(words: Sequence[Sequence[str]], most: int) -> str:
    """Return the first words of each.

    >>> _joined([["A", "dog", "runs."], ["Rain."]], 2)
    'A dog Rain.'
    """
    return " ".join(" ".join(word[:most]) for word in words)
