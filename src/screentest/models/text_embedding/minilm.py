"""Texts as vectors by all-MiniLM-L6-v2, in full precision and without torch.

The same weights as sentence-transformers reads, and the same numbers to about 1e-6: mean of
the token vectors, scaled to length one. Each text is computed alone, so that its vector does
not depend on what else is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import register
from screentest.models import weights
from screentest.models.runtimes import ONNX, TOKENIZERS, runs, versions
from screentest.models.text_embedding._bert import Bert
from screentest.models.text_embedding._tokens import (
    count_tokens,
    load_tokenizer,
    token_ids,
    windows,
)

if TYPE_CHECKING:
    from screentest.models.roles import Vectors

WEIGHTS = "minilm"
WIDTH = 384
_REMEMBERED = 4096
_SIDE_BY_SIDE = 32


@register(
    "text_embedding",
    "minilm",
    version=1,
    summary="all-MiniLM-L6-v2 in full precision, equal to sentence-transformers",
    builtin=1,
    ready=lambda: runs(ONNX, TOKENIZERS) and weights.available(WEIGHTS),
    weights=(WEIGHTS,),
    neutral=("threads",),
    get=f"screentest models pull {WEIGHTS}",
)
def minilm(*, threads: int = 0) -> MiniLM:
    """all-MiniLM-L6-v2: 384 numbers per text, 256 tokens of it read.

    ``threads`` is 0 for this process's part of the machine.
    """
    return MiniLM(threads)


class MiniLM:
    """Fills the role text_embedding."""

    def __init__(self, threads: int = 0) -> None:
        self._bert = Bert(weights.path(WEIGHTS), threads)
        self._tokenizer = load_tokenizer(weights.path(WEIGHTS, "tokenizer.json"))
        self._remembered = lru_cache(_REMEMBERED)(self._embed)

    @property
    def identity(self) -> Mapping[str, str]:
        """The weights and the runtime."""
        return {"weights": weights.digest(WEIGHTS), **versions(ONNX)}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        rows = np.empty((len(texts), WIDTH), np.float32)
        for number, text in enumerate(texts):
            rows[number] = self._remembered(text)
        return rows

    def embed_list(self, texts: Sequence[str]) -> Vectors:
        """One row per text for a long list of short texts that is always the same.

        Much quicker than ``embed``, and equal to it but for rounding (1e-6), which depends on
        the list as a whole.
        """
        ids = [token_ids(self._tokenizer, text) for text in texts]
        rows = np.empty((len(texts), WIDTH), np.float32)
        for start in range(0, len(ids), _SIDE_BY_SIDE):
            found = self._bert.side_by_side(ids[start : start + _SIDE_BY_SIDE])
            for number, states in enumerate(found, start):
                rows[number] = mean_direction(states)
        return rows

    def embed_whole(self, text: str) -> Vectors:
        """One row for a text of any length: read in pieces, each weighing as its length."""
        pieces = [self._bert(ids) for ids in windows(self._tokenizer, text)]
        return mean_direction(np.concatenate(pieces))

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has; ``embed`` reads 256."""
        return count_tokens(self._tokenizer, text)

    def _embed(self, text: str) -> Vectors:
        return mean_direction(self._bert(token_ids(self._tokenizer, text)))


def mean_direction(vectors: Vectors) -> Vectors:
    """The mean of some rows, scaled to length one.

    >>> mean_direction(np.array([[1, 2], [5, 6]], np.float32)).round(2).tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    mean = vectors.mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)
