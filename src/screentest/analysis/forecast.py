"""Forecasts: calls, tokens, cost, time, and the films or people needed, before anything starts.

Calls follow from what metrics and judges declare, or from what they asked in the run so far. Tokens
are estimates: of pictures by their size and of text by its length, or as in those calls. Time is
that of the run so far. The films that a certificate needs follow from the power of its exact test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from screentest._util.collect import grouped
from screentest._util.machine import processors
from screentest.analysis.judges.certificate import Cost
from screentest.core.aspects import Aspect, PairKind, all_aspects
from screentest.core.errors import BadOption, NoValue
from screentest.core.item import Item
from screentest.core.metric import Calls, CountsCalls
from screentest.core.outcome import attempt
from screentest.judges.cases import Case, strongest
from screentest.judges.verdicts import judge_of, metrics_of
from screentest.measure.evaluators import resolve
from screentest.models.chat.costs import Price, estimate_text_tokens
from screentest.models.choice import Models
from screentest.models.roles import CHAT
from screentest.run.reader import RunReader
from screentest.run.session import Settings
from screentest.stats.power import COIN, films_needed, smallest_found
from screentest.stats.signflip import LEVEL
from screentest.video.probe import probe

if TYPE_CHECKING:
    from screentest.analysis.judges.plan import Plan

ANSWER = 300
"""Tokens of an answer, about; a model that thinks aloud takes many more."""
_PATCH = 28 * 28
"""Pixels that one token of a picture stands for, about, as in Qwen-VL models."""
_WIDE = 9 / 16
ACCURACIES = (0.6, 0.75, 0.9)


@dataclass(frozen=True, slots=True)
class Work:
    """The work of one metric or judge."""

    name: str
    models: Mapping[str, str]
    """The model for each role that it asks for."""
    videos: int
    """Still to be measured, or shown, once each."""
    judgements: int = 0
    """Of a judge."""
    calls: int | None = 0
    """At most: what was asked before is not asked again. None where it cannot be known."""
    tokens: int | None = None
    """That are sent, about."""
    cost: Decimal | None = None
    """About; None where no price is known."""
    measured: bool = False
    """Whether tokens and cost are those of calls that were made before."""
    seconds: float | None = None
    """Of a judge, on one worker, by its earlier judgements; None where it has made none."""


@dataclass(frozen=True, slots=True)
class GroupPower:
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
class Power:
    """Power of the films of a testbed."""

    groups: tuple[GroupPower, ...]
    placebos: int
    needed: Mapping[float, int]
    """By accuracy: films until such a judge is found on one operator, if it ties on placebos."""
    needed_at_worst: Mapping[float, int]
    """The same, if it tosses a coin on them."""
    unit: str = "film"
    """Of a testbed of prompts, prompt."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The work of scoring or certifying."""

    work: tuple[Work, ...]
    seconds: float | None = None
    """For one video on one worker, in the run so far."""
    workers: int = 1
    without_video: int = 0
    layout: tuple[str, ...] = ()
    """The lines on where the inputs were found."""
    power: Power | None = None
    """Of a certification."""
    answer_tokens: int = ANSWER
    """Of each answer, for the cost."""

    @property
    def cost(self) -> Decimal | None:
        """Of all together; None where any is not known."""
        costs = [item.cost for item in self.work if item.calls != 0]
        return None if None in costs else sum(filter(None, costs), Decimal(0))


def forecast_score(
    items: Sequence[Item],
    names: Sequence[str],
    settings: Settings,
    run: RunReader | None = None,
    *,
    workers: int | None = None,
    without_video: int = 0,
    layout: Sequence[str] = (),
) -> Forecast:
    """Forecast scoring; ``run`` is what was scored before into the same folder."""
    models = Models(settings.models, device=settings.device)
    done: dict[str, set[str]] = {}
    requests: dict[str, set[str]] = {}
    tasks: dict[str, float] = {}
    for record in run.records() if run is not None else ():
        done.setdefault(record.key.evaluator, set()).add(record.key.item)
        requests.setdefault(record.key.evaluator, set()).update(record.requests)
        # Records made together share the seconds of their task.
        tasks[record.key.item] = max(tasks.get(record.key.item, 0.0), record.elapsed)
    calls = list(run.calls()) if run is not None else []
    work = []
    for metric in map(resolve, names):
        measured = done.get(metric.name, set())
        left = [item for item in items if item.id not in measured]
        entry = Work(metric.name, models.used(metric.info.roles), len(left))
        asked = [call for call in calls if call.intent.request in requests.get(metric.name, ())]
        if asked:
            work.append(_as_before(entry, Cost.of(asked, len(measured)), len(left)))
        elif isinstance(metric.thing, CountsCalls) and metric.info.roles:
            work.append(_counted(entry, metric.thing, metric.info.roles, left, settings, models))
        else:
            shown = partial(_shown_for_scores, left)
            work.append(
                _declared(entry, metric.info.roles, metric.info.calls, shown, settings, models)
            )
    seconds = sum(tasks.values()) / len(tasks) if tasks else None
    most = min(workers or processors(), max(1, len(items)))
    return Forecast(tuple(work), seconds, most, without_video, tuple(layout))


