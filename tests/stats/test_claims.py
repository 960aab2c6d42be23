"""What may be said of a judge: by film, corrected for many looks, and better than its placebos."""

from __future__ import annotations

import math

import pytest
from scipy.stats import binomtest

from screentest.stats.claims import Claim, claims, films_needed


def films(*points: float) -> dict[str, float]:
    return {f"film {number}": value for number, value in enumerate(points)}


def test_a_judge_that_is_always_right_is_believed_from_six_films_on() -> None:
    # Two-sided exact sign test: 2 / 2^5 = 0.0625, 2 / 2^6 = 0.03125.
    assert claims([films(*[1] * 5)])[0].claim is Claim.CANNOT_TELL
    (found,) = claims([films(*[1] * 6)])
    assert found.claim is Claim.SEES
    assert found.p_value == pytest.approx(binomtest(6, 6).pvalue)


def test_many_groups_need_more_films() -> None:
    # Holm over ten: 10 · 2 / 2^n <= 0.05 from n = 9 on, where one group alone sees the harm.
    others = [films(*[1, 0] * 4)] * 9
    assert claims([films(*[1] * 8), *others])[0].claim is Claim.CANNOT_TELL
    others = [films(*[1, 0] * 4, 0.5)] * 9
    assert claims([films(*[1] * 9), *others])[0].claim is Claim.SEES


def test_a_judge_that_prefers_the_harm_is_said_to() -> None:
    assert claims([films(*[0] * 8)])[0].words == "prefers the harm"


def test_a_judge_that_takes_every_edit_for_harm_sees_nothing() -> None:
    every = films(*[1] * 12)
    (found,) = claims([every], placebos=[every])
    assert found.claim is Claim.CANNOT_TELL
    assert found.placebo == 1.0
    assert claims([every], placebos=[films(*[0.5] * 12)])[0].claim is Claim.SEES


def test_films_without_a_placebo_count_as_those_of_an_indifferent_judge() -> None:
    assert claims([films(*[1] * 12)], placebos=[{"another film": 1.0}])[0].claim is Claim.SEES


def test_halves_in_both_orders_are_no_evidence() -> None:
    (found,) = claims([films(*[0.5] * 40)])
    assert found.claim is Claim.CHANCE
    assert found.p_value == 1.0


def test_chance_is_claimed_only_on_enough_films() -> None:
    needed = films_needed(0.75)
    few, many = ([1.0, 0.0] * count for count in (needed // 2 - 1, needed // 2 + 1))
    assert (
        claims([films(*few)])[0].words == f"cannot tell: {needed - len(few)} more films are needed"
    )
    assert claims([films(*many)])[0].words == "no better than chance"


def test_nothing_judged_is_nothing_said() -> None:
    (found,) = claims([{}])
    assert (found.claim, found.accuracy, found.films) == (Claim.CANNOT_TELL, None, 0)
    assert claims([]) == []


@pytest.mark.parametrize("accuracy", [0.6, 0.75, 0.9])
def test_films_needed_is_what_the_exact_test_needs(accuracy: float) -> None:
    # By brute force: the chance that scipy's exact binomial test rejects a fair coin.
    def power(count: int) -> float:
        return sum(
            math.comb(count, right) * accuracy**right * (1 - accuracy) ** (count - right)
            for right in range(count // 2 + 1, count + 1)
            if binomtest(right, count).pvalue <= 0.05
        )

    needed = films_needed(accuracy)
    assert power(needed) >= 0.8 > power(needed - 1)
