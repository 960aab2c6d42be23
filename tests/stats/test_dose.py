from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr
from statsmodels.stats.contingency_tables import Table

from screentest.core import Reason
from screentest.stats import dose_response

ladders = st.lists(st.integers(0, 40), min_size=2, max_size=6)


@given(ladders)
def test_the_trend_is_cochran_and_armitages(right: list[int]) -> None:
    doses = list(range(len(right)))
    found = dose_response(doses, right, [40] * len(right)).unwrap()
    total = 40 * len(right)
    if sum(right) in (0, total):
        assert (found.trend_z, found.trend_p) == (0.0, 1.0)
        return
    table = Table(np.array([[k, 40 - k] for k in right]), shift_zeros=False)
    theirs = table.test_ordinal_association(np.array(doses), np.array([1, 0]))
    # statsmodels has N - 1 where Cochran and Armitage have N.
    assert found.trend_z == pytest.approx(theirs.zscore * np.sqrt(total / (total - 1)), abs=1e-9)


def test_the_trend_is_a_correlation() -> None:
    right, counts = [10, 22, 30], [20, 30, 35]
    dose = np.repeat([1.0, 2.0, 4.0], counts)
    answers = np.concatenate([np.arange(n) < k for k, n in zip(right, counts, strict=True)])
    found = dose_response([1, 2, 4], right, counts).unwrap()
    # z² = N·r² is the test's other definition.
    assert found.trend_z == pytest.approx(pearsonr(dose, answers).statistic * np.sqrt(85))


def test_falls_are_pooled_and_measured() -> None:
    found = dose_response([1, 2, 3, 4], [10, 16, 12, 19], [20, 20, 20, 20]).unwrap()
    # By hand: 0.8 and 0.6 break the order and share 0.7.
    assert [one.fitted for one in found.doses] == pytest.approx([0.5, 0.7, 0.7, 0.95])
    assert found.worst_fall == pytest.approx(0.2)
    assert not found.monotone
    # 0.75 lies a fifth of the way from 0.7 to 0.95.
    assert found.threshold.unwrap() == pytest.approx(3.2)


def test_unequal_counts_weigh() -> None:
    # By hand: (9 + 10) / (10 + 40) = 0.38 for both.
    found = dose_response([1, 2], [9, 10], [10, 40]).unwrap()
    assert [one.fitted for one in found.doses] == pytest.approx([0.38, 0.38])


def test_a_target_met_exactly() -> None:
    assert dose_response([1, 2, 3], [10, 15, 20], [20] * 3).unwrap().threshold.unwrap() == 2


def test_never_and_always_are_reasons() -> None:
    never = dose_response([1, 2], [10, 11], [20, 20]).unwrap().threshold
    always = dose_response([1, 2], [19, 20], [20, 20]).unwrap().threshold
    assert never.failure is not None
    assert "never reaches 75%" in never.failure.detail
    assert always.failure is not None
    assert "lowest severity already" in always.failure.detail
    assert never.failure.reason is always.failure.reason is Reason.NOT_APPLICABLE


def test_a_harmless_severity_anchors_the_curve_at_chance() -> None:
    # By hand: from 0.5 at 0 to 1.0 at 1, three quarters are passed half-way.
    found = dose_response([1, 2], [20, 20], [20, 20], harmless=0).unwrap()
    assert found.threshold.unwrap() == pytest.approx(0.5)
    assert len(found.doses) == 2


def test_the_order_of_the_ladder_does_not_matter() -> None:
    up = dose_response([1, 2, 3], [10, 15, 19], [20, 20, 20])
    assert dose_response([3, 1, 2], [19, 10, 15], [20, 20, 20]) == up


def test_steps_without_judgements_are_left_out() -> None:
    found = dose_response([1, 2, 3], [10, 0, 19], [20, 0, 20]).unwrap()
    assert [one.severity for one in found.doses] == [1, 3]
    assert not dose_response([1, 2], [10, 0], [20, 0]).ok


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="once"):
        dose_response([1, 1], [1, 2], [3, 3])
    with pytest.raises(ValueError, match="equally many"):
        dose_response([1, 2], [1], [3, 3])
    with pytest.raises(ValueError, match="invalid share"):
        dose_response([1, 2], [4, 1], [3, 3])


def test_false_alarms_of_the_trend_stay_at_their_level() -> None:
    draws = np.random.default_rng(3).binomial(60, 0.7, (1500, 5))
    levels = [1, 2, 3, 4, 5]
    alarms = [dose_response(levels, row, [60] * 5).unwrap().trend_p <= 0.05 for row in draws]
    assert 0.035 < np.mean(alarms) < 0.065
