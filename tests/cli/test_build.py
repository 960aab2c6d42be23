"""``screentest build`` as a user has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.corpus import write_manifest
from screentest.degrade.testbed import read_testbed
from screentest.sample import sample_videos
from tests.cli.conftest import Screentest, fits, invoke


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    write_manifest(path, [sample_videos()[2].item, sample_videos()[1].item])
    return path


def test_builds_says_what_was_skipped_and_goes_on(
    corpus: Path, tmp_path: Path, screentest: Screentest
) -> None:
    command = (
        *("build", corpus, "--out", "testbed", "--aspects", "aesthetics,temporal_flow,color"),
        *("--clips", "2", "--long-side", "96", "--fps", "4", "--placebos", "trim"),
    )
    done = screentest(*command)
    assert done.returncode == 0, done.stderr
    assert fits(done.stdout)
    assert "aesthetics" in done.stdout
    assert "2 clips are needed; the film has 1" in " ".join(done.stdout.split())
    testbed = read_testbed(tmp_path / "testbed")
    assert {pair.name for pair in testbed.pairs} >= {"aesthetics", "temporal_flow", "trim"}
    again = json.loads(screentest(*command, "--json").stdout)
    assert again["made"] == 0
    assert again["pairs"] == len(testbed.pairs)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--aspects", "beauty"], "there is no degradation 'beauty'"),
        (["--severity", "0"], "a severity of 0 cannot be"),
        (["--severity", "1.5"], "a severity of 1.5 cannot be"),
        (["--ladder", "0.5,hard"], "is no ladder"),
        (["--clips", "few"], "is not a number of clips"),
        (["--clips", "0"], "0 clips cannot be harmed"),
        (["--aspects", "none"], "there is nothing to build"),
        (["--preset", "mine"], "there is no preset"),
        (["--aspects", "color,color"], "asked for twice"),
        (["--aspects", "color", "--backgrounds", "."], "which is not asked for"),
        (["--model", "matting"], "does not choose a model"),
    ],
)
def test_what_cannot_be_is_told_before_any_work(
    corpus: Path, tmp_path: Path, options: list[str], words: str
) -> None:
    done = invoke("build", corpus, "--out", tmp_path / "testbed", *options)
    assert done.exit_code == 2
    assert words in done.output
    assert not (tmp_path / "testbed").exists()


def test_a_corpus_that_gives_no_pair_is_no_success(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    write_manifest(path, [sample_videos()[1].item])
    done = invoke("build", path, "--out", tmp_path / "testbed", "--aspects", "temporal_flow")
    assert done.exit_code == 1
    assert "0 pairs" in done.output
