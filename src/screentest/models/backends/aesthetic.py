"""Backends of the role ``aesthetic``: photographic statistics, and SigLIP with a head."""

from __future__ import annotations

import hashlib
import math
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screentest._util.optional import optional
from screentest.core import Image, NoValue, Reason, register
from screentest.models import weights
from screentest.models.backends.image_features import CLIP, clip_cut, clip_tower
from screentest.models.networks.pretrained import (
    NEUTRAL,
    TRANSFORMERS,
    ModelDevice,
    Origin,
    load_network,
    pixel_inputs,
    read_tensors,
)
from screentest.models.networks.runtimes import ONNX, batches
from screentest.models.networks.saliency import saliency
from screentest.models.pictures import (
    OpenCvBackend,
    Plane,
    check_picture,
    limit_long_side,
    to_oklab,
)

LONG_SIDE = 512
"""Larger pictures are made this size first: sharpness is seen at the size of the whole."""


WEIGHTS = (0.30, 0.30, 0.15, 0.05, 0.15, 0.05)
"""Of the measures in their order: a choice, not a fit to anybody's ratings."""


@register(
    "aesthetic",
    "image_statistics",
    summary="contrast, sharpness, colour, exposure and thirds; needs no weights, knows no taste",
)
class ImageStatistics(OpenCvBackend):
    """Plain statistics of a picture that photographers name: contrast, sharpness, colour, exposure,
    and whether what stands out lies where the rule of thirds would put it.

    Not a model of taste. It was made to notice obvious harm (flat contrast, blur, washed-out
    colour); how well it agrees with people on beauty is not known. It never goes under the name of
    a paper's predictor.
    """

    @property
    def scale(self) -> tuple[float, float]:
        return 0.0, 1.0

    def score(self, images: Sequence[Image]) -> NDArray[np.float32]:
        scores = [np.dot(list(measure(image).values()), WEIGHTS) for image in images]
        return np.array(scores, np.float32)


def measure(image: Image) -> dict[str, float]:
    """Six measures of one picture, each from 0 to 1.

    >>> grey = measure(np.full((40, 60, 3), 128, np.uint8))
    >>> grey["contrast"], grey["colourfulness"]
    (0.0, 0.0)
    """
    small = limit_long_side(check_picture(image), LONG_SIDE)
    lab = to_oklab(small)
    return {
        "contrast": contrast(lab[..., 0]),
        "sharpness": sharpness(lab[..., 0]),
        "colourfulness": colourfulness(small),
        "saturation": saturation(lab),
        "exposure": exposure(lab[..., 0]),
        "composition": composition(saliency(small)),
    }


def contrast(lightness: Plane) -> float:
    """From the 2nd to the 98th percentile of lightness.

    >>> round(contrast(np.linspace(0, 1, 101)), 2)
    0.96
    """
    dark, light = np.percentile(lightness, (2, 98))
    return float(min(1.0, light - dark))


def sharpness(lightness: Plane) -> float:
    """Return the steepness of the steepest fiftieth of all edges.

    >>> step = np.repeat([[0.0, 1.0]], 20, axis=1).repeat(30, axis=0)
    >>> sharpness(step) > 0.9, sharpness(np.ones((30, 40)))
    (True, 0.0)
    """
    down, across = np.gradient(lightness) if min(lightness.shape) > 1 else (lightness * 0,) * 2
    steepest = float(np.percentile(np.hypot(down, across), 98))
    return float(1 - np.exp(-steepest / 0.12))


def colourfulness(image: Image) -> float:
    """Spread and mean of the two opponent colours (Hasler and Süsstrunk, 2003).

    >>> colourfulness(np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255]]], np.uint8)) > 0.9
    True
    """
    red, green, blue = np.moveaxis(image.astype(np.float64), -1, 0)
    red_green, yellow_blue = red - green, (red + green) / 2 - blue
    spread = np.hypot(red_green.std(), yellow_blue.std())
    mean = np.hypot(red_green.mean(), yellow_blue.mean())
    return float(1 - np.exp(-(spread + 0.3 * mean) / 45))


def saturation(lab: Plane) -> float:
    """Mean chroma: best in a middle range, falling towards grey and towards garish.

    >>> saturation(to_oklab(np.full((2, 2, 3), 90, np.uint8))) < 1e-6
    True
    """
    chroma = float(np.hypot(lab[..., 1], lab[..., 2]).mean())
    return float(np.clip(chroma / 0.05, 0, 1) * (1 - np.clip((chroma - 0.12) / 0.12, 0, 1)))


def exposure(lightness: Plane) -> float:
    """1 for a wide range of mean lightness, falling where much is crushed or burnt out.

    >>> exposure(np.full((4, 4), 0.5)), exposure(np.zeros((4, 4)))
    (1.0, 0.0)
    """
    mean = float(lightness.mean())
    level = np.clip((mean - 0.05) / 0.25, 0, 1) * np.clip((0.97 - mean) / 0.2, 0, 1)
    lost = float(np.mean((lightness < 0.04) | (lightness > 0.985)))
    return float(level * (1 - lost))


