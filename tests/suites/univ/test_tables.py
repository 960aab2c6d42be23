"""The benchmark's table from values by hand: what is missing is never filled in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from screentest.core import Item, Outcome, OutputInfo, Reason, Score
from screentest.scores.results import Results, Value
from screentest.suites.univ.pieces import UnivTask
from screentest.suites.univ.tables import subdimensions, table
from screentest.suites.univ.vocabulary import Dimension


def results(metric: str, values: dict[str, dict[str, Outcome[Score]]]) -> Results:
    """By item, whose model is before the slash, the outcomes of some outputs."""
    items = {
        name: Item(name, Path("x.mp4"), groups={"model": name.split("/")[0]}) for name in values
    }
    listed = [
        Value(item, metric, output, outcome, "s")
        for item, outcomes in values.items()
        for output, outcome in outcomes.items()
    ]
    outputs = {f"{metric}.{value.output}": OutputInfo(value.output) for value in listed}
    return Results(items, tuple(listed), outputs)


def points(value: float) -> dict[str, Outcome[Score]]:
    return {one.value: Outcome.of(Score(value)) for one in Dimension}


def failed(reason: Reason) -> Outcome[Score]:
    return Outcome.failed(reason, "why")


def test_means_by_model_and_their_coverage() -> None:
    run = results(
        "univ_t2v:level=shots",
        {
            "a/1": points(8),
            "a/2": points(4) | {"camera": failed(Reason.REFUSED)},
            "b/1": points(5),
        },
    )
    first, second = table(run)
    assert (first.task, first.model, second.model) == (UnivTask.T2V, "a", "b")
    camera = first.cells[Dimension.CAMERA]
    assert (camera.percent, camera.scored, camera.total) == (80.0, 1, 2)
    # Seven dimensions at 60 and one at 80: by hand, 62.5.
    assert first.average == pytest.approx(62.5)
    assert second.average == 50


def test_one_task_judged_in_two_ways_is_two_rows() -> None:
    whole, shots = results("univ_t2v", {"a/1": points(8)}), "univ_t2v:fps=1,level=shots"
    both = replace(whole, values=(*whole.values, *results(shots, {"a/1": points(4)}).values))
    assert [(row.name, row.average) for row in table(both)] == [("t2v", 80), ("t2v shots", 40)]


def test_what_failed_everywhere_leaves_no_average_and_what_is_not_in_the_truth_does() -> None:
    lost = results("univ_v2t", {"a/1": points(1) | {"camera": failed(Reason.UNPARSABLE)}})
    (row,) = table(lost)
    assert (row.average, row.dimensions) == (None, 7)
    lacking = results("univ_v2t", {"a/1": points(1) | {"camera": failed(Reason.NOT_APPLICABLE)}})
    (row,) = table(lacking)
    assert (row.average, row.dimensions) == (100, 7)
    assert row.cells[Dimension.CAMERA].lacking == 1


def test_what_is_still_to_come_is_counted() -> None:
    run = results("univ_v2v", {"a/1": points(5)})
    late = {"b/1": Item("b/1", Path("x.mp4"), groups={"model": "b"})}
    pending = tuple((item, f"univ_v2v.{one}") for item in ("a/1", "b/1") for one in Dimension)
    first, second = table(replace(run, items={**run.items, **late}, pending=pending))
    assert {(cell.scored, cell.total) for cell in first.cells.values()} == {(1, 2)}
    assert {(cell.scored, cell.total) for cell in second.cells.values()} == {(0, 1)}
    assert second.average is None


def test_parts_of_v2t_alone() -> None:
    values = {
        "a/1": {"colour_hue": Outcome.of(Score(1.0)), "atmosphere": Outcome.of(Score(1.0))},
        "a/2": {"colour_hue": Outcome.of(Score(0.5)), "camera_motion": failed(Reason.REFUSED)},
    }
    assert subdimensions(results("univ_v2t", values)) == {"a": {"colour_hue": 75.0}}
    assert subdimensions(results("univ_t2v", values)) == {}
    assert table(results("flicker", values)) == []
