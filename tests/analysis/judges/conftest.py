"""Small testbeds, each made once, and judges whose answers are known beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from screentest.run.session import close_tools
from tests.analysis.judges.stage import TEN, build_small, films


@pytest.fixture(scope="session")
def testbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four aspects that need no model, two severities, three placebos, three films."""
    folder = tmp_path_factory.mktemp("certify")
    return build_small(
        folder / "testbed",
        films(folder, 3),
        degradations=("aesthetics", "dynamics_degree", "comprehensiveness", "temporal_flow"),
        placebos=("container", "noise", "painted_instruction"),
        severities=(0.5, 1.0),
    )


@pytest.fixture(scope="session")
def hundred(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hundred pairs: two films, all ten aspects, five severities."""
    folder = tmp_path_factory.mktemp("hundred")
    severities = (0.2, 0.4, 0.6, 0.8, 1.0)
    return build_small(
        folder / "testbed", films(folder, 2), degradations=TEN, severities=severities
    )


@pytest.fixture
def clean_tools() -> Iterator[None]:
    """Tools of an earlier test hold a server that is gone."""
    close_tools()
    yield
    close_tools()
