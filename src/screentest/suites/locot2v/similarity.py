"""How alike texts and pictures are, and the pieces and pairs of frames that are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from statistics import fmean
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from screentest.core import BaseConsumer, Frame, FrameRequest, Image, Resources, Time
from screentest.models.roles import Box
from screentest.suites.locot2v.requests import inapplicable

Rows: TypeAlias = NDArray[np.floating]
"""One vector of length one per frame, in order of time."""
Plane: TypeAlias = NDArray[Any]


def text_vectors(texts: Sequence[str], resources: Resources) -> NDArray[np.float64]:
    """One row per text; a blank text has no meaning and is all zeros."""
    spoken = [place for place, text in enumerate(texts) if text.strip()]
    if not spoken:
        return np.zeros((len(texts), 1))
    available = np.asarray(
        resources.role("text_embedding").embed([texts[place] for place in spoken]), np.float64
    )
    rows = np.zeros((len(texts), available.shape[1]))
    rows[spoken] = available / np.linalg.norm(available, axis=1, keepdims=True)
    return rows


def nearness(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosines in 0–1: opposite meanings are as far as unrelated ones. Both blank: equal.

    >>> nearness(np.array([[1.0, 0], [0, 0]]), np.array([[0.6, 0.8], [0, 0]])).tolist()
    [[0.6, 0.0], [0.0, 1.0]]
    """
    cosines = np.clip(first @ second.T, 0.0, 1.0)
    blank = np.outer(~first.any(axis=1), ~second.any(axis=1))
    return np.where(blank, 1.0, cosines)


def within(frames: Rows) -> float | None:
    """Equation 10: the mean similarity of consecutive frames; None below two.

    >>> within(np.array([[1.0, 0], [1, 0], [0, 1]]))
    0.5
    """
    if len(frames) < 2:
        return None
    return fmean(
        float(first @ second) for first, second in pairwise(np.asarray(frames, np.float64))
    )


def intra(events: Mapping[int, Sequence[Rows]], weights: Mapping[int, float]) -> float | None:
    """Equations 11 and 12: mean over the subjects of an event, weighted mean over events."""
    by_event = {}
    for event, subjects in events.items():
        values = [value for value in map(within, subjects) if value is not None]
        if values:
            by_event[event] = fmean(values)
    if not by_event:
        return None
    total = sum(weights[event] for event in by_event)
    return sum(weights[event] * value for event, value in by_event.items()) / total


def across(appearances: Sequence[Rows]) -> float | None:
    """Equations 13 and 14: mean over pairs of events of the mean similarity of their frames.

    The mean over all pairs of frames is the product of the mean vectors.

    >>> across([np.array([[1.0, 0], [0, 1]]), np.array([[1.0, 0]])])
    0.5
    """
    centres = [np.asarray(rows, np.float64).mean(axis=0) for rows in appearances if len(rows)]
    if len(centres) < 2:
        return None
    return fmean(float(first @ second) for first, second in combinations(centres, 2))


def inter(subjects: Sequence[Sequence[Rows]]) -> float | None:
    """Equation 15: mean over the subjects that appear in at least two events."""
    values = [value for value in map(across, subjects) if value is not None]
    return fmean(values) if values else None


WINDOW, SIGMA = 11, 1.5
C1, C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2


def pixel_likeness(first: Image, second: Image) -> float:
    """1 − mean absolute error / 255."""
    return 1.0 - float(np.abs(first.astype(np.int16) - second).mean()) / 255


def ssim(first: Image, second: Image) -> float:
    """Structural similarity (Wang et al. 2004) of the grey pictures, 11 × 11 Gaussian, σ 1.5.

    Windows that reach over the border are left out, as in the paper.
    """
    import cv2

    item, two = (
        cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float64) for image in (first, second)
    )
    if min(item.shape) < WINDOW:
        raise ValueError(f"structure needs {WINDOW} pixels a side")
    mean_one, mean_two = _blurred(item), _blurred(two)
    varied_one = _blurred(item * item) - mean_one**2
    varied_two = _blurred(two * two) - mean_two**2
    together = _blurred(item * two) - mean_one * mean_two
    alike = ((2 * mean_one * mean_two + C1) * (2 * together + C2)) / (
        (mean_one**2 + mean_two**2 + C1) * (varied_one + varied_two + C2)
    )
    return float(alike.mean())


def _blurred(plane: Plane) -> Plane:
    import cv2

    rim = WINDOW // 2
    blurred = cv2.GaussianBlur(plane, (WINDOW, WINDOW), SIGMA)
    return np.asarray(blurred)[rim:-rim, rim:-rim]


DILATION = 0.02
"""How far masks are widened before the background is cut out, as a share of the short side."""
SMALLEST = 64
"""A mask of fewer pixels shows nothing."""


Cut: TypeAlias = "tuple[dict[str, Image], Image | None]"
"""The subjects of a frame by their phrases, and what is left without them."""


