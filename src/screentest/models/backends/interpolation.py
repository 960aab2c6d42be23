"""Backends of the role ``interpolation``: half-way by optical flow, and RIFE 4.0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from screentest._util.optional import optional
from screentest.core import Image, NoValue, Reason, register
from screentest.models import weights
from screentest.models.backends.flow import DisFlow, Preset
from screentest.models.networks.pretrained import NEUTRAL, ModelDevice, read_tensors, torch_identity
from screentest.models.networks.runtimes import batches
from screentest.models.pictures import Plane, check_pair, to_bytes

HIDDEN_FROM = 1.0
"""A round trip may miss by this many pixels, and a twentieth of the way, before it tells."""
WORST_MISS = 4.0
AGREEMENT_WINDOW = 15


@register(
    "interpolation",
    "flow_midpoint",
    summary="both pictures moved half-way by DIS flow and blended; needs no weights",
)
class FlowMidpoint:
    """The picture between two by optical flow: both are moved half-way and blended.

    Needs no weights. Flow is taken in both directions. Where going there and coming back ends
    elsewhere, one of the pictures hides what the other shows, and it counts less; where moving the
    pictures makes them agree less than they did before, the flow is wrong, and the plain mean of
    both is taken. ``preset`` is that of the flow backend ``dis``.

    Safe to call from several threads.
    """

    def __init__(self, *, preset: Preset = "medium") -> None:
        self._flow = DisFlow(preset=preset)

    @property
    def identity(self) -> Mapping[str, str]:
        return self._flow.identity

    def midpoint(self, pairs: Sequence[tuple[Image, Image]]) -> list[Image]:
        return [self._between(first, second) for first, second in pairs]

    def _between(self, first: Image, second: Image) -> Image:
        check_pair(first, second)
        there, back = self._flow.flow([(first, second), (second, first)])
        return blend_halfway(first, second, there, back)


def blend_halfway(first: Image, second: Image, there: Plane, back: Plane) -> Image:
    """Return the picture half-way, from the flow first → second (``there``) and second → first."""
    # Seen from the middle, the way to either side is half the mean of both flows.
    half = (there - back) / 4
    moved_first, moved_second = _moved(first, -half), _moved(second, half)
    shift = _trust(there, back, -half) - _trust(back, there, half)
    weight = _smoothed(1 / (1 + np.exp(shift)), 5)[..., None]
    moved = moved_first * weight + moved_second * (1 - weight)

    plain = (first.astype(np.float32) + second) / 2
    before = _disagreement(first.astype(np.float32), second.astype(np.float32))
    after = _disagreement(moved_first, moved_second)
    sure = np.minimum(1, (before / after) ** 2)[..., None]
    mixed = moved * sure + plain * (1 - sure)
    return to_bytes(mixed)


def _trust(there: Plane, back: Plane, start: Plane) -> Plane:
    """Failure of a round trip from the pixels at ``start``: 0 none, 2 as badly as counts."""
    out = _moved(there, start)
    home = _moved(back, start + out)
    miss = np.linalg.norm(out + home, axis=-1) - HIDDEN_FROM - np.linalg.norm(out, axis=-1) / 20
    return np.asarray(np.clip(miss, 0, WORST_MISS) / (WORST_MISS / 2), np.float32)


def _moved(picture: Image | Plane, by: Plane) -> Plane:
    """Return the picture as seen from pixels that look ``by`` away."""
    import cv2

    height, width = by.shape[:2]
    across, down = np.meshgrid(
        np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32)
    )
    seen = cv2.remap(
        picture.astype(np.float32, copy=False),
        across + by[..., 0],
        down + by[..., 1],
        cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(seen, np.float32)


def _disagreement(first: Plane, second: Plane) -> Plane:
    """Mean squared difference around each pixel; never 0."""
    return _smoothed(np.abs(first - second).mean(axis=-1) ** 2, AGREEMENT_WINDOW) + 1


def _smoothed(plane: Plane, window: int) -> Plane:
    import cv2

    return np.asarray(cv2.GaussianBlur(plane, (window, window), 0), np.float32)


BLOCK_SCALES = (8, 4, 2, 1)
"""Each block sees the pictures this many times smaller."""
ALIGNMENT = 32
"""Sides must be multiples of this: block 0 halves five times in all."""

LEVELS = 4
"""How many times the refinement halves the size."""


class RifeNetwork:
    """The midpoint of two batches of pictures, given the parameters.

    Laid out from the names and shapes of its parameters and from the paper's description (Huang and
    others, "Real-Time Intermediate Flow Estimation for Video Frame Interpolation"). Four blocks,
    each at twice the resolution of the one before, refine the flow from the middle to both pictures
    and the mask that blends them; a U-Net on warped context features corrects the rest. Torch is
    passed in, so that importing this file costs nothing.
    """

    def __init__(self, torch: Any, parameters: Mapping[str, Any]) -> None:
        self._torch = torch
        self._ops = torch.nn.functional
        self._parameters = parameters

    def midpoint(self, first: Any, second: Any) -> Any:
        """N × 3 × height × width in 0–1; sides are multiples of ALIGNMENT."""
        torch = self._torch
        moment = torch.full_like(first[:, :1], 0.5)
        flow, mask = self._block(0, torch.cat((first, second, moment), 1), None)
        for number in range(1, len(BLOCK_SCALES)):
            near, far = self._both_moved(first, second, flow)
            seen = torch.cat((near, far, moment, mask), 1)
            flow_change, mask_change = self._block(number, seen, flow)
            flow, mask = flow + flow_change, mask + mask_change
        near, far = self._both_moved(first, second, flow)
        weight = torch.sigmoid(mask)
        blend = near * weight + far * (1 - weight)
        seen = torch.cat((first, second, near, far, mask, flow), 1)
        rest = self._refine(seen, first, second, flow)
        return (blend + 2 * rest - 1).clamp(0, 1)

    def _block(self, number: int, seen: Any, flow: Any | None) -> tuple[Any, Any]:
        """Return changes of flow (4 channels: to the first, to the second) and mask."""
        name, scale = f"block{number}", BLOCK_SCALES[number]
        seen = self._sized(seen, 1 / scale)
        if flow is not None:
            seen = self._torch.cat((seen, self._sized(flow, 1 / scale) / scale), 1)
        features = self._conv(self._conv(seen, f"{name}.conv0.0", 2), f"{name}.conv0.1", 2)
        deeper = features
        for layer in range(8):
            deeper = self._conv(deeper, f"{name}.convblock.{layer}")
        out = self._ops.conv_transpose2d(
            deeper + features,
            self._parameters[f"{name}.lastconv.weight"],
            self._parameters[f"{name}.lastconv.bias"],
            stride=2,
            padding=1,
        )
        out = self._sized(out, 2 * scale)
        return out[:, :4] * 2 * scale, out[:, 4:]

    def _refine(self, seen: Any, first: Any, second: Any, flow: Any) -> Any:
        """Return the rest that the blend lacks, in 0–1 around one half."""
        torch = self._torch
        near, far = self._context(first, flow[:, :2]), self._context(second, flow[:, 2:])
        steps = [self._two_convs(seen, "unet.down0")]
        for level in range(1, LEVELS):
            joined = torch.cat((steps[-1], near[level - 1], far[level - 1]), 1)
            steps.append(self._two_convs(joined, f"unet.down{level}"))
        out = self._up(torch.cat((steps.pop(), near[-1], far[-1]), 1), "unet.up0")
        for level in range(1, LEVELS):
            out = self._up(torch.cat((out, steps.pop()), 1), f"unet.up{level}")
        out = self._ops.conv2d(
            out, self._parameters["unet.conv.weight"], self._parameters["unet.conv.bias"], padding=1
        )
        return torch.sigmoid(out)

    def _context(self, picture: Any, flow: Any) -> list[Any]:
        """Features of a picture at four sizes, moved to the middle."""
        levels = []
        for level in range(1, LEVELS + 1):
            picture = self._two_convs(picture, f"contextnet.conv{level}")
            flow = self._sized(flow, 0.5) / 2
            levels.append(self._moved(picture, flow))
        return levels

    def _both_moved(self, first: Any, second: Any, flow: Any) -> tuple[Any, Any]:
        return self._moved(first, flow[:, :2]), self._moved(second, flow[:, 2:])

    def _moved(self, picture: Any, flow: Any) -> Any:
        torch = self._torch
        height, width = flow.shape[2:]
        down = torch.arange(height, device=flow.device, dtype=flow.dtype)[:, None] + flow[:, 1]
        across = torch.arange(width, device=flow.device, dtype=flow.dtype) + flow[:, 0]
        grid = torch.stack((across / (width - 1), down / (height - 1)), -1) * 2 - 1
        return self._ops.grid_sample(picture, grid, padding_mode="border", align_corners=True)

    def _conv(self, tensor: Any, name: str, stride: int = 1) -> Any:
        return self._layer(self._ops.conv2d, tensor, name, stride)

    def _two_convs(self, tensor: Any, name: str) -> Any:
        return self._conv(self._conv(tensor, f"{name}.conv1", 2), f"{name}.conv2")

    def _up(self, tensor: Any, name: str) -> Any:
        return self._layer(self._ops.conv_transpose2d, tensor, name, stride=2)

    def _layer(self, operation: Any, tensor: Any, name: str, stride: int) -> Any:
        weights = self._parameters
        out = operation(
            tensor, weights[f"{name}.0.weight"], weights[f"{name}.0.bias"], stride, padding=1
        )
        return self._ops.prelu(out, weights[f"{name}.1.weight"])

    def _sized(self, tensor: Any, factor: float) -> Any:
        return self._ops.interpolate(
            tensor, scale_factor=factor, mode="bilinear", align_corners=False
        )


WEIGHTS = "rife"
_PREFIX = "module."


@register(
    "interpolation",
    "rife",
    summary="RIFE 4.0 by torch",
    weights=(WEIGHTS,),
    neutral=NEUTRAL,
    packages=("torch",),
)
class Rife:
    """The picture between two by RIFE 4.0, run by torch inside the process.

    Its weights are a pickle: they are read by torch's restricted reader, which builds tensors and
    nothing else, and only after their sha256 was checked. ``model`` is another file of the same
    layout.
    """

    def __init__(
        self, *, model: str = "", allow_pickle: bool = False, device: str = "auto", batch: int = 4
    ) -> None:
        self._torch = optional("torch")
        self._place = ModelDevice.choose(device)
        self._batch = batch
        file = Path(model).expanduser() if model else weights.path(WEIGHTS)
        # Of our own pickle every byte is known: its sha256 was checked.
        known = allow_pickle or not model
        state = read_tensors(str(file), allow_pickle=known, device=self._place.device)
        # Single precision everywhere: a flow of 100 pixels in half is off by a sixteenth.
        self._network = RifeNetwork(self._torch, _parameters(state, file))
        self.identity = torch_identity(weights.sha256_of(file)[:12], self._place)

    def midpoint(self, pairs: Sequence[tuple[Image, Image]]) -> list[Image]:
        for first, second in pairs:
            check_pair(first, second)
        between: list[Image] = []
        for _, same_size in groupby(pairs, key=lambda pair: pair[0].shape):
            for batch in batches(list(same_size), self._batch):
                between.extend(self._between(batch))
        return between

    def _between(self, batch: Sequence[tuple[Image, Image]]) -> Iterator[Image]:
        height, width = batch[0][0].shape[:2]
        with self._torch.inference_mode():
            first, second = (self._tensor([pair[side] for pair in batch]) for side in (0, 1))
            out = self._network.midpoint(first, second)[:, :, :height, :width]
            pixels = (out * 255).round().byte().permute(0, 2, 3, 1).contiguous().cpu().numpy()
        yield from np.asarray(pixels, np.uint8)

    def _tensor(self, images: Sequence[Image]) -> Any:
        stacked = self._torch.from_numpy(np.stack(images)).to(self._place.device)
        planes = stacked.permute(0, 3, 1, 2).float() / 255
        below, beside = (-side % ALIGNMENT for side in planes.shape[2:])
        return self._torch.nn.functional.pad(planes, (0, beside, 0, below), mode="replicate")


def _parameters(state: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Return the parameters by their plain names, tried once: a wrong layout shows at once."""
    torch = optional("torch")
    parameters = {str(key).removeprefix(_PREFIX): value for key, value in state.items()}
    try:
        device = parameters["block0.lastconv.bias"].device
        tiny = torch.zeros((1, 3, ALIGNMENT, ALIGNMENT), device=device)
        with torch.inference_mode():
            RifeNetwork(torch, parameters).midpoint(tiny, tiny)
    except (KeyError, AttributeError, TypeError, RuntimeError) as error:
        raise NoValue(
            Reason.MISSING_MODEL,
            f"{file} does not hold RIFE 4.0: {str(error).splitlines()[0]}",
            advice=f"Get the right file: screentest models pull {WEIGHTS}",
        ) from None
    return parameters
