"""Any suite is added up: a tree of two levels, by hand, with gaps, groups and an override."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from screentest.analysis.results import Results, Value
from screentest.analysis.standings import Standing, StandingLevel, add_up, standings
from screentest.analysis.suites import Dimension, Suite
from screentest.core import Item, Outcome, OutputInfo, Reason, Score
from screentest.present.tables import standing_tables, suite_tables
from screentest.stats import source_interval
from tests.messages import names

SHARE = OutputInfo("a share")
LOOK = Dimension("look", ("sharp", "paint.colour"))
MOTION = Dimension("motion", ("calm:rate=2",))
TOY = Suite(
    "toy", ("sharp", "paint", "calm:rate=2"), (Dimension("toy", parts=(LOOK, MOTION)),), ("model",)
)
NAMES = ("sharp", "paint.colour", "calm:rate=2")
Table = Mapping[str, Sequence[float | Reason | None]]


def results(table: Table, groups: Mapping[str, str] | None = None) -> Results:
    """By item, the three values; a reason is a failure, None is still to come."""
    items, values, pending = {}, [], []
    for item, row in table.items():
        group = {"model": groups[item]} if groups and item in groups else {}
        items[item] = Item(item, Path(f"{item}.mp4"), groups=group)
        for name, cell in zip(NAMES, row, strict=True):
            metric, output = ("paint", "colour") if name == "paint.colour" else (name, "")
            output = output or name.partition(":")[0]
            if cell is None:
                pending.append((item, name))
            elif isinstance(cell, Reason):
                values.append(Value(item, metric, output, Outcome.failed(cell), "v1"))
            else:
                values.append(Value(item, metric, output, Outcome.of(Score(cell)), "v1"))
    outputs = dict.fromkeys(NAMES, SHARE)
    return Results(items, tuple(values), outputs, tuple(pending), ("toy",))


def level(standing: Standing, *path: str) -> StandingLevel:
    (found,) = [one for one in standing.levels if one.path == path]
    return found


def test_every_level_is_the_mean_of_its_parts() -> None:
    (found,) = standings(results({"a": (0.2, 0.4, 0.9), "b": (0.4, 0.8, 0.7)}), TOY)
    assert level(found, "toy", "look", "sharp").value == pytest.approx(0.3)
    assert level(found, "toy", "look").value == pytest.approx(0.45)  # of 0.3 and 0.6
    assert level(found, "toy", "motion").value == pytest.approx(0.8)
    assert found.top.value == pytest.approx((0.45 + 0.8) / 2)
    assert (found.top.scored, found.top.total) == (2, 2)
    # A dimension of one value has no row of its own for that value.
    assert [one.path[-1] for one in found.levels] == [
        *("toy", "look", "sharp", "paint.colour", "motion")
    ]


def test_videos_of_one_prompt_are_one_witness() -> None:
    rng = random.Random(4)
    table = {str(n): tuple(rng.random() for _ in NAMES) for n in range(12)}
    own = [((sharp + colour) / 2 + calm) / 2 for sharp, colour, calm in table.values()]
    found = results(table)
    items = {
        name: replace(item, prompt=f"prompt {int(name) // 3}") for name, item in found.items.items()
    }
    (standing,) = standings(replace(found, items=items), TOY)
    prompts = [sum(own[3 * n : 3 * n + 3]) / 3 for n in range(4)]
    interval = source_interval(prompts).within(0, 1)
    assert standing.top.interval is not None
    assert standing.top.interval.low == pytest.approx(interval.low)
    assert standing.top.interval.high == pytest.approx(interval.high)


def test_the_interval_is_that_of_the_items_own_totals() -> None:
    rng = random.Random(3)
    table = {str(n): tuple(rng.random() for _ in NAMES) for n in range(9)}
    (found,) = standings(results(table), TOY)
    own = [((sharp + colour) / 2 + calm) / 2 for sharp, colour, calm in table.values()]
    interval = source_interval(own)
    assert found.top.interval is not None
    assert found.top.interval.low == pytest.approx(interval.low)
    assert found.top.interval.high == pytest.approx(interval.high)


def test_what_is_missing_is_counted_and_in_no_mean() -> None:
    table: Table = {
        "a": (0.2, Reason.REFUSED, 0.9),
        "b": (0.4, 0.8, Reason.NOT_APPLICABLE),
        "c": (0.6, None, 0.7),
    }
    (found,) = standings(results(table), TOY)
    colour = level(found, "toy", "look", "paint.colour")
    assert (colour.value, colour.scored, colour.total) == (0.8, 1, 3)
    assert colour.interval is None  # one value has none
    assert found.top.interval is None  # nor what rests on it
    motion = level(found, "toy", "motion")
    assert (motion.value, motion.scored, motion.total) == (pytest.approx(0.8), 2, 3)
    assert (found.top.scored, found.top.total) == (1, 3)  # b lacks what does not apply to it
    assert found.top.value == pytest.approx(((0.4 + 0.8) / 2 + 0.8) / 2)


def test_a_part_without_any_value_is_named() -> None:
    table: Table = dict.fromkeys("ab", (0.5, Reason.MISSING_MODEL, Reason.MISSING_MODEL))
    (found,) = standings(results(table), TOY)
    assert (found.top.value, found.top.parts, found.top.of_parts) == (0.5, 1, 3)
    (table_of_levels,) = standing_tables([found], TOY)
    assert "paint.colour, motion (missing model)" in table_of_levels.note


def test_one_item_has_no_interval() -> None:
    (found,) = standings(results({"a": (0.2, 0.4, 0.9)}), TOY)
    assert all(one.interval is None for one in found.levels)


def test_groups_are_ranked_and_shown_side_by_side() -> None:
    table = {"a1": (0.1,) * 3, "a2": (0.3,) * 3, "b1": (0.7,) * 3, "b2": (0.9,) * 3}
    run = results(table, {name: name[0] for name in table})
    assert [one.group for one in standings(run, TOY, "model")] == ["b", "a"]
    wide, long = suite_tables(run, TOY, "model")
    assert list(wide.records()[0]) == [
        *("model", "toy", "look", "motion", "low", "high", "scored", "total", "parts", "of_parts")
    ]
    assert wide.records()[0]["toy"] == pytest.approx(0.8)
    assert [(row["dimension"], row["model"]) for row in long.records()][:4] == [
        *(("toy", "b"), ("toy", "a"), ("look", "b"), ("look", "a"))
    ]


def test_every_root_has_its_own_interval_and_coverage() -> None:
    """The second root of a suite was shown with the interval and coverage of the first."""
    table: Table = {
        "a1": (0.1, 0.5, 0.2),
        "a2": (0.3, 0.5, Reason.REFUSED),
        "b1": (0.7, 0.5, 0.8),
        "b2": (0.9, 0.5, 0.4),
    }
    two = Suite("two", TOY.metrics, (Dimension("x", ("sharp",)), Dimension("y", ("calm:rate=2",))))
    run = results(table, {name: name[0] for name in table})
    wide, _ = suite_tables(run, two, "model")
    best, last = wide.records()
    assert list(best) == [
        *("model", "x", "low", "high", "scored", "total"),
        *("y", "y.low", "y.high", "y.scored", "y.total"),
    ]
    assert (last["model"], last["scored"], last["y.scored"], last["y.total"]) == ("a", 2, 1, 2)
    for standing, row in zip(standings(run, two, "model"), (best, last), strict=True):
        interval = level(standing, "y").interval
        assert row["y.low"] == (interval.low if interval else None)


REFUSED = Reason.REFUSED


def test_nobody_leads_because_parts_are_missing() -> None:
    """The judge refused what is hard for a: its total is that of the easy part, and above b's."""
    table: Table = {
        "a1": (0.8, REFUSED, REFUSED),
        "a2": (0.8, REFUSED, REFUSED),
        "b1": (0.9, 0.3, 0.3),
        "b2": (0.9, 0.3, 0.3),
    }
    run = results(table, {name: name[0] for name in table})
    b, a = standings(run, TOY, "model")
    assert (a.group, b.group) == ("a", "b")
    assert (a.top.value, b.top.value) == (pytest.approx(0.8), pytest.approx(0.45))  # their own
    assert a.compared["toy",].value == pytest.approx(0.8)
    assert b.compared["toy",].value == pytest.approx(0.9)  # of the part that both have
    assert ((a.top.scored, a.top.parts), (b.top.scored, b.top.parts)) == ((0, 1), (2, 3))
    wide, long = suite_tables(run, TOY, "model")
    shown = [(row["model"], row["shared"], row["toy"], row["parts"]) for row in wide.records()]
    assert shown == [
        ("b", pytest.approx(0.9), pytest.approx(0.45), 3),
        ("a", pytest.approx(0.8), pytest.approx(0.8), 1),
    ]
    for table_of in (wide, long):
        assert names(table_of.note, "paint.colour, motion", "(a: refused)")
        assert any("1/3" in row for row in table_of.texts())


