"""Backends of the role ``image_features``: colour and gradients, vision towers, MobileNetV3."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL.Image import Resampling

from screentest.core import Image, register
from screentest.models import weights
from screentest.models.backends.text_embedding import fields, message
from screentest.models.networks.pretrained import NEUTRAL, TRANSFORMERS, PictureNetwork, unit_rows
from screentest.models.networks.runtimes import ONNX, onnx_session, versions
from screentest.models.pictures import (
    IMAGENET_DEVIATION,
    IMAGENET_MEAN,
    OpenCvBackend,
    check_picture,
    to_pillow,
)
from screentest.models.roles import Vectors

Numbers: TypeAlias = NDArray[np.float64]


_SIDE = 96
_CELLS = 3
_DIRECTIONS = 9
_LIGHTNESS_BINS, _COLOUR_BINS = 4, 6
_WIDTH = 4 * _CELLS**2 + _LIGHTNESS_BINS * _COLOUR_BINS**2 + _DIRECTIONS * _CELLS**2


@register(
    "image_features",
    "colour_gradient",
    summary="colours, their places and the directions of edges; needs no weights",
)
class ColourGradient(OpenCvBackend):
    """Pictures as vectors without any weights: colours, where they lie, and which way edges run.

    The classical stand-in beneath the networks. It sees that two pictures look alike, not that they
    show the same thing: a cat on grass is nearer to a dog on grass than to a cat on snow.
    """

    def features(self, images: Sequence[Image]) -> Vectors:
        """One row per image: three parts of equal weight."""
        rows = np.empty((len(images), _WIDTH), np.float32)
        for row, image in zip(rows, images, strict=True):
            lab = _lab(image)
            parts = [_layout(lab), _palette(lab), _edges(lab[..., 0])]
            row[:] = np.concatenate([_unit(part) for part in parts]) / len(parts) ** 0.5
        return rows


def _lab(image: Image) -> Numbers:
    """Lightness 0–1 and two colour axes around 0, as the eye spaces them; small and square."""
    import cv2

    small = cv2.resize(check_picture(image), (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    lab = cv2.cvtColor(small.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    return np.asarray(lab, np.float64) / 100


def _cells(plane: Numbers) -> Numbers:
    """Cells × pixels × channels."""
    side = _SIDE // _CELLS
    blocks = plane.reshape(_CELLS, side, _CELLS, side, -1)
    return blocks.transpose(0, 2, 1, 3, 4).reshape(_CELLS**2, side * side, -1)


def _layout(lab: Numbers) -> Numbers:
    """Return the mean colour of each cell: light, dark, and the two colour axes.

    Both light and dark, so that no picture is all zeros and black is far from white.
    """
    lightness, *colours = np.moveaxis(_cells(lab).mean(axis=1), -1, 0)
    # Colour axes are short for most pictures: twice, to weigh as much as lightness.
    return np.concatenate([lightness, 1 - lightness, *(2 * axis for axis in colours)])


def _palette(lab: Numbers) -> Numbers:
    """Return the share of each colour in the picture; roots, so that small areas count."""
    edges = [
        np.linspace(0, 1, _LIGHTNESS_BINS + 1),
        *[np.linspace(-0.6, 0.6, _COLOUR_BINS + 1)] * 2,
    ]
    inside = np.clip(lab.reshape(-1, 3), [0, -0.6, -0.6], [1, 0.6, 0.6])
    counts, _ = np.histogramdd(inside, bins=edges)
    return np.asarray(np.sqrt(counts / counts.sum())).ravel()


def _edges(lightness: Numbers) -> Numbers:
    """Per cell, how strong edges are in each direction; zero for a picture without any."""
    down, across = np.gradient(lightness)
    strength = np.hypot(across, down)
    # Edges have no front and back: directions repeat after half a turn.
    turn = np.mod(np.arctan2(down, across), np.pi) / np.pi * _DIRECTIONS
    place = np.minimum(turn.astype(np.int64), _DIRECTIONS - 1)
    cells = _cells(np.stack([place, strength], axis=-1))
    return np.concatenate(
        [
            np.bincount(cell[:, 0].astype(np.int64), cell[:, 1], minlength=_DIRECTIONS)
            for cell in cells
        ]
    )


def _unit(part: Numbers) -> Numbers:
    """Return a part at length one; an even one for nothing, such as edges in a flat picture."""
    length = float(np.linalg.norm(part))
    if length < 1e-9:
        return np.full_like(part, part.size**-0.5)
    return np.asarray(part / length)


@register(
    "image_features",
    "hf",
    summary="DINOv2, CLIP, SigLIP 2 or another vision tower, from a folder or hub id",
    neutral=NEUTRAL,
    packages=TRANSFORMERS,
)
class VisionTower(PictureNetwork):
    """Pictures as vectors by DINOv2, CLIP, SigLIP 2 or any other vision tower of transformers.

    A dual encoder gives its projected image vector; a plain tower its pooled one, and where it has
    none, that of its class token.
    """

    _reader = "AutoImageProcessor"

    def features(self, images: Sequence[Image]) -> Vectors:
        return unit_rows(self._stream.rows(images, self._pooled))

    def _pooled(self, inputs: Mapping[str, Any]) -> Any:
        if hasattr(self._model, "get_image_features"):
            output = self._model.get_image_features(**inputs)
            if not hasattr(output, "pooler_output"):
                return output
        else:
            output = self._model(**inputs)
        if output.pooler_output is not None:
            return output.pooler_output.flatten(1)
        return output.last_hidden_state[:, 0]


WEIGHTS = "mobilenet-v3-small"
WIDTH = 576
SIDE = 224
_BATCH = 8
_MEAN, _DEVIATION = IMAGENET_MEAN * 255, IMAGENET_DEVIATION * 255


@register(
    "image_features",
    "mobilenet",
    summary="MobileNetV3-small, 576 numbers per picture",
    packages=(ONNX,),
    weights=(WEIGHTS,),
    neutral=("threads",),
)
class MobileNet:
    """Pictures as vectors by MobileNetV3-small: what is seen, more than how it is coloured.

    The 576 numbers before the classifier of a network trained on ImageNet. Frames of one shot are
    near (cosine 0.8 to 1.0), those of unrelated videos at 0.3 to 0.6. Not DINO and not CLIP: it
    goes by its own name.
    """

    def __init__(self, threads: int = 0) -> None:
        self._session = onnx_session(weights.path(WEIGHTS), wanted_threads=threads)
        digest = weights.entry(WEIGHTS).files[1].sha256[:12]
        self.identity = {"weights": digest, **versions(ONNX)}

    def features(self, images: Sequence[Image]) -> Vectors:
        rows = np.empty((len(images), WIDTH), np.float32)
        for start in range(0, len(images), _BATCH):
            batch = np.stack([_prepared(image) for image in images[start : start + _BATCH]])
            rows[start : start + _BATCH] = self._session.run(None, {"input": batch})[0]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


def _prepared(
    image: Image, mean: NDArray[np.float32] = _MEAN, deviation: NDArray[np.float32] = _DEVIATION
) -> NDArray[np.float32]:
    """Return the whole picture, squeezed to a square: a crop would not see its sides."""
    import cv2

    small = cv2.resize(check_picture(image), (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    scaled = (small.astype(np.float32) - mean) / deviation
    return np.ascontiguousarray(scaled.transpose(2, 0, 1))


# Networks that benchmarks name, as ONNX files of the catalogue.

DINO = "dinov2-small"
_NORMALISED = "/norm/Add_1_output_0"
"""Its tokens after the last normalisation; the first of them is the picture's."""


