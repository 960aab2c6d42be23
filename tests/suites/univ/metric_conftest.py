"""Short real films: one of two shots, one edited copy of it, and reference pictures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.core import Item
from tests.metrics.films import filtered


@pytest.fixture(autouse=True)
def api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Local servers take any key."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.fixture(scope="session")
def cut(sample: Path) -> float:
    """When the first shot of the packaged film ends, by its checked list of cuts."""
    listed = json.loads((sample / "captions" / "real_5shots_640x360.json").read_text())
    return float(listed["shots"][1]["start"])


@pytest.fixture(scope="session")
def film(tmp_path_factory: pytest.TempPathFactory, ffmpeg: str, sample: Path, cut: float) -> Path:
    """Two seconds of real film around a cut: one second before it, one after."""
    out = tmp_path_factory.mktemp("univ") / "film.mp4"
    source = sample / "real_5shots_640x360.mp4"
    return filtered(ffmpeg, source, out, "scale=320:180", start=cut - 1, seconds=2)


@pytest.fixture(scope="session")
def edited(tmp_path_factory: pytest.TempPathFactory, ffmpeg: str, film: Path) -> Path:
    """The same in black and white."""
    out = tmp_path_factory.mktemp("univ") / "edited.mp4"
    return filtered(ffmpeg, film, out, "hue=s=0", seconds=2)


@pytest.fixture
def item(film: Path, edited: Path, sample: Path) -> Item:
    """An item that has all that any task needs."""
    pictures = sorted((sample / "backgrounds").glob("*.jpg"))[:2]
    return Item(
        "case-1",
        edited,
        prompt="Office towers at night; then a white cockatoo turns its head.",
        references=tuple(pictures),
        source=film,
        instruction="Make it black and white.",
        groups={"model": "ours", "case": "1"},
    )
