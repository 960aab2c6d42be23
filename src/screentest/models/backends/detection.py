"""Backends of the role ``detection``: EfficientDet-Lite, Grounding DINO, saliency."""

from __future__ import annotations

import re
import threading
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from screentest._util.collect import grouped
from screentest._util.optional import optional
from screentest.core import Image, build, register
from screentest.models import weights
from screentest.models.networks.pretrained import (
    NEUTRAL,
    TRANSFORMERS,
    ModelDevice,
    Origin,
    check_cached,
    load_network,
)
from screentest.models.networks.runtimes import LITERT, batches, litert_model, versions
from screentest.models.networks.saliency import saliency
from screentest.models.pictures import (
    OpenCvBackend,
    Plane,
    check_picture,
    limit_long_side,
    readable,
    writable,
)
from screentest.models.roles import Box, Detection, TextEmbedding, Vectors

# Which of a detector's classes a phrase means: COCO's 80 by their names, and by what is near.

FURTHER_NAMES: Mapping[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("class_names.toml").read_text(encoding="utf-8")
)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ENDS_HEAD = frozenset(
    {"of", "in", "on", "at", "with", "by", "near", "under", "over", "behind", "beside", "from"}
    | {"wearing", "holding", "who", "that", "which", "is", "are"}
)
_ARTICLES = frozenset({"a", "an", "the", "his", "her", "their", "its", "some", "this"})
_JOINS = frozenset({"and", "or"})


class ClassMatcher:
    """Says which class a phrase means, and how sure it is.

    A phrase means a class if the thing it names bears the class's name or one of the further names
    in ``class_names.toml``; else if a text model finds it near enough to the class's name; else
    none, and the detector cannot answer it.
    """

    def __init__(self, classes: Sequence[str], text: TextEmbedding, least: float) -> None:
        self._by_words = {
            tuple(_singular(word) for word in name.split()): kind
            for kind in classes
            for name in (kind, *FURTHER_NAMES.get(kind, ()))
        }
        self._longest = max(len(words) for words in self._by_words)
        self._classes = classes
        self._text = text
        self._vectors: Vectors = text.embed(classes)
        self._least = least

    def meanings(self, phrases: Sequence[str]) -> list[tuple[str, float] | None]:
        """Per phrase the class it means and their similarity; None where it means none."""
        heads = [_head(phrase) for phrase in phrases]
        meanings = [self._named(head) for head in heads]
        unnamed = [n for n, meaning in enumerate(meanings) if meaning is None and heads[n]]
        if unnamed:
            vectors = self._text.embed([" ".join(heads[n]) for n in unnamed])
            for n, similarities in zip(unnamed, vectors @ self._vectors.T, strict=True):
                best = int(np.argmax(similarities))
                if similarities[best] >= self._least:
                    meanings[n] = (self._classes[best], float(similarities[best]))
        return meanings

    def _named(self, head: Sequence[str]) -> tuple[str, float] | None:
        """Return the class whose name ends last in the head: of a "dog bowl" it is the bowl."""
        words = [_singular(word) for word in head]
        for end in range(len(words), 0, -1):
            for start in range(max(0, end - self._longest), end):
                kind = self._by_words.get(tuple(words[start:end]))
                if kind is not None:
                    return kind, 1.0
        return None


def _head(phrase: str) -> list[str]:
    """Return the words of a phrase that name the thing, without articles and what follows.

    >>> _head("A young woman in a red dress")
    ['young', 'woman']
    >>> _head("a brown and white dog and a cat")
    ['brown', 'white', 'dog']
    """
    words: list[str] = []
    every = _WORD.findall(phrase.casefold())
    for word, following in zip_longest(every, every[1:], fillvalue=""):
        # "brown and white" goes on describing; "and a cat" begins another thing.
        begins_another = word in _JOINS and following in _ARTICLES
        if words and (word in _ENDS_HEAD or begins_another):
            break
        if word not in _ARTICLES | _ENDS_HEAD | _JOINS:
            words.append(word)
    return words


def _singular(word: str) -> str:
    """Return a word without the ending of a plural.

    >>> [_singular(word) for word in ("dogs", "buses", "glass", "knives", "puppies")]
    ['dog', 'bus', 'glass', 'knife', 'puppy']
    """
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ves") and len(word) > 4:
        return word[:-3] + "fe"
    if word.endswith(("ses", "xes", "ches", "shes")) and len(word) > 4:
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        return word[:-1]
    return word


Model = Literal["lite0", "lite2"]

_NO_CLASS = "???"
_GREY = 127
"""What lies beside a picture that is not square: the middle of the range it was trained on."""


