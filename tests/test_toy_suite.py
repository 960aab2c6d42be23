"""A suite nobody has heard of, with a tree of two levels, appears added up wherever suites do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import screentest
from screentest.analysis.suites import Dimension, Suite
from screentest.core import register, registry
from screentest.sample import sample_videos
from tests.terminal import fits, invoke

LEAVES = ("contrast", "contrast.exposure", "frozen:level=0.002")


@pytest.fixture(scope="module", autouse=True)
def toy() -> Iterator[None]:
    @register("suite", "toy_house", version=1, summary="two levels over three values")
    def toy_house() -> Suite:
        look = Dimension("look", LEAVES[:2], title="Look")
        motion = Dimension("motion", LEAVES[2:])
        return Suite(
            "toy_house",
            ("contrast", "frozen:level=0.002"),
            (Dimension("house", parts=(look, motion)),),
            ("model",),
            title="The toy house",
            scale=100,
        )

    yield
    registry._entries.pop(("suite", "toy_house"))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two films, each by a model of its own."""
    folder = tmp_path_factory.mktemp("toy")
    manifest = folder / "films.jsonl"
    lines = [
        {"id": f"film{n}", "video": str(video.item.video), "groups": {"model": model}}
        for n, (video, model) in enumerate(
            zip(sample_videos()[1:3], ("ours", "theirs"), strict=True)
        )
    ]
    manifest.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = invoke(
        *("score", manifest, "--suite", "toy_house", "--out", folder / "scores"),
    )
    assert done.exit_code == 0, done.output
    assert fits(done.stdout)
    for words in ("The toy house", "house", "look", "contrast.exposure", "motion"):
        assert words in done.stdout
    return folder / "scores"


def test_score(run: Path) -> None:
    again = ("score", run.parent / "films.jsonl", "--suite", "toy_house", "--out", run, "--json")
    told = json.loads(invoke(*again).stdout)
    values = {(row["item"], row["metric"]): row["score"] for row in told["values"]}
    films = ("film0", "film1")
    means = {leaf: sum(values[film, leaf] for film in films) / 2 for leaf in LEAVES}
    rows = {row["dimension"]: row for row in told["toy_house"]}
    look = (means["contrast"] + means["contrast.exposure"]) / 2
    assert rows["look"]["mean"] == pytest.approx(100 * look)
    assert rows["house"]["mean"] == pytest.approx(100 * (look + means["frozen:level=0.002"]) / 2)
    assert (rows["house"]["scored"], rows["house"]["total"]) == (2, 2)
    assert rows["house"]["low"] < rows["house"]["mean"] < rows["house"]["high"]
    grouped = json.loads(invoke(*again, "--by", "model").stdout)
    assert {row["model"] for row in grouped["toy_house"]} == {"ours", "theirs"}
    assert all(row["low"] is None for row in grouped["toy_house"])  # one film each


def test_report(run: Path, tmp_path: Path) -> None:
    done = invoke("report", run, "--out", tmp_path / "r.html", "--tables", tmp_path / "tables")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "r.html").read_text()
    assert re.search(r"The toy house \w+ model", page)
    assert (tmp_path / "tables" / "toy_house.csv").read_text().startswith("model,house,look,motion")


def test_suite_show() -> None:
    done = invoke("suite", "show", "toy_house")
    assert done.exit_code == 0, done.output
    for words in ("toy_house", "house", "look", "contrast.exposure"):
        assert words in done.stdout
    assert "toy_house" in invoke("suite", "list").stdout


def test_certify(tmp_path: Path) -> None:
    film = sample_videos()[1].item
    bed = screentest.build(
        film, out=tmp_path / "bed", aspects=["aesthetics"], clips=1, long_side=160
    )
    done = invoke(
        *("certify", "--suite", "toy_house", "--testbed", bed.folder, "--out", tmp_path / "c"),
    )
    assert done.exit_code == 0, done.output
    for leaf in LEAVES:
        assert leaf in done.stdout
