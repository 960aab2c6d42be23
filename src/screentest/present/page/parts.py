"""Parts of the page's first screens: cards, rows, cells, and what several of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from screentest._util.text import plural
from screentest.analysis.models.comparison import GROUPS
from screentest.analysis.results import Value
from screentest.core.table import ARROWS
from screentest.present.page.belief import Check
from screentest.present.page.data import Report
from screentest.present.page.drilldown import pieces
from screentest.present.page.trust import sees_something
from screentest.present.text import number

MOST_FRAMES = 5
"""Pictures in a film strip."""
NAMED = 3
"""Measures that a card names at most."""


@dataclass(frozen=True, slots=True)
class Named:
    """A measure on a card, with its value and a word beside it."""

    name: str
    value: str = ""
    beside: str = ""
    arrow: str = ""
    """Which way is better."""


@dataclass(frozen=True, slots=True)
class CardLine:
    """What a card says under one label, with the video that shows it."""

    label: str
    named: tuple[Named, ...]
    link: str = ""
    video: int | None = None
    t: float | None = None
    note: str = ""
    """How sure it is."""
    anchor: str = ""
    """Where the link leads, where that is not a video."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One model: a strip of its videos, what it is best and worst at, and where to look."""

    name: str
    strip: tuple[int, ...]
    lines: tuple[CardLine, ...]
    series: int = 0
    """Which of the models it is, for its colour."""


@dataclass(frozen=True, slots=True)
class ShownCell:
    """One model in one measure."""

    text: str
    interval: str = ""
    missing: str = ""
    best: bool = False


@dataclass(frozen=True, slots=True)
class Chip:
    """What its certificate says of a measure, in a word."""

    words: str
    kind: str


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One measure: a dot plot, the means, and what the prompts say."""

    title: str
    summary: str
    group: str
    better: str
    cells: tuple[ShownCell, ...]
    says: str
    plot: str
    holds: bool = False
    chip: Chip | None = None

    @property
    def arrow(self) -> str:
        return ARROWS[self.better]

    @property
    def group_order(self) -> int:
        return GROUPS.index(self.group.lower())


@dataclass(frozen=True, slots=True)
class Sortable:
    """A measure by which videos are put in order."""

    place: int
    """Among the measures of the page's data."""
    title: str
    better: str


@dataclass(frozen=True, slots=True)
class View:
    """Everything above the certificates."""

    facts: tuple[str, ...]
    headline: str
    lead: tuple[str, ...]
    """What must be known with the headline, above all what is not measured."""
    models: tuple[str, ...]
    cards: tuple[ModelCard, ...]
    checks: tuple[Check, ...]
    open_rows: tuple[ShownRow, ...]
    folds: tuple[tuple[str, tuple[ShownRow, ...]], ...]
    """Rows behind a line: ties, and what only describes."""
    differ_title: str
    differ_note: str
    videos: int
    sortable: tuple[Sortable, ...]
    more: tuple[str, ...] = ()
    """Further notes on the answer, folded so that the cards stand on the first screen."""
    level: str = ""
    """Of many models: those of which a card would say nothing, in one line."""
    alarms: tuple[str, ...] = ()
    """What a watch called out."""
    whose: str = ""
    """Whose answer the headline is, where people were asked too."""

    @property
    def rivals(self) -> bool:
        return len(self.models) > 1

    @property
    def rows(self) -> bool:
        return bool(self.open_rows or self.folds)


def facts(report: Report, more: str) -> tuple[str, ...]:
    """The line above the headline: what there is, and from when."""
    results = report.results
    found = [plural(len(results.items), "video")] if results.items else []
    if more:
        found.append(more)
    if report.certificates:
        found.append(plural(len(report.certificates), "certificate"))
    found += [f"{suite} suite" for suite in results.suites]
    starts = [start.started for source in report.sources for start in source.starts]
    if starts:
        when = datetime.fromisoformat(max(starts))
        found.append(f"{when.day} {when:%B %Y}")
    return tuple(found)


def folds(
    *found: tuple[str, tuple[ShownRow, ...]],
) -> tuple[tuple[str, tuple[ShownRow, ...]], ...]:
    """Rows behind a line each; without those that have none."""
    return tuple((title, rows) for title, rows in found if rows)


def strip(items: Sequence[str], place: Mapping[str, int]) -> tuple[int, ...]:
    """Some videos, spread over all of them."""
    count = min(MOST_FRAMES, len(items))
    return tuple(place[items[number * len(items) // count]] for number in range(count))


def moment(report: Report, worst: Value, sign: int, place: Mapping[str, int]) -> CardLine:
    """Where to see a value of a video: at its lowest moment, where it has a course.

    Without a number: the card has that of the model, and two would be of one measure.
    """
    points, title = pieces(worst), report.labels[worst.name]
    if len(points) < 2:
        return CardLine("See", (Named(title),), cut_id(worst.item), place[worst.item])
    point = min(points, key=lambda one: sign * one.value)
    t = round(float(point.span.start), 3)
    named = Named(title, beside=point.note[:80])
    link = f"{cut_id(worst.item)} at {time_words(t)}"
    return CardLine("See", (named,), link, place[worst.item], t)


def time_words(t: float) -> str:
    """A moment as players show it.

    >>> time_words(62.25)
    '1:02.2'
    """
    return f"{int(t // 60)}:{t % 60:04.1f}"


def chip(report: Report, name: str) -> Chip | None:
    """What its certificates say of a measure; None where it has none."""
    found = report.certificates_of(name)
    if not found:
        return None
    if any(placebo.bias for one in found for placebo in one.placebos):
        return Chip("fails a placebo", "bad")
    if sees_something(found):
        return Chip("certified", "good")
    return Chip("tested", "")


def cut_id(item: str) -> str:
    """The name of an item, not longer than a line."""
    return item if len(item) <= 60 else f"{item[:59]}…"


def code(name: str, words: str) -> str:
    """The name of a value as commands have it, where its words are others."""
    return "" if name.replace("_", " ") == words else name


def from_to(low: float, high: float) -> str:
    """An interval in words."""
    return f"{number(low)} to {number(high)}"


def shown_line(name: str, text: str) -> str:
    """A labelled line of a first screen in a paragraph."""
    return f"{name.capitalize()}: {text}."
