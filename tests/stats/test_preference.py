"""Win rates and strengths against references, and under the null."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binomtest, t

from screentest.core import NoValue
from screentest.stats import bradley_terry, win_rate
from screentest.stats.preference import POINTS, two_way
from tests.stats.simulate import equal_models


def test_strengths_are_the_likeliest() -> None:
    generator = np.random.default_rng(5)
    names, true = ["a", "b", "c", "d"], np.array([0.8, 0.1, -0.2, -0.7])
    one = generator.integers(0, 4, 300)
    other = (one + generator.integers(1, 4, 300)) % 4
    chance = 1 / (1 + np.exp(true[other] - true[one]))
    points = (generator.random(300) < chance).astype(float)
    points[generator.random(300) < 0.2] = 0.5

    def loss(free: np.ndarray) -> float:
        strength = np.concatenate([[0.0], free])
        gap = strength[one] - strength[other]
        return float(np.sum(np.logaddexp(0, -gap) * points + np.logaddexp(0, gap) * (1 - points)))

    best = np.concatenate([[0.0], minimize(loss, np.zeros(3), tol=1e-10).x])
    best -= best.mean()
    found = bradley_terry(
        [names[n] for n in one],
        [names[n] for n in other],
        points,
        [n // 10 for n in range(300)],
        [n % 10 for n in range(300)],
    )
    assert [each.model for each in found] == [names[n] for n in np.argsort(-best)]
    for each in found:
        assert each.value == pytest.approx(POINTS * best[names.index(each.model)], abs=1e-2)
        assert each.interval is not None
        assert each.value in each.interval


def test_no_strengths_where_one_never_loses() -> None:
    with pytest.raises(NoValue, match="never lost"):
        bradley_terry(["a", "a"], ["b", "b"], [1, 1], [1, 2], [1, 2])
    with pytest.raises(NoValue):  # two islands
        bradley_terry(["a", "a", "c", "c"], ["b", "b", "d", "d"], [1, 0, 1, 0], range(4), range(4))
    with pytest.raises(ValueError, match="itself"):
        bradley_terry(["a"], ["a"], [1], [1], [1])


def test_votes_that_are_all_alike_count_by_prompts_or_workers() -> None:
    # By hand: eight workers on twenty prompts all agree, which is worth eight trials.
    rate = win_rate([1.0] * 160, [n // 8 for n in range(160)], [n % 8 for n in range(160)])
    exact = binomtest(8, 8)
    assert rate.p_value == pytest.approx(exact.pvalue, rel=1e-3)
    assert rate.interval().low == pytest.approx(exact.proportion_ci().low, rel=1e-6)


def test_one_worker_or_one_prompt_settles_nothing() -> None:
    for prompts, workers in (([1] * 50, range(50)), (range(50), [1] * 50)):
        rate = win_rate([1.0] * 50, prompts, workers)
        assert rate.p_value == 1.0
        assert (rate.interval().low, rate.interval().high) == (0.0, 1.0)


def test_test_and_interval_agree() -> None:
    generator = np.random.default_rng(3)
    for _ in range(40):
        points, prompts, workers = equal_models(generator, 10, 8, 5, 1.0, 1.0)
        rate = win_rate(np.clip(points + 0.1, 0, 1), prompts, workers)
        for level in (0.05, 0.01):
            assert (0.5 not in rate.interval(level)) == (rate.p_value <= level)


def test_the_variance_of_votes_that_do_not_go_together() -> None:
    pulls = np.random.default_rng(2).normal(size=(400, 1))
    alone = np.arange(400)
    # Each vote is its own prompt and its own worker: the plain variance of a sum.
    expected = float((pulls**2).sum()) * 400 / 399
    even = np.full((400, 1), 1 / 400)
    assert two_way(pulls, even, alone, alone)[0] == pytest.approx(expected)


def test_who_votes_most_counts_by_an_estimate_without_them() -> None:
    # By hand: of three people one cast half of the votes; every vote is a prompt of its own.
    points, workers = [1.0, 1, 1, 1, 0, 0, 1, 0], [0, 0, 0, 0, 1, 1, 2, 2]
    without = [1 / 4, 5 / 6, 4 / 6]
    moved = sum((share - 5 / 8) ** 2 for share in without)
    rate = win_rate(points, range(8), workers)
    by_prompt = 7 / 8 * sum((point - 5 / 8) ** 2 for point in points) / 7**2
    # Each cell is one vote here, as each prompt is: both cancel.
    assert rate.variance == pytest.approx(max(moved * 2 / 3, by_prompt))
    assert rate.effective_workers == pytest.approx(1 / (0.25 + 2 / 16))
    assert rate.effective_prompts == pytest.approx(8)


def test_strengths_of_two_models_know_what_the_win_rate_knows() -> None:
    generator = np.random.default_rng(8)
    points = generator.choice([0.0, 0.5, 1.0], 90)
    prompts, workers = [n % 15 for n in range(90)], generator.choice(9, 90).tolist()
    rate = win_rate(points, prompts, workers)
    one = bradley_terry(["a"] * 90, ["b"] * 90, points, prompts, workers)[0]
    assert one.interval is not None
    # By the delta method: half of the log odds, which the two share.
    error = np.sqrt(rate.variance) / (2 * rate.share * (1 - rate.share))
    reach = POINTS * t.ppf(0.975, rate.effective - 1) * error
    assert one.interval.margin == pytest.approx(reach)


def test_few_busy_people_settle_nothing() -> None:
    # Twenty people, all but one vote for the first; three of them cast most votes.
    workers = np.repeat(range(20), [100] * 3 + [5] * 17).tolist()
    prompts = [n % 40 for n in range(len(workers))]
    points = [float(worker != 19) for worker in workers]
    busy = win_rate(points, prompts, workers)
    assert busy.effective_workers < 5
    assert 0.5 in busy.interval()
    assert busy.p_value > 0.05
    even = win_rate(points, prompts, [n % 20 for n in range(len(workers))])
    assert even.p_value < 1e-3
    strength = bradley_terry(["a"] * 385, ["b"] * 385, points, prompts, workers)[0]
    assert strength.interval is not None
    assert 0 in strength.interval
    # Nine tenths of the votes are of one person: no interval at all.
    alone = [0 if n % 10 else 1 + n % 7 for n in range(385)]
    assert bradley_terry(["a"] * 385, ["b"] * 385, points, prompts, alone)[0].interval is None
    assert win_rate(points, prompts, alone).p_value == 1.0


def test_votes_of_one_prompt_are_one_vote() -> None:
    points, prompts = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0], range(6)
    once = win_rate(points, prompts, range(6))
    often = win_rate(np.repeat(points, 5), [n // 5 for n in range(30)], range(30))
    assert often.variance == pytest.approx(once.variance)


# Prompts, workers, votes on each prompt, and how far prompts and workers differ.
NULLS = [(12, 12, 5, 0.0, 0.0), (12, 12, 5, 1.0, 1.0), (30, 10, 5, 0.0, 2.0), (8, 8, 8, 2.0, 2.0)]


def false_better(null: tuple[int, int, int, float, float], runs: int, seed: int = 1) -> float:
    generator = np.random.default_rng(seed)
    wrong = sum(
        0.5 not in win_rate(*equal_models(generator, *null)).interval() for _ in range(runs)
    )
    return wrong / runs


@pytest.mark.parametrize("null", NULLS)
def test_equal_models_are_seldom_called_better(null: tuple[int, int, int, float, float]) -> None:
    # The level itself, and two standard errors of so many runs.
    assert false_better(null, 250) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 250)


@pytest.mark.slow
@pytest.mark.parametrize("null", [*NULLS, (6, 6, 5, 0.0, 0.0), (100, 20, 3, 1.0, 1.0)])
def test_equal_models_in_many_runs(null: tuple[int, int, int, float, float]) -> None:
    assert false_better(null, 2500, seed=7) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 2500)
