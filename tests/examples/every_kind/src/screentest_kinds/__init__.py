"""A suite, a section of the report, an importer, an aspect with what harms it, a role."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np

import screentest
from screentest import (
    AspectInfo,
    Backend,
    Corpus,
    Dimension,
    Item,
    Resources,
    Suite,
    Table,
    register,
    role,
)


@screentest.metric(rate=4, long_side=64)
def light(image: np.ndarray) -> float:
    """How bright a video is."""
    return float(image.mean()) / 255


@screentest.suite(summary="light and contrast, in two levels")
def daylight() -> Suite:
    """A tree of two levels."""
    tones = Dimension("tones", values=("contrast", "contrast.exposure"), title="Tones")
    lit = Dimension("lit", values=("light",), title="Lit")
    return Suite(
        "daylight",
        metrics=("light", "contrast"),
        dimensions=(Dimension("total", parts=(lit, tones), title="Total"),),
        title="Daylight",
        groups=("model",),
        scale=100,
    )


@register("section", "length", title="How long the texts are")
def length(report: Any) -> list[Table | str]:
    """A table and a sentence."""
    items = report.results.items.values()
    rows = [(item.id, len(item.text)) for item in items]
    return [Table("length", "Letters", ("video", "letters"), rows), "Counted by a plugin."]


@register("importer", "list_txt", version=1, summary="a list.txt of videos")
class Lists:
    """Folders with a list.txt."""

    for_films, for_videos = False, True

    def accepts(self, path: Path) -> bool:
        """A folder with a list."""
        return (path / "list.txt").is_file()

    def read(self, path: Path) -> Corpus:
        """One item per line."""
        names = (path / "list.txt").read_text().split()
        return Corpus("list_txt", tuple(Item(Path(name).stem, path / name) for name in names))


@register("aspect", "daytime", summary="whether it is day")
def daytime() -> AspectInfo:
    """An aspect that none of the ten is."""
    return AspectInfo("Whether it is as light as by day. Scenes in the dark count against a video.")


@screentest.degradation(aspect="daytime")
def nightfall(image: np.ndarray, severity: float) -> np.ndarray:
    """Night falls over some clips."""
    return (image * (1 - 0.9 * severity)).astype(np.uint8)


@role("warmth", builtin="red_over_blue")
class Warmth(Backend, Protocol):
    """How warm a picture feels."""

    def warmth(self, images: list[np.ndarray]) -> list[float]:
        """One number per picture, from 0 to 1."""


@screentest.backend("warmth", summary="red against blue")
class red_over_blue:
    """The backend that needs no weights; ``gain`` is an option of it."""

    def __init__(self, *, gain: float = 1.0) -> None:
        self._gain = gain

    @property
    def identity(self) -> dict[str, str]:
        """Nothing but its options."""
        return {}

    def warmth(self, images: list[np.ndarray]) -> list[float]:
        """The share of red in red and blue."""
        means = [image.reshape(-1, 3).mean(axis=0) + 1 for image in images]
        return [float(min(1, self._gain * red / (red + blue))) for red, _, blue in means]


@screentest.metric(frames=4, roles=("warmth",))
def cosiness(frames: list[np.ndarray], resources: Resources) -> float:
    """How warm the pictures are, by the role warmth."""
    return float(np.mean(resources.role("warmth").warmth(frames)))
