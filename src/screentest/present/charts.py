"""Every chart: on the page in a light and a dark edition, in files as SVG, PNG or PDF.

Okabe and Ito's colours differ in lightness too, so that charts can be read in print and by the
colour-blind; every series has a name beside it. The same numbers give the same bytes.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias

import numpy as np

from screentest._util.atomic import storage_error, write_whole
from screentest._util.optional import need
from screentest._util.text import natural, one_line
from screentest.analysis.judges.matrix import Matrix
from screentest.core import BadOption, PairKind
from screentest.core.table import Chart
from screentest.present.certificates import MARKS
from screentest.testbeds.intact import folder_name
from screentest.testbeds.statistics import BIN, Statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8a8a8a")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
KINDS = (".svg", ".png")
FORMATS = (*KINDS, ".pdf")
MOST_LETTERS = 32
_PALE = "#c9d8ea"
_DASHES = ("-", "--", "-.", ":")
_DARK = 0.35
"""How far from the middle a cell of a heatmap is dark enough for white letters."""
_INKED = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color")
_INK = {"light": "#1c2024", "dark": "#e6e8eb"}
_GRID = {"light": "#d5d9de", "dark": "#3a4048"}
Models: TypeAlias = Mapping[str, Mapping[str, float]]
"""Values in 0–1 by generator and axis."""
P = ParamSpec("P")

# Style, figures, files.


@contextmanager
def _settings(**more: Any) -> Iterator[None]:
    """Our settings, with everybody else's left alone."""
    import matplotlib as mpl

    chosen: Any = {
        "svg.hashsalt": "screentest",
        "svg.fonttype": "none",
        "font.family": "DejaVu Sans",
        "font.size": 8.0,
        "text.parse_math": False,  # a generator may be called $x$
        **more,
    }
    with mpl.rc_context(chosen), warnings.catch_warnings():
        # A letter that the font lacks is a box here; the words beside the chart have it.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        yield


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw with our settings, unless those of an edition are in force."""

    @wraps(draw)
    def in_style(*args: P.args, **options: P.kwargs) -> Figure:
        import matplotlib as mpl

        if mpl.rcParams["svg.hashsalt"] == "screentest":
            return draw(*args, **options)
        with _settings():
            return draw(*args, **options)

    return in_style


def new_figure(width: float, height: float, **options: Any) -> Figure:
    """Return an empty figure without pyplot, which keeps every figure and looks for a screen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), **options)
    FigureCanvasAgg(figure)
    return figure


def figure_chart(title: str, make: Callable[[], Figure], words: str) -> Chart:
    """Return a figure that ``make`` draws anew for each edition, in the colours it finds set."""
    need("matplotlib")
    editions = {}
    for theme, ink in _INK.items():
        grid = _GRID[theme]
        with _settings(
            **{
                "svg.fonttype": "path",  # a picture cannot use the page's fonts
                "font.size": 9.5,
                **dict.fromkeys(_INKED, ink),
                **dict.fromkeys(("axes.edgecolor", "grid.color"), grid),
                "axes.facecolor": "none",
            }
        ):
            page = io.StringIO()
            make().savefig(
                page,
                format="svg",
                transparent=True,
                bbox_inches="tight",
                metadata={"Date": None, "Creator": None},
            )
            text = page.getvalue()
            editions[theme] = text[text.index("<svg") :]
    return Chart(title, editions["light"], editions["dark"], words)


def must_be_chart(path: Path) -> None:
    """Refuse a name whose suffix says no format, and any name where nothing can draw."""
    need("matplotlib")
    if path.suffix.lower() not in FORMATS:
        raise BadOption(
            f"invalid chart file {path}: must end in {' or '.join(FORMATS)}",
            advice="Give it another name.",
        )


def save(figure: Figure, path: Path) -> Path:
    """Write a chart, whole or not at all; the suffix decides: .svg, .png or .pdf."""
    must_be_chart(path)
    form = path.suffix.lower().removeprefix(".")
    page = io.BytesIO()
    with _settings():
        # No date: the same numbers give the same file.
        date: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(page, format=form, dpi=150, metadata=date.get(form))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(path, error) from None
    write_whole(path, page.getvalue())
    return path


# Figures, from numbers of any kind.


