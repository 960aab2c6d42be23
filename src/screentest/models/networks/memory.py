"""What models said of a picture, kept for those who ask again.

The operators of a testbed look for the same things in the same frames of a film, and a segmenter
takes a second for each. An answer is known by the bytes of the picture and by what was asked, so
that it is the same whether it was kept or not.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from screentest.core import Image
from screentest.models.roles import Box, Detection, Detector, Mask, Matting, Segmentation

T = TypeVar("T")

ROOM = 256 * 2**20
"""Bytes of answers that are kept; those not asked for longest go first."""


class Memory:
    """Masks by what was asked, within a limit of bytes."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._used = 0
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: Hashable) -> Any:
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def keep(self, key: Hashable, value: Any, size: int) -> None:
        """Keep a value; it must not be changed by anyone."""
        if size > self._room or key in self._kept:
            return
        self._kept[key] = value, size
        self._used += size
        while self._used > self._room:
            self._used -= self._kept.popitem(last=False)[1][1]


def picture_key(image: Image) -> tuple[tuple[int, ...], bytes]:
    """Return a key that pictures of the same bytes and shape share."""
    digest = hashlib.blake2b(np.ascontiguousarray(image).data, digest_size=16).digest()
    return image.shape, digest


class _Remembered:
    """A backend whose answers are kept."""

    def __init__(self, backend: Any, memory: Memory) -> None:
        self._backend, self._memory = backend, memory

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def _keep(self, key: Hashable, masks: Sequence[Mask]) -> list[_Packed]:
        packed = [_closed(mask) for mask in masks]
        self._memory.keep(key, packed, sum(values.nbytes for values, _ in packed))
        return packed


class RememberedMatting(_Remembered):
    """A backend of the role ``matting``, asked once about each picture."""

    _backend: Matting

    def matte(self, images: Sequence[Image]) -> list[Mask]:
        keys = [("matting", *picture_key(image)) for image in images]
        kept = {key: self._memory.find(key) for key in keys}
        missing = {key: image for key, image in zip(keys, images, strict=True) if kept[key] is None}
        if missing:
            for key, mask in zip(missing, self._backend.matte(list(missing.values())), strict=True):
                kept[key] = self._keep(key, [mask])
        return [_opened(kept[key][0]) for key in keys]


class RememberedSegmentation(_Remembered):
    """A backend of the role ``segmentation``, asked once about each picture and its boxes."""

    _backend: Segmentation

    def segment(self, image: Image, boxes: Sequence[Box]) -> list[Mask]:
        key = ("segmentation", *picture_key(image), tuple(tuple(map(float, box)) for box in boxes))
        kept = self._memory.find(key)
        if kept is None:
            kept = self._keep(key, self._backend.segment(image, boxes))
        return [_opened(mask) for mask in kept]


class RememberedDetector(_Remembered):
    """A backend of the role ``detection``, asked once for the same things in a picture."""

    _backend: Detector

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        key = ("detection", *picture_key(image), tuple(phrases))
        kept = self._memory.find(key)
        if kept is None:
            kept = list(self._backend.detect(image, phrases))
            self._memory.keep(key, kept, 1000 * (1 + len(kept)))
        return list(kept)


_WRAPPERS: Mapping[str, Callable[[Any, Memory], Any]] = {
    "detection": RememberedDetector,
    "matting": RememberedMatting,
    "segmentation": RememberedSegmentation,
}


def remembered(role: str, backend: T, memory: Memory) -> T:
    """Return the backend with a memory, where its role has answers that are worth keeping."""
    wrapper = _WRAPPERS.get(role)
    return backend if wrapper is None else wrapper(backend, memory)


_Packed: TypeAlias = tuple[np.ndarray, tuple[int, ...] | None]


def _closed(mask: Mask) -> _Packed:
    """Pack a mask of zeros and ones into bits; any other stays as it is."""
    ones = mask == 1
    if mask.dtype == np.float32 and bool((ones | (mask == 0)).all()):
        return np.packbits(ones), mask.shape
    return mask.copy(), None


def _opened(packed: _Packed) -> Mask:
    values, shape = packed
    if shape is None:
        return values.copy()
    count = int(np.prod(shape))
    return np.unpackbits(values, count=count).reshape(shape).astype(np.float32)
