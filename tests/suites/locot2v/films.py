"""Small films written without loss, so that what was drawn is what is measured."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from screentest.core import Frame, FrameRequest, Item, Outcome, Outcomes, Score, build
from screentest.models import Choice
from screentest.run.session import Settings, Tools
from screentest.scores.measure import measure
from screentest.video import scan

Picture = NDArray[np.uint8]
HEIGHT, WIDTH = 96, 128
CLASSICAL = tuple(
    Choice.parse(text)
    for text in (
        *("image_features=colour_gradient", "detection=saliency", "segmentation=grabcut"),
        *("text_embedding=shared_words", "aesthetic=image_statistics"),
    )
)
"""Backends that need nothing pulled, so that a test means the same everywhere."""


def texture(seed: int, height: int = HEIGHT, width: int = WIDTH) -> Picture:
    """A picture with detail everywhere, in three distinct colour planes."""
    dice = np.random.default_rng(seed)
    noise = dice.uniform(0, 255, (height, width, 3)).astype(np.float32)
    soft = cv2.GaussianBlur(noise, (0, 0), 2.5)
    low, high = soft.min(), soft.max()
    return np.asarray((soft - low) * (255 / (high - low)), np.uint8)


def gliding(count: int, speed: int, seed: int = 1) -> list[Picture]:
    """A window that glides over a large picture by ``speed`` pixels per frame."""
    wide = texture(seed, HEIGHT, WIDTH + count * max(speed, 1))
    return [wide[:, n * speed : n * speed + WIDTH].copy() for n in range(count)]


def film(path: Path, pictures: Iterable[Picture], rate: int = 8) -> Path:
    """Write pictures as they are."""
    listed = list(pictures)
    height, width = listed[0].shape[:2]
    with av.open(str(path), "w") as out:
        stream: Any = out.add_stream("ffv1", rate=rate)
        stream.width, stream.height, stream.pix_fmt = width, height, "bgr0"
        for number, picture in enumerate(listed):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, rate)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return path


def measured(spec: str, item: Item | Path, *models: str, **settings: Any) -> Outcomes:
    """What one metric says of one item, on the classical backends and ``models``."""
    one = Item("film", item) if isinstance(item, Path) else item
    chosen = tuple(Choice.parse(text) for text in models)
    taken = {(choice.role, choice.use) for choice in chosen}
    rest = tuple(choice for choice in CLASSICAL if (choice.role, choice.use) not in taken)
    tools = Tools(Settings(models=(*chosen, *rest), **settings))
    try:
        return measure(one, {spec: build("metric", spec).thing}, tools)[spec]
    finally:
        tools.models.close()


def score(spec: str, item: Item | Path, *models: str, **settings: Any) -> Score:
    """The one value of a metric that has one; fails where there is none."""
    (outcome,) = measured(spec, item, *models, **settings).values()
    return outcome.unwrap()


def failure(spec: str, item: Item | Path, *models: str) -> Outcome[Score]:
    """The outcome of a metric that has one output and cannot be had."""
    (outcome,) = measured(spec, item, *models).values()
    assert not outcome.ok
    return outcome


class Keep:
    """Keeps every frame: for references that are written the plain way."""

    def __init__(self, wants: FrameRequest) -> None:
        self.wants = wants
        self.pictures: list[Picture] = []

    def open(self, info: object) -> None: ...

    def close(self, end: object) -> None: ...

    def take(self, frame: Frame) -> None:
        self.pictures.append(frame.image)


def all_frames(video: Path, wants: FrameRequest = FrameRequest()) -> list[Picture]:  # noqa: B008
    """Every frame of a film as our decoder gives it."""
    kept = Keep(wants)
    scan(video, [kept])
    return kept.pictures