def forecast_certify(
    plan: Plan, settings: Settings, known: Mapping[str, Cost] | None = None
) -> Forecast:
    """Forecast a certification; ``known`` is what judges took in an earlier start, by name."""
    work = []
    for judge in map(judge_of, plan.judges):
        models = Models(judge.settings(settings).models, device=settings.device)
        cases = plan.cases_for(judge)
        metrics = metrics_of(judge)
        repeats = 1 if metrics else plan.repeats
        infos = [judge.info, *(resolve(spec).info for spec in metrics)]
        roles = list(dict.fromkeys(role for info in infos for role in info.roles))
        entry = Work(
            judge.name,
            models.used(roles),
            len({item.id for case in cases for item in (case.first, case.second)}),
            len(cases) * len(plan.orders) * repeats,
        )
        shown = partial(_shown_to_judges, cases, len(plan.orders), repeats)
        calls = [each for info in infos for each in info.calls]
        entry = _declared(entry, roles, calls, shown, settings, models)
        before = (known or {}).get(judge.name)
        if before is not None and before.judgements:
            entry = replace(entry, seconds=before.seconds * entry.judgements)
            if before.calls > before.uncounted:
                entry = _as_before(entry, before, entry.judgements)
        work.append(entry)
    return Forecast(tuple(work), power=_power(plan))


def _as_before(work: Work, before: Cost, amount: int) -> Work:
    """Forecast by what each video or judgement took earlier."""
    per = amount / before.judgements
    counted, priced = before.calls - before.uncounted, before.calls - before.unpriced
    cost = None
    if before.cost is not None and priced:
        cost = before.cost * before.calls / priced * Decimal(per)
    return replace(
        work,
        calls=round(before.calls * per),
        tokens=round(before.tokens_in / counted * before.calls * per) if counted else None,
        cost=cost,
        measured=True,
    )


def _counted(
    work: Work,
    metric: CountsCalls,
    roles: Sequence[str],
    items: Sequence[Item],
    settings: Settings,
    models: Models,
) -> Work:
    """Forecast by what a metric says of each item; a video that does not open costs nothing."""
    shown: dict[Calls, list[tuple[int, str]]] = {
        Calls(role, "video"): [] for role in roles if role.partition(".")[0] == CHAT
    }
    for item in items:
        video = attempt(partial(probe, item.video)).value
        calls = () if video is None else metric.calls_of(item, video)
        if calls is None:
            return replace(work, calls=None)
        for each in calls:
            listed = shown.setdefault(replace(each, frames=0, count=1), [])
            listed += [(each.frames, item.text)] * each.count
    return _declared(work, roles, list(shown), shown.__getitem__, settings, models)


Shown: TypeAlias = Callable[[Calls], Iterable[tuple[int, str]]]
"""The calls of one kind: pictures, and the text beside them."""


def _declared(
    work: Work,
    roles: Sequence[str],
    declared: Sequence[Calls],
    shown: Shown,
    settings: Settings,
    models: Models,
) -> Work:
    """Forecast by the calls that a metric or judge declares."""
    asked = {role for role in roles if role.partition(".")[0] == "chat"}
    if asked - {item.role for item in declared}:
        return replace(work, calls=None)  # it does not declare how often it asks
    if not declared or not asked:
        return work
    total, tokens, costs = 0, 0, []
    for calls in declared:
        texts = Counter(shown(calls))
        count = texts.total()
        pictures = sum(many * number for (many, _), number in texts.items())
        selected = pictures * max(1, round(calls.long_side**2 * _WIDE / _PATCH))
        selected += sum(
            (estimate_text_tokens(text) + calls.words) * many for (_, text), many in texts.items()
        )
        price = _price_of(calls.role, settings, models)
        costs.append(None if price is None else _cost(price, count, selected, pictures))
        total, tokens = total + count, tokens + selected
    cost = None if None in costs else sum(filter(None, costs), Decimal(0))
    return replace(work, calls=total, tokens=tokens, cost=cost)


def _shown_for_scores(items: Sequence[Item], calls: Calls) -> Iterator[tuple[int, str]]:
    for item in items:
        clips = len(item.script.clips) if item.script is not None else 1
        yield from [(calls.frames, item.text)] * (clips if calls.per == "clip" else 1)