def radar(
    panels: Mapping[str, Models], axes: Mapping[str, str], names: Iterable[str] = ()
) -> Figure:
    """One panel per title, all with the same axes; ``axes`` has their labels."""
    return radars({title: (models, axes) for title, models in panels.items()}, names)


@styled
def radars(
    panels: Mapping[str, tuple[Models, Mapping[str, str]]], names: Iterable[str] = ()
) -> Figure:
    """Panels with axes of their own, in each a line per generator.

    A generator without a value on an axis has a gap there, not a zero. It looks the same in every
    panel, and in every figure of the same ``names``: as on the page, by its place among them.
    """
    listed = {model for models, _ in panels.values() for model in models} | set(names)
    places = {name: place for place, name in enumerate(sorted(listed, key=natural))}
    figure = new_figure(max(5.6, 4.0 * len(panels)), 4.8)
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
        for model, values in sorted(models.items(), key=lambda one: places[one[0]]):
            heights = [values.get(name, math.nan) for name in axes]
            turn, colour = divmod(places[model], len(COLOURS))
            (line,) = panel.plot(
                [*angles, angles[0]],
                [*heights, heights[0]],
                _DASHES[turn % len(_DASHES)],
                color=COLOURS[colour],
                marker=_MARKERS[colour],
                markersize=3.5,
                linewidth=1.3,
            )
            lines.setdefault(model or "all", line)
    shown = [name or "all" for name in places if (name or "all") in lines]
    figure.legend(
        [lines[name] for name in shown],
        shown,
        loc="lower center",
        ncols=min(5, max(1, len(lines))),
        frameon=False,
    )
    figure.tight_layout(rect=(0, 0.1, 1, 0.97))
    return figure


@styled
def scatter(panels: Sequence[tuple[str, str, Sequence[float], Sequence[float]]]) -> Figure:
    """Points with their regression line; each panel is two labels and two lists."""
    figure = new_figure(3.2 * len(panels), 3.2)
    for place, (across, up, left, right) in enumerate(panels, start=1):
        panel = figure.add_subplot(1, len(panels), place)
        panel.set_xlabel(across)
        panel.set_ylabel(up)
        if not left:
            _say_nothing(panel)
            continue
        panel.scatter(left, right, s=9, alpha=0.6, color=COLOURS[0])
        line = regression(left, right)
        if line is not None:
            ends = np.array([min(left), max(left)])
            panel.plot(ends, line[0] * ends + line[1], color=COLOURS[4], linewidth=1.2)
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


@styled
def violins(rows: Mapping[str, Mapping[str, Mapping[int, Sequence[float]]]]) -> Figure:
    """By complexity (rows) and dimension (columns), the values at each grade."""
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    if not columns:
        raise BadOption("there is nothing to draw: no item has a complexity and a score")
    figure = new_figure(2.6 * len(columns), 2.4 * len(rows))
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
            panel.plot([grade], [values[0]], "_", color=COLOURS[0], markersize=12)
    panel.set_xticks(list(grades))


_WIDE = 24


