"""Which backend fills a role: the same on every machine, whatever weights are there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import screentest
from screentest._util import optional as packages
from screentest.core import BadOption, Item, NoValue, Reason, UserError, registry
from screentest.core.errors import MissingPackage
from screentest.measure.tasks import score_items
from screentest.models import PROFILES, ModelChoice, Models, read_models, weights
from screentest.models.choice import check_loads, describe, profile_choice
from screentest.models.networks import pretrained
from screentest.models.roles import is_stand_in, role_entry, role_names
from screentest.run.engine import InlineEngine
from screentest.run.notes import MODELS
from screentest.run.reader import RunReader
from screentest.run.session import Settings, settings_of
from screentest.run.store import RunStore
from tests.messages import names
from tests.models.pulled import pulled

WITHOUT_BUILTIN = {"chat", "videoscore", "labels", "faces"}


def test_the_default_of_every_role_needs_nothing(cache: Path) -> None:
    for role in role_names():
        if role in WITHOUT_BUILTIN:
            with pytest.raises(NoValue):
                Models().choice(role)
        else:
            assert Models().signature(role), role
    assert not cache.exists()


def test_weights_in_the_cache_change_no_choice() -> None:
    roles = set(role_names()) - WITHOUT_BUILTIN
    before = {role: str(Models().choice(role)) for role in roles}
    pulled("u2netp")
    assert weights.available("u2netp")
    assert {role: str(Models().choice(role)) for role in roles} == before


def test_every_profile_names_backends_that_exist() -> None:
    for profile in PROFILES:
        for role in set(role_names()) - WITHOUT_BUILTIN:
            if profile == "paper" and role_entry(role).info["by_hand"]:
                with pytest.raises(NoValue, match="yours to give"):
                    profile_choice(profile, role)
                continue
            choice = profile_choice(profile, role)
            entry = registry.entry(role, choice.backend)
            given = {**choice.options, **({"model": choice.model} if choice.model else {})}
            entry.spec(given)


def test_light_takes_clip_where_it_was_pulled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one role that asks what is here: CLIP's hub is not reached from everywhere."""
    for there, backend in ((True, "clip_b32"), (False, "label_text")):
        monkeypatch.setattr(weights, "available", lambda name, there=there: there)
        assert profile_choice("light", "image_text").backend == backend
        assert Models(read_models("light")).used(["image_text"]) == {"image_text": backend}
    assert not is_stand_in("image_text", "clip_b32")
    assert is_stand_in("image_text", "label_text")


def test_what_is_chosen_one_by_one_wins() -> None:
    for texts in (["light", "matting=grabcut"], ["matting=grabcut", "light"]):
        models = Models(read_models(texts))
        assert models.used(["matting", "inpainting"]) == {
            "inpainting": "migan",
            "matting": "grabcut",
        }
    assert read_models("builtin") == read_models([]) == ()


def test_a_file_is_a_profile_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[models]\nchat = "openai:gpt-5"\nmatting = "u2net"\n')
    models = Models(read_models([str(path), "matting=grabcut"]))
    assert models.used(["chat.judge", "matting"]) == {
        "chat.judge": "openai:gpt-5",
        "matting": "grabcut",
    }


@pytest.mark.parametrize("wrong", ["best", "papers", "light.tml", "flow"])
def test_there_are_no_other_profiles(wrong: str) -> None:
    with pytest.raises(BadOption, match="unknown profile"):
        read_models(wrong)


def test_missing_weights_of_a_profile_stop_at_once(cache: Path) -> None:
    models = Models(read_models("light"))
    with pytest.raises(UserError, match="matting=u2net") as caught:
        models.must_be_here(["flow", "matting"])
    assert "screentest models pull light" in caught.value.advice
    models.must_be_here(["flow"])  # DIS needs none
    # Chosen by name, they are missed where they are used.
    chosen = Models([ModelChoice.parse("matting=u2net")])
    chosen.must_be_here(["matting"])
    with pytest.raises(NoValue) as missing:
        chosen.role("matting")
    assert missing.value.reason is Reason.MISSING_MODEL


