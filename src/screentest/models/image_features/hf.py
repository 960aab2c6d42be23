"""Pictures as vectors by DINOv2, CLIP, SigLIP 2 or any other vision tower of transformers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import register
from screentest.models.optional import optional
from screentest.models.pretrained import EXTRA, NEUTRAL, Origin, Place, ready
from screentest.models.quickening import quicken
from screentest.models.streaming import AUTOMATIC, Stream

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.roles import Vectors


@register(
    "image_features",
    "hf",
    version=1,
    summary="DINOv2, CLIP, SigLIP 2 or another vision tower, from a folder or hub id",
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
) -> VisionTower:
    """``model`` is a folder or hub id; ``compile`` pays on a GPU from some 50,000 pictures on."""
    origin, place = Origin(model, revision, trust_remote_code), Place.choose(device)
    return VisionTower(origin, place, batch, compiled=compile)


class VisionTower:
    """Fills the role image_features.

    A dual encoder gives its projected image vector; a plain tower its pooled one, and where it
    has none, that of its class token.
    """

    def __init__(
        self, origin: Origin, place: Place, batch: int = AUTOMATIC, *, compiled: bool = False
    ) -> None:
        self._torch = optional("torch", EXTRA)
        transformers = optional("transformers", EXTRA)
        self._model: Any = origin.load(transformers.AutoModel.from_pretrained, dtype=place.dtype)
        self._model.to(place.device).eval()
        processor = origin.load(transformers.AutoImageProcessor.from_pretrained, weights=False)
        self._stream = Stream(processor, place, batch)
        identity = origin.identity(self._model, place)
        self.identity: Mapping[str, str] = identity | quicken(self._model, place, compiled=compiled)

    def features(self, images: Sequence[Image]) -> Vectors:
        """One row per image, of length one."""
        if not images:
            return np.zeros((0, 0), np.float32)
        rows = self._stream.rows(images, lambda inputs: self._pooled(inputs).float())
        unit = self._torch.nn.functional.normalize(self._torch.cat(rows), dim=-1)
        return np.asarray(unit.cpu().numpy(), np.float32)

    def _pooled(self, inputs: Mapping[str, Any]) -> Any:
        if hasattr(self._model, "get_image_features"):
            output = self._model.get_image_features(**inputs)
            if not hasattr(output, "pooler_output"):
                return output
        else:
            output = self._model(**inputs)
        if output.pooler_output is not None:
            return output.pooler_output.flatten(1)
        return output.last_hidden_state[:, 0]
