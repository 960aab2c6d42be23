"""Charts as SVG, each in a light and a dark edition, readable in print and by the colour-blind.

Okabe and Ito's colours differ in lightness too; every series has a name beside it.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Container, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias

import numpy as np

from screentest.certificates.certificate import Certificate
from screentest.certificates.matrix import Matrix
from screentest.core import BadOption, StorageError
from screentest.core.table import Chart
from screentest.reports.leaderboard import Line
from screentest.scores.standings import Standing

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


def standings_chart(found: Sequence[Standing], title: str) -> Chart | None:
    """The parts of a suite's first dimension, a line for each group of items."""
    lines, ranges = [], {}
    for standing in found:
        for level in standing.levels:
            if len(level.path) == 2 and level.ends is not None:
                low, high = level.ends
                ranges[level.title] = (low, high, level.better != "lower")
                group = standing.group or "all"
                lines.append(
                    Line(level.title, group, level.value, None, None, level.scored, level.total)
                )
    return radar_chart(lines, ranges, title=title, least=1)


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


# Charts of suites from one's own numbers, as SVG or PNG: the same numbers, the same bytes.

_DASHES = ("-", "--", "-.", ":")
_SETTINGS: Any = {
    "svg.hashsalt": "screentest",
    "svg.fonttype": "none",
    "font.size": 8.0,
    "text.parse_math": False,  # a generator may be called $x$
}
KINDS = (".svg", ".png")
P = ParamSpec("P")


def _styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw with our settings, and leave everybody else's alone."""

    @wraps(draw)
    def styled(*args: P.args, **options: P.kwargs) -> Figure:
        import matplotlib

        with matplotlib.rc_context(_SETTINGS):
            return draw(*args, **options)

    return styled


Models = Mapping[str, Mapping[str, float]]
"""Values in 0–1 by generator and axis."""


def radar(panels: Mapping[str, Models], axes: Mapping[str, str]) -> Figure:
    """Figure 9: one panel per title, all with the same axes; ``axes`` has their labels."""
    return radars({title: (models, axes) for title, models in panels.items()})


