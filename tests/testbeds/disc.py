"""A disc that drifts over a striped ground, in two clips of a second, and stand-in models that know
where it is by its colour, in any picture they are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from screentest.core import (
    Clip,
    Item,
    Script,
    Span,
    register,
)
from screentest.core.registry import registry
from screentest.models import Detection
from screentest.testbeds.captions.facts import CaptionFacts
from screentest.testbeds.contract import (
    Film,
    boundaries,
    film_of,
)
from screentest.video.edit.normalize import normalize
from tests.testbeds.stage import QUICK

Image = NDArray[np.uint8]
WIDTH, HEIGHT, RATE = 128, 96, 8
RED, BLUE = (210, 30, 30), (30, 60, 210)


def picture(number: int) -> Image:
    """The disc before stripes, which drift too."""
    ground = 90 + 50 * (((np.arange(WIDTH) + number) // 8) % 2)
    image = np.repeat(np.tile(ground, (HEIGHT, 1))[..., None], 3, axis=2).astype(np.uint8)
    cv2.circle(image, centre(number), 22, RED, -1)
    return image


def centre(number: int) -> tuple[int, int]:
    return 40 + 2 * number, 48


def disc(image: Image) -> NDArray[np.bool_]:
    """Where a picture is red."""
    return np.asarray((image[..., 0].astype(int) - image[..., 2] > 90) & (image[..., 0] > 120))


class DiscDetector:
    identity: Mapping[str, str] = {}

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        rows, columns = np.nonzero(disc(image))
        if len(rows) < 100:
            return []
        box = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
        return [Detection(phrases[0], 0.9, tuple(map(float, box)))]

    def everything(self, image: Image) -> list[Detection]:
        return self.detect(image, ["frisbee"])


class DiscSegmentation:
    identity: Mapping[str, str] = {}
    asked = 0

    def segment(self, image: Image, boxes: Sequence[Any]) -> list[NDArray[np.float32]]:
        DiscSegmentation.asked += 1
        return [disc(image).astype(np.float32) for _ in boxes]


class DiscMatting:
    identity: Mapping[str, str] = {}

    def matte(self, images: Sequence[Image]) -> list[NDArray[np.float32]]:
        return [disc(image).astype(np.float32) for image in images]


@contextmanager
def stand_ins() -> Iterator[None]:
    """Registered as those of a plugin would be."""
    made = {
        "detection": DiscDetector,
        "segmentation": DiscSegmentation,
        "matting": DiscMatting,
    }
    for role, backend in made.items():
        register(role, "disc", version=1, summary="knows the disc")(backend)
    yield
    for role in made:
        registry._entries.pop((role, "disc"))


MODELS = ["detection=disc", "segmentation=disc", "matting=disc"]


def written(folder: Path, pictures: Sequence[Image]) -> Film:
    """A film of clips of a second."""
    with av.open(str(folder / "source.mp4"), "w") as out:
        stream = out.add_stream("libx264", rate=RATE, options={"crf": "5", "preset": "ultrafast"})
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        for image in pictures:
            out.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        out.mux(stream.encode(None))
    script = Script(
        tuple(
            Clip("A red ball rolls.", Span(Fraction(second), Fraction(second + 1)))
            for second in range(len(pictures) // RATE)
        )
    )
    video = normalize(
        folder / "source.mp4",
        folder / "intact.mp4",
        keyframes_at=boundaries(script),
        settings=QUICK,
    )
    return film_of(video, script, [CaptionFacts()] * len(script.clips))


def item_of(film: Film) -> Item:
    """The source of the film."""
    script = Script(tuple(Clip("A red ball rolls.", clip.span) for clip in film.clips))
    return Item("film", film.video.path.parent / "source.mp4", script=script)
