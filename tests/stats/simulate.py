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


def equal_models(
    generator: np.random.Generator,
    prompts: int,
    workers: int,
    each: int,
    by_prompt: float,
    by_worker: float,
) -> tuple[np.ndarray, list[int], list[int]]:
    """Votes on two models of equal quality: points, prompts, workers.

    On a prompt one of them was luckier, a worker may like one of them more, everybody leans to a
    side, and a quarter of the votes are ties. Sides are balanced on each prompt, as the app does.
    """
    luck, taste = generator.normal(0, by_prompt, prompts), generator.normal(0, by_worker, workers)
    lean = generator.normal(0, 0.5, workers)
    prompt = np.repeat(np.arange(prompts), each)
    worker = np.concatenate(
        [generator.choice(workers, each, replace=False) for _ in range(prompts)]
    )
    side = np.concatenate([generator.permutation(np.resize([1, -1], each)) for _ in range(prompts)])
    chance = 1 / (1 + np.exp(-(luck[prompt] + taste[worker] + side * lean[worker])))
    points = (generator.random(prompt.size) < chance).astype(float)
    points[generator.random(prompt.size) < 0.25] = 0.5
    return points, prompt.tolist(), worker.tolist()
