"""Agreement of pictures and texts by way of labels: a stand-in for CLIP, under its own name.

A picture becomes the labels that fit it: ImageNet's by their probability, the things found in
it by their score. Their names are texts, and the mean of the names' vectors, each weighed, is
the picture's vector; a caption's is that of the caption. It knows about 1,080 nouns and
neither attributes nor actions; on drawn and painted films it is hardly better than chance
(see docs/models.md for figures). Never to be printed as CLIPScore.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import register
from screentest.models import weights
from screentest.models.detection.efficientdet import EfficientDet
from screentest.models.image_text._imagenet import WEIGHTS as LABELS
from screentest.models.image_text._imagenet import ImageNetLabels
from screentest.models.runtimes import LITERT, TOKENIZERS, runs, versions
from screentest.models.text_embedding._tokens import LONGEST
from screentest.models.text_embedding.minilm import WEIGHTS as TEXT
from screentest.models.text_embedding.minilm import WIDTH, MiniLM

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.roles import Vectors

THINGS = "efficientdet-lite0"
_NEEDS = (TEXT, LABELS, THINGS)


@register(
    "image_text",
    "label_text",
    version=1,
    summary="names of the labels that fit a picture, compared with the text; a stand-in for CLIP",
    builtin=1,
    ready=lambda: runs(LITERT, TOKENIZERS) and all(weights.available(name) for name in _NEEDS),
    weights=_NEEDS,
    neutral=("threads",),
    get=f"screentest models pull {' '.join(_NEEDS)}",
)
def label_text(*, things: float = 0.5, score: float = 0.3, threads: int = 0) -> LabelText:
    """Labels as a bridge between pictures and texts.

    ``things`` is how much a thing found with certainty weighs, against 1 for all of ImageNet's
    labels together; ``score`` the least that counts as found.
    """
    return LabelText(things, score, threads)


class LabelText:
    """Fills the role image_text."""

    def __init__(self, things: float = 0.5, score: float = 0.3, threads: int = 0) -> None:
        self._text = MiniLM(threads)
        self._labels = ImageNetLabels(threads)
        self._detector = EfficientDet("lite0", score, threads=threads)
        self._things = things
        vectors = self._text.embed_list(self._labels.labels)
        # What all names of labels have in common says nothing of a picture.
        self._middle = vectors[1:].mean(axis=0)
        self._label_vectors = vectors - self._middle
        names = self._detector.classes
        self._thing_vectors = dict(
            zip(names, self._text.embed_list(names) - self._middle, strict=True)
        )

    @property
    def identity(self) -> Mapping[str, str]:
        """The weights of all three models, and the runtime."""
        return {
            "text": weights.digest(TEXT),
            **self._labels.identity,
            "detector": weights.digest(THINGS),
            **versions(LITERT),
        }

    @property
    def max_tokens(self) -> int:
        """The longest text it reads, in tokens."""
        return LONGEST

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has."""
        return self._text.count_tokens(text)

    def embed_texts(self, texts: Sequence[str], *, truncate: bool = True) -> Vectors:
        """One row per text; with ``truncate=False`` all of it is read, in pieces."""
        if truncate:
            return self._text.embed(texts)
        rows = np.empty((len(texts), WIDTH), np.float32)
        for number, text in enumerate(texts):
            rows[number] = self._text.embed_whole(text)
        return rows

    def embed_images(self, images: Sequence[Image]) -> Vectors:
        """One row per image."""
        rows = np.empty((len(images), WIDTH), np.float32)
        for row, image in zip(rows, images, strict=True):
            probabilities = self._labels.probabilities(image)[1:]
            mixed = (probabilities / probabilities.sum()) @ self._label_vectors[1:]
            for name, score in self._found(image).items():
                mixed = mixed + np.float32(self._things * score) * self._thing_vectors[name]
            row[:] = mixed / np.linalg.norm(mixed)
        return rows

    def _found(self, image: Image) -> dict[str, float]:
        """Each kind of thing once, by its best score: ten people are no more than one."""
        best: dict[str, float] = {}
        for one in self._detector.everything(image):
            best.setdefault(one.label, one.score)
        return best