def test_each_reason_of_a_part_that_nobody_has_is_told() -> None:
    """Only that of the first was, as if it were the others' too."""
    table: Table = {"a": (0.5, 0.5, REFUSED), "b": (0.6, 0.6, Reason.NOT_APPLICABLE)}
    wide, _ = suite_tables(results(table, {"a": "a", "b": "b"}), TOY, "model")
    assert names(wide.note, "motion", "refused", "not applicable")


def test_of_two_that_share_equal_parts_the_complete_one_comes_first() -> None:
    """The same films, and a judge that refuses for a: its name put it first."""
    table: Table = {"a": (0.8, REFUSED, REFUSED), "b": (0.8, 0.3, 0.3)}
    b, a = standings(results(table, {"a": "a", "b": "b"}), TOY, "model")
    assert (a.group, b.group) == ("a", "b")
    assert a.compared["toy",].value == b.compared["toy",].value == pytest.approx(0.8)


def test_a_part_that_does_not_apply_to_a_group_ranks_nobody() -> None:
    """Films without a cut are not better for it: they are compared by what all films have."""
    absent = Reason.NOT_APPLICABLE
    table: Table = {"a": (0.5, 0.5, absent), "b": (0.6, 0.6, 0.1)}
    b, a = standings(results(table, {"a": "a", "b": "b"}), TOY, "model")
    assert (a.group, b.group) == ("a", "b")
    assert a.top.value is not None
    assert b.top.value is not None
    assert a.top.value > b.top.value
    assert (a.top.scored, a.top.parts) == (1, 2)  # nothing failed


