"""``screentest suite locot2v matrix`` on a testbed whose harms are known to the grey level."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from screentest.core import Aspect, PairKind
from screentest.testbeds.testbed import (
    FILE,
    Pair,
    SourceFilm,
    Testbed,
    VideoFile,
    write_testbed,
)
from tests.suites.locot2v.films import Picture, film, gliding
from tests.terminal import fits, invoke

METRICS = "locot2v_temporal_flickering,locot2v_dynamic_degree"


@pytest.fixture(scope="module")
def testbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sources that glide. Frozen, they are steadier and move less; a placebo is the same."""
    folder = tmp_path_factory.mktemp("bed")
    sources, pairs = [], []
    for name, seed in (("one", 1), ("two", 2)):
        moving = gliding(17, 5, seed)
        flashing = [np.asarray(one // (1 + n % 2), np.uint8) for n, one in enumerate(moving)]
        (folder / f"{name}.txt").write_text("Something glides.")
        intact = written(folder, f"{name}.mkv", moving)
        harms: list[tuple[str, Aspect | None, list[Picture]]] = [
            ("dynamics_degree", Aspect.DYNAMICS_DEGREE, [moving[0]] * 17),
            ("aesthetics", Aspect.AESTHETICS, flashing),
            ("reencode", None, moving),
        ]
        for harm, aspect, pictures in harms:
            changed = written(folder, f"{name}_{harm}.mkv", pictures)
            kind = PairKind.DEGRADATION if aspect else PairKind.PLACEBO
            pairs.append(Pair(name, kind, harm, intact.path, changed, harm, aspect))
        text, clips = f"{name}.txt", ()
        sources.append(SourceFilm(name, f"{name}.mkv", "", ".", text, clips, (intact,)))
    write_testbed(folder, Testbed(1, "0", 7, {}, tuple(sources), tuple(pairs)))
    return folder


def written(folder: Path, name: str, pictures: list[Picture]) -> VideoFile:
    path = film(folder / name, pictures)
    return VideoFile(name, "", path.stat().st_size, len(pictures), Fraction(17, 8), 128, 96)


def matrix(testbed: Path, out: Path, *more: str | Path) -> str:
    result = invoke(
        *("suite", "locot2v", "matrix", testbed, "--out", out, "--workers", "1"),
        *("--metrics", METRICS, *more),
    )
    assert result.exit_code == 0, result.output
    return result.stdout


def test_known_harms_are_in_the_right_cells(testbed: Path, tmp_path: Path) -> None:
    chart = tmp_path / "matrix.svg"
    told = json.loads(matrix(testbed, tmp_path / "run", "--json", "--chart", chart))
    assert told["pairs"] == {"aesthetics": 2, "dynamics_degree": 2, "placebos": 2}
    assert len(told["matrix"]) == 26
    shares = {
        name: {column: cell["share"] for column, cell in row.items()}
        for name, row in told["matrix"].items()
        if row
    }
    assert shares == {
        # Flashing moves the flow as well, so only freezing lowers the degree of motion.
        "dynamic_degree": {"aesthetics": 0.5, "dynamics_degree": 1.0, "placebos": 0.5},
        # A frozen film flickers less: the harm is taken for a gain.
        "temporal_flickering": {"aesthetics": 1.0, "dynamics_degree": 0.0, "placebos": 0.5},
    }
    drawn = chart.read_text()
    assert drawn.count("1.00") == 2
    assert "Human Action" in drawn  # a row without values is grey, not away


def test_the_printed_matrix_fits_the_screen_and_says_what_is_missing(
    testbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = matrix(testbed, tmp_path / "run")
    assert fits(said)
    rows = {line.split()[0]: line.split()[1:] for line in said.splitlines() if line.strip()}
    assert rows["dynamic_degree"] == ["50", "100", "50"]
    assert rows["pairs"] == ["2", "2", "2"]
    assert "Without any value: 24" in said
    assert "aest: aesthetics" in said
    assert "fewer pairs" not in said


def test_a_folder_that_is_no_testbed(tmp_path: Path) -> None:
    result = invoke("suite", "locot2v", "matrix", tmp_path)
    assert result.exit_code == 2
    assert FILE in result.stderr
