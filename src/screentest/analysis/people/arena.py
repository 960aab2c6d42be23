"""Arena: models by people's votes on two videos of one prompt.

Win rates and Bradley-Terry strengths allow for votes that go together by prompt and by worker
(``stats.preference``); whether one model is better than another is tested for every two models,
corrected by Holm over all of them.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from screentest._util.collect import grouped
from screentest.analysis.models.comparison import ModelComparison
from screentest.analysis.models.rows import MetricRow, ModelPair, ModelValue, Part, State
from screentest.core import Failure, NoValue, UserError
from screentest.core.metric import OutputInfo
from screentest.judges.votes import VoteRecord, VoteTask
from screentest.stats.intervals import Interval
from screentest.stats.paired import holm, holm_levels
from screentest.stats.preference import Strength, WinRate, bradley_terry, can_settle, win_rate
from screentest.stats.signflip import LEVEL, fewest_sources, sign_flip_interval

PEOPLE = OutputInfo("share of votes for it over another model, on the same prompt; a tie is half")
UNEVEN = 0.7
"""Votes are uneven where people are worth less than this share of their number."""


class WhyOpen(StrEnum):
    """A reason for an open result."""

    TOO_FEW = "too_few"
    UNEVEN_PROMPTS = "uneven_prompts"
    """Enough prompts, but most votes are on a few."""
    UNEVEN_PEOPLE = "uneven_people"
    """Enough people, but most votes are of a few."""


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
    """Significantly better than some other model, and worse than none."""


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
        """Tell whether people significantly prefer the first."""
        return self.adjusted_p <= LEVEL and self.rate.share > 0.5


@dataclass(frozen=True, slots=True)
class Arena:
    """Several models by people's votes."""

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
    unranked: Failure | None = None
    """Why there are no strengths."""

    @property
    def fewest(self) -> int:
        """So many prompts, and so many workers, could settle something at all, if all agree."""
        return fewest_sources(LEVEL / max(1, len(self.pairs)))

    @property
    def significant(self) -> tuple[ArenaPair, ...]:
        """Pairs of which people prefer one, by a model that is worse than none."""
        best = {model.model for model in self.models if model.best}
        return tuple(pair for pair in self.pairs if pair.holds and best)

    @property
    def open(self) -> WhyOpen | None:
        """The reason that nothing is settled; None where something is, or the votes were enough."""
        if self.significant:
            return None
        if min(self.prompts, self.workers) < self.fewest:
            return WhyOpen.TOO_FEW
        if can_settle(self.largest.effective, LEVEL / len(self.pairs)):
            return None
        few_prompts = self.largest.effective < self.largest.effective_workers
        return WhyOpen.UNEVEN_PROMPTS if few_prompts else WhyOpen.UNEVEN_PEOPLE

    @property
    def largest(self) -> WinRate:
        """The win rate that rests on the most prompts and workers."""
        return max((pair.rate for pair in self.pairs), key=lambda rate: rate.effective)

    @property
    def uneven(self) -> bool:
        """Tell whether most votes are of a few people."""
        return self.effective_workers < UNEVEN * self.workers


def arena_of(records: Iterable[VoteRecord]) -> Arena:
    """Return the result of an arena; raises UserError where no vote counts."""
    votes = [
        record
        for record in records
        if record.task is VoteTask.ARENA and record.counts and record.choice is not None
    ]
    if not votes:
        raise UserError(
            "there are no votes on models that count",
            advice="Collect some: screentest annotate serve videos.jsonl --task arena",
        )
    if any(not vote.source or not vote.worker for vote in votes):
        raise UserError(
            "a vote on models must say its prompt (source) and its worker",
            advice="Votes of one prompt, and of one worker, go together.",
        )
    # The order of coming must not matter, not even for the last digit.
    votes.sort(key=lambda item: (item.source, item.unit, item.worker, item.first, item.second))
    names = sorted({name for vote in votes for name in (vote.first, vote.second)})
    pairs = _pairs(votes, names)
    strengths, unranked = _strengths(votes)
    won = {pair.better for pair in pairs if pair.holds}
    lost = {pair.worse for pair in pairs if pair.holds}
    models = [_model(name, votes, strengths, name in won - lost) for name in names]
    sided = [
        (0.5 if vote.choice == "tie" else float(vote.choice == vote.left), vote)
        for vote in votes
        if vote.left
    ]
    models.sort(
        key=lambda item: (-(item.strength.value if item.strength else item.rate.share), item.model)
    )
    return Arena(
        models=tuple(models),
        pairs=pairs,
        votes=len(votes),
        prompts=len({vote.source for vote in votes}),
        workers=len({vote.worker for vote in votes}),
        ties=sum(vote.choice == "tie" for vote in votes) / len(votes),
        left=_rate(sided) if sided else None,
        busiest=_busiest(votes),
        effective_workers=_rate([(0.5, vote) for vote in votes]).effective_workers,
        unranked=unranked,
    )


def _points(vote: VoteRecord, model: str) -> float:
    """Points of a model in a vote on it."""
    if vote.choice == "tie":
        return 0.5
    return float((vote.first if vote.choice == "first" else vote.second) == model)


