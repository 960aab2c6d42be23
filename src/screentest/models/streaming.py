"""Pictures through a vision tower, batch by batch, so that a GPU never waits for the next.

While one batch is computed, the next is copied from pinned memory and resized on a stream of its
own. On a CPU there is nothing to overlap: batches simply follow each other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from screentest.models.batches import batches
from screentest.models.optional import optional
from screentest.models.pretrained import EXTRA, Place, pixel_inputs

if TYPE_CHECKING:
    from screentest.core.frames import Image

AUTOMATIC: Final = 0
"""As a batch size: as many as the device does well with, and fewer where memory is short."""
_ON_GPU, _ON_CPU = 256, 32
_AHEAD: Final = 2  # batches that may lie on the device before their turn


class Stream:
    """Takes pictures to where a model runs, and its rows back."""

    def __init__(self, processor: Any, place: Place, batch: int = AUTOMATIC) -> None:
        self._torch = optional("torch", EXTRA)
        self._processor = processor
        self._place = place
        self._cuda = place.device.startswith("cuda")
        self.batch = batch if batch != AUTOMATIC else (_ON_GPU if self._cuda else _ON_CPU)
        """Halved, for good, when a batch does not fit into the device's memory."""

    def rows(
        self, images: Sequence[Image], compute: Callable[[Mapping[str, Any]], Any]
    ) -> list[Any]:
        """What ``compute`` gives for each batch, on the device."""
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
