"""Backends of the role ``matting``: GrabCut from a saliency map, and U²-Net."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from screentest.core import Image, NoValue, Reason, register
from screentest.models import weights
from screentest.models.networks.runtimes import ONNX, onnx_session, versions
from screentest.models.networks.saliency import Guess, cut, saliency, stretched
from screentest.models.pictures import (
    IMAGENET_DEVIATION,
    IMAGENET_MEAN,
    OpenCvBackend,
    Plane,
    check_picture,
    limit_long_side,
    to_bytes,
)
from screentest.models.roles import Mask

SIDE = 320
SURELY_FRONT = 0.97
"""Pixels more salient than this share of all are foreground for sure."""
SURELY_BEHIND = 0.35
"""And those below this part of the threshold are background for sure."""


@register(
    "matting", "grabcut", summary="GrabCut from a saliency map; needs no weights", guesses=True
)
class GrabCutMatting(OpenCvBackend):
    """The foreground, without any weights: GrabCut started from a saliency map.

    The classical stand-in beneath U²-Net. It finds one clear thing against a calm ground; in a busy
    picture it often takes the wrong part.
    """

    def matte(self, images: Sequence[Image]) -> list[Mask]:
        return [_matte(check_picture(image)) for image in images]


def _matte(image: Image) -> Mask:
    import cv2

    height, width = image.shape[:2]
    small = limit_long_side(image, SIDE)
    mask = cut(small, _guesses(saliency(small)))
    full = cv2.resize(mask, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(full, np.float32).reshape(height, width)


def _guesses(salience: Plane) -> NDArray[np.uint8]:
    import cv2

    level, _ = cv2.threshold(to_bytes(255 * salience), 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    threshold = level / 255
    guesses = np.where(salience > threshold, Guess.MAYBE_FOREGROUND, Guess.MAYBE_BACKGROUND)
    guesses[salience > max(threshold, float(np.quantile(salience, SURELY_FRONT)))] = (
        Guess.FOREGROUND
    )
    guesses[salience < SURELY_BEHIND * threshold] = Guess.BACKGROUND
    return guesses.astype(np.uint8)


WEIGHTS = "u2netp"
U2NET_SIDE = 320
FLAT = 1e-6
"""A map that varies less than this says nothing stands in front."""


@register(
    "matting",
    "u2net",
    summary="U²-Net: the small u2netp, or a model file of rembg by its path",
    packages=(ONNX,),
    weights=(WEIGHTS,),
    neutral=("model", "threads"),  # where the file lies; its hash is in the identity
    lacking=lambda model, _: _check_file(model),
)
class U2Net:
    """The foreground by U²-Net: one network run by onnxruntime.

    The small version (u2netp, 4.6 MB) is the built-in one. ``model`` may be the path of any ONNX
    file that takes 320 × 320 pictures the same way, as rembg keeps them (u2net, u2net_human_seg,
    silueta).
    """

    def __init__(self, *, model: str = "", threads: int = 0) -> None:
        place = Path(model).expanduser() if model else weights.path(WEIGHTS)
        self._session = _load(place, threads)
        self.identity = {"weights": weights.sha256_of(place)[:12], **versions(ONNX)}
        self._input = self._session.get_inputs()[0].name
        self._output = self._session.get_outputs()[0].name

    def matte(self, images: Sequence[Image]) -> list[Mask]:
        return [self._one(check_picture(image)) for image in images]

    def _one(self, image: Image) -> Mask:
        (output,) = self._session.run([self._output], {self._input: _prepared(image)})
        small = Pillow.fromarray(to_bytes(255 * stretched(output[0, 0], FLAT)))
        height, width = image.shape[:2]
        full = small.resize((width, height), Pillow.Resampling.LANCZOS)
        return np.asarray(np.asarray(full) / 255, np.float32)


def _check_file(model: str) -> None:
    """Raise NoValue, with how to get a file of rembg's, where there is no such model file."""
    place = Path(model).expanduser() if model else weights.path(WEIGHTS)
    if not place.is_file():
        url = f"https://github.com/danielgatis/rembg/releases/download/v0.0.0/{place.name}"
        raise NoValue(
            Reason.MISSING_MODEL,
            f"no file {model}",
            advice=f"curl -L --create-dirs -o {model} {url}",
        )


def _load(place: Path, threads: int) -> Any:
    try:
        if not place.is_file():
            raise FileNotFoundError("no such file")
        session = onnx_session(place, wanted_threads=threads)
        shape = session.get_inputs()[0].shape
        if list(shape[1:]) != [3, U2NET_SIDE, U2NET_SIDE]:
            raise ValueError(
                f"it takes arrays of {shape}, not pictures of {U2NET_SIDE} × {U2NET_SIDE}"
            )
    except NoValue:
        raise
    except Exception as error:  # noqa: BLE001 - onnxruntime's errors have no common base
        raise NoValue(
            Reason.MISSING_MODEL,
            f"{place} is not a U²-Net: {error}",
            advice=f"Give an ONNX file as rembg keeps them, or: screentest models pull {WEIGHTS}",
        ) from None
    return session


def _prepared(image: Image) -> NDArray[np.float32]:
    """Return the picture as the network takes it: 1 × 3 × 320 × 320."""
    square = Pillow.fromarray(image).resize((U2NET_SIDE, U2NET_SIDE), Pillow.Resampling.LANCZOS)
    small = np.asarray(square, np.float32)
    scaled = (small / max(float(small.max()), FLAT) - IMAGENET_MEAN) / IMAGENET_DEVIATION
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])