@register(
    "detection",
    "efficientdet",
    summary="EfficientDet-Lite, the 80 classes of COCO; phrases matched to them by text similarity",
    packages=(LITERT,),
    ready=lambda: weights.available("efficientdet-lite0"),
    weights=("efficientdet-lite0", "efficientdet-lite2"),
    neutral=("threads",),
    get="screentest models pull efficientdet-lite0",
)
class EfficientDet:
    """Finding things by EfficientDet-Lite0 (or the larger lite2): those of COCO's 80 classes.

    A phrase is first matched to one of the 80 classes; a phrase that means none of them finds
    nothing. Not Grounding DINO: attributes ("the red car") do not count, only the kind of thing.

    ``score`` is the least a detection must have; ``similarity`` the least between a phrase and
    a class that it does not name outright; ``text`` the text_embedding backend that says so.
    """

    def __init__(
        self,
        *,
        model: Model = "lite0",
        score: float = 0.3,
        similarity: float = 0.65,
        text: str = "shared_words",
        threads: int = 0,
    ) -> None:
        name = f"efficientdet-{model}"
        place = weights.path(name)
        self._model = litert_model(place, wanted_threads=threads)
        self._using = threading.Lock()
        self._input = self._model.get_input_details()[0]
        self._outputs = [output["index"] for output in self._model.get_output_details()]
        # Its label map travels as a zip at the end of the model file.
        with zipfile.ZipFile(place) as inside:
            self._classes = inside.read("labelmap.txt").decode().splitlines()
        self._score = score
        self._similarity = similarity
        self._text = text
        self._matcher: ClassMatcher | None = None
        self._last: tuple[Image, list[Detection]] | None = None
        self.identity = {"weights": weights.digest(name), "matcher": text, **versions(LITERT)}

    @property
    def classes(self) -> list[str]:
        return [name for name in self._classes if name != _NO_CLASS]

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        """Return detections, best first, each under the phrase that fits it best."""
        wanted: dict[str, tuple[float, str]] = {}
        for phrase, meaning in zip(phrases, self._meanings(phrases), strict=True):
            if meaning is not None:
                name, similarity = meaning
                if name not in wanted or similarity > wanted[name][0]:
                    wanted[name] = (similarity, phrase)
        if not wanted:
            return []
        return [
            Detection(wanted[seen.label][1], seen.score, seen.box)
            for seen in self.everything(image)
            if seen.label in wanted
        ]

    def knows(self, phrases: Sequence[str]) -> list[bool]:
        """Tell of each phrase whether it names a class: else not finding it says nothing."""
        return [meaning is not None and meaning[1] == 1.0 for meaning in self._meanings(phrases)]

    def everything(self, image: Image) -> list[Detection]:
        """All that it sees, best first; the labels are its own classes."""
        last = self._last
        if last is not None and last[0] is image and not image.flags.writeable:
            return last[1]  # asked for several things in turn
        detections = self._everything(image)
        self._last = image, detections
        return detections

    def _everything(self, image: Image) -> list[Detection]:
        height, width = check_picture(image).shape[:2]
        side = int(self._input["shape"][1])
        with self._using:
            self._model.set_tensor(self._input["index"], _squared(image, side)[None])
            self._model.invoke()
            boxes, classes, scores, _ = (self._model.get_tensor(n)[0] for n in self._outputs)
        longest = max(height, width)
        detections = []
        for box, number, score in zip(boxes, classes, scores, strict=True):
            top, left, bottom, right = np.clip(box, 0, 1) * longest
            right, bottom = min(right, width), min(bottom, height)
            name = self._classes[int(number)]
            if score >= self._score and left < right and top < bottom and name != _NO_CLASS:
                corners = (float(left), float(top), float(right), float(bottom))
                detections.append(Detection(name, float(score), corners))
        return sorted(detections, key=lambda detection: -detection.score)

    def _meanings(self, phrases: Sequence[str]) -> list[tuple[str, float] | None]:
        if self._matcher is None:
            text = build("text_embedding", self._text).thing
            self._matcher = ClassMatcher(self.classes, text, self._similarity)
        return self._matcher.meanings(phrases)


def _squared(image: Image, side: int) -> NDArray[np.uint8]:
    """Return the picture in the upper left of a square, in its own proportions, as in training."""
    import cv2

    height, width = image.shape[:2]
    scale = side / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    filter_ = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = cv2.resize(image, size, interpolation=filter_)
    square = np.full((side, side, 3), _GREY, np.uint8)
    square[: small.shape[0], : small.shape[1]] = small
    return square


