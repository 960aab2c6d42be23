"""A small testbed of the packaged sample, built once in each test process, and copies of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from screentest.run.engine import InlineEngine
from screentest.sample import sample_videos
from screentest.testbeds.builder import build_testbed
from screentest.testbeds.options import BuildOptions
from screentest.testbeds.testbed import FILE
from tests.testbeds.stage import QUICK

OPTIONS = BuildOptions(
    degradations=("aesthetics", "comprehensiveness", "temporal_flow"),
    placebos=("container", "trim"),
    clips=(2,),
    long_side=96,
    rate=Fraction(4),
    encoder=QUICK,
)
"""What needs nothing of a caption. The film has five clips and serves all of it."""


@cache
def built_in(folder: Path) -> Path:
    """The testbed of the five live-action shots and of the newsreel, which has one clip."""
    items = [sample_videos()[2].item, sample_videos()[1].item]
    build_testbed(items, folder / "bed", OPTIONS, engine=InlineEngine())
    return folder / "bed"


def copy_of(testbed: Path, folder: Path) -> Path:
    """A copy that a test may damage, without the run."""
    shutil.copytree(testbed, folder, ignore=shutil.ignore_patterns("run"))
    return folder


def rewrite(folder: Path, change: Callable[[Any], None]) -> None:
    """Change testbed.json as somebody with an editor would."""
    data = json.loads((folder / FILE).read_text(encoding="utf-8"))
    change(data)
    (folder / FILE).write_text(json.dumps(data), encoding="utf-8")
