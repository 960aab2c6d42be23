"""``certify --suite --chart`` on a testbed whose harms are known to the grey level."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray

import screentest
from screentest.analysis.judges.matrix import Matrix, MatrixCell
from screentest.analysis.suites import Suite
from screentest.core import Aspect, PairKind, register, registry
from screentest.present.certificates import cell_words, matrix_table
from screentest.present.charts import matrix_chart
from screentest.stats import Claim, Interval
from screentest.testbeds.testbed import (
    FILE,
    Pair,
    SourceFilm,
    Testbed,
    VideoFile,
    write_testbed,
)
from tests.terminal import fits, invoke

Picture = NDArray[np.uint8]
FRAMES, RATE = 17, 8


@pytest.fixture(scope="module", autouse=True)
def toy_suite() -> Iterator[None]:
    @register("suite", "toy", version=1, summary="two metrics, five values")
    def toy() -> Suite:
        return Suite("toy", ("frozen", "contrast:rate=2"))

    @register("suite", "toy_lost", version=1, summary="one metric that has a model, one without")
    def toy_lost() -> Suite:
        return Suite("toy_lost", ("frozen", "videoscore"))

    yield
    for name in ("toy", "toy_lost"):
        registry._entries.pop(("suite", name))


@pytest.fixture(scope="module")
def testbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sources that glide. Frozen, they stand still; greyed in two ways, they lose contrast."""
    folder = tmp_path_factory.mktemp("bed")
    sources, pairs = [], []
    for name, seed in (("one", 1), ("two", 2)):
        moving = gliding(seed)
        (folder / f"{name}.txt").write_text("Something glides.")
        intact = written(folder, f"{name}.mkv", moving)
        harms: list[tuple[str, Aspect | None, list[Picture]]] = [
            ("dynamics_degree", Aspect.DYNAMICS_DEGREE, [moving[0]] * FRAMES),
            ("aesthetics", Aspect.AESTHETICS, [greyed(one, 4) for one in moving]),
            ("haze", Aspect.AESTHETICS, [greyed(one, 2) for one in moving]),
            ("reencode", None, moving),
        ]
        for harm, aspect, pictures in harms:
            changed = written(folder, f"{name}_{harm}.mkv", pictures)
            kind = PairKind.DEGRADATION if aspect else PairKind.PLACEBO
            pairs.append(Pair(name, kind, harm, intact.path, changed, harm, aspect))
        sources.append(SourceFilm(name, f"{name}.mkv", "", ".", f"{name}.txt", (), (intact,)))
    write_testbed(folder, Testbed(1, "0", 7, {}, tuple(sources), tuple(pairs)))
    return folder


def gliding(seed: int) -> list[Picture]:
    wide = np.random.default_rng(seed).integers(0, 256, (12, 16 + FRAMES, 3), np.uint8)
    large = wide.repeat(8, axis=0).repeat(8, axis=1)
    return [large[:, 8 * n : 8 * n + 128].copy() for n in range(FRAMES)]


