"""A named thing followed through a clip: its boxes and its shape, frame by frame.

A detector is asked in every frame. A segmenter, which takes long, only now and then; between, its
masks move with the pictures, by optical flow. What is gone is gone: where the detector loses the
thing, it is followed for a few frames as long as the pictures bear it out, and no longer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from screentest.core import Image, NoValue, Reason
from screentest.core.registry import registry
from screentest.models import Models
from screentest.testbeds.contract import Details, FilmClip, Look, Rng, Unfit
from screentest.testbeds.operators.shared import optical_flow, sampled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.models.roles import Detector, Mask


Box: TypeAlias = tuple[float, float, float, float]
P = TypeVar("P", np.uint8, np.float32)

SMALLEST, LARGEST = 0.002, 0.8
"""The share of the picture that a thing may fill. Less is not seen; more is the picture."""
PATIENCE, EVERY = 1 / 6, 1 / 3
"""Seconds that a thing may be missed for before it is gone, and after which its shape is found
anew."""
RATE = 24.0
"""Frames a second where nothing is known of them."""
COVERED = 0.35
"""The least share of a box that a mask must fill to be that of the thing in it."""
APART = 18.0
"""Mean difference, in levels, of a picture and the one before it moved along: beyond, it is
another shot, or what moved was not followed."""
WORN = 0.15
"""A mask that fits its box so much worse than it did has stayed behind, and is found anew."""
SAME = 0.6
"""Two boxes overlap by so much where they are of one thing: intersection over union."""

NAMING_ROLES = ("detection", "segmentation", "matting")


def guesses(models: Models, role: str) -> bool:
    """Return True if what fills a role only guesses; raise NoValue where nothing fills it."""
    return bool(registry.entry(role, models.choice(role).backend).info.get("guesses"))


def must_name_things(models: Models, roles: Sequence[str]) -> None:
    """Raise NoValue(MISSING_MODEL) where one of the roles is filled by a guess.

    What stands out in a picture need not be what the caption names, a box is not a shape, and of
    a white bird before a white wall GrabCut keeps the beak.
    """
    for role in (role for role in NAMING_ROLES if role in roles):
        if guesses(models, role):
            raise NoValue(
                Reason.MISSING_MODEL,
                f"{'the foreground' if role == 'matting' else 'what a caption names'} is not found "
                f"by {role}={models.choice(role).backend}, which guesses",
                advice="Get models that find it (screentest models pull light) and add "
                "--models light.",
            )


def overlap(first: Box, second: Box) -> float:
    """Intersection over union.

    >>> overlap((0, 0, 2, 2), (1, 0, 3, 2))
    0.3333333333333333
    """
    across = min(first[2], second[2]) - max(first[0], second[0])
    down = min(first[3], second[3]) - max(first[1], second[1])
    shared = max(0.0, across) * max(0.0, down)
    return shared / max(1e-9, _area(first) + _area(second) - shared)


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def boxes_of(detector: Detector, image: Image, thing: str) -> list[Box]:
    """Return where ``thing`` is in a picture: boxes of a fit size, best first."""
    height, width = image.shape[:2]

    def share(box: Box) -> float:
        left, top, right, bottom = box
        inside = (max(left, 0.0), max(top, 0.0), min(right, width), min(bottom, height))
        return float(_area(inside) / (width * height))

    boxes = [
        detection.box for detection in detector.detect(image, [thing]) if detection.label == thing
    ]
    return [box for box in boxes if SMALLEST <= share(box) <= LARGEST]


def box_mask(image: NDArray[Any], boxes: Sequence[Box]) -> Mask:
    """1 in the boxes, 0 elsewhere."""
    mask = np.zeros(image.shape[:2], np.float32)
    for left, top, right, bottom in boxes:
        rows = slice(max(0, int(top)), max(0, int(np.ceil(bottom))))
        mask[rows, max(0, int(left)) : max(0, int(np.ceil(right)))] = 1
    return mask


_PLURALS = frozenset({"men", "women", "people", "children", "mice", "geese", "sheep"})
_PAIRS = frozenset({"jeans", "trousers", "pants", "shorts", "glasses", "sunglasses", "scissors"})


def is_plural(thing: str) -> bool:
    """Return True if a phrase names more than one thing.

    >>> [is_plural(thing) for thing in ("three red cups", "a glass", "women", "blue jeans")]
    [True, False, True, False]
    """
    word = (thing.casefold().split() or [""])[-1]
    ends = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word in _PLURALS or (ends and word not in _PAIRS)


def is_shown(look: Look, clip: FilmClip, thing: str, most: float = LARGEST) -> bool:
    """Return True if most of a few pictures show the thing, filling at most so much of them.

    Of several things one is not enough: the others would stay as they are.
    """
    detector = look.models.role("detection")
    pictures = look.pictures(clip)
    least = 2 if is_plural(thing) else 1
    hits = 0
    for image in pictures:
        boxes = boxes_of(detector, image, thing)
        room = most * image.shape[0] * image.shape[1]
        hits += len(boxes) >= least and sum(map(_area, boxes)) <= room
    return bool(pictures) and 2 * hits > len(pictures)


def is_told_apart(look: Look, clip: FilmClip, thing: str) -> bool:
    """Return True if the detector tells the thing from the others that the caption names.

    One that finds a boy and a girl under either name would take both for the boy.
    """
    detector = look.models.role("detection")
    others = [other for other in clip.facts.subject if other.casefold() != thing.casefold()]
    for image in look.pictures(clip):
        mine = boxes_of(detector, image, thing)
        for other in others if len(mine) > 1 else ():
            theirs = boxes_of(detector, image, other)
            if any(overlap(box, two) >= SAME for box in mine for two in theirs):
                return False
    return True


def settle_thing(
    clip: FilmClip, look: Look, rng: Rng, most: float = LARGEST, *, clear: bool = True
) -> Details:
    """One of the objects of the caption that can be seen, filling at most so much of the picture,
    and told from the others; raises Unfit where there is none. Where it need not be ``clear``,
    finding it in one picture is enough."""
    detector = look.models.role("detection")
    for thing in rng.shuffled(clip.facts.subject, "object"):
        if not clear and any(boxes_of(detector, image, thing) for image in look.pictures(clip)):
            return {"object": thing}
        if clear and is_shown(look, clip, thing, most) and is_told_apart(look, clip, thing):
            return {"object": thing}
    raise Unfit(f"have no object that the detector finds{' and tells from the others' * clear}")


class Follower:
    """Where a thing is, frame by frame, all of its instances."""

    def __init__(self, models: Models, thing: str, rate: float = RATE) -> None:
        self._patience = PATIENCE * rate
        self._detector: Detector = models.role("detection")
        self._thing = thing
        self._last: list[Box] = []
        self._before: Image | None = None
        self._missed = 0

    def boxes(self, image: Image) -> list[Box]:
        """Its boxes in the next frame; none where it is gone."""
        boxes = boxes_of(self._detector, image, self._thing)
        if boxes:
            self._last, self._missed = boxes, 0
        else:
            self._missed += 1
            before = image if self._before is None else self._before
            is_cut = float(np.abs(before.astype(np.int16) - image).mean()) > 2 * APART
            if self._missed > self._patience or is_cut:
                self._last = []
        self._before = image
        return self._last


class ThingShapes:
    """The shape of a thing, frame by frame: one mask of all its instances.

    ``fits`` may pass over instances: it is given the picture and the mask of one.
    """

    def __init__(
        self,
        models: Models,
        thing: str,
        fits: Callable[[Image, Mask], bool] | None = None,
        rate: float = RATE,
    ) -> None:
        self._patience, self._every = PATIENCE * rate, EVERY * rate
        self._detector: Detector = models.role("detection")
        self._segmentation = models.role("segmentation")
        self._thing = thing
        self._fits = fits or (lambda image, mask: True)
        self._mask: Mask | None = None
        self._passed_over: list[Mask] = []
        self._before: Image | None = None
        self._age = self._missed = 0
        self._usual = 0.0

    def find(self, image: Image) -> Mask | None:
        """Its shape in the next frame; None where it is gone."""
        boxes = boxes_of(self._detector, image, self._thing)
        self._missed = 0 if boxes else self._missed + 1
        self._follow(image)
        if boxes and (self._age >= self._every or not self._explains(boxes)):
            self._look(image, boxes)
        elif self._missed > self._patience:
            self._mask, self._passed_over = None, []
        self._before = image
        return self._mask

    def _follow(self, image: Image) -> None:
        """Move what is known along with the picture."""
        self._age += 1
        masks = [] if self._mask is None else [self._mask]
        if self._before is None or not masks + self._passed_over:
            return
        # For each pixel of the picture, how far away it was in the one before.
        flow = optical_flow(_grey(image), _grey(self._before))
        # Where the picture before, moved along, is not this one, the masks mean nothing.
        apart = np.abs(_moved(self._before, flow).astype(np.int16) - image).mean(axis=2)
        if apart.mean() > APART:
            self._mask, self._passed_over = None, []
            return
        # Nor do they where the thing itself is not what was there: it left, and the rest stayed.
        moved = [
            shape if (shape >= 0.5).any() and apart[shape >= 0.5].mean() <= APART else None
            for shape in (_moved(mask, flow) for mask in (*masks, *self._passed_over))
        ]
        self._mask = moved[0] if masks else None
        self._passed_over = [shape for shape in moved[len(masks) :] if shape is not None]

    def _explains(self, boxes: Sequence[Box]) -> bool:
        """Return True if every box holds a shape that was there, and lies as it lay over it."""
        shapes = [*([] if self._mask is None else [self._mask]), *self._passed_over]
        for box in boxes:
            left, top, right, bottom = (max(0, round(side)) for side in box)
            inside = [mask[top:bottom, left:right] for mask in shapes]
            if not any(part.size > 0 and float(part.mean()) >= COVERED for part in inside):
                return False
        return _agreement(shapes, boxes) >= (1 - WORN) * self._usual

    def _look(self, image: Image, boxes: Sequence[Box]) -> None:
        self._age = 0
        masks = [mask for mask in self._segmentation.segment(image, boxes) if (mask >= 0.5).any()]
        mine = [mask for mask in masks if self._fits(image, mask)]
        self._passed_over = [mask for mask in masks if not any(mask is other for other in mine)]
        self._mask = np.asarray(np.maximum.reduce(mine), np.float32) if mine else None
        self._usual = _agreement(masks, boxes)


def _agreement(masks: Sequence[Mask], boxes: Sequence[Box]) -> float:
    """Measure how well the box around all shapes fits the one around all boxes."""
    if not masks:
        return 0.0
    rows, columns = np.nonzero(np.maximum.reduce(masks) >= 0.5)
    if not len(rows):
        return 0.0
    corner = float(columns.min()), float(rows.min())
    around = (*corner, float(columns.max() + 1), float(rows.max() + 1))
    left, top, right, bottom = zip(*boxes, strict=True)
    return overlap(around, (min(left), min(top), max(right), max(bottom)))


def _grey(image: Image) -> NDArray[np.uint8]:
    import cv2

    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.uint8)


def _moved(plane: NDArray[P], flow: NDArray[np.float32]) -> NDArray[P]:
    rows, columns = np.indices(flow.shape[:2], np.float32)
    places = columns + flow[..., 0], rows + flow[..., 1]
    return np.asarray(sampled(plane, *places, repeats_edge=False), plane.dtype)