def composition(salient: Plane) -> float:
    """Nearness of the salient part's centre to a crossing of the thirds.

    >>> map_ = np.zeros((90, 90)); map_[30, 30] = 1
    >>> round(composition(map_), 2)
    0.98
    """
    total = float(salient.sum())
    if total <= 0:
        return 0.0
    height, width = salient.shape
    down = float((salient.sum(axis=1) * (np.arange(height) + 0.5)).sum() / total / height)
    across = float((salient.sum(axis=0) * (np.arange(width) + 0.5)).sum() / total / width)
    nearest = math.hypot(*(min(abs(x - 1 / 3), abs(x - 2 / 3)) for x in (down, across)))
    # From the middle of the picture it is 0.24 to the nearest crossing, from a corner 0.47.
    return float(np.clip(1 - nearest / 0.47, 0, 1))


HEAD = "laion-b16-head"


@register(
    "aesthetic",
    "laion_b16",
    summary="LAION's head on CLIP ViT-B/16, fitted to people's ratings",
    packages=(ONNX,),
    weights=(CLIP, HEAD),
    neutral=("threads",),
)
class LaionB16:
    """Aesthetic scores by LAION's linear head for the image tower of CLIP ViT-B/16.

    Not the head for ViT-L/14, which benchmarks take: its numbers are of another scale.
    """

    scale = (1.0, 10.0)

    def __init__(self, *, threads: int = 0) -> None:
        self._tower = clip_tower(clip_cut, threads)
        # A pickle of two tensors, whose numbers lie beside it in the archive as they are.
        with zipfile.ZipFile(weights.path(HEAD)) as archive:
            numbers = [archive.read(name) for name in archive.namelist() if "/data/" in name]
        self._slope, self._offset = (np.frombuffer(data, np.float32) for data in numbers)
        self.identity = {**self._tower.identity, "head": weights.digest(HEAD)}

    def score(self, images: Sequence[Image]) -> NDArray[np.float32]:
        """One number per image, about 1 to 10."""
        rows = self._tower.features(images)
        return np.array([row @ self._slope + self._offset[0] for row in rows], np.float32)


WIDTHS = (1024, 128, 64, 16, 1)


@register(
    "aesthetic",
    "siglip",
    summary="SigLIP with a regression head (Aesthetic Predictor V2.5's layout); you bring the head",
    neutral=(*NEUTRAL, "head"),
    packages=TRANSFORMERS,
)
class SiglipAesthetic:
    """Aesthetic scores by a SigLIP tower and a head in the layout of Aesthetic Predictor V2.5.

    The head's weights, in the file ``head``, are the user's to bring (the published ones are AGPL):
    1152 numbers of the image go through linear layers of 1024, 128, 64, 16 and 1.
    """

    scale = (1.0, 10.0)

    def __init__(
        self,
        *,
        head: str,
        model: str = "google/siglip-so400m-patch14-384",
        revision: str = "",
        allow_pickle: bool = False,
        device: str = "auto",
        batch: int = 16,
    ) -> None:
        state = read_tensors(head, allow_pickle=allow_pickle)
        self._torch = optional("torch")
        self._place = ModelDevice.choose(device)
        self._batch = batch
        self._tower, self._processor, self.identity = load_network(
            Origin(model, revision), self._place, "SiglipVisionModel", "AutoImageProcessor"
        )
        self._matrix, self._offset = self._fold(state, int(self._tower.config.hidden_size))
        folded = self._matrix.tobytes() + self._offset.tobytes()
        self.identity["head"] = hashlib.sha256(folded).hexdigest()[:16]

    def score(self, images: Sequence[Image]) -> NDArray[np.float32]:
        """One number per image, about 1 to 10; 5.5 and above is good."""
        values: list[NDArray[np.float64]] = [np.zeros(0)]
        for piece in batches(images, self._batch):
            inputs = pixel_inputs(self._processor, piece, self._place)
            with self._torch.inference_mode():
                pooled = self._tower(**inputs).pooler_output.float().cpu()
                unit = self._torch.nn.functional.normalize(pooled, dim=-1).numpy()
            values.append((unit.astype(np.float64) @ self._matrix + self._offset)[:, 0])
        return np.concatenate(values).astype(np.float32)

    def _fold(
        self, state: Mapping[str, Any], width: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the head as one affine map: between its layers there is only dropout."""
        layers = sorted((name for name in state if name.endswith("weight")), key=_number)
        matrix, offset = np.eye(width), np.zeros(width)
        shapes = tuple(int(state[name].shape[0]) for name in layers)
        if shapes != WIDTHS or int(state[layers[0]].shape[1]) != width:
            raise NoValue(
                Reason.MISSING_MODEL,
                f"the head has layers of {shapes}, not {WIDTHS} on {width} inputs",
                advice="Give the head that was trained for this tower.",
            )
        for name in layers:
            weight = state[name].double().cpu().numpy()
            bias = state[name.removesuffix("weight") + "bias"].double().cpu().numpy()
            matrix, offset = matrix @ weight.T, offset @ weight.T + bias
        return matrix, offset


def _number(name: str) -> int:
    """Return the place of a layer in its sequence: ``layers.4.weight`` is the fourth."""
    return next((int(part) for part in reversed(name.split(".")) if part.isdigit()), 0)
