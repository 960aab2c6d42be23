"""What a run's values sum up to: cases, groups and ranges worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from screentest.analysis.results import Results, Value, total
from screentest.core import Item, Outcome, OutputInfo, Score

SHARE = OutputInfo("a share")
NOISE = OutputInfo("noise", low=0.0, high=100.0, higher_is_better=False)


def value(item: str, number: float, name: str = "noise") -> Value:
    return Value(item, name, name, Outcome.of(Score(number)), "v1")


def item(name: str, prompt: str = "", **groups: str) -> Item:
    return Item(id=name, video=Path(f"{name}.mp4"), prompt=prompt, groups=groups)


def test_the_group_case_goes_before_the_prompt() -> None:
    items = [item("a1", "make it blue", case="edit-1"), item("a2", "make it blue", case="edit-2")]
    results = Results({one.id: one for one in items}, (), {})
    assert [results.case(one.id) for one in items] == ["edit-1", "edit-2"]


def test_an_interval_stays_in_the_range_of_its_output() -> None:
    # Student's t for 0.9 and 0.5: 0.7 ± 12.7062 · 0.2 = 0.7 ± 2.54.
    found = total("share", [value("a", 0.9, "share"), value("b", 0.5, "share")], SHARE)
    assert found.summary is not None
    assert found.summary.value == pytest.approx(0.7)
    assert (found.summary.low, found.summary.high) == (0.0, 1.0)


def test_half_of_that_range_is_cut_where_the_other_end_is_inside() -> None:
    # Student's t for 0.8, 0.9 and 1.0: 0.9 ± 4.3027 · 0.1 / √3 = 0.9 ± 0.2484.
    values = [value(str(n), n / 10, "share") for n in (8, 9, 10)]
    found = total("share", values, SHARE)
    assert found.summary is not None
    assert found.summary.low == pytest.approx(0.9 - 0.24841, abs=1e-4)
    assert found.summary.high == 1.0


def test_joined_results_keep_the_later_value_and_what_is_still_to_come() -> None:
    first = Results(
        {"a": item("a")},
        (value("a", 1),),
        {"noise": NOISE},
        (("a", "blur"), ("b", "noise")),
        ("x",),
    )
    later = Results(
        {"a": item("a"), "b": item("b")},
        (value("a", 2), value("b", 3)),
        {"noise": NOISE, "share": SHARE},
        suites=("x", "y"),
    )
    joined = Results.join([first, later])
    assert {one.item: one.outcome.unwrap().value for one in joined.values} == {"a": 2, "b": 3}
    assert (joined.names, joined.pending) == (["noise", "share"], (("a", "blur"),))
    assert joined.suites == ("x", "y")


def test_runs_beside_each_other_keep_their_items_apart() -> None:
    run = Results({"a": item("a", "a dog")}, (value("a", 1),), {"noise": NOISE})
    joined = Results.join([run.as_run("monday"), run.as_run("tuesday")])
    assert list(joined.items) == ["monday: a", "tuesday: a"]
    assert {joined.group(name, "run") for name in joined.items} == {"monday", "tuesday"}
    assert {joined.case(name) for name in joined.items} == {"a dog"}


def test_some_items_and_metrics_alone() -> None:
    values = (value("a", 1), value("b", 2), value("a", 0.5, "share"))
    whole = Results(
        {"a": item("a"), "b": item("b")},
        values,
        {"noise": NOISE, "share": SHARE},
        (("b", "share"),),
    )
    part = whole.only({"a"}, {"noise"})
    assert (list(part.items), part.names, part.pending) == (["a"], ["noise"], ())
    assert [one.outcome.unwrap().value for one in part.values] == [1]
