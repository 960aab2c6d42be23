"""The spread of questions over categories as a chart, one bar per category and benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from screentest.core import BadOption, StorageError
from screentest.metrics.etva.categories import Category
from screentest.suites.etva.benchmark import Distribution, shares

_FORMATS = (".svg", ".png", ".pdf")
_COLOURS = ("#4878a8", "#d8873c", "#6a9f58", "#a15f9b")


def plot_distributions(benchmarks: Mapping[str, Distribution], path: Path) -> None:
    """Draw the share of each category in one or more benchmarks, into ``path``."""
    if path.suffix.lower() not in _FORMATS:
        raise BadOption(
            f"{path.name} names no kind of picture", advice=f"Name it {', '.join(_FORMATS)}."
        )
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    width = 0.8 / max(1, len(benchmarks))
    for number, (name, counts) in enumerate(benchmarks.items()):
        found = shares(counts)
        places = [place + (number + 0.5) * width - 0.4 for place in range(len(Category))]
        colour = _COLOURS[number % len(_COLOURS)]
        total = sum(counts.values())
        values = [found[category] for category in Category]
        # A name is a stranger's: "$" would be read as mathematics.
        label = f"{name} ({total:,} questions)".replace("$", r"\$")
        axes.bar(places, values, width, label=label, color=colour)
    axes.set_xticks(range(len(Category)), [category.value for category in Category], rotation=30)
    axes.set_ylabel("share of questions")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    try:
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error
