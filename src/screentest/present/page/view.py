"""The first screen of the page: that of the terminal, with films, and dots for prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from html import escape

import numpy as np

from screentest._util.text import plural
from screentest.analysis.evidence import people_of
from screentest.analysis.models.comparison import GROUPS, ModelComparison
from screentest.analysis.models.coverage import worst_videos
from screentest.analysis.models.grid import excuse
from screentest.analysis.models.moments import Scales, direction, furthest, pieces, scales_of
from screentest.analysis.models.rows import MetricRow, ModelValue, Part, State, first_and_last
from screentest.analysis.people.arena import people_row
from screentest.analysis.results import Total, Value
from screentest.core.table import ARROWS, Better
from screentest.present.certificates import headline_of_all
from screentest.present.page.checks import Check, checks
from screentest.present.page.data import Report
from screentest.present.people import arena_headline
from screentest.present.screens import SENSIBLE, Screen, comparison_screen, scores_screen, why_words
from screentest.present.tables import evidence_lines, mark, people_lines, row_wins, sees_words
from screentest.present.text import about, label, number, p_value, shortened, words
from screentest.stats import Interval

MOST_ALARMS = 4
"""Of a watch, on the first screen."""
MOST_CARDS = 4
"""Of more models, those that are ahead or behind in something have a card."""
MOST_FRAMES = 5
"""Pictures in a film strip."""
MOST_LOOKS = 3
"""Videos of one model that have a link, and metrics in which a video to look at is sought."""
LONGEST = 60
"""Letters of an item's name."""


@dataclass(frozen=True, slots=True)
class VideoLink:
    """A link to a video, at a moment where it has one."""

    metric: str
    item: str
    video: int
    t: float | None = None
    note: str = ""

    @property
    def link(self) -> str:
        if self.t is None:
            return self.item
        return f"{self.item} at {int(self.t // 60)}:{self.t % 60:04.1f}"


@dataclass(frozen=True, slots=True)
class Card:
    """One model: a strip of its videos, and where to look first."""

    name: str
    strip: tuple[int, ...]
    looks: tuple[VideoLink, ...]
    series: int = 0
    """The number of the model, for its colour."""


@dataclass(frozen=True, slots=True)
class ShownCell:
    """One model in one metric."""

    text: str
    interval: str = ""
    missing: str = ""
    best: bool = False


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One metric: a dot plot, the means, and the columns of the first screen."""

    title: str
    command: str
    """The name of the value as commands have it."""
    summary: str
    group: str
    better: str
    cells: tuple[ShownCell, ...]
    plot: str
    wins: str = ""
    needed: str = ""
    p: str = ""
    sees: str = ""
    card: tuple[tuple[str, str], ...] = ()
    """What is known of the metric."""
    holds: bool = False

    @property
    def arrow(self) -> str:
        return ARROWS[self.better]

    @property
    def group_order(self) -> int:
        return GROUPS.index(self.group.lower())


@dataclass(frozen=True, slots=True)
class Sortable:
    """A metric by which videos are sorted."""

    place: int
    """Among the metrics of the page's data."""
    title: str
    better: str


@dataclass(frozen=True, slots=True)
class View:
    """Everything above the videos."""

    facts: tuple[str, ...]
    screen: Screen
    lines: tuple[tuple[str, str], ...]
    """Those of the screen that are no checks."""
    models: tuple[str, ...]
    cards: tuple[Card, ...]
    checks: tuple[Check, ...]
    rows: tuple[ShownRow, ...]
    folds: tuple[tuple[str, tuple[ShownRow, ...]], ...]
    """Rows behind a line: no difference, not compared, described."""
    videos: int
    sortable: tuple[Sortable, ...]
    alarms: tuple[str, ...]

    @property
    def rivals(self) -> bool:
        return len(self.models) > 1


def page_view(report: Report, order: Sequence[str]) -> View:
    """Return the view of a report; ``order`` is that of the videos in the page's data."""
    place = {item: number for number, item in enumerate(order)}
    results, comparison = report.results, report.comparison
    if comparison is not None:
        screen = comparison_screen(comparison)
        cards, rows = _model_cards(report, comparison, place), _rows(report, comparison, place)
    else:
        screen = scores_screen(results, report.pool)
        if not results.items:
            screen = Screen(headline_of_all(report.certificates) if report.certificates else "", ())
        cards = _one_card(report, place) if len(place) > 1 else ()
        rows = [
            (None if total.info.better else State.DESCRIBED, _total_row(report, total, place))
            for total in report.totals
            if total.summary is not None
        ]
    listed = checks(report)
    checked = {check.label for check in listed}
    shown = [line for line in screen.lines if line[0] not in checked]
    lines = replace(screen, lines=tuple(shown)).labelled
    if report.people is not None:
        lines.insert(0, ("people", arena_headline(report.people)))
    folds = [
        (title, tuple(row for state, row in rows if state is kind))
        for kind, title in (
            (State.EQUIVALENT, "equal"),
            (State.UNDECIDED, "undecided"),
            (State.NOT_COMPARED, "not compared"),
            (State.DESCRIBED, "descriptive"),
        )
    ]
    more = len(report.alarms) - MOST_ALARMS
    return View(
        facts=tuple(_facts(report)),
        screen=screen,
        lines=tuple(lines),
        models=comparison.models if comparison else ("all",),
        cards=tuple(cards),
        checks=tuple(listed),
        rows=tuple(row for state, row in rows if state is None),
        folds=tuple(
            (f"{plural(len(selected), 'metric')}: {title}", selected)
            for title, selected in folds
            if selected
        ),
        videos=len(place),
        sortable=tuple(
            Sortable(position, report.labels[name], results.outputs[name].better)
            for position, name in enumerate(results.names)
            if any(value.outcome.ok for value in results.of(name))
        ),
        alarms=(*report.alarms[:MOST_ALARMS], *([f"{more:,} more"] if more > 0 else [])),
    )


