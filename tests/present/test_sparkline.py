"""A curve in one line of text."""

from __future__ import annotations

import doctest

import screentest.present.charts as charts_module
import screentest.present.page.html as formats_module
import screentest.present.page.view as dots_module
import screentest.present.text as sparkline_module
from screentest.present.text import sparkline
from tests.present.runs import curve


def test_lowest_at_the_bottom_and_highest_at_the_top() -> None:
    # Eight levels, eight values: each has its own.
    assert sparkline(curve(*range(8)), width=8) == "▁▂▃▄▅▆▇█"


def test_many_points_in_few_columns_are_means() -> None:
    # Means 0.5, 4.5: the lowest value is 0 and the highest 5, so levels 0 and 7.
    assert sparkline(curve(0, 1, 4, 5), width=2) == "▁█"


def test_few_points_in_many_columns_fill_them() -> None:
    assert sparkline(curve(0, 1), width=6) == "▁▁▁███"


def test_a_flat_curve_is_in_the_middle() -> None:
    assert sparkline(curve(3, 3), width=4) == "▅▅▅▅"


def test_the_examples_in_the_texts() -> None:
    for module in (
        sparkline_module,
        charts_module,
        dots_module,
        formats_module,
    ):
        assert doctest.testmod(module).failed == 0
