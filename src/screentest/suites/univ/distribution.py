"""What a corpus is made of: how often each term of each sub-dimension is seen (figure B4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from screentest.present.charts import COLOURS, new_figure, styled
from screentest.suites.univ.schema import Description
from screentest.suites.univ.vocabulary import ALL_SUBDIMENSIONS, VOCABULARIES, classify

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OTHER = "other words"
_SHOWN = 12
_FADED = "#b8c4d0"


@dataclass(frozen=True, slots=True)
class TermCounts:
    """How often each term is said of one sub-dimension."""

    name: str
    counts: Mapping[str, int]
    """By term, the most frequent first; free text that no term covers is one of them."""
    silent: int
    """Shots of which nothing is said."""

    @property
    def said(self) -> int:
        """All statements."""
        return sum(self.counts.values())


def distribution(shots: Iterable[Description]) -> dict[str, TermCounts]:
    """Return all 21 sub-dimensions; those without a vocabulary are only said or silent."""
    listed = list(shots)
    counts: dict[str, Counter[str]] = {name: Counter() for name in ALL_SUBDIMENSIONS}
    silent: Counter[str] = Counter()
    for shot in listed:
        seen = set()
        for name, term in _terms(shot):
            counts[name][term] += 1
            seen.add(name)
        silent.update(set(ALL_SUBDIMENSIONS) - seen)
    return {
        name: TermCounts(name, dict(_sorted(counts[name])), silent[name])
        for name in ALL_SUBDIMENSIONS
    }


def _terms(shot: Description) -> Iterable[tuple[str, str]]:
    # Scenes and actions are described in words and sorted by their kind.
    kinds = {
        "background_scene": [str(scene.kind) for scene in shot.scenes],
        "action_event": [str(action.kind) for action in shot.actions],
    }
    for name, subset in kinds.items():
        for kind in subset:
            yield name, _term(name, kind)
    for name, text in shot.by_subdimension():
        if name in ALL_SUBDIMENSIONS and name not in kinds and text.strip():
            yield name, _term(name, text)


def _term(name: str, text: str) -> str:
    vocabulary = VOCABULARIES.get(name)
    if vocabulary is None:
        return "said"
    result = classify(vocabulary, text)
    return OTHER if result is None else result.value


def _sorted(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (pair[0] == OTHER, -pair[1], pair[0]))


@styled
def draw_distribution(spreads: Mapping[str, TermCounts]) -> Figure:
    """Return a small chart for each of the 21."""
    from matplotlib.ticker import MaxNLocator

    columns = 3
    rows = -(-len(spreads) // columns)
    figure = new_figure(11, 2.3 * rows)
    for place, spread in enumerate(spreads.values(), start=1):
        axes = figure.add_subplot(rows, columns, place)
        shown = list(spread.counts.items())[:_SHOWN]
        bars = [*shown, ("nothing said", spread.silent)]
        colours = [COLOURS[0]] * len(shown) + [_FADED]
        axes.barh(range(len(bars)), [count for _, count in bars], color=colours, height=0.7)
        axes.set_yticks(range(len(bars)), [name for name, _ in bars], fontsize=7)
        axes.invert_yaxis()
        axes.tick_params(axis="x", labelsize=7)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        title = spread.name.replace("_", ": ", 1).replace("_", " ")
        axes.set_title(f"{title} ({spread.said:,})", fontsize=9, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    return figure
