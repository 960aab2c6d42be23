"""Ladders: more severity is never nearer to the intact film, and none of it is that film.

The distance is one that no operator knows of: between the frames of two files, each a small
picture at a moment, in look and in time, from each frame to its nearest in the other file.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from screentest.core import Image, Size
from screentest.models import Detection
from screentest.sample import sample_videos
from screentest.testbeds.captions.facts import Placed
from screentest.testbeds.catalogue import OperatorSet, operators
from screentest.testbeds.contract import boundaries, film_of
from screentest.video.edit.normalize import normalize
from screentest.video.edit.pictures import Keep, Pixels
from screentest.video.source import VideoSource
from tests.testbeds.stage import ALL, QUICK, PlainBackends, Stage

SEVERITIES = (0.25, 0.5, 0.75, 1.0)
NAMES = [one.name for one in operators() if one.set is not OperatorSet.PLUGIN]
FACTS = replace(
    ALL,
    subject=("thing", "other"),
    spatial_relationship=(Placed("left", "thing"), Placed("above", "thing")),
)
SECOND = 0.2
"""How far apart two equal pictures are, a second apart, where black and white are 1."""
ROUNDING = 0.01
"""What the encoder may take off a step of a ladder: a share of the whole way."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """The five live-action shots, tiny; captions allow everything."""
    folder = tmp_path_factory.mktemp("small")
    item = sample_videos()[2].item
    assert item.script is not None
    cuts = boundaries(item.script)
    source = normalize(
        item.video,
        folder / "source.mp4",
        keyframes_at=cuts,
        size=Size(long_side=96),
        rate=Fraction(4),
        settings=QUICK,
    )
    video = normalize(source.path, folder / "intact.mp4", keyframes_at=cuts, settings=QUICK)
    others = folder / "others"
    others.mkdir()
    shutil.copy(source.path, others / "film.mp4")
    return Stage(film_of(video, item.script, [FACTS] * len(item.script.clips)), folder)


def spec(name: str, small: Stage) -> str:
    """The operator; where it takes clips of other films, those are tiny, too."""
    return f"{name}:folder={small.folder / 'others'}" if name == "other_film" else name


Frames = tuple[NDArray[np.float32], NDArray[np.float32]]


def frames_of(path: Path) -> Frames:
    """Every frame as a small picture, and when it is shown."""
    looks, times = [], []
    with VideoSource(path) as source:
        for moment, frame in source.frames():
            picture = frame.to_ndarray(format="yuv420p")
            looks.append(picture.astype(np.float32).ravel() / 255)
            times.append(float(moment))
    return np.array(looks), np.array(times, np.float32)


def distance(one: Frames, other: Frames) -> float:
    """From each frame of a file to the nearest of the other, both ways."""
    (looks, times), (others, moments) = one, other
    squares = (looks**2).mean(axis=1)[:, None] + (others**2).mean(axis=1)[None]
    far = np.sqrt(np.maximum(0, squares - 2 * looks @ others.T / looks.shape[1]))
    far += SECOND * np.abs(times[:, None] - moments[None])
    return float(far.min(axis=1).mean() + far.min(axis=0).mean())


class TwoThings:
    """A detector of two things, beside each other, and their outlines."""

    identity: Mapping[str, str] = {}

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        left = 6.0 if phrases[0] == "other" else 52.0
        return [Detection(phrases[0], 0.9, (left, 10.0, left + 36, 46.0))]

    def segment(self, image: Image, boxes: Sequence[Any]) -> list[NDArray[np.float32]]:
        masks = []
        for left, top, right, bottom in boxes:
            masks.append(np.zeros(image.shape[:2], np.float32))
            masks[-1][int(top) : int(bottom), int(left) : int(right)] = 1
        return masks


@pytest.fixture(scope="module")
def intact_frames(small: Stage) -> Frames:
    return frames_of(small.film.video.path)


@pytest.mark.parametrize("name", NAMES)
def test_more_severity_is_never_nearer_to_the_intact_film(
    name: str, small: Stage, intact_frames: Frames
) -> None:
    models = PlainBackends(detection=TwoThings(), segmentation=TwoThings())
    operator, intact = spec(name, small), small.film.video.path
    chosen = small.draw(operator, 2, models=models)
    made, parts = small.harm(operator, chosen, severity=0.0, models=models)
    unharmed = frames_of(made.path)
    before, after = intact_frames[0], unharmed[0]
    # To the bit, or to the encoder's rounding where the pictures went through RGB.
    if all(isinstance(part, Keep) or part.pixels is Pixels.I420 for part in parts):
        assert made.path.read_bytes() == intact.read_bytes()
    assert before.shape == after.shape
    assert np.abs(before - after).mean() < 1 / 255
    steps = [distance(intact_frames, unharmed)]
    for severity in SEVERITIES:
        made, _ = small.harm(operator, chosen, severity=severity, models=models)
        steps.append(distance(intact_frames, frames_of(made.path)))
    assert steps[-1] > 2 * steps[0]
    assert max(one - two for one, two in pairwise(steps)) <= ROUNDING * max(steps), steps
