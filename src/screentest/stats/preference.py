"""Preferences among several models: win rates and Bradley-Terry strengths.

Votes on one prompt go together, and so do votes of one worker. A sample of votes therefore says
less than as many independent ones would; every interval here allows for both at once, by the
two-way clustered variance of Cameron, Gelbach and Miller (2011).

A few people often cast most votes. The estimate then follows them, so that they deviate from it
less than others would: each prompt and worker counts as it deviates from an estimate without it
(the jackknife), and there are only as many of them as evenly voting ones would be worth (Kish).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from screentest.core import NoValue, Reason
from screentest.stats.arrays import Floats, Labels, Numbers, codes, proportion, some
from screentest.stats.intervals import CONFIDENCE, Interval, exact_interval
from screentest.stats.signflip import LEVEL

POINTS = 400 / math.log(10)
"""Strengths are shown on Elo's scale: 400 more is ten wins to one loss."""

TWO = 2 - 1e-9
"""Two that count alike, up to rounding."""


@dataclass(frozen=True, slots=True)
class WinRate:
    """Share of wins of one side, a tie being half a win."""

    share: float
    votes: int
    prompts: int
    workers: int
    variance: float
    """Of the share, over prompts and workers; 0 where all votes are alike."""
    effective_prompts: float
    """So many prompts with as many votes each say as much as these."""
    effective_workers: float
    """So many workers with as many votes each say as much as these."""

    @property
    def effective(self) -> float:
        """Of prompts or workers, whichever are worth fewer."""
        return min(self.effective_prompts, self.effective_workers)

    def interval(self, level: float = LEVEL) -> Interval:
        """Korn and Graubard's (1998): Clopper and Pearson's on as many votes as these are worth.

        Votes that are all alike do not show how much others would differ: there are then as many
        trials as effective prompts or workers, whichever are fewer. Fewer than two say nothing,
        and a half is excluded only where so many could do that by all agreeing.
        """
        from scipy.special import stdtrit

        tail = 1 - proportion(level, "level") / 2
        trials = self.effective
        if trials < TWO:
            return Interval(0.0, 1.0)
        if self.variance > 1e-15:
            available = stdtrit(self.votes - 1, tail) / stdtrit(self.effective - 1, tail)
            worth = self.share * (1 - self.share) / self.variance * float(available) ** 2
            trials = min(float(self.votes), worth)
        result = exact_interval(self.share, trials, tail)
        return result if can_settle(self.effective, level) else result.holding(0.5)

    @property
    def p_value(self) -> float:
        """The level from which on the interval excludes a half: test and interval never disagree.

        >>> points = [1.0] * 64
        >>> who = [n // 8 for n in range(64)], [n % 8 for n in range(64)]
        >>> round(win_rate(points, *who).p_value, 4)
        0.0078
        """
        if self.share == 0.5 or self.effective < TWO:
            return 1.0
        low, high = 0.0, 1.0
        while high - low > 1e-4 * high and high > 1e-9:
            middle = math.sqrt(max(low, 1e-12) * high) if low else high / 4
            inside = 0.5 in self.interval(min(middle, 1 - 1e-12))
            low, high = (middle, high) if inside else (low, middle)
        return high


def win_rate(points: Numbers, prompts: Labels, workers: Labels) -> WinRate:
    """From one vote each: 1 (won), ½ (tie) or 0 (lost), on which prompt, by whom."""
    array = some(points, "votes")
    if array.min() < 0 or array.max() > 1:
        raise ValueError("points must be in [0, 1]")
    share = float(array.mean())
    prompt, worker = codes(prompts, array.size), codes(workers, array.size)
    even = np.full((array.size, 1), 1 / array.size)
    variance = two_way((array - share)[:, None] * even, even, prompt, worker)
    return WinRate(
        share,
        array.size,
        int(prompt.max()) + 1,
        int(worker.max()) + 1,
        float(variance[0]),
        float(effective(even, prompt)[0]),
        float(effective(even, worker)[0]),
    )


def can_settle(clusters: float, level: float) -> bool:
    """Tell whether so many, if all agree, are unlikely enough to do so by chance.

    >>> can_settle(5, 0.05), can_settle(6, 0.05)
    (False, True)
    """
    return math.exp2(1 - clusters) <= level * (1 + 1e-9)


def effective(weights: Floats, groups: np.ndarray) -> Floats:
    """Kish's number of groups: so many of equal weight say as much; for each column.

    >>> effective(np.array([[0.5], [0.25], [0.25]]), np.array([0, 1, 1])).round(6).tolist()
    [2.0]
    """
    result: Floats = 1 / (_sums(weights, groups) ** 2).sum(axis=0)
    return result


def two_way(pulls: Floats, weights: Floats, prompts: np.ndarray, workers: np.ndarray) -> Floats:
    """Return the variance of each column's sum, rows being clustered by prompt and worker.

    ``weights`` is the share of each row in what the sum is about; a column sums to 1. What prompts
    explain and what workers explain, less what both count twice. That may come out too small by
    chance: it is never less than each of the two alone.
    """
    cells = np.unique(prompts * (int(workers.max()) + 1) + workers, return_inverse=True)[1]
    by_prompt, by_worker, by_cell = (
        _jackknife(pulls, weights, groups) for groups in (prompts, workers, cells)
    )
    result: Floats = np.maximum(by_prompt + by_worker - by_cell, np.maximum(by_prompt, by_worker))
    return result


