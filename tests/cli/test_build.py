"""``screentest build`` as a user has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.inputs.manifest import write_manifest
from screentest.sample import sample_videos
from screentest.testbeds.testbed import read_testbed
from tests.terminal import Screentest, fits, invoke


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    write_manifest(path, [sample_videos()[2].item, sample_videos()[1].item])
    return path


def test_builds_says_what_was_skipped_and_goes_on(
    corpus: Path, tmp_path: Path, screentest: Screentest
) -> None:
    command = (
        *("build", corpus, "--out", "testbed", "--aspects", "aesthetics,color,temporal_flow"),
        *("--clips", "2", "--long-side", "96", "--fps", "4", "--placebos", "trim"),
    )
    done = screentest(*command)
    assert done.returncode == 0, done.stderr
    assert fits(done.stdout)
    assert "aesthetics" in done.stdout
    assert f"side by side: {Path('testbed') / 'testbed.html'}" in done.stdout
    said = " ".join(done.stdout.split())
    assert "2 clips are needed; the film has 1" in said
    assert "(screentest models pull light) and add --models light" in said
    testbed = read_testbed(tmp_path / "testbed")
    assert {pair.name for pair in testbed.pairs} >= {"aesthetics", "temporal_flow", "trim"}
    again = json.loads(screentest(*command, "--json").stdout)
    assert again["made"] == 2, "color: a model may be there by now"
    assert again["pairs"] == len(testbed.pairs)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--operators", "beauty"], "there is no operator 'beauty'"),
        (["--operators", "paper,famly"], "Did you mean family?"),
        (["--operators", "AESTHETICS"], "Did you mean aesthetics?"),
        (["--operators", "all,none"], "invalid operators: none and others"),
        (["--aspects", "beauty"], "'beauty' is not an aspect"),
        (["--operators", "color", "--aspects", "aesthetics"], "degrades aesthetics"),
        (["--severity", "0"], "invalid severity 0: must be in (0, 1]"),
        (["--severity", "1.5"], "invalid severity 1.5: must be in (0, 1]"),
        (["--severity", "0.5,hard"], "Invalid value for '--severity'"),
        (["--clips", "few"], "Invalid value for '--clips'"),
        (["--clips", "0"], "invalid number of clips 0: must be 1 to"),
        (["--operators", "none"], "there is nothing to build"),
        (["--models", "mine"], "unknown profile"),
        (["--operators", "color,color"], "asked for twice"),
        (["--aspects", "color", "--backgrounds", "."], "which is not asked for"),
        (["--model", "matting"], "does not choose a model"),
        (["--severity", "nan"], "invalid severity nan: must be in (0, 1]"),
        (["--severity", "0.5,inf"], "invalid severity inf: must be in (0, 1]"),
        (["--severity", ",".join(f"0.{n:03}" for n in range(1, 200))], "ladder of 199 rungs"),
        (["--clips", "1001"], "invalid number of clips 1001: must be 1 to"),
        (["--clips", "3", "--min-clips", "4"], "invalid least number of clips 4: must be 1 to 3"),
        (["--clips", "3", "--min-clips", "0"], "invalid least number of clips 0: must be 1 to 3"),
        (["--clips", "1,3", "--min-clips", "1"], "every film needs all of them"),
        (["--long-side", "15"], "invalid long side 15: must be 16 to 8,192 pixels"),
        (["--long-side", "-1"], "invalid long side -1: must be 16 to 8,192 pixels"),
        (["--long-side", "99999"], "invalid long side 99999: must be 16 to 8,192 pixels"),
        (["--fps", "0"], "invalid frame rate 0: must be in (0, 240]"),
        (["--fps", "-5"], "invalid frame rate -5: must be in (0, 240]"),
        (["--fps", "1e9"], "invalid frame rate 1e+09: must be in (0, 240]"),
        (["--fps", "fast"], "'fast' is not a frame rate"),
        (["--timeout", "0"], "invalid --timeout 0"),
        (["--timeout", "nan"], "invalid --timeout nan"),
        (["--workers", "0"], "invalid number of workers 0"),
        (["--join", "0"], "invalid join 0: must be from 2 to 1,000"),
        (["--extract", "guess"], "invalid reader of captions 'guess': must be rules or chat"),
        (["--extract", "chat"], "and there is none"),
        (["--categories", "A,B"], "and there is none"),
        (["--categories", "A"], "two categories or more"),
        (["--prices", "prices.toml"], "are for a chat model"),
        (["--format", "parquet"], "unknown layout 'parquet'"),
        (["--backgrounds", "nowhere"], "nowhere is not a folder"),
    ],
)
def test_what_cannot_be_is_reported_before_any_work(
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
