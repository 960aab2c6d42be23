"""Images and texts by CLIP, SigLIP, SigLIP 2, and models with their own code (Jina CLIP v2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import NoValue, Reason, register
from screentest.models.batches import batches
from screentest.models.optional import optional
from screentest.models.pretrained import EXTRA, NEUTRAL, Origin, Place, ready
from screentest.models.quickening import quicken
from screentest.models.streaming import AUTOMATIC, Stream
from screentest.models.texts import readable

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.roles import Vectors

IGNORED_MAXIMUM = 31_000
"""Tokens read at most when a model's maximum is ignored, as in SLVMEval's IGNMAX."""


@register(
    "image_text",
    "hf",
    version=1,
    summary="CLIP, SigLIP, SigLIP 2 or a model with code of its own, from a folder or hub id",
    neutral=NEUTRAL,
    ready=ready,
)
def hf(
    *,
    model: str,
    revision: str = "",
    trust_remote_code: bool = False,
    device: str = "auto",
    batch: int = 0,
    compile: bool = False,
) -> DualEncoder:
    """``model`` is a folder or hub id; Jina CLIP v2 needs ``trust_remote_code=true``.

    ``compile`` pays on a GPU from some 50,000 pictures on.
    """
    origin, place = Origin(model, revision, trust_remote_code), Place.choose(device)
    return DualEncoder(origin, place, batch, compiled=compile)


class DualEncoder:
    """Fills the role image_text."""

    def __init__(
        self, origin: Origin, place: Place, batch: int = AUTOMATIC, *, compiled: bool = False
    ) -> None:
        self._torch = optional("torch", EXTRA)
        transformers = optional("transformers", EXTRA)
        self._place = place
        self._model: Any = origin.load(transformers.AutoModel.from_pretrained, dtype=place.dtype)
        self._model.to(place.device).eval()
        processor = origin.load(transformers.AutoProcessor.from_pretrained, weights=False)
        self._stream = Stream(processor, place, batch)
        self._tokenizer: Any = processor.tokenizer
        self._positions = self._learned_positions()
        # SigLIP was trained on texts padded to its full length and errs on others.
        self._pad_fully = "siglip" in str(self._model.config.model_type)
        identity = origin.identity(self._model, place)
        self.identity: Mapping[str, str] = identity | quicken(self._model, place, compiled=compiled)

    @property
    def max_tokens(self) -> int:
        """The longest text the model reads; longer ones are cut."""
        return min(self._positions or IGNORED_MAXIMUM, int(self._tokenizer.model_max_length))

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has, special ones included."""
        return len(self._tokenizer(readable(text), truncation=False, verbose=False)["input_ids"])

    def embed_images(self, images: Sequence[Image]) -> Vectors:
        """One row per image, of length one."""
        return self._unit_rows(
            self._stream.rows(images, lambda one: _pooled(self._model.get_image_features(**one)))
        )

    def embed_texts(self, texts: Sequence[str], *, truncate: bool = True) -> Vectors:
        """One row per text, of length one; ``truncate=False`` reads beyond the maximum."""
        limit = self.max_tokens if truncate else self._ignoring_maximum(texts)
        rows = []
        for piece in batches(texts, self._stream.batch):
            inputs = self._tokenizer(
                [readable(text) for text in piece],
                padding="max_length" if self._pad_fully else True,
                truncation=True,
                max_length=limit,
                return_tensors="pt",
            ).to(self._place.device)
            with self._torch.inference_mode():
                rows.append(_pooled(self._model.get_text_features(**inputs)))
        return self._unit_rows(rows)

    def _ignoring_maximum(self, texts: Sequence[str]) -> int:
        longest = max((self.count_tokens(text) for text in texts), default=0)
        if self._positions is not None and longest > self._positions:
            raise NoValue(
                Reason.NOT_APPLICABLE,
                f"this model has {self._positions} learned positions and cannot read {longest}",
                advice="Truncate the text, or choose a model with relative positions.",
            )
        return min(longest, IGNORED_MAXIMUM)

    def _learned_positions(self) -> int | None:
        """How many positions the text tower has a vector for; None where any number goes."""
        for name, weight in self._model.named_parameters():
            if "text" in name and name.endswith("position_embedding.weight"):
                return int(weight.shape[0])
        return None

    def _unit_rows(self, rows: list[Any]) -> Vectors:
        if not rows:
            return np.zeros((0, 0), np.float32)
        stacked = self._torch.cat(rows).float()
        unit = self._torch.nn.functional.normalize(stacked, dim=-1)
        return np.asarray(unit.cpu().numpy(), np.float32)


def _pooled(features: Any) -> Any:
    """The vectors, from a model that returns them bare or in an output object."""
    pooled = getattr(features, "pooler_output", None)
    return features if pooled is None else pooled
