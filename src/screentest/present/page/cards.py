"""What the card of a model says: what it is best and worst at, how sure that is, where to see it.

Each label means one thing: "Best at" and "Worst at", that it is surely ahead of all others, or
behind them; "Ahead of X in" and "Behind X in", that this is sure of X; "So far", that it is not
settled. A lead that is owed to a fault is marked, and makes nobody best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from screentest._util.text import plural
from screentest.analysis.models.comparison import ModelComparison
from screentest.analysis.models.places import Rank, behind_in, first_in, last_in, spread_out
from screentest.analysis.models.rows import Explanation, MetricRow, ModelPair, State, pair_order
from screentest.present.page.data import Report
from screentest.present.page.drilldown import Scales, direction, furthest
from screentest.present.page.parts import (
    NAMED,
    CardLine,
    Named,
    cut_id,
    moment,
    time_words,
)
from screentest.present.page.sidebyside import excuse
from screentest.present.screens import artefact_words
from screentest.present.text import label, names, number

LEVEL = CardLine("So far", (Named("no difference shown"),))
_NOTHING = (Named("nothing shown so far"),)
_LONGEST = 24
"""Letters of another model's name in a label."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A measure in which a model is surely ahead of others, or behind them."""

    row: MetricRow
    pair: ModelPair
    """The surest difference."""
    others: tuple[str, ...]
    whole: bool
    """Whether these are all the others that have a value."""

    @property
    def explanation(self) -> Explanation | None:
        return self.pair.explanation


def model_lines(
    report: Report,
    comparison: ModelComparison,
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
    good = _good(comparison, model)
    bad, rows = _bad(comparison, model)
    if not good and not bad:
        if all(row.state is State.DESCRIBED for row in comparison.rows):
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


def _good(comparison: ModelComparison, model: str) -> list[CardLine]:
    """What it is best at and surely ahead in, else first in so far; last what it owes to a
    fault."""
    held = list(_held(comparison, model))
    earned = [one for one in held if not one.explanation][:NAMED]
    owed = [one for one in held if one.explanation]
    if earned:
        return _sure([*earned, *owed][:NAMED], model)
    lines, _ = _seen(comparison, "ahead", first_in(comparison, model), model)
    return [*lines, *_sure(owed[:NAMED], model)]


def _bad(comparison: ModelComparison, model: str) -> tuple[list[CardLine], list[MetricRow]]:
    """What it is worst at and surely behind in, else last in so far, else behind in so far; with
    the measures."""
    held = list(_held(comparison, model, worse=True))
    if held:
        return _sure(held[:NAMED], model, worse=True), [one.row for one in held]
    if last := last_in(comparison, model):
        return _seen(comparison, "last", last, model)
    return _seen(comparison, "behind", behind_in(comparison, model), model)


def _held(comparison: ModelComparison, model: str, *, worse: bool = False) -> Iterator[_Held]:
    """What is sure of a model: of all others first, and what it owes to a fault last."""
    found = []
    for row in comparison.rows:
        others = row.under(model) if worse else row.over(model)
        own = [
            pair
            for pair in row.pairs
            if pair.significant and model == (pair.better, pair.worse)[worse]
        ]
        pairs = [pair for pair in own if not pair.explanation]
        if pairs:
            found.append(_Held(row, pairs[0], others, len(others) == row.rivals))
        elif own and not worse:  # who is behind by the fault of another is not behind
            beaten = {pair.worse for pair in own}
            others = tuple(one.model for one in row.values if one.model in beaten)
            found.append(_Held(row, own[0], others, whole=False))
    found.sort(
        key=lambda one: (
            *(bool(one.explanation), not one.whole, *pair_order(one.pair)),
            -one.pair.difference / (one.row.spread or 1.0),
        )
    )
    for kind in (True, False):
        same = [one for one in found if one.whole is kind]
        yield from spread_out(same, lambda one: one.row.metric)


def _sure(held: Sequence[_Held], model: str, *, worse: bool = False) -> list[CardLine]:
    lines: dict[str, list[Named]] = {}
    for one in held:
        row, others = one.row, names([_short(name) for name in one.others], most=2)
        if 2 < len(one.others) == row.rivals:
            others = "all others"
        if one.whole:
            title = "Worst at" if worse else "Best at"
            beside = f"next {_with_mean(row, _nearest(row, model))}"
        else:
            title = f"Behind {others} in" if worse else f"Ahead of {others} in"
            beside = ", ".join(_with_mean(row, name) for name in one.others[:2])
        why = one.explanation
        fault = artefact_words(why, {}) if why is not None else ""
        lines.setdefault(title, []).append(_named(row, model, beside, fault))
    return [CardLine(title, tuple(named)) for title, named in lines.items()]


def _seen(
    comparison: ModelComparison, standing: str, places: Sequence[Rank], model: str
) -> tuple[list[CardLine], list[MetricRow]]:
    """What is seen so far: no claim, and says so."""
    if not places:
        return [], []
    word = "" if standing == "behind" else "next "
    named = [
        _named(
            one.row,
            model,
            f"{word}{_with_mean(one.row, one.other.model)}",
        )
        for one in places[:NAMED]
    ]
    if len(places) > NAMED:
        named.append(Named(f"and {len(places) - NAMED} more"))
    counts = sorted({one.row.prompts for one in places[:NAMED]})
    least = f"{counts[0]:,} to " if len(counts) > 1 else ""
    on = (
        f"{least}{plural(counts[-1], comparison.unit)}"
        if counts[-1] > 1
        else f"one {comparison.unit}"
    )
    line = CardLine(f"So far {standing} in", tuple(named), note=f"on {on}; not settled")
    return [line], [place.row for place in places]


def _named(row: MetricRow, model: str, beside: str, fault: str = "") -> Named:
    """A measure in words; of one where less is better it is said, since an arrow beside "best" and
    "worst" can be read both ways."""
    own, lower = _mean(row, model), "lower is better" if row.better == "lower" else ""
    name = label(row.name, row.info, row.stand_ins)
    said = "; ".join(filter(None, [beside, fault or lower]))
    return Named(f"{name} °" if fault else name, own, said)


def _nearest(row: MetricRow, model: str) -> str:
    own = row.of(model).mean or 0.0
    others = [one for one in row.values if one.mean is not None and one.model != model]
    return min(others, key=lambda one: abs((one.mean or 0.0) - own)).model


def _with_mean(row: MetricRow, model: str) -> str:
    return f"{_short(model)} {_mean(row, model)}"


def _mean(row: MetricRow, model: str) -> str:
    mean = row.of(model).mean
    return "–" if mean is None else number(mean)


def _short(model: str) -> str:
    return model if len(model) <= _LONGEST else f"{model[: _LONGEST - 1]}…"


# Where to look.


def _look(
    report: Report, rows: Sequence[MetricRow], items: Sequence[str], place: Mapping[str, int]
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
    rows = report.comparison.rows if report.comparison is not None else ()
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
