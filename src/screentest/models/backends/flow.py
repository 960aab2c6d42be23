"""Backends of the role ``flow``: OpenCV's dense inverse search, and RAFT."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np

from screentest._util.optional import optional
from screentest.core import Image, NoValue, Reason, register
from screentest.models import weights
from screentest.models.networks.pretrained import NEUTRAL, ModelDevice, read_tensors, torch_identity
from screentest.models.networks.runtimes import batches
from screentest.models.pictures import OpenCvBackend, brightened, check_pair
from screentest.models.roles import FlowField

Preset = Literal["ultrafast", "fast", "medium"]

SMALLEST_SIDE = 32
"""Smaller pictures are mirrored outwards to this: DIS fails on some of them."""


@register("flow", "dis", summary="OpenCV DIS optical flow; needs no weights")
class DisFlow(OpenCvBackend):
    """Optical flow by OpenCV's dense inverse search (DIS).

    Needs no weights. It finds motion in textured parts to about a tenth of a pixel; in flat parts
    (a white wall) no method that sees only two pictures can tell, and DIS guesses from the
    neighbourhood. ``preset`` trades speed for accuracy.

    Safe to call from several threads.
    """

    def __init__(self, *, preset: Preset = "medium") -> None:
        self._preset = preset

    def flow(self, pairs: Sequence[tuple[Image, Image]], *, gain: float = 1.0) -> list[FlowField]:
        import cv2

        presets = {
            "ultrafast": cv2.DISOpticalFlow_PRESET_ULTRAFAST,
            "fast": cv2.DISOpticalFlow_PRESET_FAST,
            "medium": cv2.DISOpticalFlow_PRESET_MEDIUM,
        }
        fields: list[FlowField] = []
        for first, second in pairs:
            check_pair(first, second)
            # A new one for each pair: a small picture changes its scales for good.
            searcher: Any = cv2.DISOpticalFlow.create(presets[self._preset])
            height, width = first.shape[:2]
            # No flow to start from; zeros would be one, and lead elsewhere.
            field = searcher.calc(
                _grey(brightened(first, gain)), _grey(brightened(second, gain)), None
            )
            fields.append(np.ascontiguousarray(field[:height, :width], np.float32))
        return fields


def _grey(image: Image) -> Image:
    import cv2

    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    below, beside = (max(0, SMALLEST_SIDE - side) for side in grey.shape)
    if below or beside:
        grey = cv2.copyMakeBorder(grey, 0, below, 0, beside, cv2.BORDER_REFLECT)
    return grey.astype(np.uint8, copy=False)


THINGS, THINGS_WEIGHTS = "things", "raft-things"
RAFT_SMALLEST_SIDE = 128
"""RAFT's pyramid needs sixteen cells a side after its stride of eight."""


def _network(model: str, size: str, allow_pickle: bool) -> tuple[Any, str]:
    flows = optional("torchvision.models.optical_flow")
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
    if model == THINGS:
        # Of this pickle the sha256 is known, and torch's reader builds tensors only.
        model, allow_pickle = str(weights.path(THINGS_WEIGHTS)), True
    state = in_our_layout(read_tensors(model, allow_pickle=allow_pickle))
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        raise NoValue(
            Reason.MISSING_MODEL,
            f"{model} holds no RAFT of the size {size!r}: {str(error)[:200]}",
            advice="Try size=small, or weights in torchvision's layout.",
        ) from error
    return network, weights.sha256_of(Path(model).expanduser())[:16]


_NAMES = tomllib.loads(Path(__file__).with_name("raft.toml").read_text(encoding="utf-8"))


def in_our_layout(state: Mapping[str, Any]) -> dict[str, Any]:
    """Tensors of RAFT's authors under torchvision's names; any others as they are.

    >>> list(in_our_layout({"module.fnet.layer2.0.downsample.0.bias": 1}))
    ['feature_encoder.layer2.0.downsample.0.bias']
    """
    tensors: dict[str, Any] = {}
    for theirs, tensor in state.items():
        name = theirs
        for pattern, replacement in _NAMES.items():
            name = re.sub(pattern, replacement, name)
        if ".norm3." not in name:  # the authors' files hold it a second time, as downsample.1
            tensors[name] = tensor
    return tensors


@register(
    "flow",
    "raft",
    summary="RAFT by torchvision; weights by path, or torchvision's own download",
    neutral=NEUTRAL,
    packages=("torch", "torchvision"),
)
class Raft:
    """Optical flow by RAFT, as torchvision builds it, with weights of the user's or torchvision's.

    ``model`` is a weights file in torchvision's layout, or the authors' own, as ``things`` is:
    ``raft-things.pth`` of the catalogue. Without it torchvision fetches one.
    """

    def __init__(
        self,
        *,
        model: str = "",
        size: Literal["large", "small"] = "large",
        updates: int = 20,
        allow_pickle: bool = False,
        device: str = "auto",
        batch: int = 4,
    ) -> None:
        self._torch = optional("torch")
        self._place = ModelDevice.choose(device)
        network, name = _network(model, size, allow_pickle)
        self._network = network.to(self._place.device).eval()
        self._updates, self._batch = updates, batch
        self.identity = torch_identity(name, self._place)

    def flow(self, pairs: Sequence[tuple[Image, Image]], *, gain: float = 1.0) -> list[FlowField]:
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
        below = max(RAFT_SMALLEST_SIDE, -(-height // 8) * 8) - height
        beside = max(RAFT_SMALLEST_SIDE, -(-width // 8) * 8) - width
        return self._torch.nn.functional.pad(scaled, (0, beside, 0, below), mode="replicate")
