"""The picture between two by RIFE 4.0, run by torch inside the process.

Its weights are a pickle: they are read by torch's restricted reader, which builds tensors and
nothing else, and only after their sha256 was checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import NoValue, Reason, register
from screentest.models import weights
from screentest.models.interpolation._rife_network import ALIGNMENT, RifeNetwork
from screentest.models.optional import optional
from screentest.models.pictures import check_pair

if TYPE_CHECKING:
    from screentest.core.frames import Image

BATCH = 4
_PREFIX = "module."


@register(
    "interpolation",
    "rife",
    version=1,
    summary="RIFE 4.0 by torch; `screentest models pull rife` gets the weights (35 MB, MIT)",
)
def rife(*, model: str = "", device: str = "auto") -> Rife:
    """RIFE 4.0; ``model`` is a flownet.pkl of the same layout, by default the pulled one."""
    torch = optional("torch", "models")
    place = Path(model).expanduser() if model else weights.path("rife")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return Rife(torch, place, device)


class Rife:
    """Fills the role interpolation."""

    def __init__(self, torch: Any, place: Path, device: str) -> None:
        self._torch = torch
        self._device = device
        self._sha256 = weights.sha256_of(place) if place.is_file() else ""
        # Single precision everywhere: a flow of 100 pixels in half is off by a sixteenth.
        self._network = RifeNetwork(torch, _read(torch, place, device))

    @property
    def identity(self) -> Mapping[str, str]:
        """Weights, torch's version and where it runs."""
        return {
            "weights": self._sha256[:12],
            "torch": str(self._torch.__version__),
            "on": self._device,
        }

    def midpoint(self, pairs: Sequence[tuple[Image, Image]]) -> list[Image]:
        """One picture per pair."""
        for first, second in pairs:
            check_pair(first, second)
        between: list[Image] = []
        for batch in _batches(pairs):
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
        stacked = self._torch.from_numpy(np.stack(images)).to(self._device)
        planes = stacked.permute(0, 3, 1, 2).float() / 255
        below, beside = (-side % ALIGNMENT for side in planes.shape[2:])
        return self._torch.nn.functional.pad(planes, (0, beside, 0, below), mode="replicate")


def _batches(pairs: Sequence[tuple[Image, Image]]) -> Iterator[list[tuple[Image, Image]]]:
    """Neighbours of one size, a few at a time."""
    for _, same in groupby(pairs, key=lambda pair: pair[0].shape):
        group = list(same)
        for start in range(0, len(group), BATCH):
            yield group[start : start + BATCH]


def _read(torch: Any, place: Path, device: str) -> dict[str, Any]:
    try:
        state = torch.load(place, map_location=device, weights_only=True)
        if not isinstance(state, dict):
            raise TypeError(f"it holds a {type(state).__name__}")
        parameters = {str(key).removeprefix(_PREFIX): value for key, value in state.items()}
        _check_layout(torch, parameters)
    except Exception as error:  # noqa: BLE001 - torch's reader raises anything on damaged files
        raise NoValue(
            Reason.MISSING_MODEL,
            f"{place} does not hold RIFE 4.0: {_first_line(error)}",
            advice="Get the right file: screentest models pull rife",
        ) from None
    return parameters


def _check_layout(torch: Any, parameters: Mapping[str, Any]) -> None:
    """Run it once on the smallest picture, so that a wrong layout shows at once."""
    try:
        device = parameters["block0.lastconv.bias"].device
        tiny = torch.zeros((1, 3, ALIGNMENT, ALIGNMENT), device=device)
        with torch.inference_mode():
            RifeNetwork(torch, parameters).midpoint(tiny, tiny)
    except KeyError as missing:
        raise TypeError(f"it has no parameter {missing}") from None


def _first_line(error: Exception) -> str:
    """What an error says first; torch goes on for pages."""
    return (str(error).splitlines() or [type(error).__name__])[0]
