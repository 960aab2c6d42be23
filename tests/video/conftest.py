"""What the tests of the video engine share."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from screentest.core import Size
from screentest.video.edit.encode import EncoderSettings
from screentest.video.edit.normalize import NormalizedVideo, normalize
from tests.video.clips import Recipe, make
from tests.video.outside import Outside


@pytest.fixture(scope="session")
def outside(ffmpeg: str, ffprobe: str) -> Outside:
    """The system's ffmpeg, to check our files with."""
    return Outside(ffmpeg, ffprobe)


@pytest.fixture(scope="session")
def made(ffmpeg: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Recipe], Path]:
    """Sources by recipe, each made once."""
    folder = tmp_path_factory.mktemp("sources")
    return cache(lambda recipe: make(ffmpeg, recipe, folder))


@pytest.fixture(scope="session")
def film(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> NormalizedVideo:
    """Five live-action shots of the packaged sample in 31 clips of half a second."""
    source = sample / "real_5shots_640x360.mp4"
    out = tmp_path_factory.mktemp("film") / "normal.mp4"
    cuts = [Fraction(n, 2) for n in range(31)]
    return normalize(
        source,
        out,
        keyframes_at=cuts,
        size=Size(long_side=320),
        settings=EncoderSettings(preset="ultrafast"),
    )