@register(
    "image_features",
    "dinov2",
    summary="DINOv2 ViT-S/14, 384 numbers per picture",
    packages=(ONNX,),
    weights=(DINO,),
    neutral=("threads",),
)
def dinov2(*, threads: int = 0) -> OnnxTower:
    """Return the class token of DINOv2 ViT-S/14, without torch."""
    model = with_output(weights.path(DINO).read_bytes(), _NORMALISED)
    return OnnxTower(model, _NORMALISED, _prepared, weights.digest(DINO), threads)


CLIP = "clip-b16-image"
_CLIP_MEAN = np.array([0.48145466, 0.4578275, 0.40821073], np.float32) * 255
_CLIP_DEVIATION = np.array([0.26862954, 0.26130258, 0.27577711], np.float32) * 255


@register(
    "image_features",
    "clip_b16",
    version=2,
    summary="the image tower of CLIP ViT-B/16, 512 numbers per picture",
    packages=(ONNX,),
    weights=(CLIP,),
    neutral=("threads",),
)
def clip_b16(*, threads: int = 0) -> OnnxTower:
    """CLIP's vectors of pictures, without torch and without its text tower."""
    return clip_tower(partial(_prepared, mean=_CLIP_MEAN, deviation=_CLIP_DEVIATION), threads)


