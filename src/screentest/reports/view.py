"""What the page shows first: the headline, a card per model, rows with dots; made of the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from screentest.core.table import ARROWS
from screentest.reports.belief import Check, checks
from screentest.reports.certified import certificates_headline
from screentest.reports.data import Report
from screentest.reports.dots import Dot, Lane, dot_plot
from screentest.reports.drilldown import direction, timed
from screentest.reports.people import people_row
from screentest.reports.sidebyside import SideBySide
from screentest.scores.answer import GROUPS, Answer, AnswerRow, number
from screentest.scores.remarks import prompt_unread
from screentest.scores.results import Results, Total, Value
from screentest.stats import Claim

_MOST_FRAMES = 5
"""Pictures in a film strip."""
_NAMED = 3
"""Measures that a card names at most."""


@dataclass(frozen=True, slots=True)
class Named:
    """A measure on a card, with its value and a word beside it."""

    name: str
    value: str = ""
    beside: str = ""


@dataclass(frozen=True, slots=True)
class CardLine:
    """What a card says under one label, with the video that shows it."""

    label: str
    named: tuple[Named, ...]
    link: str = ""
    video: int | None = None
    t: float | None = None


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One model: a strip of its videos, what it is best and worst at, and where to look."""

    name: str
    strip: tuple[int, ...]
    lines: tuple[CardLine, ...]


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
        return list(GROUPS.values()).index(self.group)


@dataclass(frozen=True, slots=True)
class View:
    """Everything above the certificates."""

    facts: tuple[str, ...]
    headline: str
    lead: tuple[str, ...]
    models: tuple[str, ...]
    cards: tuple[ModelCard, ...]
    checks: tuple[Check, ...]
    open_rows: tuple[ShownRow, ...]
    folds: tuple[tuple[str, tuple[ShownRow, ...]], ...]
    """Rows behind a line: ties, and what only describes."""
    differ_title: str
    differ_note: str
    videos: int
    sortable: tuple[tuple[int, str], ...]
    whose: str = ""
    """Whose answer the headline is, where people were asked too."""

    @property
    def rivals(self) -> bool:
        return len(self.models) > 1

    @property
    def rows(self) -> bool:
        return bool(self.open_rows or self.folds)


def page_view(report: Report, sides: SideBySide, order: Sequence[str]) -> View:
    """The view of a report; ``order`` is that of the videos in the page's data."""
    place = {item: number for number, item in enumerate(order)}
    results, answer = report.results, report.answer
    short = results.short_names
    sortable = tuple(
        (number, short[name])
        for number, name in enumerate(results.names)
        if any(value.outcome.ok for value in results.of(name))
    )
    if answer is not None:
        return _compared(report, answer, place, sortable)
    return _alone(report, sides, place, sortable)


def _facts(report: Report, more: str) -> tuple[str, ...]:
    results = report.results
    found = [_many(len(results.items), "video")] if results.items else []
    if more:
        found.append(more)
    if report.certificates:
        found.append(_many(len(report.certificates), "certificate"))
    found += [f"{suite} suite" for suite in results.suites]
    starts = [start.started for source in report.sources for start in source.starts]
    if starts:
        when = datetime.fromisoformat(max(starts))
        found.append(f"{when.day} {when:%B %Y}")
    return tuple(found)


# Several models.


