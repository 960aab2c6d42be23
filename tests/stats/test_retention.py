from __future__ import annotations

import pytest

from screentest.stats import Retention, filter_pairs
from tests.messages import names
from tests.stats.slvmeval import TABLE_3

# The paper prints 63.3 for 282 of 446, which are 63.2: the counts are right, the rate is not.
MISPRINTED = {"aesthetics": 63.2}


@pytest.mark.parametrize("aspect", TABLE_3)
def test_table_3(aspect: str) -> None:
    initial, failed, weak, final, percent = TABLE_3[aspect]
    row = Retention(initial, failed, weak)
    assert row.final == final
    assert row.rate is not None
    assert round(100 * row.rate, 1) == MISPRINTED.get(aspect, percent)


def test_the_rows_of_table_3_add_up_to_its_last() -> None:
    total = Retention(0, 0, 0)
    for aspect, (initial, failed, weak, _, _) in TABLE_3.items():
        if aspect != "total":
            total += Retention(initial, failed, weak)
    assert total == Retention(*TABLE_3["total"][:3])
    assert names(total, 2472, 4239, "58.3%")


@pytest.mark.parametrize(
    ("answers", "place"),
    [
        ("AAAAA", "kept"),
        ("AAABB", "kept"),
        ("AABBB", "weak"),
        ("AABB", "weak"),  # as many as, not more
        ("AAAAC", "failed"),  # one C is enough
        ("CCCCC", "failed"),
        ("BBBBC", "failed"),
        ("", "weak"),  # nobody confirmed it
    ],
)
def test_the_filter(answers: str, place: str) -> None:
    found = filter_pairs({"pair": answers})
    assert getattr(found, place) == ("pair",)
    assert found.retention.initial == 1


def test_nothing_has_no_rate() -> None:
    nothing = filter_pairs({}).retention
    assert nothing.rate is None
    assert str(nothing) == "0 of 0 kept"


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="'D' on pair"):
        filter_pairs({"pair": "AAD"})
    with pytest.raises(ValueError, match="cannot leave"):
        Retention(3, 2, 2)
