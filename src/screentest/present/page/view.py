"""The first screens of the page: the headline, a card per model, rows with dots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from screentest._util.text import plural
from screentest.analysis.models.comparison import ModelComparison
from screentest.analysis.models.rows import MetricRow, Part, State
from screentest.present.page.alone import alone
from screentest.present.page.belief import CHECKED, checks
from screentest.present.page.cards import LEVEL, model_lines
from screentest.present.page.data import Report
from screentest.present.page.dots import Dot, Lane, dot_plot
from screentest.present.page.drilldown import scales_of
from screentest.present.page.parts import (
    ModelCard,
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
    shown_line,
    strip,
)
from screentest.present.page.people import arena_headline, people_row
from screentest.present.screens import (
    artefact_words,
    comparison_screen,
    row_place,
    why_words,
    wins_words,
)
from screentest.present.text import label, number, words

FIRST = ("unreadable", "not covered")
"""Lines of the first screen that stand right below the headline; others are folded."""
MOST_ALARMS = 4
"""Of a watch, on the first screen."""
MOST_CARDS = 4
"""With more models than that, only those have a card of which there is something to say."""


def page_view(report: Report, order: Sequence[str]) -> View:
    """The view of a report; ``order`` is that of the videos in the page's data."""
    place = {item: number for number, item in enumerate(order)}
    results, comparison = report.results, report.comparison
    short = report.labels
    sortable = tuple(
        Sortable(number, short[name], results.outputs[name].better)
        for number, name in enumerate(results.names)
        if any(value.outcome.ok for value in results.of(name))
    )
    if comparison is not None:
        view = _compared(report, comparison, place, sortable)
    else:
        view = alone(report, place, sortable)
    more = len(report.alarms) - MOST_ALARMS
    called = [*report.alarms[:MOST_ALARMS], *([f"{more:,} more"] if more > 0 else [])]
    return replace(view, alarms=tuple(called))


# Several models.


def _compared(
    report: Report,
    comparison: ModelComparison,
    place: Mapping[str, int],
    sortable: tuple[Sortable, ...],
) -> View:
    results = report.results
    screen = comparison_screen(comparison)
    lead = [shown_line(*line) for line in screen.lines if line[0] in FIRST]
    more = [shown_line(*line) for line in screen.lines if line[0] not in (*FIRST, *CHECKED)]
    people = people_row(report.people, comparison) if report.people is not None else None
    if report.people is not None:
        lead.insert(0, arena_headline(report.people))
    videos = {
        model: [item for item in place if results.group(item, comparison.by) == model]
        for model in comparison.models
    }
    scales, crowd = scales_of(results), len(comparison.models) > MOST_CARDS
    cards = [
        ModelCard(
            model,
            strip(videos[model], place),
            tuple(
                model_lines(report, comparison, model, videos[model], place, scales, crowd=crowd)
            ),
            series,
        )
        for series, model in enumerate(comparison.models)
    ]
    # Of ten steps of a training, eight cards that say nothing would hide the two that do.
    level = [card.name for card in cards if LEVEL in card.lines]
    if crowd and level:
        cards = [card for card in cards if LEVEL not in card.lines]
    else:
        level = []
    # What people say comes first: it is what metrics stand in for.
    rows = [
        (row, _row(report, comparison, row, place))
        for row in (people, *comparison.rows)
        if row is not None
    ]
    tied = tuple(shown for row, shown in rows if row.state is State.SAME)
    describing = tuple(shown for row, shown in rows if row.state is State.DESCRIBED)
    skipped = tuple(shown for row, shown in rows if row.state is State.NOT_COMPARED)
    crossed = f"{len(comparison.models)} {comparison.by}s × {plural(comparison.prompts, 'prompt')}"
    return View(
        facts=facts(report, crossed),
        headline=screen.headline,
        whose="" if report.people is None else "By the metrics:",
        lead=tuple(lead),
        more=tuple(more),
        models=comparison.models,
        cards=tuple(cards),
        level=f"No difference shown so far: {', '.join(level)}." if level else "",
        checks=tuple(checks(report, comparison)),
        open_rows=tuple(
            shown for row, shown in rows if row.state in (State.SIGNIFICANT, State.UNDECIDED)
        ),
        folds=folds(
            (f"{plural(len(tied), 'metric')}: no significant difference", tied),
            (f"{plural(len(skipped), 'metric')} not compared", skipped),
            (
                f"{plural(len(describing), 'metric')} that only describe",
                describing,
            ),
        ),
        differ_title="Where they differ",
        differ_note="a dot is a prompt, a bar the mean; better is to the right; the surest first",
        videos=len(place),
        sortable=sortable,
    )


def _row(
    report: Report, comparison: ModelComparison, row: MetricRow, place: Mapping[str, int]
) -> ShownRow:
    cells = tuple(
        ShownCell(
            "–" if one.mean is None else number(one.mean),
            "" if one.interval is None else from_to(one.interval.low, one.interval.high),
            f"{one.scored}/{one.total} scored" if one.scored < one.total else "",
            one.best,
        )
        for one in row.values
    )
    shown: dict[tuple[str, str], int] = {}
    for item, number_ in place.items():
        side = report.results.group(item, comparison.by)
        shown.setdefault((side, report.results.unit(item)), number_)
    lanes = [
        Lane(
            one.model,
            one.mean,
            [
                Dot(
                    value,
                    f"{one.model}: {number(value)}\n{cut_id(case)}",
                    shown.get((one.model, case)),
                )
                for case, value in one.prompts.items()
            ],
        )
        for one in row.values
    ]
    name = report.labels[row.name] if row.name in report.labels else label(row.name, row.info)
    short = report.results.short_names.get(row.name, row.name)
    part = "" if row.part is Part.WHOLE else words("parts")[row.part]
    told = [code(short, name), row.info.summary, row.info.unit, part]
    return ShownRow(
        name,
        "; ".join(dict.fromkeys(filter(None, told))),
        row.group.capitalize(),
        row.better,
        cells,
        _says(comparison, row),
        dot_plot(name, lanes, lower=row.better == "lower"),
        holds=row.state is State.SIGNIFICANT,
        chip=chip(report, row.name),
    )


def _says(comparison: ModelComparison, row: MetricRow) -> str:
    if row.state is State.DESCRIBED:
        return "only describes"
    if row.why is not None:
        return f"not compared: {why_words(row.why)}"
    shown = [pair for pair in row.pairs if pair.significant]
    if shown:
        over: dict[tuple[str, str], list[str]] = {}
        for pair in shown:
            artefact = pair.explanation
            why = f" ({artefact_words(artefact, {})})" if artefact else ""
            over.setdefault((pair.better, why), []).append(
                f"{pair.worse} ({pair.ahead} of {pair.prompts})"
            )
        return "; ".join(
            f"{name} better than {', '.join(of)}{why}" for (name, why), of in over.items()
        )
    kind, model, count = row_place(comparison, row)
    wins = wins_words(comparison, row, count)
    return f"{model} {kind} on {wins}" if model else "no leader"
