"""Backends of the role ``labels``: what a classifier calls a picture, and words for it.

A label is known by its own name and by its last word ("mountain tent" is a tent). Kinds that have
names of their own, as all breeds are dogs, are listed in ``labels.toml``: by single labels, or from
one to another in ImageNet's order.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from screentest._util.text import lines
from screentest.core import Image, register
from screentest.models import weights
from screentest.models.networks.runtimes import LITERT, litert_model, versions
from screentest.models.pictures import check_picture

LABELS = "mobilenet-v1"
SIDE = 224


@register(
    "labels",
    "mobilenet_v1",
    summary="MobileNet v1: ImageNet's thousand labels",
    packages=(LITERT,),
    weights=(LABELS,),
    neutral=("threads",),
)
class ImageNetLabels:
    """ImageNet's thousand labels for a picture, by MobileNet v1.

    A picture in, a probability for each label out.
    """

    def __init__(self, *, threads: int = 0) -> None:
        self._model = litert_model(weights.path(LABELS), wanted_threads=threads)
        self._using = threading.Lock()
        self._input = self._model.get_input_details()[0]["index"]
        self._output = self._model.get_output_details()[0]["index"]
        text = weights.path(LABELS, "mobilenet_v1_1.0_224.txt").read_text(encoding="utf-8")
        self.labels = lines(text)
        """As the network numbers them; the first is "background", which no picture is given."""
        self.names = self.labels[1:]
        self.identity = {"labels": weights.digest(LABELS), **versions(LITERT)}

    def probabilities(self, image: Image) -> NDArray[np.float32]:
        import cv2

        small = cv2.resize(check_picture(image), (SIDE, SIDE), interpolation=cv2.INTER_AREA)
        scaled = small.astype(np.float32) / np.float32(127.5) - 1
        with self._using:
            self._model.set_tensor(self._input, scaled[None])
            self._model.invoke()
            shares: NDArray[np.float32] = self._model.get_tensor(self._output)[0].copy()
        return shares[1:]


_NAMES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

COCO_STUFF: list[str] = _NAMES["coco_stuff"]
"""The 171 words of which CLIP's vectors are published."""


def label_words(labels: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """For each word or name the numbers of the labels that it means.

    >>> words = label_words(["tabby", "tiger cat", "Egyptian cat", "mountain tent", "volcano"])
    >>> words["cat"], words["tent"], words["mountain"], words["volcano"]
    ((0, 1, 2), (3,), (4,), (4,))
    """
    place = {name: number for number, name in reversed(list(enumerate(labels)))}
    words: dict[str, tuple[int, ...]] = {}
    last: dict[str, list[int]] = {}
    for name, number in place.items():
        last.setdefault(name.casefold().split()[-1], []).append(number)
    for word, numbers in last.items():
        if word not in _NAMES["ambiguous"]:
            words[word] = tuple(sorted(numbers))
    words |= {name.casefold(): (number,) for name, number in place.items() if " " in name}
    for word, names in _NAMES["kinds"].items():
        if members := tuple(sorted(place[name] for name in names if name in place)):
            words[word] = members
    for word, spans in _NAMES["spans"].items():
        ends = [(place[low], place[high]) for low, high in spans if low in place and high in place]
        if ends:
            words[word] = tuple(n for low, high in ends for n in range(low, high + 1))
    return words
