"""Forecast: what a certification takes and what it can tell, before anything is started or paid.

Pairs, judgements and calls follow from the testbed and the judges' own declarations. Tokens are
estimates: of pictures by their size and of text by its length, or what calls of the same judge
took where the run has any. What a number of films can tell is the power of the exact test by
which certificates make their claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from screentest.analysis.forecast import (
    ANSWER,
    cost_of_tokens,
    picture_tokens,
    price_of,
    text_tokens,
)
from screentest.analysis.judges.certificate import Cost
from screentest.analysis.judges.plan import Plan
from screentest.core.aspects import Aspect, PairKind, all_aspects
from screentest.core.metric import Calls
from screentest.core.table import Cell, Column, Table
from screentest.judges.cases import Case, strongest
from screentest.judges.verdicts import judge_of, metrics_of
from screentest.measure.evaluators import Evaluator, resolve
from screentest.models.chat.costs import Price
from screentest.models.choice import Models
from screentest.run.session import Settings
from screentest.stats.films import COIN, films_needed, smallest_found
from screentest.stats.power import LEVEL, POWER

ACCURACIES = (0.6, 0.75, 0.9)


@dataclass(frozen=True, slots=True)
class JudgeForecast:
    """What one judge is put, and what that takes."""

    judge: str
    models: Mapping[str, str]
    """The model for each role that it asks for."""
    judgements: int
    videos: int
    """That are measured or shown, once each."""
    calls: int | None
    """At most: what was asked before is not asked again. None where it cannot be known."""
    tokens: int | None = None
    """That are sent, about."""
    cost: Decimal | None = None
    """About; None where no price is known."""
    measured: bool = False
    """Whether tokens and cost are those of calls that this judge has made before."""
    seconds: float | None = None
    """On one worker, by what its judgements took before; None where it has made none."""


@dataclass(frozen=True, slots=True)
class GroupForecast:
    """The pairs of one operator, or of one aspect with all its operators."""

    aspect: Aspect
    operator: str
    """Empty for the aspect as a whole."""
    pairs: int
    films: int
    finds: float | None
    """The lowest accuracy that is found on so many films by a judge that ties on its placebos;
    None: nothing is."""
    finds_at_worst: float | None
    """The same of one that tosses a coin on them."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What would be judged, what it takes, what it can tell."""

    judges: tuple[JudgeForecast, ...]
    groups: tuple[GroupForecast, ...]
    placebos: int
    films: int
    needed: Mapping[float, int]
    """By accuracy: films until such a judge is found on one operator, if it ties on placebos."""
    needed_at_worst: Mapping[float, int]
    """The same, if it tosses a coin on them."""
    unit: str = "film"
    """What is counted: of a testbed of prompts, prompts."""

    def tables(self) -> list[Table]:
        """Judges, what their films can tell, and how many it takes."""
        return [self._judges(), self._groups(), self._power()]

    def _judges(self) -> Table:
        columns = (
            Column("judge", "Judge"),
            Column("models", "Models", show=_listed),
            Column("judgements", "Judgements", show="{:,}".format, align="right"),
            Column("videos", "Videos", show="{:,}".format, align="right"),
            Column("calls", "Calls", show="{:,}".format, align="right"),
            Column("tokens", "Tokens in", show="{:,}".format, align="right"),
            Column("cost", "Cost", align="right"),
            Column("measured", detail=True),
            Column("seconds", detail=True),
        )
        rows: list[tuple[Cell, ...]] = [
            (
                *(one.judge, dict(one.models), one.judgements, one.videos, one.calls, one.tokens),
                None if one.cost is None else f"{one.cost:.2f}",
                one.measured,
                one.seconds,
            )
            for one in self.judges
        ]
        notes = ["Nothing was started. Calls at most: what was asked before is not asked again."]
        if any(one.tokens is not None for one in self.judges):
            notes.append(
                "Tokens are estimates (pictures by size, text by length, or as in earlier calls of"
                f" the same judge); the cost is that with answers of {ANSWER} tokens."
            )
        if any(one.calls is None for one in self.judges):
            notes.append("–: not known beforehand.")
        timed = [one for one in self.judges if one.seconds is not None]
        if timed:
            times = (f"{one.judge} {one.seconds / 60:.1f} min" for one in timed if one.seconds)
            notes.append(f"On one worker, by earlier judgements: {', '.join(times)}.")
        return Table("judges", "What would be judged", columns, rows, "\n".join(notes))

    def _groups(self) -> Table:
        columns = (
            Column("aspect", "Aspect"),
            Column("operator", "Operator"),
            Column("pairs", "Pairs", show="{:,}".format, align="right"),
            Column("films", f"{self.unit.capitalize()}s", show="{:,}".format, align="right"),
            Column("finds", "Finds from", show=_share, align="right"),
            Column("finds_at_worst", "At worst", show=_share, align="right"),
        )
        rows = [
            (
                *(one.aspect.value, one.operator or "all", one.pairs, one.films),
                *(one.finds, one.finds_at_worst),
            )
            for one in self.groups
        ]
        note = (
            "Finds from: a judge that is right so often is told from chance four times in five, by"
            f" the exact test over {self.unit}s, {len(self.groups)} claims corrected together"
            " (Holm). –: not even one that is always right."
        )
        if self.placebos:
            note += f"\n{_AT_WORST}"
        else:
            note += "\nThere are no placebos: who takes every edit for harm will not be found out."
        return Table("groups", f"What these {self.unit}s can tell", columns, rows, note)

    def _power(self) -> Table:
        here = max((one.films for one in self.groups), default=0)
        columns = (
            Column("right", "Right in", show=_share),
            Column(
                "films_needed",
                f"{self.unit.capitalize()}s needed",
                show="{:,}".format,
                align="right",
            ),
            Column("at_worst", "At worst", show="{:,}".format, align="right"),
            Column("more", "More than here", show=_between, align="right"),
        )
        rows = [
            (share, few, many, [max(0, few - here), max(0, many - here)])
            for share, few, many in zip(
                self.needed, self.needed.values(), self.needed_at_worst.values(), strict=True
            )
        ]
        note = f"On one of {len(self.groups)} claims; here are {here:,} {self.unit}s."
        if self.placebos:
            note += f" {_AT_WORST}"
        title = f"{self.unit.capitalize()}s until a judge is told from chance"
        return Table("power", title, columns, rows, note)


