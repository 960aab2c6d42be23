"""``screentest build`` as a user has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.core import Reason
from screentest.inputs.manifest import write_manifest
from screentest.sample import sample_videos
from screentest.testbeds.testbed import read_testbed
from tests.messages import names
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
    testbed = read_testbed(tmp_path / "testbed")
    assert {(skip.source, skip.name, skip.failure.reason) for skip in testbed.skips} == {
        ("frenchgp_1906", "aesthetics", Reason.NOT_APPLICABLE),  # of one clip, not two
        ("frenchgp_1906", "temporal_flow", Reason.NOT_APPLICABLE),
        ("frenchgp_1906", "color", Reason.MISSING_MODEL),
        ("real_5shots", "color", Reason.MISSING_MODEL),
    }
    assert all(skip.failure.detail in said for skip in testbed.skips)
    assert names(said, "2 clips", "models pull light", "--models light")
    assert {pair.name for pair in testbed.pairs} >= {"aesthetics", "temporal_flow", "trim"}
    again = json.loads(screentest(*command, "--json").stdout)
    assert again["made"] == 2, "color: a model may be there by now"
    assert again["pairs"] == len(testbed.pairs)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--operators", "beauty"], "operator 'beauty'"),
        (["--operators", "paper,famly"], "Did you mean family?"),
        (["--operators", "AESTHETICS"], "Did you mean aesthetics?"),
        (["--operators", "all,none"], "--operators has none"),
        (["--aspects", "beauty"], "error: 'beauty'"),
        (["--operators", "color", "--aspects", "aesthetics"], "degrades aesthetics"),
        (["--severity", "0"], "--severity 0.0: "),
        (["--severity", "1.5"], "--severity 1.5: "),
        (["--severity", "0.5,hard"], "Invalid value for '--severity'"),
        (["--clips", "few"], "Invalid value for '--clips'"),
        (["--clips", "0"], "--clips 0: "),
        (["--operators", "none"], "--operators or --placebos"),
        (["--models", "mine"], "unknown profile"),
        (["--operators", "color,color"], "asked for twice"),
        (["--aspects", "color", "--backgrounds", "."], "--backgrounds is for"),
        (["--model", "matting"], "'matting'"),
        (["--severity", "nan"], "--severity nan: "),
        (["--severity", "0.5,inf"], "--severity inf: "),
        (["--severity", ",".join(f"0.{n:03}" for n in range(1, 200))], "ladder of 199 rungs"),
        (["--clips", "1001"], "--clips 1001: "),
        (["--clips", "3", "--min-clips", "4"], "--min-clips 4: "),
        (["--clips", "3", "--min-clips", "0"], "--min-clips 0: "),
        (["--clips", "1,3", "--min-clips", "1"], "one number of --clips"),
        (["--long-side", "15"], "--long-side 15: "),
        (["--long-side", "-1"], "--long-side -1: "),
        (["--long-side", "99999"], "--long-side 99999: "),
        (["--fps", "0"], "--fps 0: "),
        (["--fps", "-5"], "--fps -5: "),
        (["--fps", "1e9"], "--fps 1000000000: "),
        (["--fps", "fast"], "--fps 'fast': "),
        (["--timeout", "0"], "invalid --timeout 0"),
        (["--timeout", "nan"], "invalid --timeout nan"),
        (["--workers", "0"], "--workers 0: "),
        (["--join", "0"], "--join 0: "),
        (["--extract", "guess"], "--extract 'guess': "),
        (["--extract", "chat"], "and there is none"),
        (["--categories", "A,B"], "and there is none"),
        (["--categories", "A"], "two categories or more"),
        (["--prices", "prices.toml"], "--prices are for"),
        (["--format", "parquet"], "unknown layout 'parquet'"),
        (["--backgrounds", "nowhere"], "nowhere is not"),
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