def cut(
    images: Sequence[Image], phrases: Sequence[str], resources: Resources, least: float
) -> list[Cut]:
    """Return the best detection of each phrase, cut out along its shape, and the background.

    ``least`` is the score of a detection. No background is left where subjects fill the frame.
    Frames are handed over together to models that take several.
    """
    if not phrases:
        return [({}, image) for image in images]
    found = together(resources.role("detection"), "detect", images, [list(phrases)] * len(images))
    best: list[dict[str, Box]] = []
    for detections in found:
        boxes: dict[str, Box] = {}
        for item in detections:
            if item.score >= least and item.label in phrases:
                boxes.setdefault(item.label, item.box)
        best.append(boxes)
    seen = [place for place, boxes in enumerate(best) if boxes]
    shapes = together(
        resources.role("segmentation"),
        "segment",
        [images[place] for place in seen],
        [list(best[place].values()) for place in seen],
    )
    result: list[Cut] = [({}, image) for image in images]
    for place, listed in zip(seen, shapes, strict=True):
        image, masks = images[place], {}
        for phrase, shape in zip(best[place], listed, strict=True):
            mask = np.asarray(shape) >= 0.5
            if mask.sum() >= SMALLEST:
                masks[phrase] = mask
        subjects = {phrase: _cropped(image, mask) for phrase, mask in masks.items()}
        result[place] = subjects, _without(image, list(masks.values()))
    return result


def together(
    backend: Any, method: str, images: Sequence[Image], asked: Sequence[Any]
) -> Sequence[Sequence[Any]]:
    """Ask a backend of each picture; in one call where it has ``detect_all``, ``segment_all``."""
    every = getattr(backend, f"{method}_all", None)
    if every is None or not images:
        one = getattr(backend, method)
        return [one(image, question) for image, question in zip(images, asked, strict=True)]
    answers: Sequence[Sequence[Any]] = every(images, asked)
    return answers


def _cropped(image: Image, mask: NDArray[np.bool_]) -> Image:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    part = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    return np.ascontiguousarray(np.where(mask[part][..., None], image[part], 0), np.uint8)


def _without(image: Image, masks: Sequence[NDArray[np.bool_]]) -> Image | None:
    """Equation 16: the frame with all subjects blacked out, and a little around them."""
    import cv2

    if not masks:
        return image
    union = np.asarray(np.any(masks, axis=0), np.uint8)
    reach = max(1, round(DILATION * min(image.shape[:2])))
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    hidden = np.asarray(cv2.dilate(union, kernel)) > 0
    if (~hidden).sum() < SMALLEST:
        return None
    return np.ascontiguousarray(np.where(hidden[..., None], 0, image), np.uint8)


BLACK = 16
"""Levels up to this are black: what encoders leave of it."""


def is_black(image: Image) -> bool:
    """Return whether a picture shows nothing."""
    return bool(image.max() <= BLACK)


class Light:
    """Looks at frames until one shows something.

    One that is black all through is steady, and worth nothing: a generator that fails into darkness
    would have the best flickering, warping and consistency of all.

    >>> import numpy as np
    >>> light = Light()
    >>> light.see(np.zeros((2, 2, 3), np.uint8))
    >>> light.seen
    False
    """

    def __init__(self) -> None:
        self.seen = False

    def see(self, image: Image) -> None:
        if not self.seen:
            self.seen = not is_black(image)

    def require(self) -> None:
        if not self.seen:
            raise inapplicable("every frame is black")


Pair: TypeAlias = tuple[Frame, Frame]

BATCH = 4
"""Frames or pairs that a model is handed together; the frames of so many are kept."""
T = TypeVar("T")


class Batches(BaseConsumer, Generic[T]):
    """Gives what is made of frames to ``work``, ``most`` at a time; only so many are kept."""

    def __init__(
        self, wants: FrameRequest, work: Callable[[Sequence[T]], None], most: int = BATCH
    ) -> None:
        self.wants = wants
        self.light = Light()
        self._work = work
        self._most = most
        self._waiting: list[T] = []

    def add(self, piece: T) -> None:
        self._waiting.append(piece)
        if len(self._waiting) >= self._most:
            self._flush()

    def close(self, end: Time) -> None:
        self._flush()

    def _flush(self) -> None:
        if self._waiting:
            pieces, self._waiting = self._waiting, []
            self._work(pieces)


class Singly(Batches[Frame]):
    """Gives all frames to ``work``."""

    def take(self, frame: Frame) -> None:
        self.light.see(frame.image)
        self.add(frame)


class Pairwise(Batches[Pair]):
    """Gives consecutive frames to ``work``. Of ``step`` frames only the first counts."""

    _last: Frame | None = None

    def __init__(
        self, wants: FrameRequest, work: Callable[[Sequence[Pair]], None], *, step: int = 1
    ) -> None:
        super().__init__(wants, work)
        self._step = step

    def take(self, frame: Frame) -> None:
        if frame.index % self._step:
            return
        self.light.see(frame.image)
        if self._last is not None:
            self.add((self._last, frame))
        self._last = frame

    def close(self, end: Time) -> None:
        super().close(end)
        self._last = None
