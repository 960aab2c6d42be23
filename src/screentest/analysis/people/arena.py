"""Arena: which model people prefer, from their votes on two videos of one prompt.

Win rates and Bradley-Terry strengths allow for votes that go together by prompt and by worker
(``stats.preference``); whether one model is better than another is tested for every two models,
corrected by Holm over all of them.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from screentest.core import NoValue, UserError
from screentest.core.table import Column, Table
from screentest.judges.votes import VoteRecord, VoteTask
from screentest.stats.intervals import Interval
from screentest.stats.paired import holm, holm_levels
from screentest.stats.preference import Strength, WinRate, bradley_terry, can_settle, win_rate
from screentest.stats.signflip import LEVEL, fewest_sources

UNEVEN = 0.7
"""Where people are worth less than this share of their number, that is said."""


@dataclass(frozen=True, slots=True)
class ArenaModel:
    """One model against all others."""

    model: str
    rate: WinRate
    strength: Strength | None
    """None where the votes give no finite one."""
    prompts: Mapping[str, float]
    """Its share of points on each prompt."""
    best: bool = False
    """Whether it surely beats some other model, and none surely beats it."""


@dataclass(frozen=True, slots=True)
class ArenaPair:
    """Two models, the one that wins more often first."""

    better: str
    worse: str
    rate: WinRate
    gaps: tuple[float, ...]
    """On each prompt, the better one's points less the other's, the smallest first."""
    p_value: float
    adjusted_p: float
    """Holm's, over all pairs of models."""
    level: float
    """The level that Holm's correction leaves the pair."""

    @property
    def interval(self) -> Interval:
        """Of the win rate; it excludes a half exactly where the difference holds."""
        return self.rate.interval(self.level)

    @property
    def holds(self) -> bool:
        """Whether it may be said that people prefer the first."""
        return self.adjusted_p <= LEVEL and self.rate.share > 0.5


@dataclass(frozen=True, slots=True)
class Arena:
    """What people said of several models."""

    models: tuple[ArenaModel, ...]
    """By strength, or by win rate where there is none; best first."""
    pairs: tuple[ArenaPair, ...]
    """The surest difference first."""
    votes: int
    prompts: int
    workers: int
    ties: float
    """The share of votes that see no difference."""
    left: WinRate | None
    """How often the video on the left won: a half where the side has no effect; None where no
    vote says the sides."""
    busiest: int
    """So few workers cast more than half of the votes."""
    effective_workers: float
    """So many who vote equally often would say as much."""
    why: str = ""
    """Why there are no strengths."""

    @property
    def fewest(self) -> int:
        """So many prompts, and so many workers, could settle something at all, if all agree."""
        return fewest_sources(LEVEL / max(1, len(self.pairs)))

    @property
    def headline(self) -> str:
        """One sentence that is true."""
        asked = f"{_many(self.votes, 'vote')} by {_many(self.workers, 'person', 'people')}"
        on = f"on {_many(self.prompts, 'prompt')}"
        best = [one.model for one in self.models if one.best]
        rivals = len(self.models) - 1
        beaten = [pair.worse for pair in self.pairs if pair.holds and pair.better in best]
        if len(best) == 1 and len(beaten) == rivals:
            return f"People prefer {best[0]} to {_listed(beaten)} ({asked} {on})."
        if best:
            held = [f"{pair.better} to {pair.worse}" for pair in self.pairs if pair.holds]
            return f"People prefer {_listed(held)}; the rest is not settled ({asked} {on})."
        if min(self.prompts, self.workers) < self.fewest:
            return (
                f"People have settled nothing yet: {asked} {on};"
                f" it takes at least {self.fewest} people and {self.fewest} prompts."
            )
        return self._too_uneven(f"{asked} {on}") or (
            f"People do not tell the models apart ({asked} {on})."
        )

    def _too_uneven(self, asked: str) -> str:
        """Where there are enough people and prompts, but most votes are of, or on, a few."""
        surest = max((pair.rate for pair in self.pairs), key=lambda rate: rate.effective)
        if can_settle(surest.effective, LEVEL / len(self.pairs)):
            return ""
        if surest.effective < surest.effective_workers:
            return (
                f"People have settled nothing yet: {asked} count as those on"
                f" {_rounded(surest.effective)} prompts, since most are on a few."
                f" It takes at least {self.fewest} prompts with about as many votes each."
            )
        return (
            f"People have settled nothing yet: {asked} count as those of"
            f" {_rounded(surest.effective)} people, since most are of {self.busiest}: that cannot"
            f" tell for other people. It takes at least {self.fewest} who vote about equally often."
        )

    def tables(self) -> list[Table]:
        """Every model, and every two models."""
        return [_models_table(self), _pairs_table(self)]


