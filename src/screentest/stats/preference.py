"""Which of several models people prefer: win rates and Bradley-Terry strengths.

Votes on one prompt go together, and so do votes of one worker. A sample of votes therefore says
less than as many independent ones would; every interval here allows for both at once, by the
two-way clustered variance of Cameron, Gelbach and Miller (2011).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from screentest.core import NoValue, Reason
from screentest.stats.arrays import Floats, Labels, Numbers, codes, proportion, some
from screentest.stats.intervals import CONFIDENCE, Interval
from screentest.stats.signflip import LEVEL

POINTS = 400 / math.log(10)
"""Strengths are shown on Elo's scale: 400 more is ten wins to one loss."""


@dataclass(frozen=True, slots=True)
class WinRate:
    """How often one side wins, a tie being half a win."""

    share: float
    votes: int
    prompts: int
    workers: int
    variance: float
    """Of the share, over prompts and workers; 0 where all votes are alike."""

    def interval(self, level: float = LEVEL) -> Interval:
        """Korn and Graubard's (1998): Clopper and Pearson's on as many votes as these are worth.

        Votes that are all alike do not show how much others would differ: there are then as many
        trials as prompts or workers, whichever are fewer. One prompt or one worker says nothing.
        """
        from scipy.special import betaincinv, stdtrit

        tail = 1 - proportion(level, "level") / 2
        clusters = min(self.prompts, self.workers)
        if clusters < 2:
            return Interval(0.0, 1.0)
        trials = float(clusters)
        if self.variance > 1e-15:
            known = stdtrit(self.votes - 1, tail) / stdtrit(clusters - 1, tail)
            worth = self.share * (1 - self.share) / self.variance * float(known) ** 2
            trials = min(float(self.votes), worth)
        won = self.share * trials
        low = float(betaincinv(won, trials - won + 1, 1 - tail)) if won > 1e-12 else 0.0
        high = float(betaincinv(won + 1, trials - won, tail)) if trials - won > 1e-12 else 1.0
        return Interval(low, high).holding(self.share)

    @property
    def p_value(self) -> float:
        """The level from which on the interval excludes a half: test and interval never disagree.

        >>> points = [1.0] * 64
        >>> who = [n // 8 for n in range(64)], [n % 8 for n in range(64)]
        >>> round(win_rate(points, *who).p_value, 4)
        0.0078
        """
        if self.share == 0.5 or min(self.prompts, self.workers) < 2:
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
    variance = two_way((array - share)[:, None] / array.size, prompt, worker)
    return WinRate(
        share,
        array.size,
        int(prompt.max()) + 1,
        int(worker.max()) + 1,
        float(variance[0, 0]),
    )


def two_way(pulls: Floats, prompts: np.ndarray, workers: np.ndarray) -> Floats:
    """The variance of a sum of rows that go together within a prompt and within a worker.

    What prompts explain and what workers explain, less what both count twice. That may come out
    too small by chance: it is never less than each of the two alone.
    """
    by_prompt, by_worker = _one_way(pulls, prompts), _one_way(pulls, workers)
    cells = prompts * (int(workers.max()) + 1) + workers
    both = by_prompt + by_worker - _one_way(pulls, np.unique(cells, return_inverse=True)[1])
    found = max((both, by_prompt, by_worker), key=lambda matrix: float(np.trace(matrix)))
    if found is not both or float(np.linalg.eigvalsh(both).min()) >= -1e-12:
        return found
    return max((by_prompt, by_worker), key=lambda matrix: float(np.trace(matrix)))


def _one_way(pulls: Floats, groups: np.ndarray) -> Floats:
    count = int(groups.max()) + 1
    sums = np.zeros((count, pulls.shape[1]))
    np.add.at(sums, groups, pulls)
    return sums.T @ sums * count / max(1, count - 1)


# Bradley and Terry: one strength for each model, from all comparisons together.


@dataclass(frozen=True, slots=True)
class Strength:
    """One model on Elo's scale, 0 being the mean of all models."""

    model: str
    value: float
    interval: Interval | None
    """Over prompts and workers; None where there is one only of either."""


def bradley_terry(
    first: Sequence[str],
    second: Sequence[str],
    points: Numbers,
    prompts: Labels,
    workers: Labels,
    *,
    confidence: float = CONFIDENCE,
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
    error = np.sqrt(np.maximum(np.diag(two_way(pulls, prompt, worker)), 0.0))
    clusters = min(int(prompt.max()), int(worker.max())) + 1
    found = [
        Strength(
            model, POINTS * float(strength[n]), _around(strength[n], error[n], clusters, confidence)
        )
        for model, n in place.items()
    ]
    return sorted(found, key=lambda one: (-one.value, one.model))


def _around(value: float, error: float, clusters: int, confidence: float) -> Interval | None:
    from scipy.special import stdtrit

    if clusters < 2 or error <= 0:
        return None
    reach = float(stdtrit(clusters - 1, 0.5 + proportion(confidence, "confidence") / 2)) * error
    return Interval(POINTS * float(value - reach), POINTS * float(value + reach))


def _information(wins: Floats, strength: Floats) -> Floats:
    chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
    weight = (wins + wins.T) * chance * (1 - chance)
    found: Floats = np.diag(weight.sum(axis=1)) - weight
    return found


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
