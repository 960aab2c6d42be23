"""The benchmark's table from values by hand: what is missing is never filled in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from screentest.analysis.results import Results, Value
from screentest.core import Item, Outcome, OutputInfo, Reason, Score
from screentest.core.signature import value_name
from screentest.suites.univ.suite import subdimensions
from screentest.suites.univ.tables import dimension_table, task_standings
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
    outputs = {value.name: OutputInfo(value.output) for value in listed}
    return Results(items, tuple(listed), outputs)


def points(value: float) -> dict[str, Outcome[Score]]:
    return {one.value: Outcome.of(Score(value)) for one in Dimension}


def failed(reason: Reason) -> Outcome[Score]:
    return Outcome.failed(reason, "why")


def rows(run: Results) -> list[dict[str, Any]]:
    return dimension_table(task_standings(run)).records()


def test_means_by_model_and_their_coverage() -> None:
    run = results(
        "univ_t2v:level=shots",
        {
            "a/1": points(8),
            "a/2": points(4) | {"camera": failed(Reason.REFUSED)},
            "b/1": points(5),
        },
    )
    first, second = rows(run)
    assert (first["task"], first["model"], second["model"]) == ("t2v shots", "a", "b")
    assert (first["camera"], first["scored"], first["total"]) == (80.0, 1, 2)
    # Seven dimensions at 60 and one at 80: by hand, 62.5.
    assert first["average"] == pytest.approx(62.5)
    assert second["average"] == 50
    (task,) = task_standings(run)
    camera = next(one for one in task.models[0].levels if one.path[-1] == "camera")
    assert (camera.scored, camera.total) == (1, 2)


def test_one_task_judged_in_two_ways_is_two_rows() -> None:
    whole = results("univ_t2v", {"a/1": points(8)})
    shots = results("univ_t2v:fps=1,level=shots", {"a/1": points(4)})
    both = replace(
        whole, values=(*whole.values, *shots.values), outputs={**whole.outputs, **shots.outputs}
    )
    assert [(row["task"], row["average"]) for row in rows(both)] == [("t2v", 80), ("t2v shots", 40)]


def test_what_failed_everywhere_leaves_no_average_and_what_is_not_in_the_truth_does() -> None:
    lost = results("univ_v2t", {"a/1": points(1) | {"camera": failed(Reason.UNPARSABLE)}})
    (row,) = rows(lost)
    assert (row["average"], row["camera"], row["subject"]) == (None, None, 100)
    lacking = results("univ_v2t", {"a/1": points(1) | {"camera": failed(Reason.NOT_APPLICABLE)}})
    (row,) = rows(lacking)
    assert (row["average"], row["camera"]) == (100, None)
    assert (row["scored"], row["total"]) == (1, 1)


def test_what_is_still_to_come_is_counted() -> None:
    run = results("univ_v2v", {"a/1": points(5)})
    late = {name: Item(name, Path("x.mp4"), groups={"model": name[0]}) for name in ("a/2", "b/1")}
    pending = tuple((item, value_name("univ_v2v", one)) for item in late for one in Dimension)
    first, second = rows(replace(run, items={**run.items, **late}, pending=pending))
    assert (first["model"], first["scored"], first["total"]) == ("a", 1, 2)
    assert (second["model"], second["scored"], second["total"]) == ("b", 0, 1)
    assert second["average"] is None


def test_parts_of_v2t_alone() -> None:
    values = {
        "a/1": {"colour_hue": Outcome.of(Score(1.0)), "atmosphere": Outcome.of(Score(1.0))},
        "a/2": {"colour_hue": Outcome.of(Score(0.5)), "camera_motion": failed(Reason.REFUSED)},
    }
    assert subdimensions(results("univ_v2t", values)) == {"a": {"colour_hue": 75.0}}
    assert subdimensions(results("univ_t2v", values)) == {}
    assert rows(results("flicker", values)) == []
