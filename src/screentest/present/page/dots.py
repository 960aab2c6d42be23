"""Dot plots: one lane for each model, one dot for each prompt, on one axis; better to the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from screentest.core.table import Better
from screentest.present.text import number

LANE = 15
"""Pixels between two lanes."""
MOST_DOTS = 60
"""Prompts that are drawn one by one; of more, the middle eight of ten are a bar."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One prompt of one model."""

    value: float
    words: str
    """What it says when pointed at."""
    video: int | None = None
    """Which video of the page it opens."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One model."""

    name: str
    mean: float | None
    dots: Sequence[Dot]


def dot_plot(title: str, lanes: Sequence[Lane], better: Better = "higher") -> str:
    """Return an SVG; where lower is better the axis runs backwards, so that better is on the right.

    >>> plot = dot_plot("x<", [Lane("a", 0.5, [Dot(0.0, "p"), Dot(1.0, "q")])])
    >>> plot.count("<circle"), "x&lt;: a 0.500" in plot
    (2, True)
    """
    lower = better == "lower"
    numbers = [dot.value for lane in lanes for dot in lane.dots]
    if not numbers:
        return ""
    low, high = min(numbers), max(numbers)
    flat = high - low < 1e-12

    def x(value: float) -> str:
        share = 0.5 if flat else (value - low) / (high - low)
        return f"{2 + 96 * (1 - share if lower else share):.2f}%"

    height = LANE * len(lanes) + 16
    parts = []
    for series, lane in enumerate(lanes):
        y = LANE * series + LANE // 2 + 1
        parts.append(
            f'<g class="series-{series % 7 + 1}">'
            f'<line class="lane" x1="0" x2="100%" y1="{y}" y2="{y}"/>'
            f"{_spread(lane, x, y) if len(lane.dots) > MOST_DOTS else _dots(lane, x, y)}"
            + (
                ""
                if lane.mean is None
                else f'<svg x="{x(lane.mean)}" y="{y - 6}" width="2" height="12">'
                '<rect class="mean" x="-1.5" width="3" height="12" rx="1"/></svg>'
            )
            + "</g>"
        )
    ends = (high, low) if lower else (low, high)
    base = height - 2
    labels = (
        f'<text x="0" y="{base}">{number(ends[0])}</text>'
        f'<text x="100%" y="{base}" text-anchor="end">{number(ends[1])}</text>'
    )
    if flat:  # an axis would have ends that nobody measured
        labels = f'<text x="50%" y="{base}" text-anchor="middle">{number(low)}</text>'
    words = "; ".join(f"{lane.name} {number(lane.mean)}" for lane in lanes if lane.mean is not None)
    return (
        f'<svg class="dots" role="img" height="{height}"'
        f' aria-label="{escape(f"{title}: {words}")}">'
        f"{''.join(parts)}{labels}</svg>"
    )


def _dots(lane: Lane, x: Callable[[float], str], y: int) -> str:
    return "".join(
        f'<circle cx="{x(dot.value)}" cy="{y}" r="4.2"'
        + ("" if dot.video is None else f' data-video="{dot.video}"')
        + f"><title>{escape(dot.words)}</title></circle>"
        for dot in lane.dots
    )


def _spread(lane: Lane, x: Callable[[float], str], y: int) -> str:
    low, high = np.percentile([dot.value for dot in lane.dots], (10, 90))
    ends = sorted(float(x(float(end))[:-1]) for end in (low, high))
    words = f"{lane.name}: 80% of prompts from {number(low)} to {number(high)}"
    return (
        f'<rect class="span" x="{ends[0]}%" width="{max(0.5, ends[1] - ends[0]):.2f}%"'
        f' y="{y - 4}" height="8" rx="4"><title>{escape(words)}</title></rect>'
    )
