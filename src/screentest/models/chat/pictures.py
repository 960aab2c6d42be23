"""Frames as pictures for a model: made small, encoded once, reused across calls."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from screentest.core.frames import NATIVE, Frame, Size
from screentest.models.chat.messages import Part, Picture, Text

if TYPE_CHECKING:
    from screentest.core.frames import Image


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a frame becomes a picture: its size, and its JPEG quality or lossless PNG."""

    size: Size = NATIVE
    quality: int | None = 85
    """JPEG quality from 1 to 100; None encodes PNG, without loss."""

    def __post_init__(self) -> None:
        if self.quality is not None and not 1 <= self.quality <= 100:
            raise ValueError(f"JPEG quality is 1 to 100, not {self.quality}")

    def __str__(self) -> str:
        side = self.size.long_side or self.size.short_side or self.size.exact or "native"
        return f"{'png' if self.quality is None else f'jpeg{self.quality}'}@{side}"


def encode(image: Image, encoding: Encoding) -> Picture:
    """The picture of one RGB image."""
    import cv2

    height, width = image.shape[:2]
    wanted = encoding.size.of(width, height)
    if wanted != (width, height):
        image = cv2.resize(image, wanted, interpolation=cv2.INTER_AREA).astype("uint8", copy=False)
    swapped = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    if encoding.quality is None:
        kind, suffix, settings = "image/png", ".png", [cv2.IMWRITE_PNG_COMPRESSION, 3]
    else:
        kind, suffix = "image/jpeg", ".jpg"
        settings = [cv2.IMWRITE_JPEG_QUALITY, encoding.quality]
    done, data = cv2.imencode(suffix, swapped, settings)
    if not done:
        raise ValueError(f"an image of {width}×{height} cannot be encoded as {kind}")
    return Picture(data.tobytes(), kind, *wanted)


class PictureCache:
    """Keeps the pictures used last, up to so many bytes. Safe to share between threads."""

    def __init__(self, max_bytes: int = 256 * 2**20) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[Hashable, Picture] = OrderedDict()
        self._lock = Lock()

    def picture(self, image: Image, encoding: Encoding, key: Hashable = None) -> Picture:
        """The encoded image; ``key`` says which it is, such as (video digest, time).

        Without a key the pixels themselves are looked at, which costs less than encoding.
        """
        if key is None:
            key = (image.shape, hashlib.sha256(image.tobytes()).digest())
        place = (key, encoding)
        with self._lock:
            known = self._kept.get(place)
            if known is not None:
                self._kept.move_to_end(place)
                return known
        made = encode(image, encoding)
        with self._lock:
            if place not in self._kept:
                self._kept[place] = made
                self._bytes += len(made.data)
            while self._bytes > self._max_bytes and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                self._bytes -= len(dropped.data)
        return made

    def __len__(self) -> int:
        return len(self._kept)


def timed(
    frames: Iterable[Frame],
    encoding: Encoding,
    *,
    cache: PictureCache | None = None,
    video: str = "",
    label: str = "[{seconds:.2f} second]",
) -> list[Part]:
    """Each frame as its time in words and its picture. ``video`` names the film for the cache."""
    parts: list[Part] = []
    for frame in frames:
        key = (video, frame.time) if video else None
        if cache is None:
            picture = encode(frame.image, encoding)
        else:
            picture = cache.picture(frame.image, encoding, key)
        if label:
            parts.append(Text(label.format(seconds=float(frame.time))))
        parts.append(picture)
    return parts
