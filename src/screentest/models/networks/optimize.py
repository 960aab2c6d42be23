"""What makes a vision tower of transformers faster on a GPU, for any that is built the usual way.

The first two steps change nothing but rounding and cost nothing. Compiling the layers takes some
ten seconds at the start and rounds differently, so it is an option, and part of the identity.
``PictureBatches`` takes pictures over batch by batch, so that the GPU never waits for the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from screentest._util.optional import optional
from screentest.core import Image
from screentest.models.networks.pretrained import ModelDevice, pixel_inputs
from screentest.models.networks.runtimes import batches

_FEWEST_LAYERS: Final = 2


def optimize_model(model: Any, place: ModelDevice, *, compiled: bool = False) -> dict[str, str]:
    """Make the model quicker in place; what that adds to its identity."""
    if not place.device.startswith("cuda"):
        return {}
    for module in list(model.modules()):
        _multiply_patches(module)
        _remember_positions(module)
    if not compiled:
        return {}
    for layer in _layers(model):
        layer.compile()  # one program serves all layers, since they are alike
    return {"layers": "compiled"}


def _multiply_patches(module: Any) -> None:
    """Patches that do not overlap are one matrix product; as a convolution they take longer."""
    torch = optional("torch")
    for child in module.children():
        if (
            type(child) is torch.nn.Conv2d
            and child.kernel_size == child.stride
            and child.padding in ((0, 0), "valid")
            and child.dilation == (1, 1)
            and child.groups == 1
        ):
            # In place of its forward and not of itself: the model asks for its weight's type.
            child.forward = _patches(torch, child)


def _patches(torch: Any, convolution: Any) -> Callable[[Any], Any]:
    high, wide = convolution.kernel_size

    def forward(pictures: Any) -> Any:
        count, channels, height, width = pictures.shape
        rows, columns = height // high, width // wide
        cut = pictures[:, :, : rows * high, : columns * wide]
        cut = cut.reshape(count, channels, rows, high, columns, wide)
        flat = cut.permute(0, 2, 4, 1, 3, 5).reshape(count, rows * columns, -1)
        made = torch.nn.functional.linear(flat, convolution.weight.flatten(1), convolution.bias)
        return made.transpose(1, 2).unflatten(2, (rows, columns))

    return forward


def _remember_positions(module: Any) -> None:
    """Positions fitted to a size of picture are the same for every batch of that size."""
    fit = getattr(module, "interpolate_pos_encoding", None)
    if not callable(fit) or not hasattr(module, "position_embeddings"):
        return

    @lru_cache(maxsize=4)
    def fitted(places: int, channels: int, height: int, width: int) -> Any:
        return fit(module.position_embeddings.new_empty((1, places, channels)), height, width)

    def interpolate_pos_encoding(embeddings: Any, height: int, width: int) -> Any:
        _, places, channels = embeddings.shape
        return fitted(places, channels, height, width)

    module.interpolate_pos_encoding = interpolate_pos_encoding


def _layers(model: Any) -> list[Any]:
    """Return the layers of the vision part, or of all there is where it has no such part."""
    torch = optional("torch")
    part = getattr(model, "vision_model", model)
    stacks = [module for module in part.modules() if isinstance(module, torch.nn.ModuleList)]
    longest: list[Any] = list(max(stacks, key=len, default=()))
    return longest if len(longest) >= _FEWEST_LAYERS else []


AUTOMATIC: Final = 0
"""As a batch size: as many as the device does well with, and fewer where memory is short."""
_ON_GPU, _ON_CPU = 256, 32
_AHEAD: Final = 2  # batches that may lie on the device before their turn


class PictureBatches:
    """Takes pictures to where a model runs, and its rows back.

    While one batch is computed, the next is copied from pinned memory and resized on a stream of
    its own. On a CPU there is nothing to overlap: batches simply follow each other.
    """

    def __init__(self, processor: Any, place: ModelDevice, batch: int = AUTOMATIC) -> None:
        self._torch = optional("torch")
        self._processor = processor
        self._place = place
        self._cuda = place.device.startswith("cuda")
        self.batch = batch if batch != AUTOMATIC else (_ON_GPU if self._cuda else _ON_CPU)
        """Halved, for good, when a batch does not fit into the device's memory."""

    def rows(
        self, images: Sequence[Image], compute: Callable[[Mapping[str, Any]], Any]
    ) -> list[Any]:
        """Return the results of ``compute`` for each batch, on the device."""
        while True:
            try:
                return list(self._computed(images, compute))
            except self._torch.OutOfMemoryError:
                if self.batch == 1:
                    raise
            self.batch //= 2
            self._torch.cuda.empty_cache()

    def _computed(
        self, images: Sequence[Image], compute: Callable[[Mapping[str, Any]], Any]
    ) -> Iterator[Any]:
        torch = self._torch
        if not self._cuda:
            for piece in batches(images, self.batch):
                inputs = pixel_inputs(self._processor, piece, self._place)
                with torch.inference_mode():
                    yield compute(inputs)
            return
        with torch.cuda.device(self._place.device):
            beside, main = torch.cuda.Stream(), torch.cuda.current_stream()
            computed: deque[Any] = deque()
            for piece in batches(images, self.batch):
                if len(computed) == _AHEAD:
                    computed.popleft().synchronize()
                with torch.cuda.stream(beside):
                    inputs = pixel_inputs(self._processor, piece, self._place)
                main.wait_stream(beside)
                for value in inputs.values():
                    value.record_stream(main)  # its memory is not used anew before it is read
                with torch.inference_mode():
                    rows = compute(inputs)
                computed.append(main.record_event())
                yield rows