def test_only_what_a_backend_needs_is_lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "installed", lambda name: name != "diffusers")
    monkeypatch.setattr(pretrained.Origin, "is_here", True)
    check_loads(ModelChoice.parse("detection=grounding_dino"))
    for text in ("inpainting=stable_diffusion", "image_edit=qwen"):
        with pytest.raises(MissingPackage, match="not installed: diffusers") as caught:
            check_loads(ModelChoice.parse(text))
        assert "pip install" in caught.value.advice


def test_weights_that_are_not_pulled_are_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path))
    for text, name in [("inpainting=migan", "migan"), ("matting=u2net", "u2netp")]:
        with pytest.raises(NoValue) as caught:
            check_loads(ModelChoice.parse(text))
        assert f"screentest models pull {name}" in caught.value.advice


def test_papers_take_their_own_detector_and_flow() -> None:
    """VBench's threshold is made for raft-things; transitions are found by PySceneDetect."""
    paper = settings_of({"models": "paper"})
    assert paper.detector == "content"
    assert str(Models(paper.models).choice("flow")) == "flow=raft:things"
    assert settings_of({"models": "paper"}, detector="adaptive").detector == "adaptive"
    assert settings_of({"models": "light"}).detector == settings_of({}).detector == "default"


def test_a_line_says_who_answered() -> None:
    roles = ["flow", "image_text"]
    assert Models().summary(roles).endswith(": flow, image_text")
    mixed = Models(read_models(["light", "flow=raft"])).summary(roles)
    assert names(mixed, "flow=raft (chosen)", "image_text=label_text (light)")
    assert Models().summary([]) == ""
    assert Models().summary(["chat"]) == ""


def test_a_run_keeps_it(sample: Path, tmp_path: Path) -> None:
    item = Item("one", sample / "frenchgp_1906_214x160.mp4", "A race.")
    with RunStore(tmp_path / "run", command="score") as store:
        score_items(store, [item], ["clipscore"], Settings(), engine=InlineEngine())
    with RunReader(tmp_path / "run") as run:
        assert run.note(MODELS) == {
            "summary": Models().summary(["image_text"]),
            "roles": {"image_text": "colour_words"},
        }


def test_a_run_with_a_profile_that_is_not_here_does_not_begin(
    sample: Path, tmp_path: Path, cache: Path
) -> None:
    item = Item("one", sample / "frenchgp_1906_214x160.mp4", "A race.")
    with (
        RunStore(tmp_path / "run", command="score") as store,
        pytest.raises(UserError, match=r"'light'.*label_text"),
    ):
        score_items(
            store, [item], ["clipscore"], settings_of({"models": "light"}), engine=InlineEngine()
        )


def test_a_job_with_a_profile_that_is_not_here_leaves_nothing(
    sample: Path, tmp_path: Path, cache: Path
) -> None:
    film, out = sample / "frenchgp_1906_214x160.mp4", tmp_path / "run"
    frames = np.zeros((8, 16, 16, 3), np.uint8)
    light: dict[str, Any] = {"models": "light", "out": out}
    jobs: list[Callable[[], object]] = [
        lambda: screentest.score(film, metrics="clipscore", prompt="A race.", **light),
        lambda: screentest.score_frames(frames, fps=8, metrics="clipscore", prompt="A.", **light),
        lambda: screentest.judge_videos("clipscore", film, film, prompt="A race.", **light),
    ]
    for job in jobs:
        with pytest.raises(UserError, match=r"'light'.*label_text"):
            job()
        assert not out.exists()


def test_what_each_backend_is_and_weighs() -> None:
    """Bytes are those of the hub's files: 351,685,709, 254,058,553 and 2,224,119."""
    found = {
        one: describe(registry.entry("image_text", one)) for one in registry.names("image_text")
    }
    assert found["clip_b32"] == ("network", ("MIT",), 607_968_381)
    assert found["colour_words"] == ("heuristic", (), 0)
    assert found["label_text"][:2] == ("heuristic", ("Apache-2.0",))
    assert found["hf"] == ("", (), 0)
