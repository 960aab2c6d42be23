"""Charts of suites from one's own numbers, as SVG or PNG: the same numbers, the same bytes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from screentest.core import BadOption, StorageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
def heatmap(rows: Mapping[str, Mapping[str, float]], columns: Sequence[str]) -> Figure:
    """A matrix of shares in 0–1, each written in its cell; what is not there is grey."""
    figure = _figure(1.6 + 0.75 * len(columns), 1.2 + 0.28 * len(rows))
    panel = figure.add_subplot()
    table = np.array([[row.get(name, math.nan) for name in columns] for row in rows.values()])
    panel.set_facecolor("0.85")
    # Blue and red: whoever cannot tell red from green can tell these.
    panel.imshow(np.ma.masked_invalid(table), cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    panel.set_xticks(range(len(columns)), [_broken(one.replace("_", " ")) for one in columns])
    panel.set_yticks(range(len(rows)), list(rows))
    panel.tick_params(axis="x", rotation=60)
    for (down, across), share in np.ndenumerate(table):
        if not math.isnan(share):
            ink = "white" if abs(share - 0.5) > _DARK else "black"
            panel.text(across, down, f"{share:.2f}", ha="center", va="center", size=6, color=ink)
    figure.tight_layout()
    return figure


def save(figure: Figure, path: Path) -> Path:
    """Write a chart; the suffix decides: .svg or .png."""
    import matplotlib

    if path.suffix.lower() not in KINDS:
        raise BadOption(f"{path} is no name for a chart", advice=f"One of {', '.join(KINDS)}.")
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
