"""Aesthetic scores by a SigLIP tower and a head in the layout of Aesthetic Predictor V2.5.

The head's weights are the user's to bring (the published ones are AGPL): 1152 numbers of the
image go through linear layers of 1024, 128, 64, 16 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import NoValue, Reason, register
from screentest.models.batches import batches
from screentest.models.optional import optional
from screentest.models.pretrained import (
    EXTRA,
    NEUTRAL,
    Origin,
    Place,
    pixel_inputs,
    read_tensors,
    ready,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core.frames import Image

WIDTHS = (1024, 128, 64, 16, 1)


@register(
    "aesthetic",
    "siglip",
    version=1,
    summary="SigLIP with a regression head (Aesthetic Predictor V2.5's layout); you bring the head",
    neutral=(*NEUTRAL, "head"),
    ready=ready,
)
def siglip(
    *,
    head: str,
    model: str = "google/siglip-so400m-patch14-384",
    revision: str = "",
    allow_pickle: bool = False,
    device: str = "auto",
    batch: int = 16,
) -> SiglipAesthetic:
    """``head`` is the weights file of the regression head, ``model`` the tower."""
    state = read_tensors(head, allow_pickle=allow_pickle)
    return SiglipAesthetic(Origin(model, revision), state, Place.choose(device), batch)


class SiglipAesthetic:
    """Fills the role aesthetic."""

    scale = (1.0, 10.0)

    def __init__(self, origin: Origin, head: dict[str, Any], place: Place, batch: int) -> None:
        self._torch = optional("torch", EXTRA)
        transformers = optional("transformers", EXTRA)
        self._place = place
        self._batch = batch
        self._tower: Any = origin.load(
            transformers.SiglipVisionModel.from_pretrained, dtype=place.dtype
        )
        self._tower.to(place.device).eval()
        self._processor: Any = origin.load(
            transformers.AutoImageProcessor.from_pretrained, weights=False
        )
        self._matrix, self._offset = self._fold(head, int(self._tower.config.hidden_size))
        self.identity: Mapping[str, str] = origin.identity(self._tower, place) | {
            "head": _digest(self._matrix, self._offset)
        }

    def score(self, images: Sequence[Image]) -> NDArray[np.float32]:
        """One number per image, about 1 to 10; 5.5 and above is good."""
        values: list[NDArray[np.float64]] = [np.zeros(0)]
        for piece in batches(images, self._batch):
            inputs = pixel_inputs(self._processor, piece, self._place)
            with self._torch.inference_mode():
                pooled = self._tower(**inputs).pooler_output.float().cpu()
                unit = self._torch.nn.functional.normalize(pooled, dim=-1).numpy()
            values.append((unit.astype(np.float64) @ self._matrix + self._offset)[:, 0])
        return np.concatenate(values).astype(np.float32)

    def _fold(
        self, state: Mapping[str, Any], width: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The head as one affine map: between its layers there is only dropout."""
        layers = sorted(
            (name for name in state if name.endswith("weight")), key=lambda name: _number(name)
        )
        matrix, offset = np.eye(width), np.zeros(width)
        shapes = tuple(int(state[name].shape[0]) for name in layers)
        if shapes != WIDTHS or int(state[layers[0]].shape[1]) != width:
            raise NoValue(
                Reason.MISSING_MODEL,
                f"the head has layers of {shapes}, not {WIDTHS} on {width} inputs",
                advice="Give the head that was trained for this tower.",
            )
        for name in layers:
            weight = state[name].double().cpu().numpy()
            bias = state[name.removesuffix("weight") + "bias"].double().cpu().numpy()
            matrix, offset = matrix @ weight.T, offset @ weight.T + bias
        return matrix, offset


def _number(name: str) -> int:
    """Where a layer stands in its sequence: ``layers.4.weight`` is the fourth."""
    return next((int(part) for part in reversed(name.split(".")) if part.isdigit()), 0)


def _digest(*arrays: NDArray[np.float64]) -> str:
    import hashlib

    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]
