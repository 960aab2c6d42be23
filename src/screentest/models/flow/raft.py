"""Optical flow by RAFT, as torchvision builds it, with weights of the user's or torchvision's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from screentest.core import NoValue, Reason, register
from screentest.models import weights
from screentest.models.batches import batches
from screentest.models.optional import optional
from screentest.models.pictures import check_pair
from screentest.models.pretrained import EXTRA, NEUTRAL, Place, read_tensors, ready

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.roles import FlowField

SMALLEST_SIDE = 128
"""RAFT's pyramid needs sixteen cells a side after its stride of eight."""


@register(
    "flow",
    "raft",
    version=1,
    summary="RAFT by torchvision; weights by path, or torchvision's own download",
    neutral=NEUTRAL,
    ready=ready,
)
def raft(
    *,
    model: str = "",
    size: Literal["large", "small"] = "large",
    updates: int = 20,
    allow_pickle: bool = False,
    device: str = "auto",
    batch: int = 4,
) -> Raft:
    """``model`` is a weights file in torchvision's layout; without it torchvision fetches one."""
    place = Place.choose(device)
    network, name = _network(model, size, allow_pickle)
    return Raft(network.to(place.device).eval(), name, place, updates, batch)


def _network(model: str, size: str, allow_pickle: bool) -> tuple[Any, str]:
    flows = optional("torchvision.models.optical_flow", EXTRA)
    build = flows.raft_large if size == "large" else flows.raft_small
    if not model:
        chosen = (flows.Raft_Large_Weights if size == "large" else flows.Raft_Small_Weights).DEFAULT
        try:
            return build(weights=chosen, progress=False), str(chosen)
        except OSError as error:
            raise NoValue(
                Reason.MISSING_MODEL,
                f"torchvision cannot fetch RAFT's weights: {error}",
                advice="Give a file you have: --model flow=raft:PATH.safetensors",
            ) from error
    network = build(weights=None)
    state = read_tensors(model, allow_pickle=allow_pickle)
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        raise NoValue(
            Reason.MISSING_MODEL,
            f"{model} does not hold a RAFT of this size: {str(error)[:200]}",
            advice="Try size=small, or weights in torchvision's layout.",
        ) from error
    return network, weights.sha256_of(Path(model).expanduser())[:16]


class Raft:
    """Fills the role flow."""

    def __init__(self, network: Any, name: str, place: Place, updates: int, batch: int) -> None:
        self._torch = optional("torch", EXTRA)
        self._network = network
        self._name = name
        self._place = place
        self._updates = updates
        self._batch = batch

    @property
    def identity(self) -> Mapping[str, str]:
        """Weights, torch's version and where it runs."""
        return {
            "weights": self._name,
            "torch": str(self._torch.__version__),
            "on": self._place.device.split(":")[0],
        }

    def flow(self, pairs: Sequence[tuple[Image, Image]], *, gain: float = 1.0) -> list[FlowField]:
        """Per pair height × width × 2: where each pixel of the first went, in pixels (x, y)."""
        for first, second in pairs:
            check_pair(first, second)
        fields: list[FlowField] = []
        # Only pictures of one size can share a batch.
        for _, run in groupby(pairs, key=lambda pair: pair[0].shape):
            for piece in batches(list(run), self._batch):
                fields.extend(self._piece(piece, gain))
        return fields

    def _piece(self, pairs: Sequence[tuple[Image, Image]], gain: float) -> list[FlowField]:
        height, width = pairs[0][0].shape[:2]
        first = self._tensor([pair[0] for pair in pairs], gain)
        second = self._tensor([pair[1] for pair in pairs], gain)
        with self._torch.inference_mode():
            # The last of the refinements is the answer.
            field = self._network(first, second, num_flow_updates=self._updates)[-1]
        arrays = field[:, :, :height, :width].permute(0, 2, 3, 1).float().cpu().numpy()
        return [np.ascontiguousarray(array, np.float32) for array in arrays]

    def _tensor(self, images: Sequence[Image], gain: float) -> Any:
        """Pictures in -1 to 1, extended at the bottom and right to what RAFT can take."""
        stacked = self._torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2)
        # Single precision everywhere: large motion does not fit into half.
        scaled = stacked.to(self._place.device).float() * gain / 127.5 - 1
        height, width = scaled.shape[-2:]
        below = max(SMALLEST_SIDE, -(-height // 8) * 8) - height
        beside = max(SMALLEST_SIDE, -(-width // 8) * 8) - width
        return self._torch.nn.functional.pad(scaled, (0, beside, 0, below), mode="replicate")
