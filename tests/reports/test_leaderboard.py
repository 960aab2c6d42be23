"""The leaderboard's ties are those of the statistics, on the prompts that all systems share."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import ttest_rel

from screentest.core import Item, Reason
from screentest.reports.data import read_report
from screentest.reports.leaderboard import leaderboard
from screentest.reports.sections import charts, system_rows
from screentest.stats import compare_systems
from tests.reports.runs import CALM, items, lost, score_run, scored, two_systems


def test_who_is_tied_is_what_the_statistics_say(tmp_path: Path) -> None:
    report = read_report([two_systems(tmp_path / "run")])
    assert report.by == "model"
    lines = {(line.value, line.system): line for line in leaderboard(report)}

    for name, sign in (("calm", 1), ("busy", -1)):
        points = {
            system: [
                sign * value.outcome.unwrap().value
                for value in report.results.by_group("model")[system].of(name)
            ]
            for system in report.systems
        }
        ranking = compare_systems(points)
        for system in report.systems:
            tied = {o for group in ranking.tied_sets if system in group for o in group} - {system}
            assert set(lines[name, system].tied_with) == tied
    # By how it was made: a third of the range apart, and noise of a tenth.
    assert lines["calm", "ours"].best
    assert not lines["calm", "theirs"].best
    assert "third" in lines["calm", "theirs"].tied_with
    assert all(lines["busy", system].best for system in report.systems)


def test_the_clear_difference_is_clear_to_scipy_as_well(tmp_path: Path) -> None:
    report = read_report([two_systems(tmp_path / "run")])
    groups = report.results.by_group("model")
    ours, theirs = (
        [value.outcome.unwrap().value for value in groups[name].of("calm")]
        for name in ("ours", "theirs")
    )
    assert ttest_rel(ours, theirs).pvalue < 0.001


def test_the_better_stands_first_whichever_way_is_better(tmp_path: Path) -> None:
    films = [*items("a", "b", model="slow"), *items("c", "d", model="fast")]
    values = {(film, "busy"): scored(5.0 if film in "ab" else 50.0) for film in "abcd"}
    report = read_report([score_run(tmp_path / "run", films, values)])
    busy = [line.system for line in leaderboard(report) if line.value == "busy"]
    assert busy == ["slow", "fast"]


def test_systems_without_a_shared_prompt_are_not_called_tied(tmp_path: Path) -> None:
    films = [*items("a", "b", model="x"), *items("c", "d", model="y")]
    values = {(film, "calm"): scored(0.5) for film in "abcd"}
    lines = leaderboard(read_report([score_run(tmp_path / "run", films, values)]))
    assert {line.tied_with for line in lines if line.value == "calm"} == {()}


def test_a_system_with_nothing_scored_is_there_with_no_mean(tmp_path: Path) -> None:
    films = [*items("a", model="x"), *items("b", model="y")]
    report = read_report([score_run(tmp_path / "run", films, {("a", "calm"): scored(0.5)})])
    lines = {line.system: line for line in leaderboard(report) if line.value == "calm"}
    assert lines["x"].best
    assert (lines["y"].mean, lines["y"].best, lines["y"].scored, lines["y"].total) == (
        None,
        False,
        0,
        1,
    )


def test_several_videos_of_one_prompt_count_once(tmp_path: Path) -> None:
    """Four videos of one prompt by each system: one pair of means, which proves nothing."""
    films, values = [], {}
    for system, value in (("x", 0.9), ("y", 0.1)):
        for number in range(4):
            film = Item(f"{system}{number}", Path("/x.mp4"), "Same.", groups={"model": system})
            films.append(film)
            values[film.id, "calm"] = scored(value)
    lines = leaderboard(read_report([score_run(tmp_path / "run", films, values)]))
    assert {line.tied_with for line in lines if line.value == "calm"} == {()}
    assert [line.mean for line in lines if line.value == "calm"] == pytest.approx([0.9, 0.1])


def test_cases_of_a_benchmark_are_shared_though_no_text_is(tmp_path: Path) -> None:
    """A clear difference on the same cases is one; on nothing shared both would be best."""
    films = [
        Item(f"{model}{n}", tmp_path / "x.mp4", groups={"model": model, "case": str(n)})
        for model in ("high", "low")
        for n in range(6)
    ]
    values = {
        (film.id, "calm"): scored((0.9 if film.id.startswith("high") else 0.2) + 0.001 * n)
        for n, film in enumerate(films)
    }
    lines = leaderboard(read_report([score_run(tmp_path / "run", films, values)]))
    assert {line.system: line.best for line in lines if line.value == "calm"} == {
        "high": True,
        "low": False,
    }


def test_a_value_that_applies_to_no_video_has_neither_row_nor_axis(tmp_path: Path) -> None:
    """A failure keeps its row: something is wrong there, and must be seen."""
    films = [*items("a", model="x"), *items("b", model="y")]
    metrics = dict.fromkeys(("calm", "neat", "plain", "scriptless", "broken"), CALM)
    values = {(film, name): scored(0.5) for film in "ab" for name in ("calm", "neat", "plain")}
    for film in "ab":
        values[film, "scriptless"] = lost(Reason.NOT_APPLICABLE, "the item has no script")
        values[film, "broken"] = lost()
    report = read_report([score_run(tmp_path / "run", films, values, metrics=metrics)])

    assert [name for name, _ in system_rows(report)] == ["calm", "neat", "plain", "broken"]
    (radar,) = (chart for chart in charts(report) if chart.title == "Systems side by side")
    assert radar.words == "x, y over 3 values"
