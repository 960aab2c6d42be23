from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.stats import compare_systems, tied_sets

NAMES = ("a", "b", "c", "d", "e", "f")
COUPLES = [frozenset(couple) for couple in itertools.combinations(NAMES, 2)]


@given(st.sets(st.sampled_from(COUPLES)))
def test_tied_sets_are_all_largest_sets(different: set[frozenset[str]]) -> None:
    # By trying all 63 sets.
    alike = [
        set(group)
        for size in range(1, 7)
        for group in itertools.combinations(NAMES, size)
        if not any(couple <= set(group) for couple in different)
    ]
    largest = [group for group in alike if not any(group < other for other in alike)]
    assert sorted(map(sorted, largest)) == sorted(map(list, tied_sets(NAMES, different)))


def test_ranking() -> None:
    generator = np.random.default_rng(4)
    easy = generator.random(300)
    points = {
        name: (easy + generator.normal(0, 0.2, 300) < skill).astype(float)
        for name, skill in {"weak": 0.4, "strong": 0.8, "twin": 0.79, "chance": 0.38}.items()
    }
    ranking = compare_systems(points)
    assert [set(group) for group in ranking.tied_sets] == [{"strong", "twin"}, {"weak", "chance"}]
    assert set(ranking.best) == {"strong", "twin"}
    assert len(ranking.pairs) == 6
    assert all(pair.difference.value >= 0 for pair in ranking.pairs)
    assert all(pair.adjusted_p >= pair.difference.p_value for pair in ranking.pairs)


def test_one_system_is_tied_with_itself() -> None:
    ranking = compare_systems({"only": [1, 0, 1]})
    assert (ranking.systems, ranking.tied_sets, ranking.best) == (
        ("only",),
        (("only",),),
        ("only",),
    )


def test_systems_on_other_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot pair"):
        compare_systems({"a": [1, 0], "b": [1]})
    with pytest.raises(ValueError, match="no systems"):
        compare_systems({})
