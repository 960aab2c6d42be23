"""Forecasts as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Any

from screentest.core.table import Column, Table
from screentest.present.text import columns, say

if TYPE_CHECKING:  # `score` loads this module, and not what a forecast is made with
    from decimal import Decimal

    from screentest.analysis.forecast import Forecast, PeopleForecast, Power, Work

_COUNT = "{:,}".format


def forecast_tables(forecast: Forecast) -> list[Table]:
    """Return the work, and what its films can settle."""
    power = forecast.power
    if power is None:
        return [_score_table(forecast)]
    title, note = "What would be judged", "\n".join(_notes(forecast))
    shown = columns("judges", _OF, models=_models)
    table = Table.of("judges", title, shown, forecast.work, note)
    return [table, _groups(power), _needed(power)]


def _cost(work: Work) -> str | None:
    free = "0" if work.calls == 0 else None
    return free if work.cost is None else f"{work.cost:.2f}"


_OF: Mapping[str, Callable[[Work], Any]] = {
    "tokens": lambda work: work.tokens if work.calls != 0 else 0,
    "cost": _cost,
}


def _score_table(forecast: Forecast) -> Table:
    """Return a row for each metric that asks a chat model, and one for all others."""
    asking = [item for item in forecast.work if item.calls != 0]
    others = [item for item in forecast.work if item.calls == 0]
    if others:
        name = others[0].name if len(others) == 1 else f"{len(others)} without a chat model"
        videos = max(other.videos for other in others)
        rest = replace(others[0], name=name, models={}, videos=videos, tokens=None, cost=None)
        asking.append(replace(rest, measured=False))
    note = "\n".join(_notes(forecast))
    return Table.of(
        "forecast", "What would be scored", columns("forecast", _OF, models=_models), asking, note
    )


def _notes(forecast: Forecast) -> Iterator[str]:
    yield say("nothing_started")
    if any(item.calls is None for item in forecast.work):
        yield "–: unknown before the first calls"
    elif any(item.calls and item.cost is None for item in forecast.work):
        yield "–: the price is not known (--prices)"
    if any(item.tokens for item in forecast.work):
        yield f"Tokens: estimated; cost: with answers of {forecast.answer_tokens} tokens"
    if forecast.cost:
        yield f"Total: about {forecast.cost:.2f}"
    timed = [f"{item.name} {item.seconds / 60:.1f} min" for item in forecast.work if item.seconds]
    left = max((item.videos for item in forecast.work), default=0)
    if timed:
        yield f"Time on one worker: {', '.join(timed)}"
    elif forecast.power is None and left:
        yield f"Time: {_time(forecast, left)}"
    if forecast.without_video:
        yield f"Without a video: {forecast.without_video:,}"
    yield from forecast.layout


def _time(forecast: Forecast, left: int) -> str:
    if forecast.seconds is None:
        return "unknown (no video scored yet)"
    minutes = forecast.seconds * left / forecast.workers / 60
    took = f"{minutes:.0f} min" if minutes >= 1 else f"{60 * minutes:.0f} s"
    return f"about {took} ({forecast.seconds:.1f} s a video so far, {forecast.workers} at a time)"


def _groups(power: Power) -> Table:
    columns = (
        Column("aspect", "Aspect"),
        Column("operator", "Operator", of=lambda group: group.operator or "all"),
        Column("pairs", "Pairs", show=_COUNT, align="right"),
        Column("films", f"{power.unit.capitalize()}s", show=_COUNT, align="right"),
        Column("finds", "Finds from", show="{:.0%}".format, align="right"),
        Column("finds_at_worst", "At worst", show="{:.0%}".format, align="right"),
    )
    note = (
        "Finds from: the accuracy detected with 80% power"
        f" (claims: {len(power.groups)}, Holm). –: not even 100%."
    )
    last = say("at_worst") if power.placebos else "No placebos: bias against edits unknown."
    title = f"What these {power.unit}s can settle"
    return Table.of("groups", title, columns, power.groups, f"{note}\n{last}")


def _needed(power: Power) -> Table:
    here = max((group.films for group in power.groups), default=0)
    units = f"{power.unit.capitalize()}s"
    columns = (
        Column("right", "Accuracy", show="{:.0%}".format),
        Column("films_needed", f"{units} needed", show=_COUNT, align="right"),
        Column("at_worst", "At worst", show=_COUNT, align="right"),
        Column("more", "More than here", show=_range, align="right"),
    )
    rows = [
        (share, few, power.needed_at_worst[share], [max(0, few - here), max(0, many - here)])
        for share, few in power.needed.items()
        for many in [power.needed_at_worst[share]]
    ]
    note = f"For one claim of {len(power.groups)}. {units} here: {here:,}."
    title = f"{units} until a judge is distinguished from chance"
    return Table("power", title, columns, rows, note)


def _range(ends: Sequence[int]) -> str:
    return f"{ends[0]:,}" if ends[0] == ends[1] else f"{ends[0]:,}–{ends[1]:,}"


def _models(models: Mapping[str, str]) -> str:
    return ", ".join(f"{use}: {one.partition(',')[0]}" for use, one in models.items()) or "none"


def people_table(plans: Sequence[tuple[str, PeopleForecast]], currency: str) -> Table:
    """Time and money of people's votes, by aspect."""
    money = f" {currency}" if currency else ""
    shown = columns("plan", cost=lambda cost: f"{cost:,.2f}{money}")
    return Table("plan", "Plan", shown, [(name, *astuple(plan)) for name, plan in plans])


def load_table(loads: Sequence[Mapping[str, Any]], costs: Sequence[Decimal | None]) -> Table:
    """Return what the steps of a reproduction take, one after another, and all of them."""
    priced = zip(loads, costs, strict=True)
    rows = [{**load, "cost": None if cost is None else float(cost)} for load, cost in priced]
    names = ("calls", "in_m", "out_m", "up_gb", "gb", "gpu_hours", "hours", "cost")
    sums: dict[str, Any] = {name: sum(row[name] or 0 for row in rows) for name in names}
    sums["cost"] = None if any(x["calls"] and x["cost"] is None for x in rows) else sums["cost"]
    return Table.of("loads", "What it takes", columns("loads"), [*rows, {"what": "all", **sums}])
