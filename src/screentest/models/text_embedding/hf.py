"""Texts by any sentence-transformers model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import register
from screentest.models.optional import optional
from screentest.models.pretrained import EXTRA, NEUTRAL, Origin, Place, ready
from screentest.models.texts import readable

if TYPE_CHECKING:
    from screentest.models.roles import Vectors


@register(
    "text_embedding",
    "hf",
    version=1,
    summary="any sentence-transformers model, from a folder or hub id",
    neutral=NEUTRAL,
    ready=ready,
)
def hf(
    *,
    model: str,
    revision: str = "",
    trust_remote_code: bool = False,
    device: str = "auto",
    batch: int = 32,
) -> SentenceModel:
    """``model`` is a folder or hub id."""
    return SentenceModel(Origin(model, revision, trust_remote_code), Place.choose(device), batch)


class SentenceModel:
    """Fills the role text_embedding."""

    def __init__(self, origin: Origin, place: Place, batch: int) -> None:
        library = optional("sentence_transformers", EXTRA)
        self._batch = batch
        self._model: Any = origin.load(
            library.SentenceTransformer,
            weights=False,
            device=place.device,
            model_kwargs={"use_safetensors": True, "dtype": place.dtype},
        )
        self.identity: Mapping[str, str] = origin.identity(self._model[0].auto_model, place) | {
            "sentence-transformers": str(library.__version__)
        }

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length one."""
        if not texts:
            return np.zeros((0, 0), np.float32)
        rows = self._model.encode(
            [readable(text) for text in texts],
            batch_size=self._batch,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(rows, np.float32).reshape(len(texts), -1)