def _jackknife(pulls: Floats, weights: Floats, groups: np.ndarray) -> Floats:
    """Squared moves of the sum where a group is left out, summed over groups."""
    rest = np.maximum(1 - _sums(weights, groups), 1e-9)
    moved = _sums(pulls, groups) / rest
    result: Floats = (moved**2).sum(axis=0) * (len(moved) - 1) / len(moved)
    return result


def _sums(values: Floats, groups: np.ndarray) -> Floats:
    result = np.zeros((int(groups.max()) + 1, values.shape[1]))
    np.add.at(result, groups, values)
    return result


# Bradley and Terry: one strength for each model, from all comparisons together.


@dataclass(frozen=True, slots=True)
class Strength:
    """One model on Elo's scale, 0 being the mean of all models."""

    model: str
    value: float
    interval: Interval | None
    """Over prompts and workers; None where its votes are worth fewer than two of either. Holds 0
    where so few could not tell it from the mean even if all agreed."""


def bradley_terry(
    first: Sequence[str], second: Sequence[str], points: Numbers, prompts: Labels, workers: Labels
) -> list[Strength]:
    """Strengths such that a model beats another with odds of e to their difference; best first.

    A tie is half a win for each. Raises NoValue where some models never lost to, or were never
    compared with, the rest: no finite strengths are the likeliest then.

    >>> votes = [("a", "b", 1), ("a", "b", 1), ("b", "a", 1), ("a", "b", 1)]
    >>> found = bradley_terry(*zip(*votes), [1, 2, 3, 4], [1, 2, 1, 2])
    >>> [(one.model, round(one.value)) for one in found]
    [('a', 95), ('b', -95)]
    """
    array = some(points, "votes")
    models = sorted({*first, *second})
    place = {model: number for number, model in enumerate(models)}
    left = np.array([place[model] for model in first])
    right = np.array([place[model] for model in second])
    if (left == right).any():
        raise ValueError("a model is compared with itself")
    wins = np.zeros((len(models), len(models)))
    np.add.at(wins, (left, right), array)
    np.add.at(wins, (right, left), 1 - array)
    _must_be_tied_together(wins, models)
    strength = _likeliest(wins)
    chance = 1 / (1 + np.exp(strength[right] - strength[left]))
    design = np.zeros((array.size, len(models)))
    rows = np.arange(array.size)
    design[rows, left], design[rows, right] = 1.0, -1.0
    # Strengths are known up to a constant: the pseudo-inverse takes those that sum to 0.
    inverse = np.linalg.pinv(_information(wins, strength))
    prompt, worker = codes(prompts, array.size), codes(workers, array.size)
    pulls = (array - chance)[:, None] * design @ inverse
    # The share of each vote in what is known of each strength.
    weights = (chance * (1 - chance))[:, None] * (design @ inverse) ** 2 / np.diag(inverse)
    error = np.sqrt(two_way(pulls, weights, prompt, worker))
    clusters = np.minimum(effective(weights, prompt), effective(weights, worker))
    result = [
        Strength(
            model,
            POINTS * float(strength[n]),
            _around(float(strength[n]), float(error[n]), float(clusters[n])),
        )
        for model, n in place.items()
    ]
    return sorted(result, key=lambda item: (-item.value, item.model))


def _around(value: float, error: float, clusters: float) -> Interval | None:
    from scipy.special import stdtrit

    if clusters < TWO or error <= 0:
        return None
    reach = float(stdtrit(clusters - 1, 0.5 + CONFIDENCE / 2)) * error
    interval = Interval(POINTS * (value - reach), POINTS * (value + reach))
    return interval if can_settle(clusters, 1 - CONFIDENCE) else interval.holding(0.0)


def _information(wins: Floats, strength: Floats) -> Floats:
    chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
    weight = (wins + wins.T) * chance * (1 - chance)
    result: Floats = np.diag(weight.sum(axis=1)) - weight
    return result


def _likeliest(wins: Floats) -> Floats:
    """Newton's method, with steps that never overshoot far; the likelihood has one summit."""
    strength = np.zeros(len(wins))
    games = wins + wins.T
    for _ in range(200):
        chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        pull = wins.sum(axis=1) - (games * chance).sum(axis=1)
        step = np.linalg.pinv(_information(wins, strength)) @ pull
        step *= min(1.0, 1.0 / max(1e-12, float(np.abs(step).max())))
        strength = strength + step
        if float(np.abs(step).max()) < 1e-10:
            break
    centred: Floats = strength - strength.mean()
    return centred


def _must_be_tied_together(wins: Floats, models: Sequence[str]) -> None:
    """Ford's (1957) condition: however models are split in two, each part won against the other."""
    reach = (wins > 0) | np.eye(len(models), dtype=bool)
    for _ in models:
        reach = (reach.astype(int) @ reach.astype(int)) > 0
    for name, beats, beaten in zip(models, reach, reach.T, strict=True):
        if not beaten.all() or not beats.all():
            never = "won a vote against" if not beats.all() else "lost a vote to"
            raise NoValue(
                Reason.NOT_APPLICABLE,
                f"{name!r} has never {never} some other model, not even by way of a third, so the"
                " votes do not say how far apart they are",
                advice="Collect more votes; win rates do without.",
            )
