"""What the card of a model says: what it is best and worst at, how sure that is, where to see it.

"Best at" and "worst at" are claims, and are said of what holds and of whoever is alone in that
place. All else says on how many prompts it was seen, and whom it is against.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from screentest.core.table import ARROWS
from screentest.reports.data import Report
from screentest.reports.drilldown import direction
from screentest.reports.parts import NAMED, CardLine, Named, counted, moment
from screentest.scores.answer import Answer
from screentest.scores.places import Place, behinds, firsts, lasts
from screentest.scores.rows import AnswerRow
from screentest.scores.text import number

LEVEL = CardLine("So far", (Named("last in nothing"),))


def model_lines(
    report: Report, answer: Answer, model: str, items: Sequence[str], place: Mapping[str, int]
) -> list[CardLine]:
    """What it leads in and what it is last in, the surest first; and where to see the latter, or
    else the former."""
    good, good_rows = _good(answer, model)
    bad, bad_rows = _bad(answer, model)
    if not good and not bad:
        rows = any(row.state != "describes" for row in answer.rows)
        return [LEVEL] if rows else []
    nothing = CardLine(_label(answer, "Ahead"), (Named("nothing"),))
    lines = [*(good or [nothing]), *(bad or [LEVEL])]
    look = _look(report, bad_rows, items, place, best=False)
    if look is None:
        look = _look(report, good_rows, items, place, best=True)
        look = replace(look, label="See best") if look is not None else None
    return lines if look is None else [*lines, look]


def _good(answer: Answer, model: str) -> tuple[list[CardLine], list[AnswerRow]]:
    """What it is best at, else ahead in, else first in so far."""
    found = answer.best_at(model)
    if not found.rows:
        return _seen(answer, "Ahead", firsts(answer, model), model, "next")
    named = [
        _named(row, model, f"ahead on {row.ahead} of {row.prompts}")
        if row.leader == model
        else _named(row, model, f"ahead of {pair.worse} {_mean(row, pair.worse)}")
        for row, pair in found.rows[:NAMED]
    ]
    label = "Best at" if found.sure else "Ahead in"
    return [CardLine(label, tuple(named))], [row for row, _ in found.rows]


def _bad(answer: Answer, model: str) -> tuple[list[CardLine], list[AnswerRow]]:
    """What it is worst at, else behind in, else last in so far, else behind another in so far."""
    found = answer.worst_at(model)
    if found.rows:
        named = [
            _named(row, model, f"behind {pair.better} {_mean(row, pair.better)}")
            for row, pair in found.rows[:NAMED]
        ]
        label = "Worst at" if found.sure else "Behind in"
        return [CardLine(label, tuple(named))], [row for row, _ in found.rows]
    last = lasts(answer, model)
    if last:
        return _seen(answer, "Last", last, model, "next")
    return _seen(answer, "Behind", behinds(answer, model), model, "behind")


def _seen(
    answer: Answer, label: str, places: Sequence[Place], model: str, word: str
) -> tuple[list[CardLine], list[AnswerRow]]:
    """What is seen so far: no claim, and says so."""
    if not places:
        return [], []
    named = [
        _named(one.row, model, f"{word} {one.other.model} {_mean(one.row, one.other.model)}")
        for one in places[:NAMED]
    ]
    if len(places) > NAMED:
        named.append(Named(f"and {len(places) - NAMED} more"))
    several = f"on {counted(answer.prompts, answer.unit)}, so not settled"
    note = several if answer.prompts > 1 else ""
    line = CardLine(_label(answer, label), tuple(named), note=note)
    return [line], [place.row for place in places]


def _label(answer: Answer, word: str) -> str:
    return f"{word} so far" if answer.prompts > 1 else f"{word} on this one {answer.unit}"


def _named(row: AnswerRow, model: str, beside: str) -> Named:
    return Named(row.merit, _mean(row, model), beside, ARROWS[row.better])


def _mean(row: AnswerRow, model: str) -> str:
    mean = row.of(model).mean
    return "–" if mean is None else number(mean)


def _look(
    report: Report,
    rows: Sequence[AnswerRow],
    items: Sequence[str],
    place: Mapping[str, int],
    *,
    best: bool,
) -> CardLine | None:
    """The video that is highest or lowest in the first of some measures, at that moment."""
    results = report.results
    found = []
    for row in rows[:NAMED]:
        sign = (direction(results, row.name) or 1) * (-1 if best else 1)
        known = [
            value
            for item in items
            if (value := results.of_item(item).get(row.name)) is not None and value.outcome.ok
        ]
        if known:
            chosen = min(known, key=lambda value: sign * value.outcome.unwrap().value)
            found.append(moment(report, chosen, sign, place))
    # Of the whole clip there may be one number alone; a moment is better to look at.
    return next((look for look in found if look.t is not None), found[0] if found else None)
