"""Testbeds: films harmed on purpose in one aspect, so that judges can be put to the test."""

from screentest.degrade.asking import ChatUse
from screentest.degrade.builder import Building, build_testbed
from screentest.degrade.contract import (
    Chosen,
    Degradation,
    DegradationInfo,
    Details,
    Film,
    FilmClip,
    Look,
    Placebo,
    Unfit,
    Workshop,
)
from screentest.degrade.dice import Dice
from screentest.degrade.joining import Joined, join_sources
from screentest.degrade.options import BuildOptions, Rung
from screentest.degrade.sources import Extractor
from screentest.degrade.testbed import (
    Kind,
    Pair,
    Skip,
    SourceFilm,
    Testbed,
    Touched,
    VideoFile,
    read_testbed,
    write_testbed,
)

__all__ = [
    "BuildOptions",
    "Building",
    "ChatUse",
    "Chosen",
    "Degradation",
    "DegradationInfo",
    "Details",
    "Dice",
    "Extractor",
    "Film",
    "FilmClip",
    "Joined",
    "Kind",
    "Look",
    "Pair",
    "Placebo",
    "Rung",
    "Skip",
    "SourceFilm",
    "Testbed",
    "Touched",
    "Unfit",
    "VideoFile",
    "Workshop",
    "build_testbed",
    "join_sources",
    "read_testbed",
    "write_testbed",
]
