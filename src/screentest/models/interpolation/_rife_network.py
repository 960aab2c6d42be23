"""The network of RIFE 4.0 as functions on its state dict.

Laid out from the names and shapes of its parameters and from the paper's description (Huang
and others, "Real-Time Intermediate Flow Estimation for Video Frame Interpolation"). Four
blocks, each at twice the resolution of the one before, refine the flow from the middle to both
pictures and the mask that blends them; a U-Net on warped context features corrects the rest.
Torch is handed in, so that importing this file costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BLOCK_SCALES = (8, 4, 2, 1)
"""Each block sees the pictures this many times smaller."""
ALIGNMENT = 32
"""Sides must be multiples of this: block 0 halves five times in all."""

LEVELS = 4
"""How many times the refinement halves the size."""


class RifeNetwork:
    """The midpoint of two batches of pictures, given the parameters."""

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
            one, two = self._both_moved(first, second, flow)
            seen = torch.cat((one, two, moment, mask), 1)
            flow_change, mask_change = self._block(number, seen, flow)
            flow, mask = flow + flow_change, mask + mask_change
        one, two = self._both_moved(first, second, flow)
        weight = torch.sigmoid(mask)
        blend = one * weight + two * (1 - weight)
        seen = torch.cat((first, second, one, two, mask, flow), 1)
        rest = self._refine(seen, first, second, flow)
        return (blend + 2 * rest - 1).clamp(0, 1)

    def _block(self, number: int, seen: Any, flow: Any | None) -> tuple[Any, Any]:
        """How flow (4 channels: to the first, to the second) and mask change."""
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
        """What the blend lacks, in 0–1 around one half."""
        torch = self._torch
        one, two = self._context(first, flow[:, :2]), self._context(second, flow[:, 2:])
        steps = [self._two_convs(seen, "unet.down0")]
        for level in range(1, LEVELS):
            joined = torch.cat((steps[-1], one[level - 1], two[level - 1]), 1)
            steps.append(self._two_convs(joined, f"unet.down{level}"))
        out = self._up(torch.cat((steps.pop(), one[-1], two[-1]), 1), "unet.up0")
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
        weights = self._parameters
        out = self._ops.conv2d(
            tensor, weights[f"{name}.0.weight"], weights[f"{name}.0.bias"], stride, padding=1
        )
        return self._ops.prelu(out, weights[f"{name}.1.weight"])

    def _two_convs(self, tensor: Any, name: str) -> Any:
        return self._conv(self._conv(tensor, f"{name}.conv1", 2), f"{name}.conv2")

    def _up(self, tensor: Any, name: str) -> Any:
        weights = self._parameters
        out = self._ops.conv_transpose2d(
            tensor, weights[f"{name}.0.weight"], weights[f"{name}.0.bias"], stride=2, padding=1
        )
        return self._ops.prelu(out, weights[f"{name}.1.weight"])

    def _sized(self, tensor: Any, factor: float) -> Any:
        return self._ops.interpolate(
            tensor, scale_factor=factor, mode="bilinear", align_corners=False
        )
