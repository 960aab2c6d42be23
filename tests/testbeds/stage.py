"""What the tests of degradations share: one film, facts for its clips, and plain backends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from screentest.core import build
from screentest.models import Detection, Models
from screentest.testbeds.captions.facts import CaptionAction, CaptionFacts, Coloured, Placed
from screentest.testbeds.contract import Chosen, Context, Degradation, Film, Look, Rng
from screentest.testbeds.pairs import ClipDraw
from screentest.video.edit.encode import EncoderSettings
from screentest.video.edit.pictures import VideoPart
from screentest.video.edit.splice import SplicedVideo, splice

Image = NDArray[np.uint8]
QUICK = EncoderSettings(preset="ultrafast", crf=10)
BOX = (60.0, 30.0, 160.0, 110.0)
"""Where the stand-in detector sees everything, in a picture of 256 × 144."""

ALL = CaptionFacts(
    subject=("thing",),
    background=("wall",),
    dynamic_degree=(CaptionAction("thing", "moves"),),
    color=(Coloured("white", "thing"),),
    spatial_relationship=(Placed("left", "thing"),),
)
"""A caption that allows every degradation."""


class PlainBackends(Models):
    """Backends whose masks are known; what has no stand-in here is the built-in one."""

    def __init__(self, **backends: Any) -> None:
        super().__init__()
        self._plain = {
            "matting": BoxMatting(),
            "detection": BoxDetector(),
            "segmentation": BoxSegmentation(),
            "inpainting": build("inpainting", "telea").thing,
            "image_edit": build("image_edit", "masked_hue").thing,
        } | backends

    def role(self, name: str) -> Any:
        return self._plain[name]


class BoxMatting:
    identity: Mapping[str, str] = {}

    def matte(self, images: Sequence[Image]) -> list[NDArray[np.float32]]:
        return [box_mask(image.shape[:2]) for image in images]


class NoMatting(BoxMatting):
    def matte(self, images: Sequence[Image]) -> list[NDArray[np.float32]]:
        return [np.zeros(image.shape[:2], np.float32) for image in images]


class BoxDetector:
    identity: Mapping[str, str] = {}

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        return [Detection(phrases[0], 0.9, BOX)]


class NoDetector(BoxDetector):
    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        return []


class BoxSegmentation:
    identity: Mapping[str, str] = {}

    def segment(self, image: Image, boxes: Sequence[Any]) -> list[NDArray[np.float32]]:
        return [box_mask(image.shape[:2]) for _ in boxes]


def box_mask(shape: tuple[int, ...]) -> NDArray[np.float32]:
    left, top, right, bottom = map(int, BOX)
    mask = np.zeros(shape, np.float32)
    mask[top:bottom, left:right] = 1
    return mask


class Stage:
    """A film with everything at hand to harm it."""

    def __init__(self, film: Film, folder: Path) -> None:
        self.film = film
        self.folder = folder

    def draw(
        self,
        name: str,
        count: int,
        *,
        least: int | None = None,
        seed: int = 7,
        models: Models | None = None,
    ) -> list[Chosen]:
        degradation, context = self._set(name, seed, models)
        return ClipDraw(degradation, context, Look(self.film, context.models)).take(count, least)

    def harm(
        self,
        name: str,
        chosen: Sequence[Chosen] | None = None,
        *,
        severity: float = 1.0,
        seed: int = 7,
        models: Models | None = None,
    ) -> tuple[SplicedVideo, list[VideoPart]]:
        """The film harmed in some clips; two drawn ones where none are given."""
        degradation, context = self._set(name, seed, models)
        if chosen is None:
            chosen = self.draw(name, 2, seed=seed, models=models)
        parts = degradation.parts(context, chosen, severity)
        out = self.folder / f"{name.partition(':')[0]}_{severity}_{seed}.mp4"
        return splice(self.film.video, parts, out), parts

    def _set(self, name: str, seed: int, models: Models | None) -> tuple[Degradation, Context]:
        degradation: Degradation = build("degradation", name).thing
        rng = Rng.of(seed, "film", name.partition(":")[0])
        return degradation, Context(self.film, rng, models or PlainBackends())


def packets_of(path: Path) -> list[tuple[int, bytes]]:
    """Every packet in the order of the file: when it is shown, and its bytes."""
    with av.open(str(path)) as container:
        return [
            (int(packet.pts or 0), bytes(packet))
            for packet in container.demux(video=0)
            if packet.size
        ]