_AT_WORST = (
    "A claim has to beat each kind of the judge's own placebos, too. At worst: it tosses a coin on"
    " them; else it ties."
)


def _between(ends: Sequence[int]) -> str:
    return f"{ends[0]:,}" if ends[0] == ends[1] else f"{ends[0]:,}–{ends[1]:,}"


def _share(share: float) -> str:
    return f"{100 * share:.0f}%"


def _listed(models: Mapping[str, str]) -> str:
    return ", ".join(f"{role}={model}" for role, model in models.items()) or "none"


def forecast(plan: Plan, settings: Settings, known: Mapping[str, Cost] | None = None) -> Forecast:
    """The forecast of a plan; ``known`` is what judges took in an earlier start, by name."""
    models = Models(settings.models, device=settings.device)
    judges = [_judge(judge_of(name), plan, settings, models, known or {}) for name in plan.judges]
    apart = _apart(strongest(plan.cases))
    level = LEVEL / max(1, len(apart))
    noises = _noises(plan, list(apart))
    groups = tuple(
        GroupForecast(
            aspect,
            operator,
            len({case.id for case in own}),
            films := len({case.cluster for case in own}),
            smallest_found(films, level=level, power=POWER),
            smallest_found(films, level=level, power=POWER, noise=noise.each, kinds=noise.kinds),
        )
        for (aspect, operator), own in apart.items()
        for noise in [noises[aspect, operator]]
    )
    loudest = max(noises.values(), default=_Noise(), key=lambda one: (one.each, one.kinds))
    return Forecast(
        tuple(judges),
        groups,
        len({case.id for case in plan.cases if case.kind is PairKind.PLACEBO}),
        len({case.cluster for case in plan.cases}),
        {share: films_needed(share, level=level) for share in ACCURACIES},
        {
            share: films_needed(share, level=level, noise=loudest.each, kinds=loudest.kinds)
            for share in ACCURACIES
        },
        "prompt" if any(case.kind is PairKind.PROMPT for case in plan.cases) else "film",
    )


@dataclass(frozen=True, slots=True)
class _Noise:
    """The placebos of one group, were each the toss of a coin."""

    each: float = 0.0
    """The variance of a film's points on one kind."""
    kinds: int = 1


def _noises(plan: Plan, groups: Sequence[tuple[Aspect, str]]) -> dict[tuple[Aspect, str], _Noise]:
    """By group: how many kinds of placebo it has to beat, and how noisy a film's points on one are.

    A judge that asks a model is put each placebo in one aspect, which then counts in all.
    """
    put: dict[str, list[Case]] = {}
    for case in {case.id: case for case in plan.cases}.values():
        if case.is_harmless or case.control_of:
            put.setdefault(case.name, []).append(case)
    controls = {own[0].control_of: name for name, own in put.items() if own[0].control_of}
    harmless = set(put) - set(controls.values())

    def noise(aspect: Aspect, operator: str) -> _Noise:
        family = [controls[name] for own, name in groups if own is aspect and name in controls]
        if operator in controls:
            kinds = [put[controls[operator]]]
        else:
            kinds = [put[kind] for kind in sorted(harmless)]
            # The controls of all operators of a family are one bar.
            kinds += [[case for kind in family for case in put[kind]]] * (not operator)
        each = [len(own) / len({case.cluster for case in own}) for own in kinds if own]
        return _Noise(COIN / min(each), len(each)) if each else _Noise()

    return {(aspect, operator): noise(aspect, operator) for aspect, operator in groups}


