"""What the card of a model says: what it is best and worst at, how sure that is, where to see it.

Each label means one thing: "Best at" and "Worst at", that it is surely ahead of all others, or
behind them; "Ahead of X in" and "Behind X in", that this is sure of X; "So far", that it is not
settled. A lead that is owed to a fault is marked, and makes nobody best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from screentest.analysis.models.answer import Answer
from screentest.analysis.models.places import Place, behinds, firsts, lasts
from screentest.analysis.models.rows import AnswerRow, ModelPair, pair_surety
from screentest.analysis.models.text import listed, number, spread_out
from screentest.present.page.data import Report
from screentest.present.page.drilldown import Scales, direction, furthest
from screentest.present.page.parts import (
    NAMED,
    CardLine,
    Named,
    counted,
    cut_id,
    moment,
    time_words,
)
from screentest.present.page.sidebyside import excuse

LEVEL = CardLine("So far", (Named("no difference shown"),))
_NOTHING = (Named("nothing shown so far"),)
_LONGEST = 24
"""Letters of another model's name in a label."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A measure in which a model is surely ahead of others, or behind them."""

    row: AnswerRow
    pair: ModelPair
    """The surest difference."""
    others: tuple[str, ...]
    whole: bool
    """Whether these are all the others that have a value."""

    @property
    def owed_to(self) -> str:
        return self.pair.owed_to


def model_lines(
    report: Report,
    answer: Answer,
    model: str,
    items: Sequence[str],
    place: Mapping[str, int],
    scales: Scales,
    *,
    crowd: bool = False,
) -> list[CardLine]:
    """What it is ahead in and what it is behind in, the surest first; and where to see the latter,
    or else where its videos fall furthest.

    In a ``crowd`` of models, one of which no difference is shown has no card, and nothing to see.
    """
    good = _good(answer, model)
    bad, rows = _bad(answer, model)
    if not good and not bad:
        if all(row.state == "describes" for row in answer.rows):
            return []
        lines = [LEVEL]
        if crowd:
            return lines
    else:
        lines = [
            *(good or [CardLine("Ahead in", _NOTHING)]),
            *(bad or [CardLine("Behind in", _NOTHING)]),
        ]
    look = _look(report, rows, items, place) or _striking(report, model, items, place, scales)
    return [*lines, look]


def _good(answer: Answer, model: str) -> list[CardLine]:
    """What it is best at and surely ahead in, else first in so far; last what it owes to a
    fault."""
    held = list(_held(answer, model))
    earned = [one for one in held if not one.owed_to][:NAMED]
    owed = [one for one in held if one.owed_to]
    if earned:
        return _sure([*earned, *owed][:NAMED], model)
    lines, _ = _seen(answer, "ahead", firsts(answer, model), model)
    return [*lines, *_sure(owed[:NAMED], model)]


def _bad(answer: Answer, model: str) -> tuple[list[CardLine], list[AnswerRow]]:
    """What it is worst at and surely behind in, else last in so far, else behind in so far; with
    the measures."""
    held = list(_held(answer, model, worse=True))
    if held:
        return _sure(held[:NAMED], model, worse=True), [one.row for one in held]
    if last := lasts(answer, model):
        return _seen(answer, "last", last, model)
    return _seen(answer, "behind", behinds(answer, model), model)


def _held(answer: Answer, model: str, *, worse: bool = False) -> Iterator[_Held]:
    """What is sure of a model: of all others first, and what it owes to a fault last."""
    found = []
    for row in answer.rows:
        others = row.under(model) if worse else row.over(model)
        own = [
            pair for pair in row.pairs if pair.holds and model == (pair.better, pair.worse)[worse]
        ]
        pairs = [pair for pair in own if not pair.owed_to]
        if pairs:
            found.append(_Held(row, pairs[0], others, len(others) == row.rivals))
        elif own and not worse:  # who is behind by the fault of another is not behind
            names = {pair.worse for pair in own}
            others = tuple(one.model for one in row.values if one.model in names)
            found.append(_Held(row, own[0], others, whole=False))
    found.sort(
        key=lambda one: (
            *(bool(one.owed_to), not one.whole, *pair_surety(one.pair)),
            -one.pair.difference / (one.row.spread or 1.0),
        )
    )
    for kind in (True, False):
        same = [one for one in found if one.whole is kind]
        yield from spread_out(same, lambda one: one.row.metric)


