"""Agreement with people, compared with scipy; what has no correlation is counted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from screentest.core import Reason
from screentest.suites.etva.answers import Compat
from screentest.suites.etva.people import answer_accuracy, with_people

MODELS = ("a", "b", "c", "d", "e")


def table(*rows: tuple[float, ...]) -> dict[str, dict[str, float]]:
    return {str(n): dict(zip(MODELS, row, strict=False)) for n, row in enumerate(rows)}


SCORES = table((0.5, 0.75, 1.0, 0.25, 0.5), (1, 1, 1, 1, 1), (0.2, 0.4, 0.1, 0.9, 0.8), (0.1, 0.2))
PEOPLE = table((2.5, 3.0, 5.0, 0.5, 3.5), (1, 2, 3, 4, 5), (5, 4, 4.5, 1, 2), (1, 2))


def test_the_mean_over_prompts_as_scipy_has_it() -> None:
    found = with_people(SCORES, PEOPLE)
    pairs = [(list(SCORES[name].values()), list(PEOPLE[name].values())) for name in ("0", "2")]
    tau = np.mean([kendalltau(*pair).statistic for pair in pairs])
    rho = np.mean([spearmanr(*pair).statistic for pair in pairs])
    assert found.kendall.unwrap().mean == pytest.approx(tau)
    assert found.spearman.unwrap().mean == pytest.approx(rho)
    # One prompt has equal scores, one has two models only: neither is a zero.
    assert (found.kendall.unwrap().defined, found.kendall.unwrap().undefined) == (2, 2)


def test_upstream_counts_the_undefined_as_zero() -> None:
    strict = with_people(SCORES, PEOPLE).spearman.unwrap()
    upstream = with_people(SCORES, PEOPLE, compat=Compat.UPSTREAM).spearman.unwrap()
    assert upstream.mean == pytest.approx(strict.mean * 2 / 4)
    assert (upstream.defined, upstream.undefined) == (2, 2)


def test_only_models_and_prompts_that_both_have_count() -> None:
    more = SCORES | {"9": dict.fromkeys(MODELS, 0.3)}
    people = {name: {**row, "z": 5.0} for name, row in PEOPLE.items()}
    assert with_people(more, people) == with_people(SCORES, PEOPLE)


def test_nothing_in_common_is_no_zero() -> None:
    for scores in ({}, {"1": SCORES["1"]}):
        found = with_people(scores, PEOPLE).kendall
        assert found.failure is not None
        assert found.failure.reason is Reason.NOT_APPLICABLE


def test_an_interval_over_prompts() -> None:
    rng = np.random.default_rng(1)
    scores = table(*(tuple(rng.random(5)) for _ in range(40)))
    people = table(*(tuple(rng.random(5)) for _ in range(40)))
    found = with_people(scores, people).spearman.unwrap()
    assert found.interval is not None
    assert found.mean in found.interval
    assert 0 in found.interval  # both are noise


def test_answers_of_people() -> None:
    ours = {"q1": True, "q2": False, "q3": True}
    accuracy = answer_accuracy(ours, {"q1": True, "q2": True, "q9": False}).unwrap()
    assert (accuracy.same, accuracy.total, accuracy.share) == (1, 2, 0.5)
    assert 0.5 in accuracy.interval
    assert not answer_accuracy(ours, {}).ok
