"""``--preset paper``: what it fixes, what it refuses, and a build with the real classes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import screentest
from screentest.core import Clip, Script, Span, from_json
from screentest.inputs.manifest import write_manifest
from screentest.models import Models, weights
from screentest.run.engine import InlineEngine
from screentest.run.session import Settings
from screentest.run.tasks import Engine
from screentest.sample import backgrounds, sample_videos
from screentest.testbeds.options import BuildOptions
from screentest.testbeds.preset import PAPER, PRESETS
from screentest.testing.chat_answers import Answer, Asked
from screentest.testing.chat_server import FakeChatServer
from tests.models.pulled import pulled
from tests.terminal import invoke

FILM = sample_videos()[2].item
MODEL_BASED = "background_consistency,object_integrity,color"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """One film, each shot of it cut in two: five clips must be left where some do not serve."""
    assert FILM.script is not None
    halves = []
    for clip in FILM.script.clips:
        assert clip.span is not None
        start, middle, end = clip.span.start, clip.span.centre, clip.span.end
        halves += [Clip(clip.caption, Span(start, middle)), Clip(clip.caption, Span(middle, end))]
    path = tmp_path / "corpus.jsonl"
    write_manifest(path, [replace(FILM, script=Script(tuple(halves)))])
    return path


@pytest.fixture
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))


@pytest.mark.models
@pytest.mark.usefixtures("nothing_here")
def test_what_is_missing_is_listed_with_how_to_get_it_and_nothing_is_made(
    corpus: Path, tmp_path: Path
) -> None:
    done = invoke("build", corpus, "--out", tmp_path / "bed", "--preset", "paper")
    assert done.exit_code == 2
    said = " ".join(done.output.split())
    for words in (
        "matting: no file ~/.u2net/u2net.onnx: curl -L --create-dirs -o ~/.u2net/u2net.onnx https:",
        "detection: IDEA-Research/grounding-dino-base is not in the hub's cache: hf download IDEA",
        "inpainting: stable-diffusion-v1-5/stable-diffusion-inpainting is not in the hub's cache:",
        "image_edit: Qwen/Qwen-Image-Edit-2509 is not in the hub's cache: hf download Qwen/",
        "captions: Qwen3-8B in thinking mode reads them: --model chat=openai:NAME",
        "backgrounds: landscapes of the nature-dataset",
        "Nothing is put in its place.",
    ):
        assert words in said
    assert not (tmp_path / "bed").exists()


@pytest.mark.usefixtures("nothing_here")
def test_only_what_the_aspects_need_is_asked_for(corpus: Path, tmp_path: Path) -> None:
    done = invoke(
        *("build", corpus, "--out", tmp_path / "bed", "--preset", "paper"),
        *("--aspects", "aesthetics,temporal_flow"),
    )
    assert done.exit_code == 2
    assert "captions: " in done.output
    for role in ("matting", "detection", "inpainting", "image_edit", "backgrounds"):
        assert f"{role}: " not in done.output


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--fps", "24"), "--preset paper has --fps 1"),
        (("--extract", "rules"), "--preset paper has --extract chat"),
        (("--clips", "3"), "--preset paper has --clips 5"),
        (("--min-clips", "1"), "--preset paper has --min-clips unset"),
        (("--severity", "0.5"), "--preset paper has --severity 1.0"),
        (("--long-side", "0"), "--preset paper has --long-side 512"),
        (("--operators", "all"), "--preset paper has --operators paper"),
        (("--model", "inpainting=telea"), "and not inpainting=telea"),
        (("--model", "matting=grabcut"), "takes matting=u2net:~/.u2net/u2net.onnx"),
        (("--models", "light"), "Leave --models light out"),
        (("--preset", "own"), "unknown preset 'own'"),
        (
            ("--model", "detection=grounding_dino:IDEA-Research/grounding-dino-tiny"),
            "takes IDEA-Research/grounding-dino-base and not IDEA-Research/grounding-dino-tiny",
        ),
        (("--model", "detection=grounding_dino,box_threshold=0.05"), "has box_threshold=0.4 of"),
        (("--model", "inpainting=stable_diffusion,steps=2"), "has steps=50 of"),
        (("--model", "image_edit=qwen,instruction=Make it nice"), "has instruction="),
        (("--check", "often"), "'often'"),
    ],
)
def test_what_contradicts_the_paper_is_refused(
    corpus: Path, tmp_path: Path, given: tuple[str, ...], words: str
) -> None:
    line = ("build", corpus, "--out", tmp_path / "bed", "--preset", "paper", *given)
    done = invoke(*line)
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())
    assert not (tmp_path / "bed").exists()


@pytest.mark.usefixtures("nothing_here")
def test_another_network_in_the_file_of_u2net_is_refused(corpus: Path, tmp_path: Path) -> None:
    pulled("u2netp")
    shutil.copy(weights.path("u2netp"), tmp_path / "u2net.onnx")
    done = invoke(
        *("build", corpus, "--out", tmp_path / "bed", "--preset", "paper"),
        *("--aspects", "background_consistency"),
        *("--model", f"matting=u2net:{tmp_path / 'u2net.onnx'}"),
    )
    assert done.exit_code == 2
    assert "the published file 60024c5c889badc19c04ad937298a77b" in " ".join(done.output.split())


def test_a_model_without_a_name_is_the_paper_s_and_not_the_backend_s_default() -> None:
    """The backend u2net alone is the small u2netp."""
    from screentest.models import ModelChoice

    given = BuildOptions(models=(ModelChoice.parse("matting=u2net,threads=1"),))
    made = PAPER.applied(given)
    assert [str(one) for one in made.models if one.role == "matting"] == [
        "matting=u2net:~/.u2net/u2net.onnx,threads=1"
    ]
    assert (made.detector, made.preset) == ("scdet", "paper")


FACTS: Mapping[str, object] = {
    "subject": ["dog"],
    "background": ["wall"],
    "dynamic_degree": [{"agent": "dog", "action": "runs"}],
    "human_action": [],
    "color": [{"color": "red", "object": "dog"}],
    "spatial_relationship": [{"location": "left", "object": "dog"}],
    "scene": ["street"],
}


@contextmanager
def _inline(
    work: object, settings: Settings, timeout: float = 0
) -> Iterator[tuple[Engine, Settings]]:
    yield InlineEngine(), settings


@pytest.mark.models
@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # other people's libraries warn of their next versions
def test_the_real_classes_build_every_aspect_that_needs_a_model(
    corpus: Path, tmp_path: Path, saved_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What random weights paint does not pass the checks of a pair; it is kept, as drawn."""
    from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_plus as pipeline

    # In this process: torchvision may need help to be imported, and the pipeline looks at its
    # picture in a megapixel, whatever it is to paint.
    monkeypatch.setattr("screentest.api.testbeds.open_engine", _inline)
    monkeypatch.setattr(pipeline, "VAE_IMAGE_SIZE", 64 * 64)
    monkeypatch.setattr(pipeline, "CONDITION_IMAGE_SIZE", 56 * 56)
    used: dict[str, set[str]] = {}
    role_of = Models.role

    def noted(models: Models, name: str) -> object:
        if name in PAPER.models:
            used.setdefault(name, set()).add(models.choice(name).backend)
        return role_of(models, name)

    monkeypatch.setattr(Models, "role", noted)
    pulled("u2netp")
    net = tmp_path / "u2net.onnx"
    shutil.copy(weights.path("u2netp"), net)

    def reads(asked: Asked) -> Answer:
        return Answer(json.dumps(FACTS))

    small = replace(
        PAPER,
        name="small",
        files={},
        models={
            "matting": f"u2net:{net}",
            "detection": f"grounding_dino:{saved_models / 'grounding_dino'},box_threshold=0",
            "inpainting": f"stable_diffusion:{saved_models / 'inpainting'},steps=2",
            "image_edit": f"qwen:{saved_models / 'edit'},steps=1,pixels=4096",
        },
    )
    monkeypatch.setitem(PRESETS, "small", small)
    with FakeChatServer(reads) as server:
        made = screentest.build(
            corpus,
            out=tmp_path / "bed",
            preset="small",
            aspects=MODEL_BASED,
            backgrounds=backgrounds()[0].parent,
            workers=1,
            model=f"chat=openai:test,base_url={server.url},max_attempts=1",
        )
        asked = len(server.asked)
    assert asked == 5  # ten captions, of which two each are equal
    options = from_json(BuildOptions, made.testbed.recipe["options"])
    assert (options.preset, options.rate, options.extract) == ("small", Fraction(1), "chat")
    assert options.check == "report"
    # One pair of each aspect came out, five clips as they were drawn.
    assert not made.testbed.skips
    pairs = {pair.name: pair for pair in made.testbed.pairs}
    assert pairs.keys() == set(MODEL_BASED.split(","))
    assert {len(pair.touched) for pair in pairs.values()} == {5}
    assert all(pair.checks for pair in pairs.values())
    for role, text in PAPER.models.items():
        assert used[role] == {text.partition(":")[0]}