@_styled
def radars(panels: Mapping[str, tuple[Models, Mapping[str, str]]]) -> Figure:
    """Figure 8: panels with axes of their own, in each a line per generator.

    A generator without a value on an axis has a gap there, not a zero.
    """
    figure = _figure(4.0 * len(panels), 4.6)
    lines: dict[str, Any] = {}
    for place, (title, (models, axes)) in enumerate(panels.items(), start=1):
        angles = np.linspace(0, 2 * math.pi, len(axes), endpoint=False)
        panel: Any = figure.add_subplot(1, len(panels), place, projection="polar")
        panel.set_theta_offset(math.pi / 2)
        panel.set_theta_direction(-1)
        panel.set_ylim(0, 1)
        panel.set_xticks(angles, [_broken(label) for label in axes.values()])
        panel.set_yticks([0.25, 0.5, 0.75, 1.0], ["", "0.5", "", "1"])
        panel.tick_params(axis="x", pad=10)
        panel.set_title(title, pad=22)
        for number, (model, values) in enumerate(models.items()):
            heights = [values.get(name, math.nan) for name in axes]
            style = _DASHES[number // 10 % len(_DASHES)]
            (line,) = panel.plot(
                [*angles, angles[0]],
                [*heights, heights[0]],
                style,
                color=f"C{number % 10}",
                linewidth=1.2,
                marker=".",
            )
            lines.setdefault(model or "all", line)
    figure.legend(
        list(lines.values()), list(lines), loc="lower center", ncols=min(5, max(1, len(lines)))
    )
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    return figure


@_styled
def scatter(panels: Sequence[tuple[str, str, Sequence[float], Sequence[float]]]) -> Figure:
    """Figure 4: points with their regression line; each panel is two labels and two lists."""
    figure = _figure(3.2 * len(panels), 3.2)
    for place, (across, up, left, right) in enumerate(panels, start=1):
        panel = figure.add_subplot(1, len(panels), place)
        panel.set_xlabel(across)
        panel.set_ylabel(up)
        if not left:
            _say_nothing(panel)
            continue
        panel.scatter(left, right, s=9, alpha=0.6)
        line = regression(left, right)
        if line is not None:
            ends = np.array([min(left), max(left)])
            panel.plot(ends, line[0] * ends + line[1], color="C3", linewidth=1.2)
            panel.set_title(f"slope {line[0]:.3f}, r {line[2]:.3f}, n {len(left)}")
    figure.tight_layout()
    return figure


def regression(across: Sequence[float], up: Sequence[float]) -> tuple[float, float, float] | None:
    """Slope, intercept and r of the least-squares line; None where there is none.

    >>> regression([0, 1, 2], [1, 3, 5])
    (2.0, 1.0, 1.0)
    """
    if len(across) < 2 or np.ptp(np.asarray(across, float)) == 0:
        return None
    from scipy.stats import linregress

    line: Any = linregress(across, up)
    return round(float(line.slope), 12), round(float(line.intercept), 12), float(line.rvalue)


@_styled
def violins(
    rows: Mapping[str, Mapping[str, Mapping[int, Sequence[float]]]],
) -> Figure:
    """Figure 10: by complexity (rows) and dimension (columns), the values at each grade."""
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    if not columns:
        raise BadOption("there is nothing to draw: no item has a complexity and a score")
    figure = _figure(2.6 * len(columns), 2.4 * len(rows))
    grid: Any = figure.subplots(len(rows), len(columns), squeeze=False, sharey=True)
    for panels, (kind, row) in zip(grid, rows.items(), strict=True):
        for panel, name in zip(panels, columns, strict=True):
            grades = {grade: list(row.get(name, {}).get(grade, ())) for grade in row.get(name, {})}
            _violin(panel, {grade: values for grade, values in sorted(grades.items()) if values})
            panel.set_xlabel(f"{kind} complexity")
            panel.set_title(name)
    figure.tight_layout()
    return figure


def _violin(panel: Axes, grades: Mapping[int, Sequence[float]]) -> None:
    panel.set_ylim(0, 1)
    if not grades:
        _say_nothing(panel)
        return
    wide = {grade: values for grade, values in grades.items() if np.ptp(values) > 0}
    if wide:  # a single value, or equal ones, have no shape
        panel.violinplot(list(wide.values()), list(wide), showmedians=True)
    for grade, values in grades.items():
        if grade not in wide:
            panel.plot([grade], [values[0]], "_", color="C0", markersize=12)
    panel.set_xticks(list(grades))


_DARK = 0.35
"""How far from the middle a cell is dark enough for white letters."""


@_styled
def heatmap(
    rows: Mapping[str, Mapping[str, float]],
    columns: Sequence[str],
    marked: Container[tuple[str, str]] = (),
) -> Figure:
    """A matrix of shares in 0–1, each written in its cell; what is not there is grey.

    ``marked`` are cells, by row and column, that have a star.
    """
    figure = _figure(1.6 + 0.75 * len(columns), 1.2 + 0.28 * len(rows))
    panel = figure.add_subplot()
    table = np.array([[row.get(name, math.nan) for name in columns] for row in rows.values()])
    panel.set_facecolor("0.85")
    # Blue and red: whoever cannot tell red from green can tell these.
    panel.imshow(np.ma.masked_invalid(table), cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    panel.set_xticks(range(len(columns)), [_broken(one.replace("_", " ")) for one in columns])
    panel.set_yticks(range(len(rows)), list(rows))
    panel.tick_params(axis="x", rotation=60)
    names = list(rows)
    for (down, across), share in np.ndenumerate(table):
        if not math.isnan(share):
            ink = "white" if abs(share - 0.5) > _DARK else "black"
            text = f"{share:.2f}" + "*" * ((names[down], columns[across]) in marked)
            panel.text(across, down, text, ha="center", va="center", size=6, color=ink)
    figure.tight_layout()
    return figure


def matrix_chart(found: Matrix) -> Figure:
    """Which judge sees which harm; a star where chance is ruled out."""
    shares = {
        judge: {name: cell.share for name, cell in row.items()} for judge, row in found.rows.items()
    }
    marked = {
        (judge, name)
        for judge, row in found.rows.items()
        for name, cell in row.items()
        if cell.is_sure
    }
    return heatmap(shares, found.columns, marked)


def must_be_chart(path: Path) -> None:
    """Refuse a name whose suffix says no format."""
    if path.suffix.lower() not in KINDS:
        raise BadOption(
            f"invalid chart file {path}: must end in {' or '.join(KINDS)}",
            advice="Give it another name.",
        )


def save(figure: Figure, path: Path) -> Path:
    """Write a chart; the suffix decides: .svg or .png."""
    import matplotlib

    must_be_chart(path)
    dated = {"Date": None} if path.suffix.lower() == ".svg" else {}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context(_SETTINGS):
            figure.savefig(path, dpi=150, metadata=dated)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}") from None
    return path


def _figure(width: float, height: float) -> Figure:
    # Without pyplot: no window, no state that another thread could share.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def _say_nothing(panel: Axes) -> None:
    panel.text(0.5, 0.5, "no values", ha="center", va="center", transform=panel.transAxes)


def _broken(label: str) -> str:
    """A label on two lines where it is long."""
    words = label.split()
    middle = (len(words) + 1) // 2
    return (
        label
        if len(label) < 12
        else "\n".join((" ".join(words[:middle]), " ".join(words[middle:])))
    )