def _busiest(votes: Sequence[VoteRecord]) -> int:
    counts = [count for _, count in Counter(vote.worker for vote in votes).most_common()]
    return 1 + sum(2 * total <= len(votes) for total in itertools.accumulate(counts))


def _rate(scored: Sequence[tuple[float, VoteRecord]]) -> WinRate:
    return win_rate(
        [points for points, _ in scored],
        [vote.source for _, vote in scored],
        [vote.worker for _, vote in scored],
    )


def _by_prompt(scored: Sequence[tuple[float, VoteRecord]]) -> dict[str, float]:
    shares = grouped((vote.source, points) for points, vote in scored)
    return {prompt: sum(selected) / len(selected) for prompt, selected in shares.items()}


def _model(
    name: str, votes: Sequence[VoteRecord], strengths: Mapping[str, Strength], best: bool
) -> ArenaModel:
    selected = [(_points(vote, name), vote) for vote in votes if name in (vote.first, vote.second)]
    return ArenaModel(name, _rate(selected), strengths.get(name), _by_prompt(selected), best)


def _strengths(votes: Sequence[VoteRecord]) -> tuple[dict[str, Strength], Failure | None]:
    try:
        result = bradley_terry(
            [vote.first for vote in votes],
            [vote.second for vote in votes],
            [_points(vote, vote.first) for vote in votes],
            [vote.source for vote in votes],
            [vote.worker for vote in votes],
        )
    except NoValue as error:
        return {}, error.failure
    return {item.model: item for item in result}, None


def _pairs(votes: Sequence[VoteRecord], names: Sequence[str]) -> tuple[ArenaPair, ...]:
    met = grouped((tuple(sorted((vote.first, vote.second))), vote) for vote in votes)
    compared = []
    for name, other in itertools.combinations(names, 2):
        if (name, other) not in met:
            continue
        scored = [(_points(vote, name), vote) for vote in met[name, other]]
        if sum(points for points, _ in scored) < len(scored) / 2:
            name, other = other, name
            scored = [(1 - points, vote) for points, vote in scored]
        gaps = tuple(sorted(2 * share - 1 for share in _by_prompt(scored).values()))
        compared.append((name, other, _rate(scored), gaps))
    result = [rate.p_value for _, _, rate, _ in compared]
    adjusted = holm(result)
    pairs = [
        ArenaPair(*about, p_value, corrected, level)
        for about, p_value, corrected, level in zip(
            compared, result, adjusted, holm_levels(adjusted), strict=True
        )
    ]
    return tuple(sorted(pairs, key=lambda pair: (pair.adjusted_p, pair.p_value, pair.better)))


# Beside metrics.


def people_row(found: Arena, comparison: ModelComparison) -> MetricRow | None:
    """Return the arena as a row beside those of metrics; None where it is about other models.

    Its test is the arena's own, over prompts and people, corrected over pairs of models: it is no
    part of the metrics' correction, and changes nothing in the comparison.
    """
    available = {item.model: item for item in found.models}
    values = tuple(_value(model, available.get(model)) for model in comparison.models)
    had = [value for value in values if value.mean is not None]
    if len(had) < 2:
        return None
    pairs = tuple(
        _pair(item) for item in found.pairs if {item.better, item.worse} <= set(comparison.models)
    )
    shares = [item.mean or 0.0 for item in had]
    best = [item for item in had if item.mean == max(shares)]
    worst = [item for item in had if item.mean == min(shares)]
    shared = set.intersection(*(set(item.prompts) for item in had))
    return MetricRow(
        name="people",
        group="people",
        info=PEOPLE,
        part=Part.WHOLE,
        stand_ins=(),
        values=values,
        pairs=pairs,
        leader=best[0].model if len(best) == 1 else "",
        ahead=_alone(best[0], had, shared, 1) if len(best) == 1 else 0,
        last=worst[0].model if len(worst) == 1 else "",
        behind=_alone(worst[0], had, shared, -1) if len(worst) == 1 else 0,
        margin=None,
        prompts=len(shared),
        state=State.SIGNIFICANT if any(pair.significant for pair in pairs) else State.UNDECIDED,
        leaning=not any(pair.significant for pair in pairs),
    )


def _value(model: str, found: ArenaModel | None) -> ModelValue:
    if found is None:
        return ModelValue(model, None, None, {}, 0, 0)
    votes = found.rate.votes
    interval = found.rate.interval()
    return ModelValue(
        model, found.rate.share, interval, found.prompts, votes, votes, best=found.best
    )


def _pair(found: ArenaPair) -> ModelPair:
    return ModelPair(
        better=found.better,
        worse=found.worse,
        difference=2 * found.rate.share - 1,
        gaps=found.gaps,
        margin=0.0,
        interval=sign_flip_interval(np.array(found.gaps), level=found.level),
        p_value=found.p_value,
        adjusted_p=found.adjusted_p,
        ahead=sum(gap > 0 for gap in found.gaps),
        behind=sum(gap < 0 for gap in found.gaps),
    )


def _alone(one: ModelValue, had: list[ModelValue], shared: set[str], sign: int) -> int:
    """Prompts on which it is above all others, or with ``sign`` -1 below them."""
    others: list[Mapping[str, float]] = [other.prompts for other in had if other is not one]
    return sum(
        all(sign * (one.prompts[case] - other[case]) > 0 for other in others) for case in shared
    )
