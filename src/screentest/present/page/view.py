"""What the page shows first: the headline, a card per model, rows with dots; made of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from screentest.analysis.models.answer import GROUPS, SENSIBLE, Answer
from screentest.analysis.models.places import ends
from screentest.analysis.models.rows import FIRST, LAST, AnswerRow
from screentest.analysis.models.text import about, number
from screentest.analysis.models.unread import unread_remark
from screentest.present.page.alone import alone
from screentest.present.page.belief import checks, uncompared
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
    counted,
    cut_id,
    facts,
    folds,
    from_to,
    strip,
)
from screentest.present.page.people import arena_headline, people_row

MOST_ALARMS = 4
"""Of a watch, on the first screen."""
MOST_CARDS = 4
"""With more models than that, only those have a card of which there is something to say."""


def page_view(report: Report, order: Sequence[str]) -> View:
    """The view of a report; ``order`` is that of the videos in the page's data."""
    place = {item: number for number, item in enumerate(order)}
    results, answer = report.results, report.answer
    short = report.labels
    sortable = tuple(
        Sortable(number, short[name], results.outputs[name].better)
        for number, name in enumerate(results.names)
        if any(value.outcome.ok for value in results.of(name))
    )
    if answer is not None:
        view = _compared(report, answer, place, sortable)
    else:
        view = alone(report, place, sortable)
    more = len(report.alarms) - MOST_ALARMS
    called = [*report.alarms[:MOST_ALARMS], *([f"{more:,} more"] if more > 0 else [])]
    return replace(view, alarms=tuple(called))


# Several models.


def _compared(
    report: Report, answer: Answer, place: Mapping[str, int], sortable: tuple[Sortable, ...]
) -> View:
    results = report.results
    lead = [f"Not measured. {' '.join(answer.unmeasured)}"] if answer.unmeasured else []
    unread = unread_remark(results)
    if unread and unread not in answer.headline:
        lead.insert(0, unread)
    more = [answer.seen, answer.looks, *uncompared(answer), answer.counted]
    people = people_row(report.people, answer) if report.people is not None else None
    if report.people is not None:
        lead.insert(0, arena_headline(report.people))
    videos = {
        model: [item for item in place if results.group(item, answer.by) == model]
        for model in answer.models
    }
    scales, crowd = scales_of(results), len(answer.models) > MOST_CARDS
    cards = [
        ModelCard(
            model,
            strip(videos[model], place),
            tuple(model_lines(report, answer, model, videos[model], place, scales, crowd=crowd)),
            series,
        )
        for series, model in enumerate(answer.models)
    ]
    # Of ten steps of a training, eight cards that say nothing would hide the two that do.
    level = [card.name for card in cards if LEVEL in card.lines]
    if crowd and level:
        cards = [card for card in cards if LEVEL not in card.lines]
    else:
        level = []
    # What people say comes first: it is what metrics stand in for.
    rows = [
        (row, _row(report, answer, row, place)) for row in (people, *answer.rows) if row is not None
    ]
    tied = tuple(shown for row, shown in rows if row.state == "tied")
    describing = tuple(shown for row, shown in rows if row.state == "describes")
    skipped = tuple(shown for row, shown in rows if row.state == "uncompared")
    crossed = f"{len(answer.models)} {answer.by}s × {counted(answer.prompts, 'prompt')}"
    return View(
        facts=facts(report, crossed),
        headline=answer.headline,
        whose="" if report.people is None else "By the metrics:",
        lead=tuple(lead),
        more=tuple(filter(None, more)),
        models=answer.models,
        cards=tuple(cards),
        level=f"No difference shown so far: {', '.join(level)}." if level else "",
        checks=tuple(checks(report, answer)),
        open_rows=tuple(shown for row, shown in rows if row.state in ("holds", "open")),
        folds=folds(
            (f"{counted(len(tied), 'measure')} in which they do not differ to speak of", tied),
            (f"{counted(len(skipped), 'measure')} in which they are not compared", skipped),
            (
                f"{counted(len(describing), 'measure')} that describe, and are not better or worse",
                describing,
            ),
        ),
        differ_title="Where they differ",
        differ_note="a dot is a prompt, a bar the mean; better is to the right; the surest first",
        videos=len(place),
        sortable=sortable,
    )


def _row(report: Report, answer: Answer, row: AnswerRow, place: Mapping[str, int]) -> ShownRow:
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
        side = report.results.group(item, answer.by)
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
    told = [code(row.title, row.label), row.info.summary, row.info.unit, row.pooled]
    return ShownRow(
        row.label,
        "; ".join(dict.fromkeys(filter(None, told))),
        GROUPS[row.group],
        row.better,
        cells,
        _says(answer, row),
        dot_plot(row.label, lanes, lower=row.better == "lower"),
        holds=row.state == "holds",
        chip=chip(report, row.name),
    )


def _says(answer: Answer, row: AnswerRow) -> str:
    if row.state == "describes":
        return "describes; neither direction is better"
    if row.state == "uncompared":
        return f"not compared: {row.why}"
    held = [pair for pair in row.pairs if pair.holds]
    if held:
        over: dict[tuple[str, str], list[str]] = {}
        for pair in held:
            over.setdefault((pair.better, pair.owed_to), []).append(
                f"{pair.worse} ({pair.ahead} of {pair.prompts})"
            )
        much = "less" if row.better == "lower" else "more"
        return "; ".join(
            f"{name} {much} than {', '.join(of)}, as {owed} have: it makes no winner"
            if owed
            else f"{name} better than {', '.join(of)}"
            for (name, owed), of in over.items()
        )
    if row.prompts == 1:
        first, last = ends(answer, row)
        alone = [f"{first} ahead"] if first else []
        alone += [f"{last} last"] if last and len(row.values) > 2 else []
        return f"{', '.join(alone)} on this one {answer.unit}" if alone else "no leader"
    # The forecast is about what the row says, of whom is first and who is last.
    sensible = row.needed is not None and row.needed <= SENSIBLE
    more = f", about {about(row.needed or 0)} {answer.unit}s might settle it" if sensible else ""
    parts = []
    if row.leader:
        words = f"{row.leader} ahead on {row.ahead} of {row.prompts}"
        parts.append(words + (more if row.says == FIRST else ""))
    if row.last and (len(row.values) > 2 or not row.leader):
        words = f"{row.last} last on {row.behind} of {row.prompts}"
        parts.append(words + (more if row.says == LAST else ""))
    seen = next((one for one in row.pairs if row.differ(one)), None)
    if seen is not None and not parts:
        parts.append(f"{seen.better} ahead of {seen.worse}{more}")
    return f"so far {'; '.join(parts)}" if parts else "no leader"
