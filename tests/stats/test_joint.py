"""All comparisons tested together: by brute force, beyond margins, and where nothing is there."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from scipy.stats import permutation_test

from screentest.stats import signflip
from screentest.stats.signflip import LEVEL, Compared, joint_tests


def named(gaps: np.ndarray) -> dict[str, float]:
    return {f"{place:03}": float(gap) for place, gap in enumerate(gaps)}


def test_one_comparison_is_scipys_test() -> None:
    gaps = np.random.default_rng(3).normal(0.6, 1.0, 10)
    theirs = permutation_test(
        (gaps, np.zeros(10)),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        alternative="greater",
        vectorized=True,
    )
    (ours,) = joint_tests([Compared(named(gaps))])
    assert ours.p_value == pytest.approx(2 * theirs.pvalue)
    assert ours.adjusted_p == pytest.approx(2 * theirs.pvalue)


@pytest.mark.parametrize("margin", [0.0, 0.4])
def test_many_are_westfalls_and_youngs_step_down(margin: float) -> None:
    rng = np.random.default_rng(5)
    gaps = rng.normal([1.5, 0.8, 0.3, 0.0], 1.0, (9, 4))
    beyond = np.concatenate([gaps - margin, -gaps - margin], axis=1)
    scale = np.sqrt((beyond**2).sum(axis=0))
    drawn = np.array(
        [(np.array(signs) @ beyond) / scale for signs in itertools.product((1, -1), repeat=9)]
    )
    seen, adjusted, expected = drawn[0], 0.0, np.ones(8)
    for rank, column in enumerate(order := np.argsort(-seen)):
        adjusted = max(adjusted, np.mean(drawn[:, order[rank:]].max(axis=1) >= seen[column] - 1e-9))
        expected[column] = adjusted
    ours = joint_tests([Compared(named(column), margin) for column in gaps.T])
    for place, test in enumerate(ours):
        side = max((place, place + 4), key=lambda at: seen[at])
        assert test.adjusted_p == pytest.approx(expected[side] if seen[side] > 0 else 1.0)


@pytest.mark.parametrize("prompts", [5, 13, 40])
def test_patterns_in_blocks_are_all_patterns(prompts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the bit: one block of all 10,000 patterns is the test as it is written down."""
    gaps = np.random.default_rng(prompts).normal(0.4, 1.0, (prompts, 200))
    compared = [Compared(named(column), margin=0.1) for column in gaps.T]
    in_blocks = joint_tests(compared)
    monkeypatch.setattr(signflip, "_BLOCK", 1 << 20)
    assert in_blocks == joint_tests(compared)


def test_many_comparisons_are_never_in_memory_with_all_patterns() -> None:
    gaps = np.random.default_rng(4).normal(0.4, 1.0, (20, 300))
    tracemalloc.start()
    joint_tests([Compared(named(column)) for column in gaps.T])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000 * 600 * 8 / 2  # of 8 bytes for each pattern, comparison and direction


def test_measures_of_one_thing_are_paid_for_once() -> None:
    """Holm over six copies of a measure asks six times as much of each."""
    gaps = named(np.random.default_rng(8).normal(1.0, 1.0, 12))
    (alone,) = joint_tests([Compared(gaps)])
    together = joint_tests([Compared(gaps)] * 6)
    assert [test.adjusted_p for test in together] == pytest.approx([alone.adjusted_p] * 6)


def test_the_mean_exceeds_the_critical_errors_where_it_is_shown() -> None:
    rng = np.random.default_rng(11)
    for size in (0.0, 0.5, 1.0, 2.0):
        columns = rng.normal(size, 1.0, (12, 5)).T
        for gaps, test in zip(
            columns, joint_tests([Compared(named(c)) for c in columns]), strict=True
        ):
            error = gaps.std(ddof=1) / np.sqrt(12)
            assert (abs(gaps.mean()) / error > test.critical) == (test.adjusted_p <= LEVEL)


@pytest.mark.parametrize("kind", ["normal", "skewed", "tied"])
def test_equal_systems_are_rarely_called_different(kind: str) -> None:
    """Three equal models, six metrics of which some agree, 12 prompts, 300 draws.

    At 5 % the count of runs with any claim is at most 26 with probability 0.998 (binomial).
    """
    rng = np.random.default_rng(17)
    wrong = 0
    for _ in range(300):
        shared = rng.normal(0, 1, (12, 3, 1))
        values = shared + rng.normal(0, 1, (12, 3, 6))
        if kind == "skewed":
            values = np.exp(values)
        if kind == "tied":
            values = np.round(values)
        gaps = [values[:, a] - values[:, b] for a, b in itertools.combinations(range(3), 2)]
        compared = [Compared(named(column)) for gap in gaps for column in gap.T]
        wrong += any(test.adjusted_p <= LEVEL for test in joint_tests(compared))
    assert wrong <= 26


def test_nothing_differs_and_nothing_is_asked() -> None:
    assert joint_tests([]) == []
    (test,) = joint_tests([Compared(dict.fromkeys("abcdefgh", 0.0))])
    assert (test.p_value, test.adjusted_p) == (1.0, 1.0)
