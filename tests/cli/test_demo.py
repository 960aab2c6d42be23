"""``screentest demo``: all of the job on a fresh machine, and it goes on where it stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.cli.demo import OPERATORS
from screentest.sample import sample_videos
from screentest.sample.copies import METRIC, MODELS
from screentest.testbeds.testbed import read_testbed
from tests.terminal import Screentest, fits, invoke

FILMS = ("bbb_first30s", "frenchgp_1906", "real_5shots", "sintel_trailer_30s")


def test_the_whole_job_and_then_again_for_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the one of the films that has a pair of every aspect, and six of the twelve shots."""
    films = [video for video in sample_videos() if video.item.id == "real_5shots"]
    monkeypatch.setattr("screentest.cli.demo.sample_videos", lambda: films)
    monkeypatch.setattr("screentest.cli.demo.SHOTS", 6)
    monkeypatch.setenv("COLUMNS", "80")
    out = tmp_path / "demo"
    done = invoke("demo", "--out", out)

    assert done.exit_code == 0, done.output
    assert fits(done.stdout)
    testbed = read_testbed(out / "testbed")
    assert {pair.name for pair in testbed.pairs if pair.aspect} == set(OPERATORS)
    assert (out / f"{METRIC}.py").is_file()
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Certificates" in page
    assert all(model in page for model in MODELS)

    made = {path: path.stat().st_mtime_ns for path in (out / "testbed" / "videos").rglob("*.mp4")}
    again = invoke("demo", "--out", out, "--json")
    assert again.exit_code == 0
    assert json.loads(again.stdout)["report"] == str(out / "report.html")
    assert all(path.stat().st_mtime_ns == moment for path, moment in made.items())


@pytest.mark.slow
def test_all_films_in_a_process_of_its_own(process: Screentest, tmp_path: Path) -> None:
    done = process("demo", "--out", str(tmp_path / "demo"))
    assert done.returncode == 0, done.stderr
    assert fits(done.stdout)
    testbed = read_testbed(tmp_path / "demo" / "testbed")
    assert {pair.name for pair in testbed.pairs if pair.aspect} == set(OPERATORS)
    assert {source.id for source in testbed.sources} == set(FILMS)
