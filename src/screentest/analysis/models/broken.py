"""Videos that are broken by themselves, whatever their rivals are like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from screentest._util.collect import grouped
from screentest.analysis.results import Results
from screentest.core.outcome import DURATION

STILL = 0.95
"""Share of the time that a video stands still."""
BLANK = 0.02
"""Contrast below which nothing can be told apart."""
DARK = 0.65
"""Share of clipped pixels, over time and picture, that no film has on purpose."""
GREEN = -0.4
"""Tint of a picture that was not decoded, which is green; vivid lawns stay above -0.25."""
LENGTH = 0.9
"""A video shorter than this share of the others of its prompt was cut short."""


class Fault(StrEnum):
    """What is wrong with a video."""

    BLANK = "blank"
    STILL = "still"
    BLACK = "black"
    WHITE = "white"
    GREEN = "green"
    SHORT = "short"


_BEYOND: tuple[tuple[Fault, str, int, float], ...] = (
    (Fault.BLANK, "contrast", -1, BLANK),
    (Fault.STILL, "frozen", 1, STILL),
    (Fault.BLACK, "tones.clipped_dark", 1, DARK),
    (Fault.WHITE, "tones.clipped_light", 1, DARK),
    (Fault.GREEN, "tint.red", -1, GREEN),
)
"""Fault, value, direction, and from where on; the first that holds is named."""


@dataclass(frozen=True, slots=True)
class BrokenVideo:
    """A video that is broken, and by what."""

    item: str
    fault: Fault
    value: float
    """Of the metric that shows it; of a short video, its seconds."""
    usual: float | None = None
    """The seconds of the other videos of its prompt."""


def broken_videos(results: Results) -> list[BrokenVideo]:
    """Return the videos that are broken, in the run's order."""
    short = {video.item: video for video in _short_videos(results)}
    broken = []
    for item in results.items:
        values = results.of_item(item)
        for fault, name, sign, least in _BEYOND:
            number = values[name].pooled("mean").number if name in values else None
            if number is not None and sign * number >= sign * least:
                broken.append(BrokenVideo(item, fault, number))
                break
        else:
            broken += [short[item]] if item in short else []
    return broken


def _short_videos(results: Results) -> Iterator[BrokenVideo]:
    """Yield videos that are shorter than others of their prompt, and than most of their model."""
    lengths, shares, usual = _lengths(results), dict[str, float](), dict[str, float]()
    for alike in grouped((results.unit(item), item) for item in lengths).values():
        for item in alike:
            others = [lengths[other] for other in alike if other != item]
            usual[item] = median(others or [lengths[item]])
            shares[item] = lengths[item] / usual[item] if usual[item] else 1.0
    by = results.models_by
    for items in grouped((results.group(item, by), item) for item in shares).values():
        typical = min(1.0, median(shares[item] for item in items))
        seconds = median(lengths[item] for item in items)
        for item in items:
            if shares[item] < LENGTH * typical and lengths[item] < LENGTH * seconds:
                yield BrokenVideo(item, Fault.SHORT, lengths[item], usual[item])


def _lengths(results: Results) -> Mapping[str, float]:
    lengths: dict[str, float] = {}
    for value in results.values:
        score = value.outcome.value
        seconds = score.details.get(DURATION) if score is not None else None
        if isinstance(seconds, int | float):
            lengths[value.item] = float(seconds)
    return lengths
