"""How often intervals hold the truth and tests raise false alarms, by simulation.

``python -m tests.stats.simulate`` prints the tables of docs/statistics.md (a few minutes).
"""

from __future__ import annotations

import sys

import numpy as np

from screentest.stats import bootstrap_accuracy, mcnemar, paired_bootstrap, wilson
from screentest.stats.intervals import by_source

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


def coverage(
    sources: int, accuracy: float, *, trials: int, resamples: int, seed: int = 0
) -> dict[str, float]:
    """The share of trials in which each interval holds the true accuracy."""
    generator = np.random.default_rng([seed, sources])
    held = dict.fromkeys(("wilson", "percentile", "ours"), 0)
    for _ in range(trials):
        points, source = judged(generator, sources, accuracy)
        held["wilson"] += accuracy in wilson(points.sum(), points.size)
        held["ours"] += accuracy in bootstrap_accuracy(points, source, resamples=resamples)
        low, high = _percentile(points, source, generator, resamples)
        held["percentile"] += low <= accuracy <= high
    return {name: count / trials for name, count in held.items()}


def false_alarms(sources: int, *, trials: int, seed: int = 0) -> dict[str, float]:
    """The share of trials in which equal judges are told apart at the 5% level."""
    generator = np.random.default_rng([seed, sources])
    alarms = dict.fromkeys(("mcnemar", "ours"), 0)
    for _ in range(trials):
        first, second, source = rivals(generator, sources, 0.0)
        alarms["mcnemar"] += mcnemar(first, second).p_value <= 0.05
        alarms["ours"] += paired_bootstrap(first, second, source, resamples=100).p_value <= 0.05
    return {name: count / trials for name, count in alarms.items()}


def _percentile(
    points: np.ndarray, source: list[int], generator: np.random.Generator, resamples: int
) -> tuple[float, float]:
    """The plain bootstrap over sources, for comparison."""
    sums, sizes = by_source(points, source)
    draws = generator.integers(0, sums.size, (resamples, sums.size))
    low, high = np.quantile(sums[draws].sum(axis=1) / sizes[draws].sum(axis=1), [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    """Print both tables as Markdown."""
    say = sys.stdout.write
    say("| sources | accuracy | Wilson on judgements | percentile bootstrap | ours |\n")
    say("|---|---|---|---|---|\n")
    for sources in (10, 25, 50, 100):
        for accuracy in (0.5, 0.75, 0.9):
            found = coverage(sources, accuracy, trials=2000, resamples=1000)
            shares = " | ".join(f"{100 * share:.1f}" for share in found.values())
            say(f"| {sources} | {accuracy} | {shares} |\n")
    say("\n| sources | McNemar on pairs | ours |\n|---|---|---|\n")
    for sources in (6, 10, 20, 50):
        found = false_alarms(sources, trials=2000)
        say(f"| {sources} | {100 * found['mcnemar']:.1f} | {100 * found['ours']:.1f} |\n")


if __name__ == "__main__":
    main()
