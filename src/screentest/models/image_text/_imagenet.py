"""Which of ImageNet's thousand labels fit a picture, by MobileNet v1."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from screentest.models import weights
from screentest.models.pictures import check_picture
from screentest.models.runtimes import litert_model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core.frames import Image

WEIGHTS = "mobilenet-v1"
SIDE = 224


class ImageNetLabels:
    """A picture in, a probability for each label out."""

    def __init__(self, threads: int = 0) -> None:
        self._model = litert_model(weights.path(WEIGHTS), wanted_threads=threads)
        self._using = threading.Lock()
        self._input = self._model.get_input_details()[0]["index"]
        self._output = self._model.get_output_details()[0]["index"]
        text = weights.path(WEIGHTS, "mobilenet_v1_1.0_224.txt").read_text(encoding="utf-8")
        self.labels: list[str] = text.splitlines()
        """As the network numbers them; the first is "background", which no picture is given."""

    @property
    def identity(self) -> Mapping[str, str]:
        """The weights."""
        return {"labels": weights.digest(WEIGHTS)}

    def probabilities(self, image: Image) -> NDArray[np.float32]:
        """One number per label; they add up to one."""
        import cv2

        small = cv2.resize(check_picture(image), (SIDE, SIDE), interpolation=cv2.INTER_AREA)
        scaled = small.astype(np.float32) / np.float32(127.5) - 1
        with self._using:
            self._model.set_tensor(self._input, scaled[None])
            self._model.invoke()
            found: NDArray[np.float32] = self._model.get_tensor(self._output)[0].copy()
        return found
