"""What is known of the published numbers: table D1's costs."""

from __future__ import annotations

from screentest.suites.univ.pieces import UnivTask
from screentest.suites.univ.tables import PUBLISHED


def test_the_cost_table_of_the_paper() -> None:
    """Table D1: tokens and seconds of a case, V2V, TV2V, R2V, RV2V, T2V, V2T."""
    order = (UnivTask.V2V, UnivTask.TV2V, UnivTask.R2V, UnivTask.RV2V, UnivTask.T2V, UnivTask.V2T)
    assert [PUBLISHED[task][0] for task in order] == [25104, 25898, 16743, 27534, 19567, 1413]
    assert PUBLISHED.keys() == set(UnivTask)
