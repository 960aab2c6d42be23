"""Charts of a testbed: aspects, categories, durations, prompt lengths, as SVG and PNG.

Durations and categories are drawn as in the paper's figures 8 and 9.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from screentest._util.atomic import write_whole
from screentest._util.text import one_line
from screentest.core import PairKind
from screentest.testbeds.intact import folder_name
from screentest.testbeds.statistics import BIN, Statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator

BLUE, PALE = "#2b6cb0", "#c9d8ea"
LONGEST = 40
"""Letters of a label."""


def write_charts(statistics: Statistics, folder: Path) -> list[Path]:
    """Draw everything that there is something to draw of."""
    folder.mkdir(parents=True, exist_ok=True)
    with _plain_text():
        return [
            path for name, figure in _figures(statistics) for path in _saved(figure, folder / name)
        ]


@contextmanager
def _plain_text() -> Iterator[None]:
    """Letters stay letters: no formulas between dollar signs, no words on missing glyphs."""
    import matplotlib as mpl

    settings: dict[Any, Any] = {
        "text.parse_math": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "screentest",
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from", category=UserWarning)
        yield


def _figures(statistics: Statistics) -> Iterator[tuple[str, Figure]]:
    if statistics.aspects:
        yield "aspects", _aspects(statistics)
    if statistics.durations:
        yield "durations", _durations(statistics)
        yield "prompts", _prompts(statistics)
    for group, counts in statistics.groups.items():
        labels = [one_line(one.value, LONGEST) for one in counts]
        figure = _bars(labels, [one.sources for one in counts], "videos", one_line(group, LONGEST))
        # A group is called as somebody's manifest has it.
        yield "category" if group == "category" else f"group_{folder_name(group)}", figure


def _aspects(statistics: Statistics) -> Figure:
    labels = [
        ("placebo: " if one.kind is PairKind.PLACEBO else "") + one.name.replace("_", " ")
        for one in statistics.aspects
    ]
    asked = [one.initial for one in statistics.aspects]
    figure, axes = _canvas(height=_height(len(labels)))
    places = list(range(len(labels)))
    axes.barh(places, asked, color=PALE, label="asked for")
    kept = axes.barh(places, [one.kept for one in statistics.aspects], color=BLUE, label="made")
    axes.bar_label(kept, padding=3)
    axes.set_yticks(places, labels)
    axes.invert_yaxis()
    axes.set_xlabel("pairs")
    axes.margins(x=0.08)
    axes.xaxis.set_major_locator(_whole_numbers())
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, -0.12), ncols=2)
    return figure


def _durations(statistics: Statistics) -> Figure:
    figure, axes = _canvas()
    starts = [one.start for one in statistics.durations]
    counts = [one.sources for one in statistics.durations]
    axes.bar(starts, counts, width=BIN * 0.92, align="edge", color=BLUE)
    axes.set_xlim(0, statistics.durations[-1].end)
    axes.set_xlabel(f"duration in seconds, in steps of {BIN}")
    axes.set_ylabel("videos")
    axes.yaxis.set_major_locator(_whole_numbers())
    return figure


def _prompts(statistics: Statistics) -> Figure:
    figure, axes = _canvas()
    axes.hist(statistics.words, bins=min(30, max(5, len(set(statistics.words)))), color=BLUE)
    axes.set_xlabel("words of the prompt")
    axes.set_ylabel("videos")
    axes.yaxis.set_major_locator(_whole_numbers())
    return figure


def _bars(labels: Sequence[str], counts: Sequence[int], unit: str, title: str) -> Figure:
    figure, axes = _canvas(height=_height(len(labels)))
    places = list(range(len(labels)))
    axes.bar_label(axes.barh(places, counts, color=BLUE), padding=3)
    axes.set_yticks(places, labels)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.set_title(title, loc="left")
    axes.margins(x=0.08)
    axes.xaxis.set_major_locator(_whole_numbers())
    return figure


def _canvas(height: float = 3.4) -> tuple[Figure, Axes]:
    # Not by pyplot, which keeps every figure and looks for a screen.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, height), layout="constrained")
    return figure, figure.add_subplot()


def _whole_numbers() -> Locator:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(integer=True)


def _height(bars: int) -> float:
    return min(40.0, 1.4 + 0.3 * bars)


def _saved(figure: Figure, path: Path) -> Iterator[Path]:
    for form in ("svg", "png"):
        drawn = BytesIO()
        # No date: the same testbed gives the same files.
        metadata = {"Date": None} if form == "svg" else None
        figure.savefig(drawn, format=form, dpi=150, metadata=metadata)
        target = path.with_name(f"{path.name}.{form}")
        write_whole(target, drawn.getvalue())
        yield target