def _sure(held: Sequence[_Held], model: str, *, worse: bool = False) -> list[CardLine]:
    lines: dict[str, list[Named]] = {}
    for one in held:
        row, names = one.row, listed([_short(name) for name in one.others], most=2)
        if 2 < len(one.others) == row.rivals:
            names = "all others"
        if one.whole:
            label = "Worst at" if worse else "Best at"
            beside = f"next {_with_mean(row, _nearest(row, model))}"
        else:
            label = f"Behind {names} in" if worse else f"Ahead of {names} in"
            beside = ", ".join(_with_mean(row, name) for name in one.others[:2])
        fault = f"as {one.owed_to} have: it makes no winner" if one.owed_to else ""
        lines.setdefault(label, []).append(_named(row, model, beside, fault, worse=worse))
    return [CardLine(label, tuple(named)) for label, named in lines.items()]


def _seen(
    answer: Answer, label: str, places: Sequence[Place], model: str
) -> tuple[list[CardLine], list[AnswerRow]]:
    """What is seen so far: no claim, and says so."""
    if not places:
        return [], []
    word = "" if label == "behind" else "next "
    named = [
        _named(
            one.row,
            model,
            f"{word}{_with_mean(one.row, one.other.model)}",
            worse=label != "ahead",
        )
        for one in places[:NAMED]
    ]
    if len(places) > NAMED:
        named.append(Named(f"and {len(places) - NAMED} more"))
    counts = sorted({one.row.prompts for one in places[:NAMED]})
    least = f"{counts[0]:,} to " if len(counts) > 1 else ""
    on = f"{least}{counted(counts[-1], answer.unit)}" if counts[-1] > 1 else f"one {answer.unit}"
    line = CardLine(f"So far {label} in", tuple(named), note=f"on {on}; not settled")
    return [line], [place.row for place in places]


def _named(
    row: AnswerRow, model: str, beside: str, fault: str = "", *, worse: bool = False
) -> Named:
    """A measure in words; of one where less is better it is said, since an arrow beside "best" and
    "worst" can be read both ways."""
    own, lower = _mean(row, model), "lower is better" if row.better == "lower" else ""
    if worse or row.merit == row.label:
        name = row.label
    else:
        # The number is not of the merit: natural look, of which unnatural look is measured.
        name, beside, own, lower = row.merit, f"{row.label} {own}, {beside}", "", ""
    said = "; ".join(filter(None, [beside, fault or lower]))
    return Named(f"{name} °" if fault else name, own, said)


def _nearest(row: AnswerRow, model: str) -> str:
    own = row.of(model).mean or 0.0
    others = [one for one in row.values if one.mean is not None and one.model != model]
    return min(others, key=lambda one: abs((one.mean or 0.0) - own)).model


def _with_mean(row: AnswerRow, model: str) -> str:
    return f"{_short(model)} {_mean(row, model)}"


def _mean(row: AnswerRow, model: str) -> str:
    mean = row.of(model).mean
    return "–" if mean is None else number(mean)


def _short(model: str) -> str:
    return model if len(model) <= _LONGEST else f"{model[: _LONGEST - 1]}…"


# Where to look.


def _look(
    report: Report, rows: Sequence[AnswerRow], items: Sequence[str], place: Mapping[str, int]
) -> CardLine | None:
    """The video that is worst in the first of some measures, at that moment."""
    results = report.results
    found = []
    for row in rows[:NAMED]:
        sign = direction(results, row.name) or 1
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


def _striking(
    report: Report,
    model: str,
    items: Sequence[str],
    place: Mapping[str, int],
    scales: Scales,
) -> CardLine:
    """Of a model that is behind in nothing: where one of its videos falls furthest; else all of
    them beside the others."""
    rows = report.answer.rows if report.answer is not None else ()
    excused = {row.name for row in rows if excuse(row, model)}
    found = furthest(report.results, items, scales, excused)
    if found is None:
        link = "its videos beside the others"
        return CardLine("See", (), link, anchor="#side")
    item, time, low = found
    t = round(float(time), 3)
    named = Named(report.labels[low.name], beside=low.note[:80])
    link = f"{cut_id(item)} at {time_words(t)}"
    return CardLine("See", (named,), link, place[item], t, "its most striking moment; no claim")
