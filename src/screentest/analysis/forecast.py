"""Forecast: what scoring takes, before anything is started or paid.

Calls follow from what metrics declare, or from what the same metric asked in the run so far.
Tokens are estimates, of pictures by their size and of text by its length, or as in those calls.
Time is that of the run so far; without one it is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from screentest._util.machine import processors
from screentest.core.errors import NoValue
from screentest.core.item import Item
from screentest.core.metric import Calls
from screentest.core.table import Cell, Column, Table
from screentest.measure.evaluators import Evaluator, resolve
from screentest.models.chat.costs import Price, estimate_text_tokens
from screentest.models.choice import Models
from screentest.run.ledger import Call
from screentest.run.reader import RunReader
from screentest.run.session import Settings

ANSWER = 300
"""Tokens of an answer, about; a model that thinks aloud takes many more."""
_PATCH = 28 * 28
"""Pixels that one token of a picture stands for, about, as in Qwen-VL models."""
_WIDE = 9 / 16
_TEMPLATE = 500
"""Tokens of the words around pictures and prompt, about."""


def picture_tokens(long_side: int) -> int:
    """What a picture of a video takes, about."""
    return max(1, round(long_side**2 * _WIDE / _PATCH))


def text_tokens(text: str) -> int:
    """What a prompt takes with the words around it, about."""
    return estimate_text_tokens(text) + _TEMPLATE


def cost_of_tokens(price: Price | None, calls: int, tokens: int, pictures: int) -> Decimal | None:
    """What so much costs, with answers of ordinary length; None where there is no price."""
    if price is None:
        return None
    words = price.input * tokens + price.output * ANSWER * calls
    return words / 1_000_000 + price.image * pictures


def price_of(role: str, settings: Settings, models: Models) -> Price | None:
    """The price of the model that fills a role."""
    name, _, use = role.partition(".")
    try:
        return settings.prices.of(models.choice(name, use).model)
    except NoValue:  # no model was chosen yet: calls and tokens are known without one
        return None


@dataclass(frozen=True, slots=True)
class MetricForecast:
    """What one metric is to measure, and what that takes."""

    metric: str
    models: Mapping[str, str]
    videos: int
    """Still to be measured."""
    calls: int | None = 0
    """None where it cannot be known."""
    tokens: int | None = None
    cost: Decimal | None = None
    measured: bool = False
    """Whether this is by calls that the same metric has made before."""


@dataclass(frozen=True, slots=True)
class ScoreForecast:
    """What would be scored, and what it takes."""

    videos: int
    metrics: tuple[MetricForecast, ...]
    seconds: float | None = None
    """Of the run so far, for one video on one worker."""
    workers: int = 1
    remarks: tuple[str, ...] = field(default=())

    @property
    def cost(self) -> Decimal | None:
        """Of all together; None where any is not known."""
        asked = [one for one in self.metrics if one.calls != 0]
        if any(one.cost is None for one in asked):
            return None
        return sum((one.cost for one in asked if one.cost is not None), Decimal(0))

    @property
    def table(self) -> Table:
        """A row for each metric that asks a chat model, and one for all others."""
        columns = (
            Column("metric", "Metric"),
            Column("models", "Models", show=_listed),
            Column("videos", "Videos", show="{:,}".format, align="right"),
            Column("calls", "Calls", show="{:,}".format, align="right"),
            Column("tokens", "Tokens in", show="{:,}".format, align="right"),
            Column("cost", "Cost", align="right"),
            Column("measured", detail=True),
        )
        asking = [one for one in self.metrics if one.calls != 0]
        rows: list[tuple[Cell, ...]] = [
            (
                *(one.metric, dict(one.models), one.videos, one.calls, one.tokens),
                None if one.cost is None else f"{one.cost:.2f}",
                one.measured,
            )
            for one in asking
        ]
        others = [one for one in self.metrics if one.calls == 0]
        if others:
            most = max(one.videos for one in others)
            name = others[0].metric if len(others) == 1 else f"{len(others)} that ask no model"
            rows.append((name, {}, most, 0, None, None, False))
        return Table("forecast", "What would be scored", columns, rows, "\n".join(self._notes()))

    def _notes(self) -> list[str]:
        notes = ["Nothing was started. Calls at most: what was asked before is not asked again."]
        if any(one.calls is None for one in self.metrics):
            notes.append("–: not known beforehand; score a few videos into the same --out first.")
        if any(one.tokens for one in self.metrics):
            notes.append(f"Tokens are estimates; the cost is that with answers of {ANSWER} tokens.")
        if self.cost:
            notes.append(f"All together about {self.cost:.2f}.")
        left = max((one.videos for one in self.metrics), default=0)
        if self.seconds is not None and left:
            minutes = self.seconds * left / self.workers / 60
            took = f"{minutes:.0f} min" if minutes >= 1 else f"{60 * minutes:.0f} s"
            notes.append(
                f"About {took}: {self.seconds:.1f} s a video in this run so far, {self.workers} at"
                " a time."
            )
        elif left:
            notes.append("How long it takes is not known: no video of this run was scored yet.")
        return [*notes, *self.remarks]


def _listed(models: Mapping[str, str]) -> str:
    return ", ".join(f"{role}={model}" for role, model in models.items()) or "none"


def forecast(
    items: Sequence[Item],
    names: Sequence[str],
    settings: Settings,
    run: RunReader | None = None,
    *,
    workers: int | None = None,
    remarks: Sequence[str] = (),
) -> ScoreForecast:
    """The forecast; ``run`` is what was scored before into the same folder."""
    models = Models(settings.models, device=settings.device)
    past = _Past(run)
    found = tuple(_metric(resolve(name), items, settings, models, past) for name in names)
    most = min(workers or processors(), max(1, len(items)))
    return ScoreForecast(len(items), found, past.seconds, most, tuple(remarks))


class _Past:
    """What the run has: videos measured, requests by metric, seconds."""

    def __init__(self, run: RunReader | None) -> None:
        self.done: dict[str, set[str]] = {}
        self.requests: dict[str, set[str]] = {}
        tasks: dict[str, float] = {}
        for record in run.records() if run is not None else ():
            self.done.setdefault(record.key.evaluator, set()).add(record.key.item)
            self.requests.setdefault(record.key.evaluator, set()).update(record.requests)
            # Records made together share the seconds of their task.
            tasks[record.key.item] = max(tasks.get(record.key.item, 0.0), record.elapsed)
        self.calls: list[Call] = list(run.calls()) if run is not None else []
        self.seconds = sum(tasks.values()) / len(tasks) if tasks else None


def _metric(
    metric: Evaluator, items: Sequence[Item], settings: Settings, models: Models, past: _Past
) -> MetricForecast:
    done = past.done.get(metric.name, set())
    left = [item for item in items if item.id not in done]
    asked = [role for role in metric.info.roles if role.partition(".")[0] == "chat"]
    used = models.used(metric.info.roles)
    if not asked:
        return MetricForecast(metric.name, used, len(left))
    own = [call for call in past.calls if call.intent.request in past.requests.get(metric.name, ())]
    if own:
        return _as_before(metric, used, len(left), len(done), own)
    declared = metric.info.calls
    if set(asked) - {one.role for one in declared}:
        return MetricForecast(metric.name, used, len(left), None)
    bills = [_bill(one, left) for one in declared]
    prices = [price_of(one.role, settings, models) for one in declared]
    costs = [cost_of_tokens(price, *bill) for price, bill in zip(prices, bills, strict=True)]
    cost = None if None in costs else sum(filter(None, costs), Decimal(0))
    calls, tokens = sum(bill[0] for bill in bills), sum(bill[1] for bill in bills)
    return MetricForecast(metric.name, used, len(left), calls, tokens, cost)


def _bill(calls: Calls, items: Sequence[Item]) -> tuple[int, int, int]:
    """Calls, tokens and pictures."""
    count = pictures = tokens = 0
    for item in items:
        clips = len(item.script.clips) if item.script is not None else 1
        many = clips if calls.per == "clip" else 1
        count += many
        pictures += many * calls.frames
        tokens += many * (text_tokens(item.text) + calls.frames * picture_tokens(calls.long_side))
    return count, tokens, pictures


def _as_before(
    metric: Evaluator, used: Mapping[str, str], left: int, done: int, calls: Sequence[Call]
) -> MetricForecast:
    """By what each video took earlier."""
    per = left / done
    receipts = [one.receipt for one in calls if one.receipt is not None]
    counted = [one.tokens_in for one in receipts if one.tokens_in is not None]
    priced = [one.cost for one in receipts if one.cost is not None]
    tokens = round(sum(counted) / len(counted) * len(calls) * per) if counted else None
    cost = None
    if priced:
        cost = sum(priced, Decimal(0)) / len(priced) * len(calls) * Decimal(per)
    return MetricForecast(
        metric.name, used, left, round(len(calls) * per), tokens, cost, measured=True
    )
