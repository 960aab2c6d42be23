"""People's votes on models: headline and tables."""

from __future__ import annotations

import math

from screentest._util.text import plural
from screentest.analysis.people.arena import Arena, ArenaPair, WhyOpen
from screentest.core.table import Cell, Table
from screentest.present.text import columns, names, say
from screentest.stats import Interval

_NAMES = 4
"""Names in the headline; the rest is counted."""


def arena_headline(arena: Arena) -> str:
    """One line on what the votes settle."""
    voted = f"{plural(arena.votes, 'vote')} by {plural(arena.workers, 'person', 'people')}"
    basis = f"{voted} on {plural(arena.prompts, 'prompt')}"
    pairs, open_ = arena.significant, arena.open
    if pairs:
        best = {model.model for model in arena.models if model.best}
        beaten = [pair.worse for pair in pairs if pair.better in best]
        if len(best) == 1 and len(beaten) == len(arena.models) - 1:
            words = f"{best.pop()} to {names(beaten, _NAMES)}"
        else:
            named = [f"{pair.better} to {pair.worse}" for pair in pairs]
            words = f"{names(named, _NAMES)}; the rest is undecided"
        return say("people_prefer", pairs=words, basis=basis)
    if open_ is None:
        return say("people_same", basis=basis)
    needed = f"at least {arena.fewest} people and {arena.fewest} prompts needed"
    if open_ is not WhyOpen.TOO_FEW:
        few = open_ is WhyOpen.UNEVEN_PROMPTS
        unit, which = ("prompts", "on a few") if few else ("people", f"by {arena.busiest}")
        worth = _rounded_down(arena.largest.effective)
        needed = f"most are {which}: worth {worth} {unit}, at least {arena.fewest} needed"
    return say("people_open", basis=basis, why=needed)


def people_tables(arena: Arena | None) -> list[Table]:
    """Return every model, and every two models; none where nobody was asked."""
    return [] if arena is None else [_models_table(arena), _pairs_table(arena)]


def _models_table(arena: Arena) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for model in arena.models:
        strength: tuple[Cell, ...] = (None, None, None, "")
        if model.strength is not None:
            ends = model.strength.interval
            cells = (ends.low, ends.high, f"{ends.low:.0f} to {ends.high:.0f}") if ends else ()
            strength = (model.strength.value, *(cells or strength[1:]))
        rate = (model.rate.share, *_ends(model.rate.interval()), model.rate.votes)
        rows.append((model.model, *strength, *rate, model.best))
    side = f", left side {arena.left.share:.0%}" if arena.left else ""
    notes = [f"Ties {arena.ties:.0%} (half a win each){side}"]
    scale = "Strength: Bradley-Terry, mean 0, +400 is 10:1"
    notes.append(scale if arena.unranked is None else f"No strengths: {arena.unranked.detail}")
    if arena.uneven:
        worth = _rounded_down(arena.effective_workers)
        busiest = plural(arena.busiest, "person", "people")
        notes.append(f"Most votes by {busiest}: {arena.workers:,} are worth {worth}")
    return Table("people", "People", columns("people"), rows, ". ".join(notes) + ".")


def _pairs_table(arena: Arena) -> Table:
    shown = columns("people_pairs", {"range": _between})
    return Table.of("people_pairs", "People, every two models", shown, arena.pairs)


def _between(pair: ArenaPair) -> str:
    return _ends(pair.interval)[2]


def _ends(interval: Interval) -> tuple[float, float, str]:
    low, high = interval.low, interval.high
    return low, high, f"{100 * low:.0f} to {100 * high:.0f}%"


def _rounded_down(effective: float) -> str:
    """Never up: it must not look like enough where it is not."""
    return f"{math.floor(10 * effective + 1e-6) / 10:g}"
