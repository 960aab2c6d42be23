"""What may be said of a judge: by film, corrected for many looks, and better than its placebos."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from screentest.stats import Interval
from screentest.stats.claims import Claim, Unsettled, claims
from screentest.stats.claims import WhyUnsettled as Why
from screentest.stats.power import COIN, films_needed
from screentest.stats.signflip import sign_flip_p


def films(*points: float) -> dict[str, float]:
    return {f"film {number}": value for number, value in enumerate(points)}


def test_a_judge_that_is_always_right_is_believed_from_six_films_on() -> None:
    # Two-sided exact sign test: 2 / 2^5 = 0.0625, 2 / 2^6 = 0.03125.
    assert claims([films(*[1] * 5)])[0].claim is Claim.UNDECIDED
    (found,) = claims([films(*[1] * 6)])
    assert found.claim is Claim.SEES
    assert found.p_value == pytest.approx(binomtest(6, 6).pvalue)


def test_many_groups_need_more_films() -> None:
    # Holm over ten: 10 · 2 / 2^n <= 0.05 from n = 9 on, where one group alone sees the harm.
    others = [films(*[1, 0] * 4)] * 9
    assert claims([films(*[1] * 8), *others])[0].claim is Claim.UNDECIDED
    others = [films(*[1, 0] * 4, 0.5)] * 9
    assert claims([films(*[1] * 9), *others])[0].claim is Claim.SEES


def test_of_many_claims_one_in_twenty_may_be_wrong_and_strict_ones_may_not() -> None:
    # Eight of twelve see ten films of ten: 2 / 2^10 = 0.00195. Holm's first step is 12 times that,
    # and so are all of his, 0.0234; on eight films 12 · 2 / 2^8 = 0.094 is too much for Holm, while
    # Benjamini and Hochberg's 12 / 8 · 2 / 2^8 = 0.0117 is not.
    others = [films(*[0.5] * 8)] * 4
    found = claims([*[films(*[1] * 8)] * 8, *others])
    assert [each.claim for each in found[:8]] == [Claim.SEES] * 8
    assert found[0].p_value == pytest.approx(12 / 8 * 2 / 2**8)
    assert not any(each.strict for each in found)
    found = claims([*[films(*[1] * 10)] * 8, *others])
    assert [each.strict for each in found] == [True] * 8 + [False] * 4


def test_a_judge_that_prefers_the_degraded() -> None:
    assert claims([films(*[0] * 8)])[0].claim is Claim.PREFERS_DEGRADED


def test_a_judge_that_takes_every_edit_for_harm_sees_nothing() -> None:
    every = films(*[1] * 12)
    (found,) = claims([every], placebos=[{"trim": every}])
    assert found.claim is Claim.UNDECIDED
    assert found.placebo == 1.0
    assert claims([every], placebos=[{"trim": films(*[0.5] * 12)}])[0].claim is Claim.SEES


def test_each_kind_of_placebo_has_to_be_beaten_by_itself() -> None:
    every, ties = films(*[1] * 70), films(*[0.5] * 70)
    # Two kinds that change no pixel do not make up for one that the judge takes for harm.
    (found,) = claims([every], [{"container": ties, "noise": every, "trim": ties}])
    assert found.unsettled == Unsettled(Why.LIKE_PLACEBO, ("noise",), 0, 1.0, 1.0)
    assert claims([every], [{"container": ties, "noise": ties}])[0].claim is Claim.SEES
    # The largest p-value needs no correction for the number of kinds.
    one, three = (
        claims([films(*[1] * 6)], [dict.fromkeys(names, ties)])[0] for names in ("a", "abc")
    )
    assert one.p_value == three.p_value == 2 / 2**6


def test_a_placebo_on_part_of_the_films_does_not_block_a_claim_on_all() -> None:
    every, ties = films(*[1] * 40), films(*[0.5] * 40)
    some = dict(list(ties.items())[:5])
    found = claims([every, ties], [{"container": ties, "noise": some}] * 2)
    assert found[0].claim is Claim.SEES
    # Where the judge takes that kind for harm, it is a bar all the same.
    harm = dict.fromkeys(some, 1.0)
    assert claims([every], [{"container": ties, "noise": harm}])[0].claim is Claim.UNDECIDED


def test_placebos_that_toss_coins_are_compared_together() -> None:
    # 50 of 60 are right; the coins of three kinds come out at 28, 27 and 29 of 60: each is beaten
    # in the mean, none leans the way of the pairs.
    right = films(*[1] * 50, *[0] * 10)
    fair = {
        name: films(*[0, 1] * n, *[0] * (60 - 2 * n))
        for name, n in zip("abc", (28, 27, 29), strict=True)
    }
    (found,) = claims([right], [fair])
    mean = [
        sum(points) / 3 for points in zip(*(kind.values() for kind in fair.values()), strict=True)
    ]
    gaps = [one - two for one, two in zip(right.values(), mean, strict=True)]
    assert found.p_value == pytest.approx(sign_flip_p(np.array(gaps)), rel=0.2)
    assert found.claim is Claim.SEES


def test_a_kind_without_answers_is_not_made_up_for_by_another() -> None:
    every, ties = films(*[1] * 70), films(*[0.5] * 70)
    none: dict[str, float | None] = dict.fromkeys(every)
    placebos = {"container": ties, "noise": none, "reencode": none}
    (found,) = claims([every], [placebos])
    assert found.unsettled == Unsettled(Why.PLACEBO_UNANSWERED, ("noise", "reencode"))
    (found,) = claims([every], [{"container": ties, "trim": none | films(*[0.5] * 30)}])
    assert found.unsettled == Unsettled(Why.PLACEBO_RARELY_ANSWERED, ("trim",), 30)


def test_placebos_of_other_films_say_nothing() -> None:
    assert (
        claims([films(*[1] * 12)], placebos=[{"trim": {"another film": 1.0}}])[0].claim
        is Claim.SEES
    )


def test_halves_in_both_orders_are_no_evidence() -> None:
    (found,) = claims([films(*[0.5] * 50)])
    assert found.claim is Claim.CHANCE
    assert found.p_value == 1.0


def test_chance_is_claimed_only_on_enough_films() -> None:
    needed = films_needed(0.75)
    few = films(*[1.0, 0.0] * (needed // 2 - 1))
    (found,) = claims([few])
    assert found.unsettled == Unsettled(Why.TOO_FEW_FILMS)
    assert found.more == needed - len(few)
    (found,) = claims([films(*[1.0, 0.0] * 50)])
    assert (found.claim, found.unsettled) == (Claim.CHANCE, None)
    assert found.at_most == pytest.approx(0.6, abs=0.01)


def test_few_films_show_that_a_judge_does_not_react() -> None:
    # 14 ties: with 95% confidence at most 23.2% of films have more than half their points (Clopper
    # and Pearson), so that at most 61.6% are right.
    (found,) = claims([films(*[0.5] * 14)])
    most = binomtest(0, 14).proportion_ci(0.95).high
    assert (found.claim, found.at_most) == (Claim.CHANCE, pytest.approx(0.5 + most / 2))
    # Of 9 it may be a third.
    assert claims([films(*[0.5] * 9)])[0].claim is Claim.UNDECIDED
    # Nor is it said of one that reacts, the wrong way, on a third of 14.
    assert claims([films(*[0] * 4, *[0.5] * 10)])[0].claim is Claim.UNDECIDED


def test_who_may_be_right_in_65_percent_is_not_called_chance() -> None:
    # 119 of 200 pairs right, on 70 films, may well be 65%.
    some = films(*[1] * 40, *[0] * 30)
    (found,) = claims([some], intervals=[Interval(0.48, 0.70)])
    assert found.claim is Claim.UNDECIDED
    assert found.more > 0
    (found,) = claims([some], intervals=[Interval(0.48, 0.6499)])
    assert (found.claim, found.at_most) == (Claim.CHANCE, 0.6499)


def test_chance_is_not_claimed_where_the_interval_leaves_it_out() -> None:
    # 120 of 200 right are told from chance alone, and not as one of ten: 10 · 0.0057 > 0.05.
    some = films(*[1] * 120, *[0] * 80)
    found = claims([some, *[films(*[0.5] * 200)] * 9])[0]
    assert binomtest(120, 200).pvalue < 0.05 < 10 * binomtest(120, 200).pvalue
    assert found.claim is Claim.UNDECIDED
    assert found.unsettled == Unsettled(Why.TOO_FEW_FILMS)
    assert found.more > 0
    # Nor where the interval that stands beside it does.
    many = films(*[1] * 104, *[0] * 96)
    assert claims([many])[0].claim is Claim.CHANCE
    assert claims([many], intervals=[Interval(0.501, 0.56)])[0].claim is Claim.UNDECIDED


def test_a_judge_that_is_not_told_from_its_placebos_is_said_to_be() -> None:
    right = films(*[1] * 50, *[0] * 10)
    fair = films(*[0] * 14, *[1] * 44, *[0] * 2)
    (found,) = claims([right], [{"trim": fair}])
    assert found.unsettled is not None
    assert (found.unsettled.reason, found.unsettled.kinds) == (Why.LIKE_PLACEBO, ("trim",))
    assert found.unsettled.points == pytest.approx(50 / 60)
    assert found.unsettled.placebo == pytest.approx(44 / 60)
    (found,) = claims([right], [{"": fair}], unit="prompt")
    assert found.unsettled is not None
    assert (found.unsettled.reason, found.unsettled.kinds) == (Why.LIKE_PLACEBO, ())


def test_a_judge_that_fails_on_its_placebos_does_not_escape_them() -> None:
    right = films(*[1] * 40)
    failed = dict.fromkeys(right)
    (found,) = claims([right], [{"trim": failed}])
    assert found.unsettled == Unsettled(Why.PLACEBO_UNANSWERED)
    # Two answers of forty are two witnesses, and not forty of whom most are indifferent.
    (found,) = claims([right], [{"": failed | {"film 0": 0.5, "film 1": 0.5}}])
    assert found.unsettled == Unsettled(Why.PLACEBO_RARELY_ANSWERED, (), 2)
    assert claims([right], [{"": failed | films(*[0.5] * 20)}])[0].claim is Claim.SEES


def test_how_many_more_goes_by_what_was_seen() -> None:
    others = [films(*[1, 0] * 4)] * 9
    right, wrong, halting = (
        claims([films(*points), *others])[0] for points in ([1] * 7, [0] * 7, [1, 1, 1, 1, 0, 0, 0])
    )
    assert right.more == wrong.more < 15
    # Who is right in four of seven is as far from being settled as one of 75% may be.
    assert halting.needed == films_needed(0.75, level=0.05 / 10)


@pytest.mark.parametrize("accuracy", [0.75, 0.9])
@pytest.mark.parametrize("groups", [1, 7])
def test_as_many_films_as_are_needed_beside_placebos_that_are_coins(
    accuracy: float, groups: int
) -> None:
    rng = np.random.default_rng(4)
    needed = films_needed(accuracy, level=0.05 / groups, noise=COIN)
    ties = [dict.fromkeys(map(str, range(needed)), 0.5)] * (groups - 1)
    found, runs = 0, 200
    for _ in range(runs):
        one, two = (
            {str(film): float(yes) for film, yes in enumerate(rng.random(needed) < share)}
            for share in (accuracy, 0.5)
        )
        found += claims([one, *ties], [{"trim": two}] * groups)[0].claim is Claim.SEES
    # Two bars are counted, and of coins on few films often only one stands: 192 of 200 then.
    assert 0.72 <= found / runs <= 0.98


def test_nothing_judged_is_nothing_said() -> None:
    (found,) = claims([{}])
    assert (found.claim, found.accuracy, found.films) == (Claim.UNDECIDED, None, 0)
    assert found.unsettled == Unsettled(Why.NO_ANSWER)
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
