"""A result as rows and columns: what records and readers see."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.cli.tables import rendered, show
from screentest.core import Cell, Column, OutputInfo, Table

MEANS = Table(
    "means",
    "Means",
    (
        Column("metric", "Metric"),
        Column("mean", "Mean", better="lower"),
        Column("share", "Share", digits=1),
        Column("signature", detail=True),
        Column("scored", align="left"),
    ),
    [("flicker", 0.5, 45.25, "flicker|v:1", 3), ("noise", None, None, None, 0)],
    note="Lower is better.",
)
CELLS = st.one_of(
    st.none(), st.text(), st.integers(), st.booleans(), st.floats(allow_nan=False).filter(abs)
).filter(lambda cell: not isinstance(cell, float) or abs(cell) != float("inf"))


def test_records_have_every_column_and_null_for_what_is_missing() -> None:
    assert MEANS.records()[1] == {
        "metric": "noise",
        "mean": None,
        "share": None,
        "signature": None,
        "scored": 0,
    }


@given(st.lists(st.tuples(CELLS, CELLS)))
def test_records_survive_json(rows: list[tuple[Cell, Cell]]) -> None:
    table = Table("t", "T", ("a", "b"), rows)
    text = json.dumps(table.records(), allow_nan=False)
    assert [(row["a"], row["b"]) for row in json.loads(text)] == rows


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_no_cell_is_ever_nan(number: float) -> None:
    with pytest.raises(ValueError, match="use None"):
        Table("t", "T", ("a",), [(number,)])


def test_a_row_has_a_cell_for_each_column() -> None:
    with pytest.raises(ValueError, match=r"\b2\b.*\b1\b"):
        Table("t", "T", ("a",), [(1, 2)])
    with pytest.raises(ValueError, match=": a, a"):
        Table("t", "T", ("a", Column("a")))


def test_what_people_see() -> None:
    assert [column.heading for column in MEANS.columns][:2] == ["Metric", "Mean ↓"]
    assert MEANS.texts()[0] == ("flicker", "0.500", "45.2", "flicker|v:1", "3")
    assert MEANS.alignments() == ("left", "right", "right", "left", "left")
    names = [column.name for column in MEANS.short().columns]
    assert names == ["metric", "mean", "share", "scored"]
    assert replace(MEANS, name="other").rows == MEANS.rows


def test_what_only_people_see_is_in_no_record() -> None:
    table = Table("t", "T", ("n", Column("part", derived=True)), [(3, "3/5")])
    assert table.records() == [{"n": 3}]
    assert table.short().texts() == [("3", "3/5")]


def test_the_terminal_and_json_show_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert rendered(MEANS).row_count == 2
    show(MEANS, as_json=True)
    assert json.loads(capsys.readouterr().out) == MEANS.records()
    show(MEANS, as_json=True, run="scores")
    assert json.loads(capsys.readouterr().out) == {"run": "scores", "means": MEANS.records()}


def test_a_column_may_show_another_text_than_it_stores() -> None:
    table = Table(
        "t", "T", (Column("share", show="{:.0%}".format), "list"), [(0.25, [1]), (None, {})]
    )
    assert table.texts() == [("25%", "[1]"), ("", "{}")]
    assert table.records() == [{"share": 0.25, "list": [1]}, {"share": None, "list": {}}]


def test_what_only_describes_has_no_direction() -> None:
    higher, lower = OutputInfo("detail"), OutputInfo("noise", higher_is_better=False)
    described = OutputInfo("motion", descriptive=True)
    assert [one.better for one in (higher, lower, described)] == ["higher", "lower", ""]
    assert [Column("x", better=one.better).heading for one in (lower, described)] == ["x ↓", "x"]
