"""A small testbed of all ten aspects, made once, and judges whose answers are known beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.core import Item
from screentest.degrade.builder import build_testbed
from screentest.degrade.captions.facts import CaptionFacts
from screentest.degrade.options import BuildOptions
from screentest.degrade.sources import Extractor
from screentest.evaluate.tools import close_tools
from screentest.run import LocalEngine
from screentest.sample import sample_videos
from tests.degrade.stage import ALL, QUICK

TEN = (
    "aesthetics",
    "technical_quality:base=128,low=64",
    "appearance_style",
    "background_consistency",
    "object_integrity",
    "color",
    "dynamics_degree",
    "comprehensiveness",
    "spatial_relationship",
    "temporal_flow",
)


def sources() -> list[Item]:
    """Three films of the sample; captions are read as if they mentioned everything."""
    return [video.item for video in sample_videos() if video.item.id != "frenchgp_1906"]


@pytest.fixture(scope="session")
def testbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five aspects that need no model, two severities, two placebos; 96 pixels, 4 a second."""
    folder = tmp_path_factory.mktemp("certify") / "testbed"
    options = BuildOptions(
        degradations=("aesthetics", "dynamics_degree", "comprehensiveness", "temporal_flow"),
        placebos=("container", "noise"),
        clips=(2,),
        severities=(0.5, 1.0),
        long_side=96,
        rate=Fraction(4),
        encoder=QUICK,
    )
    extractor = Extractor("stand_in", lambda caption: ALL if caption else CaptionFacts())
    build_testbed(sources(), folder, options, extractor=extractor, engine=LocalEngine(2))
    return folder


@pytest.fixture
def clean_tools() -> Iterator[None]:
    """Tools of an earlier test hold a server that is gone."""
    close_tools()
    yield
    close_tools()