def _facts(report: Report) -> Iterator[str]:
    """Yield the line above the headline: what there is, and from when."""
    results, comparison = report.results, report.comparison
    if results.items:
        yield plural(len(results.items), "video")
    if comparison is not None:
        models = plural(len(comparison.models), comparison.by)
        yield f"{models} × {plural(comparison.prompts, 'prompt')}"
    if report.certificates:
        yield plural(len(report.certificates), "certificate")
    yield from (f"{suite} suite" for suite in results.suites)
    starts = [start.started for source in report.sources for start in source.starts]
    if starts:
        when = datetime.fromisoformat(max(starts))
        yield f"{when.day} {when:%B %Y}"


# Films, and where to look.


def _model_cards(
    report: Report, comparison: ModelComparison, place: Mapping[str, int]
) -> Sequence[Card]:
    scales = scales_of(report.results)
    shown = comparison.models
    if len(shown) > MOST_CARDS:
        ends = dict.fromkeys(
            model
            for models in (
                (comparison.winner, comparison.loser),
                *(first_and_last(row) for row in comparison.rows),
            )
            for model in models
            if model
        )
        shown = tuple(sorted(list(ends)[:MOST_CARDS], key=comparison.models.index))
    cards = []
    for model in shown:
        items = [item for item in place if report.results.group(item, comparison.by) == model]
        look = _model_look(report, comparison, model, items, place, scales)
        series = comparison.models.index(model)
        cards.append(Card(model, _strip(items, place), (look,) if look else (), series))
    return cards


def _model_look(
    report: Report,
    comparison: ModelComparison,
    model: str,
    items: Sequence[str],
    place: Mapping[str, int],
    scales: Scales,
) -> VideoLink | None:
    """Return the worst video of a model in a metric in which it is behind; else its furthest
    fall."""
    results, rows = report.results, comparison.rows
    behind = [row.name for row in rows if row.under(model)]
    behind = behind or [row.name for row in rows if first_and_last(row)[1] == model]
    looks = []
    for name in behind[:MOST_LOOKS]:
        values = [results.of_item(item).get(name) for item in items]
        scored = [value for value in values if value is not None and value.outcome.ok]
        if scored:
            sign = direction(results, name)
            worst = min(scored, key=lambda value: sign * value.outcome.unwrap().value)
            looks.append(_look(report, worst, place))
    if looks:  # of a whole clip there may be one number alone; a moment is better to look at
        return next((look for look in looks if look.t is not None), looks[0])
    fall = furthest(results, items, scales, {row.name for row in rows if excuse(row, model)})
    if fall is None:
        return None
    item, time, low = fall
    t = round(float(time), 3)
    return VideoLink(
        report.labels[low.name], shortened(item, LONGEST), place[item], t, low.note[:80]
    )


def _one_card(report: Report, place: Mapping[str, int]) -> Sequence[Card]:
    """Return all videos, with links to those that rank worst most often."""
    worst = worst_videos(report.results, report.pool).worst
    looks = [
        _look(report, report.results.of_item(item)[next(iter(metrics))], place)
        for item, metrics in list(worst.items())[:MOST_LOOKS]
    ]
    return [Card("", _strip(list(place), place), tuple(looks))]


def _look(report: Report, value: Value, place: Mapping[str, int]) -> VideoLink:
    """Return a video at its lowest moment in a metric, where it has several."""
    metric, item = report.labels[value.name], shortened(value.item, LONGEST)
    points, sign = pieces(value), direction(report.results, value.name)
    if len(points) < 2:
        return VideoLink(metric, item, place[value.item])
    lowest = min(points, key=lambda point: sign * point.value)
    t = round(float(lowest.span.start), 3)
    return VideoLink(metric, item, place[value.item], t, lowest.note[:80])