def test_groups_that_share_no_part_are_not_ranked() -> None:
    table: Table = {"a": (REFUSED, 0.9, REFUSED), "b": (0.2, REFUSED, REFUSED)}
    table = {**table, "c": (REFUSED, REFUSED, REFUSED)}
    found = standings(results(table, {name: name for name in table}), TOY, "model")
    assert [(one.group, one.compared) for one in found] == [("a", {}), ("b", {}), ("c", {})]
    # What has no value at all takes nothing from what the others share.
    table = {"a": (0.1, 0.9, 0.3), "b": (0.2, 0.3, 0.3), "c": (REFUSED, REFUSED, REFUSED)}
    found = standings(results(table, {name: name for name in table}), TOY, "model")
    assert [(one.group, one.shared) for one in found] == [("a", None), ("b", None), ("c", None)]


def test_where_lower_is_better_the_lowest_comes_first() -> None:
    noise = Suite("noise", ("sharp",), (Dimension("noise", ("sharp",)),))
    run = results({"a": (0.1, 0, 0), "b": (0.7, 0, 0)}, {"a": "a", "b": "b"})
    lower = OutputInfo("noise", higher_is_better=False)
    run = Results(run.items, run.values, dict.fromkeys(NAMES, lower))
    assert [one.group for one in standings(run, noise, "model")] == ["a", "b"]


def test_per_cent_and_an_aggregation_of_ones_own() -> None:
    """A micro average, as a suite may have one: all values in one pool."""

    def pooled(part: Results, suite: Suite) -> list[StandingLevel]:
        numbers = [value.outcome.unwrap().value for value in part.values if value.outcome.ok]
        mean = suite.scale * sum(numbers) / len(numbers)
        pool = StandingLevel(("pool",), "Pool", mean, scored=len(numbers), total=len(part.values))
        return [pool, *add_up(part, suite)]

    suite = Suite("toy", TOY.metrics, TOY.dimensions, scale=100, add_up=pooled)
    table: Table = {"a": (0.2, 0.4, 0.9), "b": (0.4, Reason.REFUSED, 0.6)}
    (found,) = standings(results(table), suite)
    assert (found.top.value, found.top.scored, found.top.total) == (pytest.approx(50.0), 5, 6)
    assert level(found, "toy", "look").value == pytest.approx(35.0)
    (shown,) = standing_tables([found], suite)
    assert shown.texts()[0][1] == "50.0"


def test_a_suite_that_adds_up_to_nothing_has_no_standings() -> None:
    assert standings(results({"a": (0.2, 0.4, 0.9)}), Suite("flat", TOY.metrics)) == []


def test_what_stood_in_for_a_model_is_named() -> None:
    found = results({"a": (0.2, 0.4, 0.9), "b": (0.4, 0.8, 0.7)})
    used = "sharp|v:1|model.image_text:label_text%7Cv%3A1"
    values = tuple(
        replace(value, signature=used) if value.metric == "sharp" else value
        for value in found.values
    )
    (table,) = standing_tables(standings(replace(found, values=values), TOY), TOY)
    assert table.column("dimension") == [
        *("toy", "look[label_text]", "look / sharp[label_text]", "look / paint.colour", "motion")
    ]
