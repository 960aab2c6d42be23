"""What a certificate says of its cost: sums never hide what is not in them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from screentest.analysis.judges.certificate import Cost
from screentest.present.certificates import cost_words

ALL = Cost(2.5, calls=10, tokens_in=5_000, tokens_out=100, cost=Decimal("0.50"), judgements=5)


def test_all_known() -> None:
    told = "2.50 s per judgement, 2.00 calls, 1,000 tokens in, 20 out; 10 calls in all, cost 0.5"
    assert cost_words(ALL) == told


def test_what_is_missing_is_reported_beside_the_sum() -> None:
    told = cost_words(replace(ALL, uncounted=3, unpriced=4))
    assert "10 calls in all (3 of unknown tokens)" in told
    assert told.endswith("cost 0.5 without 4 calls of unknown price")
