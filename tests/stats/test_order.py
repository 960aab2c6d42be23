from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from screentest.core import Choice
from screentest.stats import order_effect, wilson

FIRST, SECOND, TIE = Choice.FIRST, Choice.SECOND, Choice.TIE


def test_every_kind_of_pair_by_hand() -> None:
    # Firstness of each pair: 1, 1, ½ (consistent), ½ (consistent), 0, ½ (two ties), ¾.
    both = [
        (FIRST, FIRST),
        (FIRST, FIRST),
        (FIRST, SECOND),
        (SECOND, FIRST),
        (SECOND, SECOND),
        (TIE, TIE),
        (FIRST, TIE),
    ]
    effect = order_effect(both).unwrap()
    assert effect.pairs == 7
    assert effect.first_share == pytest.approx(4.25 / 7)
    assert effect.first_interval == wilson(4.25, 7)
    assert effect.consistent_share == pytest.approx(3 / 7)
    assert effect.consistent_interval == wilson(3, 7)
    assert (effect.always_first, effect.always_second) == (2, 1)
    # Three pairs lean to what is shown first, one to what is shown second.
    assert effect.p_value == pytest.approx(binomtest(3, 4).pvalue)


def test_a_judge_that_always_says_first() -> None:
    effect = order_effect([(FIRST, FIRST)] * 20).unwrap()
    assert (effect.first_share, effect.consistent_share) == (1.0, 0.0)
    assert effect.p_value == pytest.approx(2 / 2**20)


def test_a_judge_that_sees_the_videos() -> None:
    effect = order_effect([(FIRST, SECOND), (SECOND, FIRST), (TIE, TIE)]).unwrap()
    assert (effect.first_share, effect.consistent_share, effect.p_value) == (0.5, 1.0, 1.0)


def test_a_coin_has_no_order_effect() -> None:
    generator = np.random.default_rng(4)
    alarms = 0
    for _ in range(300):
        coins = generator.integers(0, 2, (80, 2))
        both = [((FIRST, SECOND)[a], (FIRST, SECOND)[b]) for a, b in coins]
        alarms += order_effect(both).unwrap().p_value <= 0.05
    assert alarms / 300 <= 0.05


def test_nothing_judged_twice() -> None:
    outcome = order_effect([])
    assert outcome.failure is not None
    assert "both orders" in outcome.failure.detail
