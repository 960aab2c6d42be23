"""Real pictures, blurred and oversharpened: which of two is to blame for a difference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import av
import cv2
import numpy as np
import pytest

from screentest.analysis.models.comparison import ModelComparison
from screentest.core import Image, build
from screentest.metrics.static.faults import faults
from screentest.metrics.static.picture import naturalness, sharpness
from tests.analysis.test_comparison import compared, results

FRAMES = (5, 25, 45)
MEASURED = ("sharpness", "faults", "naturalness")


def pictures(film: Path) -> list[Image]:
    """The luma of some frames, 480 pixels wide."""
    found: list[Image] = []
    with av.open(str(film)) as container:
        for number, frame in enumerate(container.decode(video=0)):
            if number in FRAMES:
                height = 2 * round(240 * frame.height / frame.width)
                grey = frame.reformat(480, height, "gray").to_ndarray()
                found.append(np.asarray(grey, np.uint8))
            if number >= FRAMES[-1]:
                break
    return found


def blurred(image: Image) -> Image:
    return np.asarray(cv2.GaussianBlur(image, (0, 0), 0.9), np.uint8)


def oversharpened(image: Image) -> Image:
    smooth = cv2.GaussianBlur(image, (0, 0), 2.2).astype(np.float32)
    return np.asarray(np.clip(image + 4 * (image - smooth), 0, 255), np.uint8)


@pytest.fixture(scope="module")
def clips(shared_data: Path) -> list[list[Image]]:
    """Those of the real clips whose edges have most of halos, as they are."""
    films = sorted((shared_data / "video" / "singleshot").glob("*.mp4"))
    all_ = [pictures(film) for film in films]
    return sorted(all_, key=_halos)[-8:]


def _halos(images: list[Image]) -> float:
    return fmean(fault[2] for image in images if (fault := faults(image)))


def between(
    clips: list[list[Image]], change: Callable[[Image], Image], other: str
) -> ModelComparison:
    values: dict[tuple[str, str], list[float]] = {}
    for model, clip in [("intact", clip) for clip in clips] + [(other, clip) for clip in clips]:
        shown = clip if model == "intact" else [change(image) for image in clip]
        edge = [fault for image in shown if (fault := faults(image))]
        for name, numbers in {
            "sharpness": [value for image in shown if (value := sharpness(image)) is not None],
            "faults.halos": [fault[2] for fault in edge],
            "naturalness.unnaturalness": [
                value for image in shown if (value := naturalness(image)) is not None
            ],
        }.items():
            values.setdefault((name, model), []).append(fmean(numbers))
    infos = {name: build("metric", name).thing.info for name in MEASURED}
    known = {
        "sharpness": infos["sharpness"].outputs["sharpness"],
        "faults.halos": infos["faults"].outputs["halos"],
        "naturalness.unnaturalness": infos["naturalness"].outputs["unnaturalness"],
    }
    traits = {"sharpness": infos["sharpness"].traits["sharpness"]}
    return compared(results(values, known=known, traits=traits))


def test_an_intact_picture_is_not_oversharpened_beside_a_blurred_one(
    clips: list[list[Image]],
) -> None:
    found = between(clips, blurred, "blurred")
    rows = {row.name: row for row in found.rows}
    halos = rows["faults.halos"]
    # As much as counts as oversharpened, and more than the blurred ones have.
    assert (halos.of("intact").mean or 0) > 0.2
    assert (halos.of("intact").mean or 0) > (halos.of("blurred").mean or 0)
    assert rows["sharpness"].over("intact") == ("blurred",)
    assert found.winner == "intact"


def test_an_oversharpened_picture_is_no_winner(clips: list[list[Image]]) -> None:
    found = between(clips, oversharpened, "oversharpened")
    sharper = {row.name: row for row in found.rows}["sharpness"]
    assert sharper.of("oversharpened").explained
    assert found.winner == ""
