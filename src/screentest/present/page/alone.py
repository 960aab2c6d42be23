"""The first screens where there is one group alone: how good are my videos?"""

from __future__ import annotations

from collections.abc import Mapping

from screentest._util.text import plural
from screentest.analysis.models.coverage import lowest_videos, not_covered, unread_videos
from screentest.analysis.results import Total, Value
from screentest.core.table import ARROWS
from screentest.present.certificates import headline_of_all
from screentest.present.page.belief import checks
from screentest.present.page.data import Report
from screentest.present.page.dots import Dot, Lane, dot_plot
from screentest.present.page.drilldown import direction
from screentest.present.page.parts import (
    NAMED,
    CardLine,
    ModelCard,
    Named,
    ShownCell,
    ShownRow,
    Sortable,
    View,
    chip,
    code,
    cut_id,
    facts,
    folds,
    from_to,
    moment,
    shown_line,
    strip,
)
from screentest.present.screens import not_covered_words, scores_headline, unread_words
from screentest.present.text import number


def alone(
    report: Report,
    place: Mapping[str, int],
    sortable: tuple[Sortable, ...],
) -> View:
    """The view of videos that have no rivals."""
    results = report.results
    totals = [total for total in report.totals if total.summary is not None]
    items = list(place)
    lowest = lowest_videos(results, report.pool)
    lead = []
    if gone := unread_videos(results):
        lead.append(shown_line("unreadable", unread_words(gone, len(results.items))))
    if items and (uncovered := not_covered_words(not_covered(results))):
        lead.append(shown_line("not covered", uncovered))
    rows = sorted(
        (_own_row(report, total, place) for total in totals), key=lambda row: row.group_order
    )
    describing = tuple(row for row in rows if not row.better)
    card = ModelCard("", strip(items, place), tuple(_own_lines(report, lowest, place)))
    return View(
        facts=facts(report, ""),
        headline=_own_headline(report),
        lead=tuple(lead),
        models=(report.by or "all",),
        cards=(card,) if items and len(items) > 1 else (),
        checks=tuple(checks(report, None)),
        open_rows=tuple(row for row in rows if row.better),
        folds=folds(
            (
                f"{plural(len(describing), 'metric')} that only describe",
                describing,
            ),
        ),
        differ_title="Where they stand",
        differ_note="a dot is a video, the bar their mean; better is to the right",
        videos=len(place),
        sortable=sortable,
    )


def _own_headline(report: Report) -> str:
    if report.results.items:
        return scores_headline(report.results, report.pool)
    if report.certificates:
        return headline_of_all(report.certificates)
    return "Verdicts of judges"


def _own_lines(
    report: Report, lowest: Mapping[str, Value], place: Mapping[str, int]
) -> list[CardLine]:
    """Where to look first: the videos that are worst in most measures, with a moment each."""
    results = report.results
    short = report.labels
    by_item: dict[str, list[str]] = {}
    for name, value in lowest.items():
        by_item.setdefault(value.item, []).append(name)
    found = []
    for item, names in sorted(by_item.items(), key=lambda one: -len(one[1]))[:4]:
        sign = direction(results, names[0]) or 1
        line = moment(report, results.of_item(item)[names[0]], sign, place)
        own = results.of_item(item)
        named = [
            Named(
                short[name],
                number(own[name].outcome.unwrap().value),
                arrow=ARROWS[results.outputs[name].better],
            )
            for name in names[:NAMED]
        ]
        if len(names) > NAMED:
            named.append(Named(f"and {len(names) - NAMED} more"))
        found.append(CardLine("Worst in", tuple(named), line.link, line.video, line.t))
    return found


def _own_row(report: Report, total: Total, place: Mapping[str, int]) -> ShownRow:
    summary = total.summary
    assert summary is not None
    dots = [
        Dot(score.value, f"{number(score.value)}\n{cut_id(value.item)}", place.get(value.item))
        for value in report.results.of(total.name)
        if (score := value.outcome.value) is not None
    ]
    ends = "" if summary.low is None or summary.high is None else from_to(summary.low, summary.high)
    sign = direction(report.results, total.name)
    better = {1: "higher", -1: "lower", 0: ""}[sign]
    missing = f"{total.scored}/{total.total} scored" if total.scored < total.total else ""
    numbers = [dot.value for dot in dots]
    words = report.labels[total.name]
    about = [code(report.results.short_names[total.name], words), total.info.summary]
    return ShownRow(
        words,
        "; ".join(dict.fromkeys(filter(None, [*about, total.info.unit]))),
        (report.results.traits_of(total.name).group or "other").capitalize(),
        better,
        (ShownCell(number(summary.value), ends, missing),),
        f"{number(min(numbers))} to {number(max(numbers))}" + ("" if sign else "; only describes"),
        dot_plot(
            words,
            [Lane("mean", summary.value, dots)],
            lower=better == "lower",
        ),
        chip=chip(report, total.name),
    )