@styled
def heatmap(
    rows: Mapping[str, Mapping[str, float]],
    columns: Sequence[str],
    marks: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> Figure:
    """Return a matrix of shares in 0–1, each written in its cell; what is not there is grey.

    ``marks`` are signs for cells, by row and column. Of many columns the cells have these alone, or
    the picture would be as wide as a door.
    """
    many = bool(marks) and len(columns) > _WIDE
    size = (1.6 + (0.26 if many else 0.75) * len(columns), 1.2 + 0.28 * len(rows))
    figure = new_figure(*size, layout="constrained")
    panel = figure.add_subplot()
    table = np.array([[row.get(name, math.nan) for name in columns] for row in rows.values()])
    panel.set_facecolor("0.85")
    # Blue and red: whoever cannot tell red from green can tell these.
    panel.imshow(np.ma.masked_invalid(table), cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    titles = [column.replace("_", " ") for column in columns]
    panel.set_xticks(range(len(columns)), titles if many else [_broken(title) for title in titles])
    panel.set_yticks(range(len(rows)), list(rows))
    panel.tick_params(axis="x", rotation=90 if many else 60)
    names = list(rows)
    for (down, across), share in np.ndenumerate(table):
        if not math.isnan(share):
            ink = "white" if abs(share - 0.5) > _DARK else "black"
            mark = marks.get((names[down], columns[across]), "")
            text = mark if many else f"{share:.2f}{mark}"
            panel.text(across, down, text, ha="center", va="center", size=6, color=ink)
    return figure


def matrix_chart(found: Matrix) -> Figure:
    """Draw judges by degradations, each cell with the sign of its claim."""
    shares = {
        judge: {name: cell.share for name, cell in row.items()} for judge, row in found.rows.items()
    }
    marks = {
        (judge, name): MARKS[cell.claim]
        for judge, row in found.rows.items()
        for name, cell in row.items()
        if cell.claim is not None
    }
    return heatmap(shares, found.columns, marks)


# The charts of a testbed: durations and categories as in figures 8 and 9 of SLVMEval.


def charts_of_testbed(statistics: Statistics, folder: Path) -> list[Path]:
    """Everything that there is something to draw of, as SVG and PNG."""
    with _settings(**{"font.size": 10.0, "axes.spines.top": False, "axes.spines.right": False}):
        return [
            save(figure, folder / f"{name}{suffix}")
            for name, figure in _testbed_figures(statistics)
            for suffix in KINDS
        ]


def _testbed_figures(statistics: Statistics) -> Iterator[tuple[str, Figure]]:
    if statistics.aspects:
        yield "aspects", _aspects(statistics)
    if statistics.durations:
        yield "durations", _durations(statistics)
        yield "prompts", _prompts(statistics)
    for group, counts in statistics.groups.items():
        labels = [one_line(count.value, MOST_LETTERS) for count in counts]
        figure = bars(labels, [count.sources for count in counts], "videos", group)
        # A group is called as somebody's manifest has it.
        yield "category" if group == "category" else f"group_{folder_name(group)}", figure


def _aspects(statistics: Statistics) -> Figure:
    labels = [
        ("placebo: " if aspect.kind is PairKind.PLACEBO else "") + aspect.name.replace("_", " ")
        for aspect in statistics.aspects
    ]
    asked = [aspect.initial for aspect in statistics.aspects]
    figure = bars(labels, [aspect.kept for aspect in statistics.aspects], "pairs", behind=asked)
    figure.axes[0].legend(
        ["asked for", "made"], frameon=False, loc="upper left", bbox_to_anchor=(0, -0.12), ncols=2
    )
    return figure


def _videos_by(across: str) -> tuple[Figure, Axes]:
    figure = new_figure(7.0, 3.4, layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlabel(across)
    axes.set_ylabel("videos")
    axes.yaxis.set_major_locator(_whole_numbers())
    return figure, axes


def _durations(statistics: Statistics) -> Figure:
    figure, axes = _videos_by(f"duration in seconds, in steps of {BIN}")
    starts = [duration.start for duration in statistics.durations]
    counts = [duration.sources for duration in statistics.durations]
    axes.bar(starts, counts, width=BIN * 0.92, align="edge", color=COLOURS[0])
    axes.set_xlim(0, statistics.durations[-1].end)
    return figure


def _prompts(statistics: Statistics) -> Figure:
    figure, axes = _videos_by("words of the prompt")
    axes.hist(statistics.words, bins=min(30, max(5, len(set(statistics.words)))), color=COLOURS[0])
    return figure


@styled
def bars(
    labels: Sequence[str],
    counts: Sequence[int],
    unit: str,
    title: str = "",
    *,
    behind: Sequence[int] = (),
) -> Figure:
    """Return a bar for each label with its count; ``behind`` are paler bars behind them."""
    figure = new_figure(7.0, min(40.0, 1.4 + 0.3 * len(labels)), layout="constrained")
    axes = figure.add_subplot()
    places = list(range(len(labels)))
    if behind:
        axes.barh(places, behind, color=_PALE)
    axes.bar_label(axes.barh(places, counts, color=COLOURS[0]), padding=3)
    axes.set_yticks(places, labels)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.set_title(one_line(title, MOST_LETTERS), loc="left")
    axes.margins(x=0.08)
    axes.xaxis.set_major_locator(_whole_numbers())
    return figure


def _whole_numbers() -> Locator:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(integer=True)


def _say_nothing(panel: Axes) -> None:
    panel.text(0.5, 0.5, "no values", ha="center", va="center", transform=panel.transAxes)


def _broken(label: str) -> str:
    """Return a label on two lines where it is long."""
    words = label.split()
    middle = (len(words) + 1) // 2
    if len(label) < 12:
        return label
    return f"{' '.join(words[:middle])}\n{' '.join(words[middle:])}"
