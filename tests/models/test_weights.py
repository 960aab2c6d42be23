"""Weights: known by name, found in the cache, handed out only byte for byte."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from screentest.core import NoValue, Reason, UnknownName
from screentest.core.registry import registry
from screentest.models import ModelChoice, weights
from screentest.models.roles import backend_of, role_entry, role_names
from screentest.models.weights import CATALOGUE, Weights
from tests.models.conftest import TOY_FILES


def put(cache: Path, **changed: bytes) -> Path:
    """The toy's files in the cache, some of them changed."""
    folder = cache / "weights" / "toy"
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in TOY_FILES.items():
        (folder / name).write_bytes(changed.get(name.partition(".")[0], data))
    return folder


def test_missing_weights_are_a_reason_with_the_command_that_gets_them(
    cache: Path, toy: Weights
) -> None:
    assert not weights.available("toy")
    with pytest.raises(NoValue) as caught:
        weights.path("toy")
    assert caught.value.reason is Reason.MISSING_MODEL
    assert "screentest models pull toy" in caught.value.advice


def test_whole_weights_are_handed_out(cache: Path, toy: Weights) -> None:
    folder = put(cache)

    assert weights.available("toy")
    assert weights.path("toy") == folder / "model.bin"
    assert weights.path("toy", "labels.txt") == folder / "labels.txt"
    assert weights.digest("toy") == toy.sha256[:12]


@pytest.mark.parametrize(
    "changed",
    [
        {"model": TOY_FILES["model.bin"][:-1]},  # a download that broke off
        {"model": TOY_FILES["model.bin"][:-1] + b"!"},  # right size, wrong content
        {"labels": b"dog\ncat\n"},  # another file of the same entry
    ],
)
def test_changed_weights_are_never_handed_out(
    cache: Path, toy: Weights, changed: dict[str, bytes]
) -> None:
    put(cache, **changed)

    with pytest.raises(NoValue, match=r"(model\.bin|labels\.txt) .*'toy'") as caught:
        weights.path("toy")
    assert caught.value.reason is Reason.MISSING_MODEL
    assert not weights.whole("toy")


def test_a_file_that_changes_while_we_run_is_checked_again(cache: Path, toy: Weights) -> None:
    put(cache)
    weights.path("toy")
    put(cache, model=b"!" * len(TOY_FILES["model.bin"]))

    with pytest.raises(NoValue):
        weights.path("toy")


def test_a_folder_in_place_of_the_file_is_no_weights(cache: Path, toy: Weights) -> None:
    (cache / "weights" / "toy" / "model.bin").mkdir(parents=True)

    assert not weights.available("toy")
    with pytest.raises(NoValue):
        weights.path("toy")


def test_unknown_names_are_answered_with_near_ones() -> None:
    with pytest.raises(UnknownName, match="minilm"):
        weights.path("minilmm")


def test_the_cache_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SCREENTEST_CACHE", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert weights.cache_folder() == tmp_path / "screentest"

    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path / "mine"))
    assert weights.cache_folder() == tmp_path / "mine"


def test_sets_mean_their_members() -> None:
    names = [one.name for one in weights.expand(["light"])]

    assert {"minilm", "u2netp", "efficientdet-lite0", "sam2-tiny"} <= set(names)
    assert "lpips-alex" not in names
    needed = set()
    for role in role_names():
        info = role_entry(role).info
        for backend in filter(None, (info["profiles"]["light"], info["unless"])):
            entry = registry.entry(role, backend_of(backend))
            needed |= set(entry.info.get("weights", ()))
    # EfficientDet has a larger network too; only the smaller one is the profile's.
    assert set(names) == needed - {"efficientdet-lite2"}
    small = weights.expand(["small", "u2netp"])
    assert len({one.name for one in small}) == len(small)
    assert all(one.package.bytes <= 20_000_000 for one in small)


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=CATALOGUE)
def test_every_entry_is_complete(entry: Weights) -> None:
    assert entry.licence
    assert entry.author
    assert entry.files
    names = [file.name for file in entry.files]
    assert len(set(names)) == len(names), "two files would have one place in the cache"
    for file in entry.files:
        assert file.bytes > 0
        assert len(bytes.fromhex(file.sha256)) == 32
    assert entry.official
    urls = entry.urls
    assert len(urls) in (0, len(entry.files))
    assert all(url.startswith("https://") for url in urls)
    assert entry.same or not urls, "what is fetched is what was published"


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=CATALOGUE)
def test_what_is_advised_instead_is_a_backend_that_exists(entry: Weights) -> None:
    if entry.instead:
        choice = ModelChoice.parse(entry.instead)
        assert "model" in registry.entry(choice.role, choice.backend).parameters


def test_backends_name_weights_that_exist() -> None:
    named = 0
    for role in role_names():
        for entry in registry.entries(role):
            for name in entry.info.get("weights", ()):
                assert name in CATALOGUE
                named += 1
    assert named >= 5
