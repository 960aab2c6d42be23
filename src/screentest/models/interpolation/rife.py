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
from screentest.models.batches import batches
from screentest.models.interpolation._rife_network import ALIGNMENT, RifeNetwork
from screentest.models.optional import installed, optional
from screentest.models.pictures import check_pair
from screentest.models.pretrained import EXTRA, NEUTRAL, Place, read_tensors

if TYPE_CHECKING:
    from screentest.core.frames import Image

WEIGHTS = "rife"
_PREFIX = "module."


@register(
    "interpolation",
    "rife",
    version=1,
    summary="RIFE 4.0 by torch",
    weights=(WEIGHTS,),
    neutral=NEUTRAL,
    get=f"screentest models pull {WEIGHTS}",
    ready=lambda: installed("torch") and weights.available(WEIGHTS),
)
def rife(
    *, model: str = "", allow_pickle: bool = False, device: str = "auto", batch: int = 4
) -> Rife:
    """RIFE 4.0 with the pulled weights; ``model`` is another file of the same layout."""
    place = Place.choose(device)
    if model:
        file = Path(model).expanduser()
        state = read_tensors(model, allow_pickle=allow_pickle, device=place.device)
    else:
        # A pickle, but one whose every byte is known: its sha256 was checked.
        file = weights.path(WEIGHTS)
        state = read_tensors(str(file), allow_pickle=True, device=place.device)
    return Rife(_parameters(state, file), weights.sha256_of(file)[:12], place, batch)


class Rife:
    """Fills the role interpolation."""

    def __init__(
        self, parameters: Mapping[str, Any], fingerprint: str, place: Place, batch: int
    ) -> None:
        self._torch = optional("torch", EXTRA)
        self._fingerprint = fingerprint
        self._place = place
        self._batch = batch
        # Single precision everywhere: a flow of 100 pixels in half is off by a sixteenth.
        self._network = RifeNetwork(self._torch, parameters)

    @property
    def identity(self) -> Mapping[str, str]:
        """Weights, torch's version and where it runs."""
        return {
            "weights": self._fingerprint,
            "torch": str(self._torch.__version__),
            "on": self._place.device.split(":")[0],
        }

    def midpoint(self, pairs: Sequence[tuple[Image, Image]]) -> list[Image]:
        """One picture per pair."""
        for first, second in pairs:
            check_pair(first, second)
        between: list[Image] = []
        for _, same_size in groupby(pairs, key=lambda pair: pair[0].shape):
            for some in batches(list(same_size), self._batch):
                between.extend(self._between(some))
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
    """The parameters by their plain names; tried once, so that a wrong layout shows at once."""
    torch = optional("torch", EXTRA)
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