@register(
    "detection",
    "grounding_dino",
    summary="Grounding DINO: anything a phrase names",
    neutral=NEUTRAL,
    packages=TRANSFORMERS,
    lacking=check_cached,
)
class GroundingDino:
    """Things that phrases name, found by Grounding DINO.

    Thresholds and size as in SLVMEval; ``batch`` pictures are looked at in one call.
    """

    def __init__(
        self,
        *,
        model: str = "IDEA-Research/grounding-dino-base",
        revision: str = "",
        box_threshold: float = 0.4,
        text_threshold: float = 0.3,
        long_side: int = 512,
        batch: int = 8,
        device: str = "auto",
    ) -> None:
        self._torch = optional("torch")
        self._box_threshold, self._text_threshold = box_threshold, text_threshold
        self._long_side, self._batch = long_side, batch
        # Its attention overflows in half precision.
        self._place = ModelDevice(ModelDevice.choose(device).device, self._torch.float32)
        self._model, self._processor, self.identity = load_network(
            Origin(model, revision), self._place, "AutoModelForZeroShotObjectDetection"
        )

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        return self.detect_all([image], [phrases])[0]

    def detect_all(
        self, images: Sequence[Image], phrases: Sequence[Sequence[str]]
    ) -> list[list[Detection]]:
        """Detect in several pictures of one size the phrases of each, several in one call."""
        small = [limit_long_side(check_picture(image), self._long_side) for image in images]
        detections: list[list[Detection]] = [[] for _ in images]
        # One phrase at a time: asked together, boxes come back under mixed names.
        named = (
            (phrase, n) for n, listed in enumerate(phrases) for phrase in dict.fromkeys(listed)
        )
        for phrase, places in grouped(named).items():
            for some in batches(places, self._batch):
                found = self._boxes([small[place] for place in some], phrase)
                for place, boxes in zip(some, found, strict=True):
                    detections[place] += [
                        Detection(phrase, score, _in_large(box, images[place], small[place]))
                        for score, box in boxes
                    ]
        return [sorted(each, key=lambda seen: -seen.score) for each in detections]

    def _boxes(self, images: Sequence[Image], phrase: str) -> list[list[tuple[float, list[float]]]]:
        # The model was trained on lower-case phrases that end in a full stop.
        text = readable(phrase).lower().strip().rstrip(".") + "."
        inputs = self._processor(
            images=[writable(image) for image in images],
            text=[text] * len(images),
            return_tensors="pt",
            input_data_format="channels_last",
        ).to(self._place.device)
        with self._torch.inference_mode():
            outputs = self._model(**inputs)
        results = self._processor.post_process_grounded_object_detection(
            outputs,
            inputs["input_ids"],
            threshold=self._box_threshold,
            text_threshold=self._text_threshold,
            target_sizes=[image.shape[:2] for image in images],
        )
        return [
            list(zip(result["scores"].tolist(), result["boxes"].tolist(), strict=True))
            for result in results
        ]


def _in_large(box: Sequence[float], image: Image, small: Image) -> Box:
    """Return a box of the small picture in the large one."""
    (height, width), (low, narrow) = image.shape[:2], small.shape[:2]
    across, down = width / narrow, height / low
    left, top, right, bottom = box
    right, bottom = min(float(width), right * across), min(float(height), bottom * down)
    return max(0.0, left * across), max(0.0, top * down), right, bottom


_SMALLEST = 0.005
"""A part of the picture that is too small to be a subject."""


@register(
    "detection",
    "saliency",
    summary="one box around what stands out from the edge of the picture; reads no phrases",
    guesses=True,
)
class Saliency(OpenCvBackend):
    """Finding the thing that stands out, without any weights.

    The classical stand-in beneath the detectors. It cannot read: whatever the phrases are, it gives
    one box around what stands out most from the edge of the picture, under the first phrase. Good
    for a single subject before a plain background; a guess otherwise.
    """

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        """At most one box, named by the first phrase; its score says how much it stands out."""
        if not phrases:
            return []
        part = _salient_part(saliency(image))
        return [Detection(phrases[0], part[1], part[0])] if part else []

    def knows(self, phrases: Sequence[str]) -> list[bool]:
        """Not one: it reads nothing."""
        return [False] * len(phrases)


def _salient_part(salience: Plane) -> tuple[Box, float] | None:
    """Return the part that stands out most in all, as a box, and its mean salience."""
    import cv2

    levels = np.asarray(np.rint(salience * 255), np.uint8)
    _, mask = cv2.threshold(levels, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    parts: Any = cv2.connectedComponentsWithStats(mask)
    count, labels, stats, _ = parts
    weights = np.bincount(labels.ravel(), salience.ravel(), minlength=count)
    weights[0] = 0  # the background
    best = int(np.argmax(weights))
    left, top, across, down, area = (int(number) for number in stats[best])
    if best == 0 or area < _SMALLEST * salience.size:
        return None
    box = (float(left), float(top), float(left + across), float(top + down))
    return box, float(weights[best] / area)
