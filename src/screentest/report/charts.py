"""Charts as SVG, each in a light and a dark edition, readable in print and by the colour-blind.

Okabe and Ito's colours differ in lightness too; every series has a name beside it.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from screentest.certify.certificate import Certificate
from screentest.report.leaderboard import Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8a8a8a")
Range: TypeAlias = tuple[float, float, bool]
"""The ends of a value's range, and whether higher is better."""
MARKS = ("o", "s", "^", "D", "v", "P", "X")
MOST_LETTERS = 32
_INK = {"light": "#1c2024", "dark": "#e6e8eb"}
_GRID = {"light": "#d5d9de", "dark": "#3a4048"}


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart in two editions, with words for those who cannot see it."""

    title: str
    light: str
    dark: str
    words: str


def certificate_chart(certificates: Sequence[Certificate]) -> Chart | None:
    """How often each judge is right, by aspect, with intervals and the line of chance."""
    aspects = list(dict.fromkeys(one.aspect.value for cert in certificates for one in cert.aspects))
    shown = certificates[: len(COLOURS)]
    if not aspects:
        return None

    def draw(axes: Axes, ink: str) -> None:
        step = 0.8 / max(1, len(shown))
        for number, certificate in enumerate(shown):
            places, values, low, high = [], [], [], []
            for one in certificate.aspects:
                found = one.accuracy.value
                if found is None:
                    continue
                interval = found.clustered or found.wilson
                places.append(aspects.index(one.aspect.value) + step * (number + 0.5) - 0.4)
                values.append(100 * found.value)
                low.append(100 * max(0.0, found.value - interval.low))
                high.append(100 * max(0.0, interval.high - found.value))
            axes.errorbar(
                values,
                places,
                xerr=[low, high],
                fmt=MARKS[number],
                color=COLOURS[number],
                label=_readable(certificate.judge),
                markersize=5,
                elinewidth=1.4,
                capsize=2,
            )
        axes.axvline(50, color=ink, linewidth=1, linestyle=(0, (4, 3)))
        axes.set_yticks(range(len(aspects)), [name.replace("_", " ") for name in aspects])
        axes.set_ylim(len(aspects) - 0.4, -0.6)
        axes.set_xlim(-2, 102)
        axes.set_xlabel("intact video preferred, % (dashed: chance)")
        _legend(axes, ink)

    words = "; ".join(
        f"{cert.judge}: {100 * cert.overall.value.value:.0f}% overall"
        for cert in shown
        if cert.overall.value is not None
    )
    height = 1.2 + (0.22 + 0.16 * len(shown)) * len(aspects)
    return _chart("How often each judge is right", draw, (7.6, height), words)


def summary_chart(lines: Sequence[tuple[str, float, float, float]]) -> Chart | None:
    """Means on a scale from 0 to 1 with intervals; (name, mean, low, high)."""
    if not lines:
        return None

    def draw(axes: Axes, ink: str) -> None:
        names = [name for name, *_ in lines]
        means = [mean for _, mean, _, _ in lines]
        low = [max(0.0, mean - one) for _, mean, one, _ in lines]
        high = [max(0.0, one - mean) for _, mean, _, one in lines]
        places = range(len(lines))
        axes.barh(places, means, color=COLOURS[0], height=0.62)
        axes.errorbar(
            means, places, xerr=[low, high], fmt="none", ecolor=ink, elinewidth=1.2, capsize=2
        )
        axes.set_yticks(places, [_readable(name) for name in names])
        axes.set_ylim(len(lines) - 0.4, -0.6)
        axes.set_xlim(0, 1)
        axes.set_xlabel("share of the metric's range, better to the right")

    words = "; ".join(f"{name} {mean:.2f}" for name, mean, _, _ in lines)
    return _chart("Means, each on its own range", draw, (7.6, 0.9 + 0.28 * len(lines)), words)


def radar_chart(
    lines: Sequence[Line],
    ranges: Mapping[str, Range],
    *,
    title: str = "Systems side by side",
    least: int = 2,
) -> Chart | None:
    """Systems over all values that have a finite range; outward is better.

    A value that no system has gets no axis. Fewer systems than ``least`` are not worth a chart.
    """
    had = dict.fromkeys(line.value for line in lines if line.mean is not None)
    values = [name for name in had if name in ranges]
    systems = list(dict.fromkeys(line.system for line in lines))[: len(COLOURS)]
    if len(values) < 3 or len(systems) < least:
        return None
    found = {(line.system, line.value): line.mean for line in lines}

    def draw(axes: Any, ink: str) -> None:
        angles = [2 * math.pi * place / len(values) for place in range(len(values))]
        for number, system in enumerate(systems):
            # A value that is missing leaves a gap: it is not zero.
            means = [found.get((system, name)) for name in values]
            shares = [
                float("nan") if mean is None else share(mean, ranges[name])
                for name, mean in zip(values, means, strict=True)
            ]
            axes.plot(
                [*angles, angles[0]],
                [*shares, shares[0]],
                color=COLOURS[number],
                marker=MARKS[number],
                markersize=4,
                linewidth=1.4,
                label=_readable(system),
            )
        axes.set_xticks(angles, [_wrapped(name) for name in values])
        axes.tick_params(axis="x", labelsize=8)
        axes.set_ylim(0, 1)
        axes.set_yticks([0.25, 0.5, 0.75, 1.0], ["", "0.5", "", "1"])
        _legend(axes, ink, below=True)

    words = f"{', '.join(systems)} over {len(values)} values"
    return _chart(title, draw, (7.6, 6.2), words, polar=True)


def share(value: float, given: Range) -> float:
    """A value as a share of its range, 1 the best.

    >>> share(0.25, (0.0, 1.0, False))
    0.75
    """
    low, high, higher = given
    inside = min(1.0, max(0.0, (value - low) / (high - low)))
    return inside if higher else 1.0 - inside


def _wrapped(name: str) -> str:
    return _readable(name).replace("_", " ").replace(".", "\n")


def _readable(name: str) -> str:
    """A stranger's name in a picture: short, and nothing that a picture's XML may not hold.

    >>> _readable("a\\x00b")
    'a\ufffdb'
    """
    clean = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    return clean if len(clean) <= MOST_LETTERS else clean[: MOST_LETTERS - 1] + "…"


def _legend(axes: Any, ink: str, *, below: bool = False) -> None:
    # Above the axes, where no label of theirs can stand; a circle has labels all around.
    place: Any = {"loc": "lower left", "bbox_to_anchor": (0, 1)}
    if below:
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.08)}
    legend = axes.legend(**place, ncols=4, frameon=False, fontsize=9)
    for text in legend.get_texts():
        text.set_color(ink)


def _chart(
    title: str, draw: Any, size: tuple[float, float], words: str, *, polar: bool = False
) -> Chart:
    editions = {theme: _edition(draw, size, theme, polar=polar) for theme in _INK}
    return Chart(title, editions["light"], editions["dark"], words)


def figure_chart(title: str, make: Callable[[], Figure], words: str) -> Chart:
    """A figure that ``make`` draws anew for each edition, in the colours it finds set."""
    import matplotlib as mpl

    editions = {}
    for theme in _INK:
        with mpl.rc_context(_settings(theme)):
            editions[theme] = _svg(make())
    return Chart(title, editions["light"], editions["dark"], words)


def _settings(theme: str) -> Any:
    ink, grid = _INK[theme], _GRID[theme]
    return {
        "svg.fonttype": "path",  # a picture cannot use the page's fonts
        "svg.hashsalt": "screentest",
        "font.family": "DejaVu Sans",
        "font.size": 9.5,
        "text.color": ink,
        "axes.edgecolor": grid,
        "axes.labelcolor": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "grid.color": grid,
        "axes.facecolor": "none",
        "text.parse_math": False,
    }


def _edition(draw: Any, size: tuple[float, float], theme: str, *, polar: bool) -> str:
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context(_settings(theme)):
        figure: Figure = Figure(figsize=size)
        FigureCanvasSVG(figure)
        axes = figure.add_subplot(polar=polar)
        axes.grid(True, axis="both" if polar else "x", linewidth=0.7)
        axes.set_axisbelow(True)
        if not polar:
            for side in ("top", "right", "left"):
                axes.spines[side].set_visible(False)
            axes.tick_params(axis="y", length=0)
        draw(axes, _INK[theme])
        return _svg(figure)


def _svg(figure: Figure) -> str:
    page = io.StringIO()
    with warnings.catch_warnings():
        # A letter that the font lacks is a box here; the words beside the chart have it.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(
            page,
            format="svg",
            transparent=True,
            bbox_inches="tight",
            metadata={"Date": None, "Creator": None},
        )
    text = page.getvalue()
    return text[text.index("<svg") :]
