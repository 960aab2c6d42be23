"""Agreement with people, compared with scipy; what has no correlation is counted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from screentest.analysis.people.agreement import answers_alike, prompt_correlation
from screentest.core import Reason
from screentest.stats import kendall, spearman

MODELS = ("a", "b", "c", "d", "e")


def table(*rows: tuple[float, ...]) -> dict[str, dict[str, float]]:
    return {str(n): dict(zip(MODELS, row, strict=False)) for n, row in enumerate(rows)}


SCORES = table((0.5, 0.75, 1.0, 0.25, 0.5), (1, 1, 1, 1, 1), (0.2, 0.4, 0.1, 0.9, 0.8), (0.1, 0.2))
PEOPLE = table((2.5, 3.0, 5.0, 0.5, 3.5), (1, 2, 3, 4, 5), (5, 4, 4.5, 1, 2), (1, 2))


def test_the_mean_over_prompts_as_scipy_has_it() -> None:
    by_tau, by_rho = (
        prompt_correlation(SCORES, PEOPLE, measure).unwrap() for measure in (kendall, spearman)
    )
    pairs = [(list(SCORES[name].values()), list(PEOPLE[name].values())) for name in ("0", "2")]
    tau = np.mean([kendalltau(*pair).statistic for pair in pairs])
    rho = np.mean([spearmanr(*pair).statistic for pair in pairs])
    assert by_tau.mean == pytest.approx(tau)
    assert by_rho.mean == pytest.approx(rho)
    # One prompt has equal scores, one has two models only: neither is a zero.
    assert (by_tau.defined, by_tau.undefined) == (2, 2)


def test_upstream_counts_the_undefined_as_zero() -> None:
    strict = prompt_correlation(SCORES, PEOPLE, spearman).unwrap()
    upstream = prompt_correlation(SCORES, PEOPLE, spearman, zeros=True).unwrap()
    assert upstream.mean == pytest.approx(strict.mean * 2 / 4)
    assert (upstream.defined, upstream.undefined) == (2, 2)


def test_only_models_and_prompts_that_both_have_count() -> None:
    more = SCORES | {"9": dict.fromkeys(MODELS, 0.3)}
    people = {name: {**row, "z": 5.0} for name, row in PEOPLE.items()}
    both = [prompt_correlation(*one, kendall) for one in ((more, people), (SCORES, PEOPLE))]
    assert both[0] == both[1]


def test_nothing_in_common_is_no_zero() -> None:
    for scores in ({}, {"1": SCORES["1"]}):
        found = prompt_correlation(scores, PEOPLE, kendall)
        assert found.failure is not None
        assert found.failure.reason is Reason.NOT_APPLICABLE


def test_an_interval_over_prompts() -> None:
    rng = np.random.default_rng(1)
    scores = table(*(tuple(rng.random(5)) for _ in range(40)))
    people = table(*(tuple(rng.random(5)) for _ in range(40)))
    found = prompt_correlation(scores, people, spearman).unwrap()
    assert found.interval is not None
    assert found.mean in found.interval
    assert 0 in found.interval  # both are noise


def test_answers_of_people() -> None:
    ours = {"q1": True, "q2": False, "q3": True}
    alike = answers_alike(ours, {"q1": True, "q2": True, "q9": False}).unwrap()
    assert (alike.n, alike.value) == (2, 0.5)
    assert 0.5 in alike.interval
    assert not answers_alike(ours, {}).ok


def test_an_interval_holds_no_impossible_correlation() -> None:
    scores = table((1, 2, 3), (1, 2, 3), (1, 3, 2))
    found = prompt_correlation(scores, table(*[(1, 2, 3)] * 3), kendall).unwrap()
    # By hand: 1, 1 and 1/3. Student's interval of three alone goes from -0.18 to 1.73.
    assert found.mean == pytest.approx(7 / 9)
    assert found.interval is not None
    assert found.interval.high == 1
    assert -1 <= found.interval.low < 0
