"""Judges by chance, and how often tests raise false alarms on them."""

from __future__ import annotations

import numpy as np

from screentest.stats import mcnemar, paired_difference

LIKENESS = 0.3
"""The share of the variance that lies between sources."""


def judged(
    generator: np.random.Generator, sources: int, accuracy: float, likeness: float = LIKENESS
) -> tuple[np.ndarray, list[int]]:
    """Right and wrong answers on one to four pairs per source, which resemble each other."""
    strength = (1 - likeness) / likeness
    chance = generator.beta(accuracy * strength, (1 - accuracy) * strength, sources)
    source = np.repeat(np.arange(sources), generator.integers(1, 5, sources))
    return (generator.random(source.size) < chance[source]).astype(float), source.tolist()


def rivals(
    generator: np.random.Generator, sources: int, gain: float
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Two judges on four pairs per source; sources favour one or the other at random."""
    source = np.repeat(np.arange(sources), 4)
    taste = generator.normal(0, 0.15, sources)[source]
    first = generator.random(source.size) < np.clip(0.7 + gain + taste, 0, 1)
    second = generator.random(source.size) < np.clip(0.7 - taste, 0, 1)
    return first.astype(float), second.astype(float), source.tolist()


def false_alarms(sources: int, *, trials: int, seed: int = 0) -> dict[str, float]:
    """The share of trials in which equal judges are told apart at the 5% level."""
    generator = np.random.default_rng([seed, sources])
    alarms = dict.fromkeys(("mcnemar", "ours"), 0)
    for _ in range(trials):
        first, second, source = rivals(generator, sources, 0.0)
        alarms["mcnemar"] += mcnemar(first, second).p_value <= 0.05
        alarms["ours"] += paired_difference(first, second, source).p_value <= 0.05
    return {name: count / trials for name, count in alarms.items()}