def arena_votes(records: Iterable[VoteRecord]) -> list[VoteRecord]:
    """The votes on models that count; those of one worker and unit are one."""
    return [
        one
        for one in records
        if one.task is VoteTask.ARENA and one.counts and one.choice is not None
    ]


def arena_of(records: Iterable[VoteRecord]) -> Arena:
    """The result of an arena; raises UserError where no vote counts."""
    votes = arena_votes(records)
    if not votes:
        raise UserError(
            "there are no votes on models that count",
            advice="Collect some: screentest annotate serve videos.jsonl --task arena",
        )
    if any(not one.source or not one.worker for one in votes):
        raise UserError(
            "a vote on models must say its prompt (source) and its worker",
            advice="Votes of one prompt, and of one worker, go together.",
        )
    # The order of coming must not matter, not even for the last digit.
    votes.sort(key=lambda one: (one.source, one.unit, one.worker, one.first, one.second))
    names = sorted({name for one in votes for name in (one.first, one.second)})
    pairs = _pairs(votes, names)
    strengths, why = _strengths(votes)
    won = {pair.better for pair in pairs if pair.holds}
    lost = {pair.worse for pair in pairs if pair.holds}
    models = [_model(name, votes, strengths, name in won - lost) for name in names]
    sided = [(_left_points(one), one) for one in votes if one.left]
    models.sort(
        key=lambda one: (-(one.strength.value if one.strength else one.rate.share), one.model)
    )
    return Arena(
        models=tuple(models),
        pairs=pairs,
        votes=len(votes),
        prompts=len({one.source for one in votes}),
        workers=len({one.worker for one in votes}),
        ties=sum(one.choice == "tie" for one in votes) / len(votes),
        left=_rate(sided) if sided else None,
        busiest=_busiest(votes),
        effective_workers=_rate([(0.5, one) for one in votes]).effective_workers,
        why=why,
    )


def _points(vote: VoteRecord, model: str) -> float:
    """What a model got of a vote it takes part in."""
    if vote.choice == "tie":
        return 0.5
    return float((vote.first if vote.choice == "first" else vote.second) == model)


def _busiest(votes: Sequence[VoteRecord]) -> int:
    counts = [count for _, count in Counter(one.worker for one in votes).most_common()]
    return 1 + sum(2 * total <= len(votes) for total in itertools.accumulate(counts))


def _left_points(vote: VoteRecord) -> float:
    return 0.5 if vote.choice == "tie" else float(vote.choice == vote.left)


def _rate(scored: Sequence[tuple[float, VoteRecord]]) -> WinRate:
    return win_rate(
        [points for points, _ in scored],
        [vote.source for _, vote in scored],
        [vote.worker for _, vote in scored],
    )


def _by_prompt(scored: Sequence[tuple[float, VoteRecord]]) -> dict[str, float]:
    found: dict[str, list[float]] = defaultdict(list)
    for points, vote in scored:
        found[vote.source].append(points)
    return {prompt: sum(own) / len(own) for prompt, own in found.items()}


def _model(
    name: str, votes: Sequence[VoteRecord], strengths: Mapping[str, Strength], best: bool
) -> ArenaModel:
    own = [(_points(one, name), one) for one in votes if name in (one.first, one.second)]
    return ArenaModel(name, _rate(own), strengths.get(name), _by_prompt(own), best)


def _strengths(votes: Sequence[VoteRecord]) -> tuple[dict[str, Strength], str]:
    try:
        found = bradley_terry(
            [one.first for one in votes],
            [one.second for one in votes],
            [_points(one, one.first) for one in votes],
            [one.source for one in votes],
            [one.worker for one in votes],
        )
    except NoValue as error:
        return {}, error.message
    return {one.model: one for one in found}, ""