def _compared(
    report: Report, answer: Answer, place: Mapping[str, int], sortable: tuple[tuple[int, str], ...]
) -> View:
    results = report.results
    lead = [f"Not measured. {one}" for one in answer.unmeasured]
    if answer.seen:
        lead.insert(0, answer.seen)
    if any(row.pooled == "worst tenth" for row in answer.rows):
        lead.append("Scores are each video's worst tenth, so one bad shot counts.")
    elif any(row.pooled for row in answer.rows):
        lead.append("Scores are means over each video.")
    people = people_row(report.people, answer) if report.people is not None else None
    if report.people is not None:
        lead.insert(0, report.people.headline)
    videos = {
        model: [item for item in place if results.group(item, answer.by) == model]
        for model in answer.models
    }
    cards = tuple(
        ModelCard(
            model,
            _strip(videos[model], place),
            tuple(_model_lines(report, answer, model, videos[model], place)),
        )
        for model in answer.models
    )
    # What people say comes first: it is what metrics stand in for.
    rows = [
        (row, _row(report, answer, row, place)) for row in (people, *answer.rows) if row is not None
    ]
    tied = tuple(shown for row, shown in rows if row.state == "tied")
    describing = tuple(shown for row, shown in rows if row.state == "describes")
    crossed = f"{len(answer.models)} {answer.by}s × {_many(answer.prompts, 'prompt')}"
    return View(
        facts=_facts(report, crossed),
        headline=answer.headline,
        whose="" if report.people is None else "By the metrics:",
        lead=tuple(lead),
        models=answer.models,
        cards=cards,
        checks=tuple(checks(report, answer)),
        open_rows=tuple(shown for row, shown in rows if row.state in ("holds", "open")),
        folds=_folds(
            (f"{_many(len(tied), 'measure')} in which they do not differ to speak of", tied),
            (
                f"{_many(len(describing), 'measure')} that describe, and are not better or worse",
                describing,
            ),
        ),
        differ_title="Where they differ",
        differ_note="a dot is a prompt, a bar the mean; better is to the right; the surest first",
        videos=len(place),
        sortable=sortable,
    )


def _folds(
    *found: tuple[str, tuple[ShownRow, ...]],
) -> tuple[tuple[str, tuple[ShownRow, ...]], ...]:
    return tuple((title, rows) for title, rows in found if rows)


