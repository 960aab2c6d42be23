"""What is known of the published numbers: table 4's averages and table D1's costs."""

from __future__ import annotations

import random

import pytest

from screentest.suites.univ.pieces import UnivTask
from screentest.suites.univ.tables import PUBLISHED
from screentest.suites.univ.vocabulary import Dimension
from tests.suites.univ.published import agrees_with_print, is_imputed, published_average

# Table 4, in per cent: what is printed as average, and the mean of the eight printed dimensions.
# These four rows differ by more than rounding; all others agree.
CONTRADICTED = {
    "Tarsier2": (20.9, 21.9),
    "Seedance-Pro": (77.7, 77.9),
    "Wan2.2": (75.6, 74.9),
    "CoDi-2": (40.3, 40.1),
}


def test_an_average_is_the_mean_of_eight_times_ten() -> None:
    assert published_average([2, 3, 4, 5, 6, 7, 8, 9]) == 55
    with pytest.raises(ValueError, match="8 dimensions"):
        published_average([1, 2, 3])


@pytest.mark.parametrize("model", CONTRADICTED)
def test_four_printed_averages_are_not_that(model: str) -> None:
    one, other = CONTRADICTED[model]
    for mean, printed in ((one, other), (other, one)):
        # Any eight cells with this mean, be they spread as they may.
        cells = [mean + step for step in (-8, -5, -2, -1, 1, 2, 5, 8)]
        assert not agrees_with_print(cells, printed)
        assert agrees_with_print(cells, mean)


def test_rounding_alone_never_contradicts() -> None:
    """Cells and average rounded to a tenth, of rows made at random: none is called wrong."""
    rng = random.Random(3)
    for _ in range(500):
        exact = [rng.uniform(0, 100) for _ in range(8)]
        printed = round(published_average([cell / 10 for cell in exact]), 1)
        assert agrees_with_print([round(cell, 1) for cell in exact], printed)


def test_a_camera_that_is_the_mean_of_the_rest_is_reported() -> None:
    """All six V2T rows of table 4 are of this kind: their template has no field for the camera."""
    rng, told = random.Random(4), 0
    for _ in range(300):
        exact = {one: rng.uniform(20, 90) for one in Dimension}
        rest = [value for one, value in exact.items() if one is not Dimension.CAMERA]
        filled = {**exact, Dimension.CAMERA: sum(rest) / 7}
        assert is_imputed({k: round(v, 1) for k, v in filled.items()}, Dimension.CAMERA)
        told += is_imputed({k: round(v, 1) for k, v in exact.items()}, Dimension.CAMERA)
    # A camera of its own falls within a tenth of that mean once in hundreds.
    assert told <= 6


def test_the_cost_table_of_the_paper() -> None:
    """Table D1: tokens and seconds of a case, V2V, TV2V, R2V, RV2V, T2V, V2T."""
    order = (UnivTask.V2V, UnivTask.TV2V, UnivTask.R2V, UnivTask.RV2V, UnivTask.T2V, UnivTask.V2T)
    assert [PUBLISHED[task][0] for task in order] == [25104, 25898, 16743, 27534, 19567, 1413]
    assert PUBLISHED.keys() == set(UnivTask)