def _pairs(votes: Sequence[VoteRecord], names: Sequence[str]) -> tuple[ArenaPair, ...]:
    met: dict[tuple[str, str], list[VoteRecord]] = defaultdict(list)
    for vote in votes:
        met[min(vote.first, vote.second), max(vote.first, vote.second)].append(vote)
    compared = []
    for one, other in itertools.combinations(names, 2):
        if (one, other) not in met:
            continue
        scored = [(_points(vote, one), vote) for vote in met[one, other]]
        if sum(points for points, _ in scored) < len(scored) / 2:
            one, other = other, one
            scored = [(1 - points, vote) for points, vote in scored]
        gaps = tuple(sorted(2 * share - 1 for share in _by_prompt(scored).values()))
        compared.append((one, other, _rate(scored), gaps))
    found = [rate.p_value for _, _, rate, _ in compared]
    adjusted = holm(found)
    pairs = [
        ArenaPair(*about, p_value, corrected, level)
        for about, p_value, corrected, level in zip(
            compared, found, adjusted, holm_levels(adjusted), strict=True
        )
    ]
    return tuple(sorted(pairs, key=lambda pair: (pair.adjusted_p, pair.p_value, pair.better)))


def _models_table(found: Arena) -> Table:
    columns = (
        Column("model", "Model"),
        Column("strength", "Strength", digits=0),
        Column("strength_low", detail=True),
        Column("strength_high", detail=True),
        Column("strength_range", "95% of it", derived=True, align="right"),
        Column("win_rate", "Wins", show=_percent),
        Column("low", detail=True),
        Column("high", detail=True),
        Column("range", "95% of it", derived=True, align="right"),
        Column("votes", "Votes"),
        Column("best", detail=True),
    )
    rows = []
    for one in found.models:
        strength = one.strength
        around = strength.interval if strength is not None else None
        interval = one.rate.interval()
        rows.append(
            (
                one.model,
                strength.value if strength is not None else None,
                around.low if around else None,
                around.high if around else None,
                f"{around.low:.0f} to {around.high:.0f}" if around else "",
                one.rate.share,
                interval.low,
                interval.high,
                _range(interval),
                one.rate.votes,
                one.best,
            )
        )
    side = f"; the video on the left won {_percent(found.left.share)}" if found.left else ""
    notes = [
        f"{_percent(found.ties)} of votes see no difference, half a win for each{side}.",
        f"No strengths yet: {found.why}." if found.why else
        "Strength: Bradley-Terry, 0 is the mean of the models, 400 more is ten wins to one.",
    ]  # fmt: skip
    worth = found.effective_workers
    if worth < UNEVEN * found.workers:
        notes.append(
            f"Most votes are of {_many(found.busiest, 'person', 'people')}: those of all"
            f" {found.workers:,} count as those of {_rounded(worth)} who vote equally often."
        )
    return Table("people", "People", columns, rows, " ".join(notes))


def _pairs_table(found: Arena) -> Table:
    columns = (
        Column("better", "Model"),
        Column("worse", "against"),
        Column("win_rate", "Wins", show=_percent),
        Column("low", detail=True),
        Column("high", detail=True),
        Column("range", "Interval", derived=True, align="right"),
        Column("votes", "Votes"),
        Column("prompts", detail=True),
        Column("workers", detail=True),
        Column("effective_prompts", detail=True),
        Column("effective_workers", detail=True),
        Column("p", detail=True),
        Column("adjusted_p", "p (Holm)"),
        Column("holds", "Holds"),
    )
    rows = []
    for pair in found.pairs:
        interval = pair.interval
        rows.append(
            (
                *(pair.better, pair.worse, pair.rate.share, interval.low, interval.high),
                *(_range(interval), pair.rate.votes, pair.rate.prompts, pair.rate.workers),
                *(pair.rate.effective_prompts, pair.rate.effective_workers),
                *(pair.p_value, pair.adjusted_p, pair.holds),
            )
        )
    return Table("people_pairs", "People, every two models", columns, rows)


def _rounded(effective: float) -> str:
    """Never up: it must not look like enough where it is not."""
    return f"{math.floor(10 * effective + 1e-6) / 10:g}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def _range(interval: Interval) -> str:
    return f"{100 * interval.low:.0f} to {100 * interval.high:.0f}%"


def _many(count: int, thing: str, things: str = "") -> str:
    return f"{count:,} {thing if count == 1 else things or f'{thing}s'}"


def _listed(names: Sequence[str], most: int = 4) -> str:
    listed = list(names[:most])
    if len(names) > most:
        listed.append(f"{len(names) - most:,} more")
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
