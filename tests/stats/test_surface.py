from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest

import screentest.stats
from screentest.core import Choice, from_json, to_json
from screentest.stats import (
    dose_response,
    duration_trend,
    mcnemar,
    order_effect,
    paired_difference,
    rank_agreement,
    share_interval,
    spearman,
)


def test_importing_it_is_light() -> None:
    # Metrics import it for their lower tail; scipy.stats alone takes half a second.
    code = "import screentest.stats, sys; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    "value",
    [
        share_interval([1, 0, 1, 1]),
        mcnemar([1, 0, 1], [0, 0, 1]),
        paired_difference([1, 0, 1], [0, 0, 1]),
        spearman([1, 2, 3, 4], [2, 1, 4, 3]).unwrap(),
        rank_agreement({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "c": 2}).unwrap(),
        duration_trend(range(20), [1, 0] * 5 + [1] * 10, bins=4).unwrap(),
        dose_response([1, 2], [12, 19], [20, 20]).unwrap(),
        dose_response([1, 2], [1, 2], [20, 20]).unwrap(),
        order_effect([(Choice.FIRST, Choice.FIRST)]).unwrap(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_results_survive_json(value: object) -> None:
    # Certificates store them.
    assert from_json(type(value), to_json(value)) == value


def test_exact_fractions_are_numbers_too() -> None:
    # Durations come as rationals.
    exact = screentest.stats.lower_tail([0.5, 0.9], [Fraction(1, 3), Fraction(2, 3)], share=0.5)
    assert exact == pytest.approx((0.5 / 3 + 0.9 / 6) / 0.5)