def _strip(items: Sequence[str], place: Mapping[str, int]) -> tuple[int, ...]:
    """Some videos, spread over all of them."""
    count = min(_MOST_FRAMES, len(items))
    return tuple(place[items[number * len(items) // count]] for number in range(count))


def _model_lines(
    report: Report,
    answer: Answer,
    model: str,
    items: Sequence[str],
    place: Mapping[str, int],
) -> list[CardLine]:
    """What it leads in and what it is last in, the surest first; and where to see the latter."""
    first, last = answer.best_at(model), answer.worst_at(model)
    best = [
        Named(row.title, _mean(row, model), f"ahead on {row.ahead} of {row.prompts}")
        if row.leader == model
        else Named(row.title, _mean(row, model), f"{pair.worse} {_mean(row, pair.worse)}")
        for row, pair in first.rows[:_NAMED]
    ]
    found = [CardLine("Best at" if first.sure else "Ahead in", tuple(best or [Named("nothing")]))]
    if last.rows:
        named = [
            Named(row.title, _mean(row, model), f"{pair.better} {_mean(row, pair.better)}")
            for row, pair in last.rows[:_NAMED]
        ]
        found.append(CardLine("Worst at" if last.sure else "Behind in", tuple(named)))
        looks = [_look(report.results, row.name, items, place) for row, _ in last.rows[:_NAMED]]
        known = [look for look in looks if look is not None]
        if known:
            # Of the whole clip there may be one number alone; a moment is better to look at.
            found.append(next((look for look in known if look.t is not None), known[0]))
    return found


def _mean(row: AnswerRow, model: str) -> str:
    mean = row.of(model).mean
    return "–" if mean is None else number(mean)


def _look(
    results: Results, name: str, items: Sequence[str], place: Mapping[str, int]
) -> CardLine | None:
    """The video that is lowest in a measure, at its lowest moment."""
    sign = direction(results, name) or 1
    known = [
        value
        for item in items
        if (value := results.of_item(item).get(name)) is not None and value.outcome.ok
    ]
    if not known:
        return None
    worst = min(known, key=lambda value: sign * value.outcome.unwrap().value)
    return _moment(results, worst, sign, place)


def _moment(results: Results, worst: Value, sign: int, place: Mapping[str, int]) -> CardLine:
    score = timed(worst).outcome.unwrap()
    title = results.short_names[worst.name]
    if len(score.curve) < 2:
        named = Named(title, number(score.value))
        return CardLine("See", (named,), _named(worst.item), place[worst.item])
    point = min(score.curve, key=lambda one: sign * one.value)
    t = round(float(point.span.start), 3)
    named = Named(title, number(point.value), point.note[:80])
    link = f"{_named(worst.item)} at {int(t // 60)}:{t % 60:04.1f}"
    return CardLine("See", (named,), link, place[worst.item], t)


def _named(item: str) -> str:
    return item if len(item) <= 60 else f"{item[:59]}…"


def _row(report: Report, answer: Answer, row: AnswerRow, place: Mapping[str, int]) -> ShownRow:
    cells = tuple(
        ShownCell(
            "–" if one.mean is None else number(one.mean),
            "" if one.interval is None else _ends(one.interval.low, one.interval.high),
            f"{one.scored}/{one.total} scored" if one.scored < one.total else "",
            one.best,
        )
        for one in row.values
    )
    shown: dict[tuple[str, str], int] = {}
    for item, number_ in place.items():
        side = report.results.group(item, answer.by)
        shown.setdefault((side, report.results.unit(item)), number_)
    lanes = [
        Lane(
            one.model,
            one.mean,
            [
                Dot(
                    value,
                    f"{one.model}: {number(value)}\n{_named(case)}",
                    shown.get((one.model, case)),
                )
                for case, value in one.prompts.items()
            ],
        )
        for one in row.values
    ]
    about = [row.info.summary, row.info.unit, row.pooled]
    return ShownRow(
        row.title,
        "; ".join(dict.fromkeys(filter(None, about))),
        GROUPS[row.group],
        row.better,
        cells,
        _says(row),
        dot_plot(row.title, lanes, lower=row.better == "lower"),
        holds=row.state == "holds",
        chip=_chip(report, row.name),
    )


def _says(row: AnswerRow) -> str:
    if row.state == "describes":
        return "describes; neither direction is better"
    held = [pair for pair in row.pairs if pair.holds]
    if held:
        over: dict[str, list[str]] = {}
        for pair in held:
            over.setdefault(pair.better, []).append(
                f"{pair.worse} ({pair.ahead} of {pair.prompts})"
            )
        return "; ".join(f"{name} better than {', '.join(of)}" for name, of in over.items())
    parts = [f"{row.leader} ahead on {row.ahead} of {row.prompts}"] if row.leader else []
    if row.last and (len(row.values) > 2 or not row.leader):
        parts.append(f"{row.last} last on {row.behind} of {row.prompts}")
    words = "; ".join(parts) or "no leader"
    return f"{words}; about {row.needed:,} prompts would settle it" if row.needed else words


def _chip(report: Report, name: str) -> Chip | None:
    found = report.certificates_of(name)
    if not found:
        return None
    if any(placebo.unfairness for one in found for placebo in one.placebos):
        return Chip("fails a placebo", "bad")
    if any(one.finding.claim is Claim.SEES for cert in found for one in cert.operators):
        return Chip("certified", "good")
    return Chip("tested", "")


# One group alone: how good are my videos?


def _alone(
    report: Report,
    sides: SideBySide,
    place: Mapping[str, int],
    sortable: tuple[tuple[int, str], ...],
) -> View:
    results = report.results
    totals = [total for total in report.totals if total.summary is not None]
    items = list(place)
    lowest = _lowest(results, totals)
    unread = prompt_unread(results)
    lead = [f"Not measured. {unread}"] if unread else []
    if items and not any(item.text for item in results.items.values()):
        lead.append("Not measured. Anything about prompts: the videos have none.")
    rows = sorted(
        (_own_row(report, total, place) for total in totals), key=lambda row: row.group_order
    )
    describing = tuple(row for row in rows if not row.better)
    card = ModelCard("", _strip(items, place), tuple(_own_lines(report, lowest, place)))
    return View(
        facts=_facts(report, ""),
        headline=_own_headline(report, totals, lowest),
        lead=tuple(lead),
        models=(report.by or "all",),
        cards=(card,) if items and len(items) > 1 else (),
        checks=tuple(checks(report, None)),
        open_rows=tuple(row for row in rows if row.better),
        folds=_folds(
            (
                f"{_many(len(describing), 'measure')} that describe, and are not better or worse",
                describing,
            ),
        ),
        differ_title="Where they stand",
        differ_note="a dot is a video, the bar their mean; better is to the right",
        videos=len(place),
        sortable=sortable,
    )


def _lowest(results: Results, totals: Sequence[Total]) -> dict[str, Value]:
    """By measure: the video that is lowest in it, where they are not all alike."""
    found = {}
    for total in totals:
        sign = direction(results, total.name)
        known = [value for value in results.of(total.name) if value.outcome.ok]
        numbers = {value.outcome.unwrap().value for value in known}
        if sign and len(numbers) > 1:
            found[total.name] = min(known, key=lambda one: sign * one.outcome.unwrap().value)
    return found


def _own_headline(report: Report, totals: Sequence[Total], lowest: Mapping[str, Value]) -> str:
    videos = len(report.results.items)
    if not videos:
        return (
            certificates_headline(report.certificates)
            if report.certificates
            else "What judges said."
        )
    if not totals:
        return f"Nothing could be scored of {_many(videos, 'video')}."
    counts = Counter(value.item for value in lowest.values()).most_common(1)
    scored = len({value.item for value in report.results.values if value.outcome.ok})
    if scored > 2 and counts and counts[0][1] > 1:
        item, count = counts[0]
        many = f"{scored:,} videos" if scored == videos else f"{scored:,} scored videos"
        return (
            f"Look at {_named(item)} first: of {many} it is the lowest in {count} of "
            f"{len(lowest)} measures."
        )
    measured = _many(len(totals), "measure")
    return (
        f"{_many(videos, 'video')}, {measured}: none stands out as the worst."
        if scored > 2
        else (f"{_many(videos, 'video')}, {measured}.")
    )


def _own_lines(
    report: Report, lowest: Mapping[str, Value], place: Mapping[str, int]
) -> list[CardLine]:
    """Where to look first: the videos that are lowest in most measures, with a moment each."""
    results = report.results
    short = results.short_names
    by_item: dict[str, list[str]] = {}
    for name, value in lowest.items():
        by_item.setdefault(value.item, []).append(name)
    found = []
    for item, names in sorted(by_item.items(), key=lambda one: -len(one[1]))[:4]:
        sign = direction(results, names[0]) or 1
        line = _moment(results, results.of_item(item)[names[0]], sign, place)
        own = results.of_item(item)
        named = [
            Named(short[name], number(own[name].outcome.unwrap().value)) for name in names[:_NAMED]
        ]
        if len(names) > _NAMED:
            named.append(Named(f"and {len(names) - _NAMED} more"))
        found.append(CardLine("Lowest in", tuple(named), line.link, line.video, line.t))
    return found


def _own_row(report: Report, total: Total, place: Mapping[str, int]) -> ShownRow:
    summary = total.summary
    assert summary is not None
    dots = [
        Dot(score.value, f"{number(score.value)}\n{_named(value.item)}", place.get(value.item))
        for value in report.results.of(total.name)
        if (score := value.outcome.value) is not None
    ]
    ends = "" if summary.low is None or summary.high is None else _ends(summary.low, summary.high)
    sign = direction(report.results, total.name)
    better = {1: "higher", -1: "lower", 0: ""}[sign]
    missing = f"{total.scored}/{total.total} scored" if total.scored < total.total else ""
    numbers = [dot.value for dot in dots]
    return ShownRow(
        report.results.short_names[total.name],
        "; ".join(dict.fromkeys(filter(None, (total.info.summary, total.info.unit)))),
        GROUPS.get(total.info.group, GROUPS["other"]),
        better,
        (ShownCell(number(summary.value), ends, missing),),
        f"{number(min(numbers))} to {number(max(numbers))}"
        + ("" if sign else "; describes, neither direction is better"),
        dot_plot(
            report.results.short_names[total.name],
            [Lane("mean", summary.value, dots)],
            lower=better == "lower",
        ),
        chip=_chip(report, total.name),
    )


def _ends(low: float, high: float) -> str:
    return f"{number(low)} to {number(high)}"


def _many(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
