"""What models said of a picture, kept for those who ask again.

The operators of a testbed look for the same things in the same frames of a film, and a segmenter
takes a second for each. An answer is known by the bytes of the picture and by what was asked, so
that it is the same whether it was kept or not. A picture that took long to paint is kept in a
folder too: it may have been paid for, and an editor may not paint it alike again.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from screentest._util.atomic import write_whole
from screentest.core import Image
from screentest.models.roles import (
    Box,
    Detection,
    Detector,
    ImageEdit,
    Inpainting,
    Mask,
    Matting,
    Segmentation,
)

T = TypeVar("T")

ROOM = 256 * 2**20
"""Bytes of answers that are kept; those not asked for longest go first."""
SLOW = 0.05
"""Seconds for one picture, beyond which it is kept in a folder."""


class Memory:
    """Masks by what was asked, within a limit of bytes."""

    def __init__(self, room: int = ROOM) -> None:
        self.folder: Path | None = None
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

    def __init__(self, backend: Any, memory: Memory, signature: str = "") -> None:
        self._backend, self._memory, self._signature = backend, memory, signature

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


class _RememberedPainter(_Remembered):
    """A backend that paints pictures anew; each is kept by the model, the picture and the order."""

    def _painted(
        self,
        asked: Sequence[tuple[Any, ...]],
        paint: Callable[[list[tuple[Any, ...]]], Sequence[Image]],
    ) -> list[Image]:
        keys = [self._key(*parts) for parts in asked]
        made = [self._found(key) for key in keys]
        missing = [image is None for image in made]
        if any(missing):
            start = time.perf_counter()
            new = list(paint(list(compress(asked, missing))))
            slow = time.perf_counter() - start > SLOW * len(new)
            for key, image in zip(compress(keys, missing), new, strict=True):
                self._keep_image(key, image, slow=slow)
            fresh = iter(new)
            made = [next(fresh) if image is None else image for image in made]
        return [image for image in made if image is not None]

    def _key(self, *parts: Any) -> str:
        named = [picture_key(part) if isinstance(part, np.ndarray) else part for part in parts]
        return hashlib.sha256(repr((self._signature, named)).encode()).hexdigest()

    def _found(self, key: str) -> Image | None:
        import cv2

        kept = self._memory.find(key)
        if kept is not None:
            return np.asarray(kept, np.uint8).copy()
        path = self._path(key)
        coded = np.fromfile(path, np.uint8) if path is not None and path.exists() else None
        image = None if coded is None or not coded.size else cv2.imdecode(coded, cv2.IMREAD_COLOR)
        return None if image is None else np.ascontiguousarray(image[..., ::-1])

    def _keep_image(self, key: str, image: Image, *, slow: bool) -> None:
        import cv2

        self._memory.keep(key, image.copy(), image.nbytes)
        path = self._path(key)
        if slow and path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, cv2.imencode(".png", image[..., ::-1])[1].tobytes())

    def _path(self, key: str) -> Path | None:
        folder = self._memory.folder
        return None if folder is None else folder / key[:2] / f"{key}.png"


def inpaint_all(
    painter: Inpainting, images: Sequence[Image], masks: Sequence[Mask], prompt: str = ""
) -> Sequence[Image]:
    """Paint several pictures, in one call where the backend takes several."""
    together, said = getattr(painter, "inpaint_all", None), (prompt,) if prompt else ()
    if together is None:
        return [painter.inpaint(*hole, *said) for hole in zip(images, masks, strict=True)]
    made: Sequence[Image] = together(list(images), list(masks), *said)
    return made


class RememberedEditor(_RememberedPainter):
    """A backend of the role ``image_edit``, asked once for each edit of a picture."""

    _backend: ImageEdit

    def recolour(self, image: Image, mask: Mask | None, thing: str, colour: str) -> Image:
        asked = [(image, mask, thing, colour)]
        return self._painted(asked, lambda some: [self._backend.recolour(*one) for one in some])[0]


class RememberedInpainting(_RememberedPainter):
    """A backend of the role ``inpainting``, asked once for each hole of a picture."""

    _backend: Inpainting

    def inpaint(self, image: Image, mask: Mask, prompt: str = "") -> Image:
        return self.inpaint_all([image], [mask], prompt)[0]

    def inpaint_all(
        self, images: Sequence[Image], masks: Sequence[Mask], prompt: str = ""
    ) -> list[Image]:
        def paint(some: list[tuple[Any, ...]]) -> Sequence[Image]:
            return inpaint_all(self._backend, [s[0] for s in some], [s[1] for s in some], prompt)

        asked = [(image, mask, prompt) for image, mask in zip(images, masks, strict=True)]
        return self._painted(asked, paint)


_WRAPPERS: Mapping[str, Callable[..., Any]] = {
    "detection": RememberedDetector,
    "image_edit": RememberedEditor,
    "inpainting": RememberedInpainting,
    "matting": RememberedMatting,
    "segmentation": RememberedSegmentation,
}


def remembered(role: str, backend: T, memory: Memory, signature: str = "") -> T:
    """Return the backend with a memory, where its role has answers that are worth keeping."""
    wrapper = _WRAPPERS.get(role)
    return backend if wrapper is None else wrapper(backend, memory, signature)


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
