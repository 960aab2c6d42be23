"""Event-level alignment: equation 1 by hand, matching against brute force, order by property."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import Item, Reason
from screentest.suites.locot2v.data import Event
from screentest.suites.locot2v.metrics.alignment import Nearness, align, match, order_kept
from tests.messages import names
from tests.suites.locot2v.answering import answering, chat, event
from tests.suites.locot2v.films import failure, score

NAME = "locot2v_event_alignment"
Weights = st.integers(1, 5).flatmap(
    lambda rows: st.integers(1, 5).flatmap(
        lambda columns: st.lists(
            st.lists(st.floats(0, 1), min_size=columns, max_size=columns),
            min_size=rows,
            max_size=rows,
        )
    )
)


def told(count: int) -> list[Event]:
    return [Event(f"event {number}") for number in range(count)]


def test_equation_1_by_hand() -> None:
    """Three pairs in the order 0, 2, 1: one inversion of three."""
    near = Nearness(
        np.array([[0.9, 0.1, 0.1], [0.1, 0.2, 0.8], [0.1, 0.7, 0.2]]),
        np.stack([np.full((3, 3), value) for value in (1.0, 0.8, 0.6, 0.4)]),
    )
    found = align(told(3), told(3), near)
    assert found.value == pytest.approx((1 - 1 / 3) * (0.9 + 0.8 + 0.7) / 3 * 0.7)
    assert found.details["order"] == pytest.approx(2 / 3)
    assert found.details["matched"] == 3


@given(Weights)
def test_matching_is_the_best_there_is(rows: list[list[float]]) -> None:
    weights = np.array(rows)
    few, many = sorted(weights.shape)
    table = weights if weights.shape[0] == few else weights.T
    best = max(
        sum(table[i, j] for i, j in enumerate(chosen)) for chosen in permutations(range(many), few)
    )
    assert sum(weights[i, j] for i, j in match(weights)) == pytest.approx(best)


@given(st.permutations(range(6)))
def test_order_is_kendalls_share_of_pairs_in_order(places: list[int]) -> None:
    from scipy.stats import kendalltau

    tau = kendalltau(range(6), places).statistic
    assert order_kept(places) == pytest.approx((tau + 1) / 2)


@given(st.permutations(range(5)), st.lists(st.floats(0.1, 1), min_size=5, max_size=5))
def test_shuffling_events_costs_exactly_the_inversions(
    places: list[int], likeness: list[float]
) -> None:
    """Every event stays recognisable; only the order in which they are shown changes."""
    in_order = Nearness(np.diag(likeness), np.stack([np.diag(likeness)] * 4))
    shown = [place for place, _ in sorted(enumerate(places), key=lambda pair: pair[1])]
    shuffled = Nearness(in_order.events[:, shown], in_order.fields[:, :, shown])
    inversions = sum(a > b for a, b in combinations(np.argsort(shown).tolist(), 2))
    straight = align(told(5), told(5), in_order).value
    assert align(told(5), told(5), shuffled).value == pytest.approx(
        straight * (1 - inversions / 10)
    )


def test_one_pair_has_no_order_to_lose() -> None:
    near = Nearness(np.array([[0.5]]), np.full((4, 1, 1), 1.0))
    assert align(told(1), told(1), near).value == 0.5


def test_nothing_shown_is_nothing_and_says_why() -> None:
    near = Nearness(np.zeros((2, 0)), np.zeros((4, 2, 0)))
    found = align(told(2), [], near)
    assert (found.value, names(found.details["why"], "description", "events")) == (0.0, True)
    unlike = Nearness(np.zeros((2, 2)), np.ones((4, 2, 2)))
    assert align(told(2), told(2), unlike).details["why"] == "no event resembles another"


RUN = event("A dog runs over a field.")
SLEEP = event("The dog sleeps in a house.", setting="a house", action="sleeps")


def test_a_perfect_film_scores_one(story: Item) -> None:
    with answering(describe="…", events={"events": [RUN, SLEEP]}) as server:
        assert score(NAME, story, chat(server)).value == pytest.approx(1.0)


def test_the_wrong_order_of_two_loses_all(story: Item) -> None:
    def events(asked: object) -> object:
        wanted = any("A dog runs over a field. Then" in text for text in asked.texts)  # type: ignore[attr-defined]
        return {"events": [RUN, SLEEP] if wanted else [SLEEP, RUN]}

    with answering(describe="It sleeps, then runs.", events=events) as server:
        found = score(NAME, story, chat(server))
    assert (found.value, found.details["order"]) == (0.0, 0.0)


def test_events_are_asked_of_prompt_and_description_only_once_each(story: Item) -> None:
    with answering(describe="It runs.", events={"events": [RUN]}) as server:
        score(NAME, story, chat(server))
        assert len(server.asked) == 3


def test_a_prompt_without_events_is_not_applicable(story: Item) -> None:
    with answering(describe="…", events={"events": []}) as server:
        lost = failure(NAME, story, chat(server)).failure
    assert lost is not None
    assert (lost.reason, names(lost.detail, "events")) == (Reason.NOT_APPLICABLE, True)


def test_an_answer_without_form_is_no_score(story: Item) -> None:
    with answering(describe="…", events="I see a dog.") as server:
        lost = failure(NAME, story, chat(server)).failure
    assert lost is not None
    assert lost.reason is Reason.UNPARSABLE