def clip_cut(image: Image) -> NDArray[np.float32]:
    """Return the middle of the picture as CLIP's own transform does: its sides are cut off."""
    picture = to_pillow(check_picture(image))
    scale = SIDE / min(picture.size)
    size = [max(SIDE, int(length * scale)) for length in picture.size]
    left, top = (round((length - SIDE) / 2) for length in size)
    small = picture.resize(size, Resampling.BICUBIC).crop((left, top, left + SIDE, top + SIDE))
    scaled = (np.asarray(small, np.float32) - _CLIP_MEAN) / _CLIP_DEVIATION
    return np.ascontiguousarray(scaled.transpose(2, 0, 1))


def clip_tower(prepare: Callable[[Image], NDArray[np.float32]], threads: int = 0) -> OnnxTower:
    """Return the image tower of CLIP ViT-B/16 for pictures that are prepared in one way."""
    model = without_rounding(weights.path(CLIP).read_bytes())
    return OnnxTower(model, "image_embeds", prepare, weights.digest(CLIP), threads)


class OnnxTower:
    """Pictures as vectors by a vision transformer in an ONNX file, one by one.

    As features of pictures the whole is squeezed to 224 × 224: the transforms of CLIP and DINOv2
    would cut its sides off.
    """

    def __init__(
        self,
        model: bytes | Path,
        output: str,
        prepare: Callable[[Image], NDArray[np.float32]],
        digest: str,
        threads: int,
    ) -> None:
        self._session = onnx_session(model, wanted_threads=threads)
        self._output = output
        self._input = self._session.get_inputs()[0].name
        self._prepare = prepare
        self.identity = {"weights": digest, **versions(ONNX)}

    def features(self, images: Sequence[Image]) -> Vectors:
        rows: list[NDArray[np.float32]] = []
        for image in images:  # how a batch is rounded depends on its size
            given = {self._input: self._prepare(image)[None]}
            (output,) = self._session.run([self._output], given)
            vector = np.asarray(output[0, 0] if output.ndim == 3 else output[0], np.float32)
            rows.append(vector / np.linalg.norm(vector))
        return np.stack(rows) if rows else np.zeros((0, 0), np.float32)


def with_output(model: bytes, name: str) -> bytes:
    """Return an ONNX model that also gives out a value of its inside.

    The graph is field 7 of the model, and its outputs are field 12 of the graph. Protobuf merges
    the parts of a message that is given twice, so that one more output is simply appended.
    """
    return model + message([(7, message([(12, message([(1, name)]))]))])


_GRAPH, _NODE = 7, 1


def without_rounding(model: bytes) -> bytes:
    """Return an ONNX model that rounds nothing while it runs; its weights stay in 8 bits.

    Dynamic quantisation rounds what enters a layer to 255 steps, and on processors without VNNI the
    sums of ONNX Runtime's kernels overflow: vectors differ by processor. Each product of whole
    numbers (DynamicQuantizeLinear, MatMulInteger, Cast, Mul) becomes a plain one of the weights
    scaled back (DequantizeLinear, MatMul).
    """
    whole = list(fields(model))
    parts = [part for number, graph in whole if number == _GRAPH for part in fields(graph)]
    nodes = [_Node(value) for number, value in parts if number == _NODE]
    maker = {name: node for node in nodes for name in node.outputs}
    dropped: set[str] = set()
    for last in nodes:
        cast = maker.get(last.inputs[0]) if last.operator == "Mul" else None
        product = maker.get(cast.inputs[0]) if cast and cast.operator == "Cast" else None
        if cast is None or product is None or product.operator != "MatMulInteger":
            continue
        rounded, weight, _, zero = product.inputs
        before, scales = maker[rounded], maker[last.inputs[1]]
        (scale,) = set(scales.inputs) - set(before.outputs)
        dropped.update(node.outputs[0] for node in (before, product, cast, scales))
        last.written = [
            _written("DequantizeLinear", [weight, scale, zero], product.outputs[0]),
            _written("MatMul", [before.inputs[0], product.outputs[0]], last.outputs[0]),
        ]
    kept = [node for node in nodes if node.outputs[0] not in dropped]
    graph = [(_NODE, data) for node in kept for data in node.written]
    graph += [(number, value) for number, value in parts if number != _NODE]
    rest = [(number, value) for number, value in whole if number != _GRAPH]
    return message([*rest, (_GRAPH, message(graph))])


class _Node:
    """A node of an ONNX graph, and what is written in its place."""

    def __init__(self, data: bytes) -> None:
        parts = list(fields(data))
        self.inputs = [value.decode() for number, value in parts if number == 1]
        self.outputs = [value.decode() for number, value in parts if number == 2]
        self.operator = next(value.decode() for number, value in parts if number == 4)
        self.written = [data]


def _written(operator: str, inputs: Sequence[str], output: str) -> bytes:
    return message([*((1, name) for name in inputs), (2, output), (4, operator)])
