"""Finding things by EfficientDet-Lite: 80 kinds of things, those of COCO.

A phrase is first matched to one of the 80 classes; a phrase that means none of them finds
nothing. Not Grounding DINO: attributes ("the red car") do not count, only the kind of thing.
"""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from screentest.core import build, register
from screentest.models import weights
from screentest.models.choice import BUILTIN, best_builtin
from screentest.models.detection._classes import ClassMatcher
from screentest.models.pictures import check_picture
from screentest.models.roles import Detection, Role
from screentest.models.runtimes import LITERT, litert_model, runs, versions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core.frames import Image

Model = Literal["lite0", "lite2"]

_NO_CLASS = "???"
_GREY = 127
"""What lies beside a picture that is not square: the middle of the range it was trained on."""


@register(
    "detection",
    "efficientdet",
    version=1,
    summary="EfficientDet-Lite, the 80 classes of COCO; phrases matched to them by text similarity",
    builtin=1,
    ready=lambda: runs(LITERT) and weights.available("efficientdet-lite0"),
    weights=("efficientdet-lite0", "efficientdet-lite2"),
    neutral=("threads",),
    get="screentest models pull efficientdet-lite0",
)
def efficientdet(
    *,
    model: Model = "lite0",
    score: float = 0.3,
    similarity: float = 0.65,
    text: str = BUILTIN,
    threads: int = 0,
) -> EfficientDet:
    """EfficientDet-Lite0 (or the larger lite2).

    ``score`` is the least a detection must have; ``similarity`` the least between a phrase and
    a class that it does not name outright; ``text`` the text_embedding backend that says so.
    """
    return EfficientDet(model, score, similarity, text, threads)


class EfficientDet:
    """Fills the role detection."""

    def __init__(
        self,
        model: Model = "lite0",
        score: float = 0.3,
        similarity: float = 0.65,
        text: str = BUILTIN,
        threads: int = 0,
    ) -> None:
        self._weights = f"efficientdet-{model}"
        place = weights.path(self._weights)
        self._model = litert_model(place, wanted_threads=threads)
        self._using = threading.Lock()
        self._input = self._model.get_input_details()[0]
        self._outputs = [one["index"] for one in self._model.get_output_details()]
        # Its label map travels as a zip at the end of the model file.
        with zipfile.ZipFile(place) as inside:
            self._classes = inside.read("labelmap.txt").decode().splitlines()
        self._score = score
        self._similarity = similarity
        self._text = best_builtin(Role.TEXT_EMBEDDING) if text == BUILTIN else text
        self._matcher: ClassMatcher | None = None

    @property
    def identity(self) -> Mapping[str, str]:
        """The weights, the runtime, and the text model that matches phrases."""
        return {
            "weights": weights.digest(self._weights),
            "matcher": self._text,
            **versions(LITERT),
        }

    @property
    def classes(self) -> list[str]:
        """What it can find."""
        return [name for name in self._classes if name != _NO_CLASS]

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        """What was found, best first, each under the phrase that fits it best."""
        wanted: dict[str, tuple[float, str]] = {}
        for phrase, meaning in zip(phrases, self._meanings(phrases), strict=True):
            if meaning is not None:
                name, similarity = meaning
                if name not in wanted or similarity > wanted[name][0]:
                    wanted[name] = (similarity, phrase)
        if not wanted:
            return []
        return [
            Detection(wanted[one.label][1], one.score, one.box)
            for one in self.everything(image)
            if one.label in wanted
        ]

    def knows(self, phrases: Sequence[str]) -> list[bool]:
        """Whether each phrase bears the name of a class: else not finding it says nothing."""
        return [meaning is not None and meaning[1] == 1.0 for meaning in self._meanings(phrases)]

    def everything(self, image: Image) -> list[Detection]:
        """All that it sees, best first; the labels are its own classes."""
        height, width = check_picture(image).shape[:2]
        side = int(self._input["shape"][1])
        with self._using:
            self._model.set_tensor(self._input["index"], _squared(image, side)[None])
            self._model.invoke()
            boxes, classes, scores, _ = (self._model.get_tensor(n)[0] for n in self._outputs)
        longest = max(height, width)
        found = []
        for box, number, score in zip(boxes, classes, scores, strict=True):
            top, left, bottom, right = np.clip(box, 0, 1) * longest
            right, bottom = min(right, width), min(bottom, height)
            name = self._classes[int(number)]
            if score >= self._score and left < right and top < bottom and name != _NO_CLASS:
                corners = (float(left), float(top), float(right), float(bottom))
                found.append(Detection(name, float(score), corners))
        return sorted(found, key=lambda one: -one.score)

    def _meanings(self, phrases: Sequence[str]) -> list[tuple[str, float] | None]:
        if self._matcher is None:
            text = build(Role.TEXT_EMBEDDING.value, self._text).thing
            self._matcher = ClassMatcher(self.classes, text, self._similarity)
        return self._matcher.meanings(phrases)


def _squared(image: Image, side: int) -> NDArray[np.uint8]:
    """The picture in the upper left of a square, in its own proportions, as in training."""
    import cv2

    height, width = image.shape[:2]
    scale = side / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    filter_ = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = cv2.resize(image, size, interpolation=filter_)
    square = np.full((side, side, 3), _GREY, np.uint8)
    square[: small.shape[0], : small.shape[1]] = small
    return square
