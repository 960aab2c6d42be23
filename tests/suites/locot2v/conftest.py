"""A small film that all chat metrics can be shown."""

from __future__ import annotations

import numpy as np
import pytest

from screentest.core import Item
from screentest.testing.films import texture, write_film
from tests.suites.locot2v.films import Picture


@pytest.fixture(autouse=True)
def api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Local servers take any key."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def scene(colour: tuple[int, int, int], shift: int, seed: int) -> Picture:
    """A bright disc before a dark pattern."""
    ground = (texture(seed, 96, 128) // 5).astype(np.uint8)
    y, x = np.mgrid[:96, :128]
    disc = (x - 44 - shift) ** 2 + (y - 48) ** 2 < 20**2
    ground[disc] = colour
    return ground


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Item:
    """Four seconds: a red disc moves before one ground, then before another."""
    first = [scene((230, 40, 40), n, 1) for n in range(16)]
    second = [scene((230, 40, 40), 2 * n, 2) for n in range(16)]
    path = write_film(tmp_path_factory.mktemp("story") / "story.mkv", [*first, *second])
    return Item("story", path, prompt="A dog runs over a field. Then it sleeps in a house.")