def _shown_to_judges(
    cases: Sequence[Case], orders: int, repeats: int, calls: Calls
) -> list[tuple[int, str]]:
    """Pairs in all orders, or videos and clips once each; of a film as many frames as clips."""

    def clips(case: Case) -> int:
        return max(1, len(case.first.script.clips)) if case.first.script is not None else 1

    both = [(item.id, case) for case in cases for item in (case.first, case.second)]
    if calls.per == "question":
        pairs = [(min(calls.frames, clips(case)) * 2, case.prompt) for case in cases]
        return pairs * orders * repeats
    if calls.per == "video":
        videos = {(item, case.aspect): case for item, case in both}
        return [(min(calls.frames, clips(case)), "") for case in videos.values()] * repeats
    films = dict(both)
    return [(calls.frames, "") for case in films.values() for _ in range(clips(case))]


def _cost(price: Price, calls: int, tokens: int, pictures: int) -> Decimal:
    """Return the cost with answers of ordinary length."""
    words = price.input * tokens + price.output * ANSWER * calls
    return words / 1_000_000 + price.image * pictures


def _price_of(role: str, settings: Settings, models: Models) -> Price | None:
    name, _, use = role.partition(".")
    try:
        return settings.prices.of(models.choice(name, use).model)
    except NoValue:  # no model was chosen yet: calls and tokens are known without one
        return None


# Films: what a testbed can settle.


def _power(plan: Plan) -> Power:
    apart = _groups(strongest(plan.cases))
    level = LEVEL / max(1, len(apart))
    # Were each placebo the toss of a coin. An operator with a control of its own is put against it.
    fair = grouped((case.name, case) for case in plan.cases if case.is_harmless or case.control_of)
    per = [len({c.id for c in kind}) / len({c.cluster for c in kind}) for kind in fair.values()]
    noise = COIN / max(1.0, min(per)) if per else 0.0
    groups = tuple(
        GroupPower(
            aspect,
            operator,
            len({case.id for case in selected}),
            films := len({case.cluster for case in selected}),
            smallest_found(films, level=level),
            smallest_found(films, level=level, noise=noise),
        )
        for (aspect, operator), selected in apart.items()
    )
    return Power(
        groups,
        len({case.id for case in plan.cases if case.kind is PairKind.PLACEBO}),
        {share: films_needed(share, level=level) for share in ACCURACIES},
        {share: films_needed(share, level=level, noise=noise) for share in ACCURACIES},
        "prompt" if any(case.kind is PairKind.PROMPT for case in plan.cases) else "film",
    )


def _groups(cases: Sequence[Case]) -> dict[tuple[Aspect, str], list[Case]]:
    """Return the groups of which a certificate makes claims: operators, and aspects of several."""
    result: dict[tuple[Aspect, str], list[Case]] = {}
    for aspect in all_aspects():
        selected = [case for case in cases if case.aspect is aspect]
        names = list(dict.fromkeys(case.name for case in selected))
        if len(names) > 1:
            result[aspect, ""] = selected
        for name in names:
            result[aspect, name] = [case for case in selected if case.name == name]
    return result


@dataclass(frozen=True, slots=True)
class Effort:
    """The time that a person takes; replace it by what `annotate workers` measures."""

    watching: float = 1.5
    """Times the duration of the videos: they are played, and parts of them again."""
    reading: float = 15.0
    """Characters a second."""
    reading_share: float = 1.0
    """Of the text that is read at all."""
    overhead: float = 40.0
    """Seconds to get into a task and to answer."""

    def __post_init__(self) -> None:
        if min(self.watching, self.overhead) < 0 or self.reading <= 0:
            raise BadOption("invalid effort: must not be negative, and reading must be above 0")
        if not 0 <= self.reading_share <= 1:
            raise BadOption("invalid share: must be in [0, 1]")

    def seconds(self, duration: float, characters: int) -> float:
        read = characters * self.reading_share / self.reading
        return self.watching * duration + read + self.overhead


@dataclass(frozen=True, slots=True)
class PeopleForecast:
    """Time and money of people's votes. Money is in the currency of the wage."""

    units: int
    tasks: int
    minutes_per_task: float
    longest_minutes: float
    price_per_task: float
    hours: float
    cost: float


def forecast_people(
    units: Sequence[tuple[float, int]], *, votes: int, wage: float, effort: Effort, fee: float = 0.0
) -> PeopleForecast:
    """Forecast votes on units of (seconds of video, characters of text).

    ``fee`` is the platform's.

    >>> plan = forecast_people([(60.0, 600)], votes=5, wage=12.0, effort=Effort())
    >>> round(plan.minutes_per_task, 2), plan.tasks
    (2.83, 5)
    """
    if not units:
        raise BadOption("there is nothing to plan")
    if wage < 0 or fee < 0:
        raise BadOption("invalid wage or fee: must not be negative")
    times = [effort.seconds(duration, characters) for duration, characters in units]
    hours = sum(times) * votes / 3600
    cost, tasks = hours * wage * (1 + fee), len(units) * votes
    each, longest = hours * 60 / tasks, max(times) / 60
    return PeopleForecast(len(units), tasks, each, longest, cost / tasks, hours, cost)
