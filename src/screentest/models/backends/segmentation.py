"""Backends of the role ``segmentation``: GrabCut, and SAM 2 in two runtimes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from screentest._util.collect import grouped
from screentest._util.optional import optional
from screentest.core import Image, register
from screentest.models import weights
from screentest.models.networks.pretrained import (
    NEUTRAL,
    TRANSFORMERS,
    ModelDevice,
    Origin,
    load_network,
)
from screentest.models.networks.runtimes import ONNX, batches, onnx_session, versions
from screentest.models.networks.saliency import Guess, cut
from screentest.models.pictures import (
    IMAGENET_DEVIATION,
    IMAGENET_MEAN,
    OpenCvBackend,
    Plane,
    check_picture,
    limit_long_side,
    writable,
)
from screentest.models.roles import Box, Mask

SIDE = 320
RIM = 0.3
"""How far around the box the ground is looked at, as a share of its sides."""
ELLIPSE = 0.48
"""Its half axes, as shares of the box's sides."""
LEAST = 0.1
"""Less than this share of the box is nothing."""


@register(
    "segmentation",
    "grabcut",
    summary="GrabCut in the box; needs no weights",
    guesses=True,  # a box without a clear shape is taken for the thing itself
)
class GrabCutSegmentation(OpenCvBackend):
    """The shape of what is in a box, by GrabCut: inside the box is guessed, outside is ground.

    The thing is thought to fill an ellipse in the box, and the ground is learnt from a rim around
    it. Where GrabCut finds next to nothing, the box itself is the mask: a caller who points at
    something gets something. A box that misses the picture gives an empty mask.
    """

    def segment(self, image: Image, boxes: Sequence[Box]) -> list[Mask]:
        return [_segment(check_picture(image), box) for box in boxes]


def _segment(image: Image, box: Box) -> Mask:
    import cv2

    mask = np.zeros(image.shape[:2], np.float32)
    left, top, right, bottom = _inside(box, image)
    if left >= right or top >= bottom:
        return mask
    across, down = RIM * (right - left), RIM * (bottom - top)
    outer = _inside((left - across, top - down, right + across, bottom + down), image)
    part = image[outer[1] : outer[3], outer[0] : outer[2]]
    small = limit_long_side(part, SIDE)
    scale = small.shape[1] / part.shape[1], small.shape[0] / part.shape[0]
    corners = np.array([[left, top], [right, bottom]])
    cutout = cut(small, _guesses(small, ((corners - outer[:2]) * scale).ravel()))
    height, width = part.shape[:2]
    shape = np.asarray(cv2.resize(cutout, (width, height))).reshape(height, width)
    if (shape >= 0.5).sum() < LEAST * (right - left) * (bottom - top):
        mask[top:bottom, left:right] = 1
    else:
        mask[outer[1] : outer[3], outer[0] : outer[2]] = shape
    return mask


def _inside(box: Box | Plane, image: Image) -> tuple[int, int, int, int]:
    height, width = image.shape[:2]
    left, top, right, bottom = (
        int(np.clip(np.rint(value), 0, limit))
        for value, limit in zip(box, (width, height, width, height), strict=True)
    )
    return left, top, right, bottom