def _apart(cases: Sequence[Case]) -> dict[tuple[Aspect, str], list[Case]]:
    """The groups of which a certificate makes claims: operators, and aspects of several."""
    found: dict[tuple[Aspect, str], list[Case]] = {}
    for aspect in all_aspects():
        own = [case for case in cases if case.aspect is aspect]
        names = list(dict.fromkeys(case.name for case in own))
        if len(names) > 1:
            found[aspect, ""] = own
        for name in names:
            found[aspect, name] = [case for case in own if case.name == name]
    return found


def _judge(
    judge: Evaluator, plan: Plan, settings: Settings, models: Models, known: Mapping[str, Cost]
) -> JudgeForecast:
    cases = plan.cases_for(judge)
    infos = [judge.info, *(resolve(spec).info for spec in metrics_of(judge))]
    roles = list(dict.fromkeys(role for info in infos for role in info.roles))
    declared = [calls for info in infos for calls in info.calls]
    repeats = 1 if metrics_of(judge) else plan.repeats
    questions = len(cases) * len(plan.orders) * repeats
    videos = len({item.id for case in cases for item in (case.first, case.second)})
    asked = {role for role in roles if role.partition(".")[0] == "chat"}
    calls: int | None = 0
    tokens: int | None = None
    cost: Decimal | None = None
    if asked and asked - {one.role for one in declared}:
        calls = None  # a metric of which nobody said how often it asks
    elif declared:
        prices = {one.role: price_of(one.role, settings, models) for one in declared}
        bills = [_bill(one, cases, len(plan.orders), repeats) for one in declared]
        calls, tokens = sum(bill.calls for bill in bills), sum(bill.tokens for bill in bills)
        costs = [bill.cost(prices[one.role]) for one, bill in zip(declared, bills, strict=True)]
        cost = None if None in costs else sum(filter(None, costs), Decimal(0))
    used = models.used(roles)
    found = JudgeForecast(judge.name, used, questions, videos, calls, tokens, cost)
    before = known.get(judge.name)
    return found if before is None else _as_before(found, before)


def _as_before(found: JudgeForecast, before: Cost) -> JudgeForecast:
    """By what each judgement took earlier, where its calls were counted."""
    if before.judgements:
        found = replace(found, seconds=before.seconds * found.judgements)
    if not before.calls or not before.judgements or before.uncounted == before.calls:
        return found
    per = found.judgements / before.judgements
    priced = before.calls - before.unpriced
    cost = None
    if before.cost is not None and priced:
        cost = before.cost * before.calls / priced * Decimal(per)
    counted = before.calls - before.uncounted
    return replace(
        found,
        calls=round(before.calls * per),
        tokens=round(before.tokens_in / counted * before.calls * per),
        cost=cost,
        measured=True,
    )


@dataclass(frozen=True, slots=True)
class _Bill:
    calls: int
    tokens: int
    pictures: int

    def cost(self, price: Price | None) -> Decimal | None:
        return cost_of_tokens(price, self.calls, self.tokens, self.pictures)


def _bill(calls: Calls, cases: Sequence[Case], orders: int, repeats: int) -> _Bill:
    """Calls of one kind: pairs in all orders, or videos and clips once each."""
    shown = []  # per call: pictures, and the text beside them
    if calls.per == "question":
        shown = [(_frames(calls, one) * 2, one.prompt) for one in cases] * orders * repeats
    elif calls.per == "video":
        seen = {(item.id, one.aspect): one for one in cases for item in (one.first, one.second)}
        shown = [(_frames(calls, one), "") for one in seen.values()] * repeats
    else:
        films = {item.id: one for one in cases for item in (one.first, one.second)}
        shown = [(calls.frames, "") for one in films.values() for _ in range(_clips(one))]
    pictures = sum(count for count, _ in shown)
    each = picture_tokens(calls.long_side)
    return _Bill(len(shown), pictures * each + _words(text for _, text in shown), pictures)


def _words(texts: Iterable[str]) -> int:
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    return sum(text_tokens(text) * many for text, many in counts.items())


def _frames(calls: Calls, case: Case) -> int:
    """Of a film as many as it has clips."""
    return min(calls.frames, _clips(case))


def _clips(case: Case) -> int:
    return max(1, len(case.first.script.clips)) if case.first.script is not None else 1
