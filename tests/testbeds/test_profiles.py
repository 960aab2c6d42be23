"""Profiles of models, as ``build``, ``score`` and ``certify`` are given them."""

from __future__ import annotations

from pathlib import Path

import pytest

import screentest
from screentest.core import from_json
from screentest.inputs.manifest import write_manifest
from screentest.run.session import Settings, settings_of
from screentest.sample import sample_videos
from screentest.testbeds.options import BuildOptions
from tests.models.pulled import pulled
from tests.terminal import invoke

FILM = sample_videos()[2].item
SMALL = ("--clips", "1", "--long-side", "96", "--fps", "2", "--workers", "1")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    write_manifest(path, [FILM])
    return path


@pytest.mark.slow
def test_a_profile_builds_and_its_testbed_is_verified(corpus: Path, tmp_path: Path) -> None:
    pulled("u2netp")
    bed = tmp_path / "bed"
    done = invoke(
        *("build", corpus, "--out", bed, "--aspects", "background_consistency"),
        *("--models", "light", *SMALL),
    )
    assert done.exit_code == 0, done.output
    assert "models: matting=u2net (light)" in done.output
    checked = invoke("testbed", "verify", bed)
    assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize(
    ("profile", "aspect", "words"),
    [
        ("light", "background_consistency", "screentest models pull light"),
        ("light", "object_integrity", "detection=efficientdet, inpainting=migan"),
        ("light", "color", "image_edit=masked_hue"),  # which takes u2net
        ("paper", "background_consistency", "--model matting=u2net:u2net.onnx"),
    ],
)
def test_a_profile_that_is_not_here_builds_nothing(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    profile: str,
    aspect: str,
    words: str,
) -> None:
    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path / "cache"))
    bed = tmp_path / "bed"
    done = invoke("build", corpus, "--out", bed, "--aspects", aspect, "--models", profile, *SMALL)
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())
    assert not bed.exists()


@pytest.mark.slow
def test_score_and_certify_take_a_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bed = screentest.build(FILM, aspects=["aesthetics"], clips=1, long_side=96, fps=2, workers=1)
    metric = "clipscore"
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("SCREENTEST_CACHE", str(tmp_path / "cache"))
        for command in (
            ("score", FILM.video, "--metrics", metric, "--prompt", "A rocket."),
            ("certify", metric, "--testbed", bed.folder),
        ):
            done = invoke(*command, "--models", "light")
            assert done.exit_code == 2
            assert "screentest models pull light" in done.output
        assert {path.name for path in tmp_path.iterdir()} == {"testbed"}
    for name in ("minilm", "mobilenet-v1", "efficientdet-lite0"):
        pulled(name)
    scores = screentest.score(FILM, metrics=[metric], models="light", workers=1)
    assert scores.models == "models: image_text=label_text (light)"
    assert scores.value(FILM.id, metric).outcome.ok
    made = screentest.certify(metric, bed, models="light", workers=1)
    assert made.models == "models: image_text=label_text (light)"
    assert made.of(metric).overall.ok


@pytest.mark.parametrize(
    "given", [Settings(device="cpu"), settings_of({"models": "light", "device": "cpu"})]
)
def test_settings_say_where_models_run(tmp_path: Path, given: Settings) -> None:
    bed = screentest.build(
        FILM,
        out=tmp_path / "bed",
        aspects=["aesthetics"],
        clips=1,
        long_side=96,
        fps=2,
        workers=1,
        settings=given,
    )
    options = from_json(BuildOptions, bed.testbed.recipe["options"])
    assert options.device == "cpu"
    assert options.models == given.models
