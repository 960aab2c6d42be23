"""A real testbed, a project on it, and the app as a server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.annotate.store import Database
from screentest.run.engine import InlineEngine
from screentest.sample import sample_videos
from screentest.testbeds.builder import build_testbed
from screentest.testbeds.options import BuildOptions
from screentest.testbeds.sources import Extractor
from tests.annotate.stand import Stand, database_at, open_stand
from tests.testbeds.stage import ALL, QUICK


@pytest.fixture(scope="session")
def testbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One film of the sample under two names, small, with three degradations each."""
    folder = tmp_path_factory.mktemp("annotate") / "testbed"
    item = sample_videos()[2].item
    options = BuildOptions(
        degradations=("aesthetics", "comprehensiveness", "temporal_flow"),
        clips=(2,),
        long_side=160,
        rate=Fraction(8),
        encoder=QUICK,
    )
    build_testbed(
        [replace(item, id=name) for name in ("birds", "birds-again")],
        folder,
        options,
        extractor=Extractor("stand_in", lambda _: ALL),
        engine=InlineEngine(),
    )
    return folder


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An empty SQLite store."""
    opened = database_at(str(tmp_path / "votes.sqlite"))
    yield opened
    opened.close()


@pytest.fixture
def stand(testbed: Path, tmp_path: Path) -> Iterator[Stand]:
    """The app with the task ``check`` on the testbed, without a server around it."""
    with open_stand(testbed, str(tmp_path / "votes.sqlite"), "check") as opened:
        yield opened
