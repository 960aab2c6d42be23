"""Small films written without loss, so that what was drawn is what is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screentest.core import Frame, FrameRequest, Item, Outcome, Outcomes, Score, build
from screentest.measure.items import measure
from screentest.models import ModelChoice
from screentest.run.session import Settings, Tools
from screentest.testing.films import gliding, texture
from screentest.testing.films import write_film as film
from screentest.video.scan import scan

__all__ = ["CLASSICAL", "HEIGHT", "WIDTH", "Picture", "film", "gliding", "texture"]

Picture = NDArray[np.uint8]
HEIGHT, WIDTH = 96, 128
CLASSICAL = tuple(
    ModelChoice.parse(text)
    for text in (
        *("image_features=colour_gradient", "detection=saliency", "segmentation=grabcut"),
        *("text_embedding=shared_words", "aesthetic=image_statistics"),
    )
)
"""Backends that need nothing pulled, so that a test means the same everywhere."""


def measured(spec: str, item: Item | Path, *models: str, **settings: Any) -> Outcomes:
    """What one metric says of one item, on the classical backends and ``models``."""
    one = Item("film", item) if isinstance(item, Path) else item
    chosen = tuple(ModelChoice.parse(text) for text in models)
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