def _strip(items: Sequence[str], place: Mapping[str, int]) -> tuple[int, ...]:
    """Return some videos, spread over all of them."""
    count = min(MOST_FRAMES, len(items))
    return tuple(place[items[step * len(items) // count]] for step in range(count))


# The table.


def _rows(
    report: Report, comparison: ModelComparison, place: Mapping[str, int]
) -> list[tuple[State | None, ShownRow]]:
    """Return the rows, each with the fold that it is in; None where there is something to see."""
    people = people_row(report.people, comparison) if report.people is not None else None
    every = [*([people] if people is not None else []), *comparison.rows]
    videos: dict[tuple[str, str], int] = {}
    for item, position in place.items():
        group = report.results.group(item, comparison.by)
        videos.setdefault((group, report.results.unit(item)), position)
    return [
        (None if row.shows else row.state, _row(report, comparison, row, videos)) for row in every
    ]


def _row(
    report: Report,
    comparison: ModelComparison,
    row: MetricRow,
    videos: Mapping[tuple[str, str], int],
) -> ShownRow:
    cells = tuple(
        ShownCell(
            "–" if value.mean is None else f"{number(value.mean)}{mark(value)}",
            _range(value.interval),
            f"{value.scored}/{value.total} scored" if value.scored < value.total else "",
            value.best,
        )
        for value in row.values
    )
    title = report.labels.get(row.name) or label(row.name, row.info)
    # The note below the table says it of all.
    part = "" if row.part in (Part.WHOLE, comparison.part) else words("parts")[row.part]
    plot = dot_plot(title, [_lane(value, videos) for value in row.values], row.better)
    heads = {model: shortened(model, 24) for model in comparison.models}
    brief = len(heads) > MOST_CARDS
    wins = row_wins(row, heads, brief=brief) if row.pairs else ""
    sensible = row.state is State.UNDECIDED and (row.needed or 0) <= SENSIBLE
    needed = f"about {about(row.needed)} needed" if row.needed and sensible else ""
    return ShownRow(
        title=title,
        command=report.results.short_names.get(row.name, row.name),
        summary=_about(row.info.summary, row.info.unit, part),
        group=row.group.capitalize(),
        better=row.better,
        cells=cells,
        plot=plot,
        wins=wins if row.why is None else why_words(row.why),
        needed=needed,
        p="" if row.p is None or row.why is not None else p_value(row.p),
        sees=_sees(report, row.name),
        card=_card(report, row.name, row.better),
        holds=row.state is State.SIGNIFICANT,
    )


def _lane(value: ModelValue, videos: Mapping[tuple[str, str], int]) -> Lane:
    dots = [
        Dot(
            prompt_value,
            f"{value.model}: {number(prompt_value)}\n{shortened(prompt, LONGEST)}",
            videos.get((value.model, prompt)),
        )
        for prompt, prompt_value in value.prompts.items()
    ]
    return Lane(value.model, value.mean, dots)


def _total_row(report: Report, total: Total, place: Mapping[str, int]) -> ShownRow:
    """Return a metric of videos without rivals: their mean, and from where to where they go."""
    summary, info = total.summary, total.info
    assert summary is not None
    dots = [
        Dot(
            score.value,
            f"{number(score.value)}\n{shortened(value.item, LONGEST)}",
            place.get(value.item),
        )
        for value in report.results.of(total.name)
        if (score := value.outcome.value) is not None
    ]
    available = summary.low is not None and summary.high is not None
    ends = Interval(summary.low or 0.0, summary.high or 0.0) if available else None
    missing = f"{total.scored}/{total.total} scored" if total.scored < total.total else ""
    title = report.labels[total.name]
    numbers = [dot.value for dot in dots]
    return ShownRow(
        title=title,
        command=report.results.short_names.get(total.name, total.name),
        summary=_about(info.summary, info.unit),
        group=(report.results.traits_of(total.name).group or "other").capitalize(),
        better=info.better,
        cells=(ShownCell(number(summary.value), _range(ends), missing),),
        plot=dot_plot(title, [Lane("mean", summary.value, dots)], info.better),
        wins=_range(Interval(min(numbers), max(numbers))) if len(set(numbers)) > 1 else "",
        sees=_sees(report, total.name),
        card=_card(report, total.name, info.better),
    )


def _sees(report: Report, name: str) -> str:
    return sees_words(report.evidence.get(name))


def _card(report: Report, name: str, better: str) -> tuple[tuple[str, str], ...]:
    known = report.evidence.get(name)
    people = [] if report.results.stand_ins_of(name) else people_of(name)
    return (*(evidence_lines(known, bool(better)) if known else ()), *people_lines(people))


def _about(*texts: str) -> str:
    return "; ".join(dict.fromkeys(filter(None, texts)))


def _range(ends: Interval | None) -> str:
    return "" if ends is None else f"{number(ends.low)} to {number(ends.high)}"


# Dot plots: one lane for each model, one dot for each prompt, on one axis; better to the right.

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
