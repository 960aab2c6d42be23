"""Flags for bad sources, on real frames with and without text and overlay."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from screentest.core import FrameRequest, Size
from screentest.suites.locot2v.construction.stages import Looks, standing_overlay, text_lines
from tests.suites.locot2v.films import Picture, all_frames

FILMS = ("bbb_first30s_640x360.mp4", "real_5shots_640x360.mp4")


@pytest.fixture(scope="module", params=FILMS)
def frames(request: pytest.FixtureRequest, sample: Path) -> list[Picture]:
    """Sixteen frames spread over a real film."""
    every = all_frames(sample / request.param, FrameRequest(size=Size(long_side=480)))
    return [every[n] for n in np.linspace(0, len(every) - 1, 16).astype(int)]


def titled(picture: Picture, text: str, place: tuple[int, int]) -> Picture:
    """White letters with a dark rim, as subtitles have them."""
    drawn = picture.copy()
    for colour, width in (((0, 0, 0), 4), ((255, 255, 255), 1)):
        cv2.putText(drawn, text, place, cv2.FONT_HERSHEY_SIMPLEX, 0.6, colour, width, cv2.LINE_AA)
    return drawn


def test_subtitles_are_seen(frames: list[Picture]) -> None:
    height = frames[0].shape[0]
    place = (60, height - 20)
    seen = [bool(text_lines(titled(one, "I have never been here before", place))) for one in frames]
    assert np.mean(seen) >= 0.7
    assert np.mean([bool(text_lines(one)) for one in frames]) <= 0.3


def test_a_watermark_is_seen_and_a_film_without_is_not(frames: list[Picture]) -> None:
    marked = [titled(one, "MY CHANNEL", (330, 30)) for one in frames]
    assert standing_overlay(marked) > 0
    assert standing_overlay(frames) == 0


def test_a_camera_that_stands_still_is_no_overlay(frames: list[Picture]) -> None:
    assert standing_overlay([frames[3]] * 16) == 0


def test_flags() -> None:
    assert Looks(0.0, 0.0, 0.9).flags(0.3) == []
    assert Looks(0.5, 0.01, 0.2).flags(0.3) == ["burnt_in_text", "overlay", "low_quality"]
    assert Looks(0.0, 0.0, None).flags(0.3) == []