def _guesses(picture: Image, box: Plane) -> np.ndarray:
    import cv2

    guesses = np.full(picture.shape[:2], Guess.BACKGROUND, np.uint8)
    left, top, right, bottom = _inside(box, picture)
    right, bottom = max(right, left + 1), max(bottom, top + 1)
    guesses[top:bottom, left:right] = Guess.MAYBE_BACKGROUND
    axes = max(1, round(ELLIPSE * (right - left))), max(1, round(ELLIPSE * (bottom - top)))
    ellipse = np.zeros_like(guesses)
    cv2.ellipse(ellipse, ((left + right) // 2, (top + bottom) // 2), axes, 0, 0, 360, 1, -1)
    guesses[(ellipse == 1) & (guesses == Guess.MAYBE_BACKGROUND)] = Guess.MAYBE_FOREGROUND
    return guesses


TINY = "sam2-tiny"
_ENCODER = "sam2_hiera_tiny_encoder.with_runtime_opt.ort"
_DECODER = "sam2_hiera_tiny_decoder_pr1.onnx"
_SAM_SIDE, _MASK_SIDE = 1024, 256
_CORNERS = (2.0, 3.0)
"""How its decoder calls the two corners of a box."""


@register(
    "segmentation",
    "sam2_tiny",
    summary="SAM 2 hiera tiny by ONNX Runtime, prompted by boxes; without torch",
    packages=(ONNX,),
    weights=(TINY,),
    neutral=("threads",),
)
class Sam2Tiny:
    """The shape of what is in a box, by the smallest SAM 2 and without torch.

    A picture is looked at once, which is what takes long; each box costs little more.
    """

    def __init__(self, threads: int = 0) -> None:
        self._encoder = onnx_session(weights.path(TINY, _ENCODER), wanted_threads=threads)
        self._decoder = onnx_session(weights.path(TINY, _DECODER), wanted_threads=threads)
        self.identity = {"weights": weights.digest(TINY), **versions(ONNX)}

    def segment(self, image: Image, boxes: Sequence[Box]) -> list[Mask]:
        """One mask per box, 0 or 1; empty where the box misses the picture."""
        height, width = check_picture(image).shape[:2]
        masks = [np.zeros((height, width), np.float32) for _ in boxes]
        features = None
        for number, box in enumerate(_inside(box, image) for box in boxes):
            if box[0] < box[2] and box[1] < box[3]:
                features = features or self._features(image)
                masks[number] = self._mask(features, box, height, width)
        return masks

    def _features(self, image: Image) -> Mapping[str, Any]:
        import cv2

        square = cv2.resize(image, (_SAM_SIDE, _SAM_SIDE), interpolation=cv2.INTER_LINEAR)
        scaled = (square.astype(np.float32) / 255 - IMAGENET_MEAN) / IMAGENET_DEVIATION
        names = [output.name for output in self._encoder.get_outputs()]
        pixels = np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])
        return dict(zip(names, self._encoder.run(names, {"image": pixels}), strict=True))

    def _mask(self, features: Mapping[str, Any], box: Box, height: int, width: int) -> Mask:
        import cv2

        corners = np.array(box, np.float32).reshape(2, 2)
        given = {
            **features,
            "point_coords": (corners * (_SAM_SIDE / np.array([width, height], np.float32)))[None],
            "point_labels": np.array([_CORNERS], np.float32),
            "mask_input": np.zeros((1, 1, _MASK_SIDE, _MASK_SIDE), np.float32),
            "has_mask_input": np.zeros(1, np.float32),
        }
        # It offers three, and says how good it thinks each of them is.
        offers, goodness = self._decoder.run(None, given)
        best = offers[0, int(np.argmax(goodness[0]))]
        full = cv2.resize(best, (width, height), interpolation=cv2.INTER_LINEAR)
        return np.asarray(full > 0, np.float32)


@register(
    "segmentation",
    "sam2",
    summary="SAM 2, prompted by boxes",
    neutral=NEUTRAL,
    packages=TRANSFORMERS,
)
class Sam2:
    """The shape of what is in a box, by SAM 2; ``model`` is a folder or hub id.

    ``batch`` pictures are looked at in one call.
    """

    def __init__(
        self,
        *,
        model: str = "facebook/sam2-hiera-large",
        revision: str = "",
        batch: int = 8,
        device: str = "auto",
    ) -> None:
        self._torch = optional("torch")
        self._batch = batch
        self._place = ModelDevice.choose(device)
        self._model, self._processor, self.identity = load_network(
            Origin(model, revision), self._place, "Sam2Model", "Sam2Processor"
        )

    def segment(self, image: Image, boxes: Sequence[Box]) -> list[Mask]:
        return self.segment_all([image], [boxes])[0]

    def segment_all(
        self, images: Sequence[Image], boxes: Sequence[Sequence[Box]]
    ) -> list[list[Mask]]:
        """Segment several pictures; those with equally many boxes share a call."""
        result: list[list[Mask]] = [[] for _ in images]
        counts = grouped((len(listed), place) for place, listed in enumerate(boxes))
        for places in (counts[count] for count in counts if count):
            for some in batches(places, self._batch):
                found = self._masks([images[n] for n in some], [boxes[n] for n in some])
                for place, masks in zip(some, found, strict=True):
                    result[place] = masks
        return result

    def _masks(self, images: Sequence[Image], boxes: Sequence[Sequence[Box]]) -> list[list[Mask]]:
        inputs = self._processor(
            images=[writable(check_picture(image)) for image in images],
            input_boxes=[[list(box) for box in listed] for listed in boxes],
            return_tensors="pt",
        ).to(self._place.device)
        sizes = inputs.pop("original_sizes")
        inputs["pixel_values"] = inputs["pixel_values"].to(self._place.dtype)
        with self._torch.inference_mode():
            outputs = self._model(**inputs, multimask_output=False)
        masks = self._processor.post_process_masks(outputs.pred_masks.float().cpu(), sizes.cpu())
        return [[np.asarray(mask[0].numpy(), np.float32) for mask in every] for every in masks]