def greyed(picture: Picture, by: int) -> Picture:
    return np.asarray(128 + (picture.astype(int) - 128) // by, np.uint8)


def written(folder: Path, name: str, pictures: list[Picture]) -> VideoFile:
    height, width = pictures[0].shape[:2]
    with av.open(str(folder / name), "w") as out:
        stream: Any = out.add_stream("ffv1", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = width, height, "bgr0"
        for number, picture in enumerate(pictures):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, RATE)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    size = (folder / name).stat().st_size
    return VideoFile(name, "", size, len(pictures), Fraction(FRAMES, RATE), width, height)


def certified(testbed: Path, out: Path, *more: str | Path, suite: str = "toy") -> str:
    result = invoke(
        *("certify", "--suite", suite, "--testbed", testbed, "--out", out),
        *more,
    )
    assert result.exit_code == 0, result.output
    return result.stdout


def test_known_harms_are_in_the_right_cells(testbed: Path, tmp_path: Path) -> None:
    chart, run = tmp_path / "matrix.svg", tmp_path / "run"
    found = {one["judge"]: one for one in json.loads(certified(testbed, run, "--json"))}
    assert list(found) == [
        *("frozen", "frozen.longest_hold", "contrast:rate=2"),
        *("contrast.tonal_range:rate=2", "contrast.exposure:rate=2"),
    ]
    frozen = {one["aspect"]: one["accuracy"]["value"] for one in found["frozen"]["aspects"]}
    assert frozen["dynamics_degree"]["points"] == frozen["dynamics_degree"]["judgements"] == 4
    assert frozen["aesthetics"]["ties"] == 8
    # The aspect that two degradations harm has both apart as well.
    operators = found["contrast:rate=2"]["operators"]
    assert [one["name"] for one in operators] == ["aesthetics", "haze", "dynamics_degree"]
    assert {one["accuracy"]["value"]["points"] for one in operators[:2]} == {4.0}
    # Two films prove nothing.
    assert {one["finding"]["claim"] for one in operators} == {"undecided"}
    # The same by the API goes on with the run; it draws.
    made = screentest.certify((), testbed, suite="toy", out=run, chart=chart)
    assert [one.judge for one in made.certificates] == list(found)
    drawn = chart.read_text()
    for words in ("frozen", "contrast.exposure:rate=2", "aesthetics/haze", "placebo", "1.00"):
        assert words in drawn


def test_the_printed_matrix_fits_the_screen(
    testbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = certified(testbed, tmp_path / "run")
    assert fits(said)
    rows = {line.split()[0]: line.split()[1:] for line in said.splitlines() if line.strip()}
    assert rows["frozen"] == ["50?", "50?", "50?", "100?", "50"]
    assert rows["pairs"] == ["4", "2", "2", "2", "2"]
    assert "haze: aesthetics/haze" in said


def test_the_printed_matrix_says_what_is_missing_and_who_answered(
    testbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = certified(testbed, tmp_path / "run", "--all", suite="toy_lost")
    assert fits(said)
    made = screentest.certify((), testbed, suite="toy_lost", out=tmp_path / "run")
    lost = [one.judge for one in made.certificates if one.overall.failure is not None]
    assert len(lost) == 5
    assert lost[0] == "videoscore.visual_quality"  # a value of the metric, not the judge
    words = " ".join(said.split())
    assert re.search(rf"\b{len(lost)}\b[^:]*: not_applicable: ", words)
    assert "not_applicable: not_applicable" not in words
    unbroken = "".join(said.split())
    for one in made.certificates:
        assert f"{one.judge}:{one.signature}".replace(" ", "") in unbroken


def test_a_sign_says_what_may_be_said() -> None:
    ends = Interval(0.4, 1.0)
    shown = [cell_words(MatrixCell(0.8, ends, 9, claim)) for claim in Claim]
    assert shown == ["80+", "80−", "80=", "80?", "80±"]
    rows = {
        "a": {"color": MatrixCell(0.8, ends, 9, Claim.SEES)},
        "b": {"color": MatrixCell(0.7, ends, 9)},
    }
    found = Matrix(("color", "motion"), {"color": 9, "motion": 0}, rows)
    assert [row[1:] for row in matrix_table(found).rows] == [("80+", "–"), ("70", "–"), (9, 0)]
    texts = [text.get_text() for text in matrix_chart(found).axes[0].texts]
    assert texts == ["0.80+", "0.70"]


def test_what_cannot_be_certified_is_refused_before_anything_runs(
    testbed: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    for wrong in (
        ["certify", "--testbed", testbed],
        ["certify", "--suite", "toy", "--testbed", testbed, "--chart", tmp_path / "chart.doc"],
        ["certify", "--suite", "unheard", "--testbed", testbed],
    ):
        assert invoke(*wrong, "--out", run).exit_code == 2
        assert not run.exists()
    result = invoke("certify", "--suite", "toy", "--testbed", tmp_path, "--out", run)
    assert result.exit_code == 2
    assert FILE in result.stderr
