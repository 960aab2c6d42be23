"""Analyses and charts on the published numbers and on made-up items."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from scipy import stats

from screentest.core import BadOption, Item, Outcome, OutputInfo, Reason, Score
from screentest.reports import charts
from screentest.scores.results import Results, Value
from screentest.suites.locot2v import charts as drawing
from screentest.suites.locot2v.data import PromptRecord, PromptSuite
from screentest.suites.locot2v.matrix import PairScores, Reaction, reactions
from screentest.suites.locot2v.suite import ALL, FIVE
from screentest.suites.locot2v.tables import (
    TABLE_5,
    Scores,
    by_category,
    by_complexity,
    by_theme,
    correlations,
    leaderboard,
    paired,
    scores_of,
)
from tests.suites.locot2v.published import TABLE_2
from tests.suites.locot2v.test_published import printed


@pytest.fixture(scope="module")
def published() -> Scores:
    """Each generator of the paper as one item with its printed values."""
    items = {
        model: {name: value / 100 for name, value in printed(model).items()} for model in TABLE_2
    }
    return Scores(items, {model: model for model in items})


@pytest.fixture(scope="module")
def many() -> Scores:
    """Forty items of two generators with random values, some missing."""
    dice = np.random.default_rng(3)
    items = {}
    for number in range(40):
        values = {one.name: float(dice.uniform()) for one in ALL}
        if number % 7 == 0:
            del values["event_alignment"]
        items[f"i{number}"] = values
    return Scores(
        items,
        {name: "one" if number % 2 else "two" for number, name in enumerate(items)},
        categories={
            name: ("Life", "Nature", "Virtual")[number % 3] for number, name in enumerate(items)
        },
        prompts={name: f"p_{number % 4}" for number, name in enumerate(items)},
    )


def test_the_leaderboard_is_the_papers(published: Scores) -> None:
    """By printed totals; CausVid's motion smoothness is misprinted, which costs it 0.18."""
    order = [row.model for row in leaderboard(published)]
    assert order == sorted(TABLE_2, key=lambda model: -TABLE_2[model][13])


def test_intervals_are_students(many: Scores) -> None:
    for row in leaderboard(many):
        totals = []
        for values in many.of_model(row.model).values():
            five = [
                np.mean([values[one.name] for one in group if one.name in values])
                for group in FIVE.values()
            ]
            totals.append(np.mean(five))
        low, high = stats.t.interval(0.95, len(totals) - 1, np.mean(totals), stats.sem(totals))
        assert row.interval is not None
        assert (row.interval.low, row.interval.high) == pytest.approx((low, high))


def test_correlations_equal_scipys(many: Scores) -> None:
    found = correlations(many)
    assert [(one.first, one.second) for one in found] == list(TABLE_5)
    event = found[4]
    both = [values for values in many.items.values() if "event_alignment" in values]
    left = [values["event_alignment"] for values in both]
    right = [values["intra_event_subject"] for values in both]
    assert event.items == len(both) == 34
    assert event.pearson.unwrap().value == pytest.approx(stats.pearsonr(left, right).statistic)
    assert event.spearman.unwrap().value == pytest.approx(stats.spearmanr(left, right).statistic)
    assert event.kendall.unwrap().value == pytest.approx(stats.kendalltau(left, right).statistic)


def test_correlations_of_too_little_have_a_reason() -> None:
    (one, *_) = correlations(Scores({"a": {"aesthetic_quality": 0.5, "herd": 0.1}}))
    assert one.pearson.failure is not None
    assert one.pearson.failure.reason is Reason.NOT_APPLICABLE


def test_scores_of_a_run_whatever_the_options() -> None:
    item = Item("a", Path("a.mp4"), groups={"model": "m", "prompt_id": "p"})
    info = OutputInfo("x")

    def value(metric: str, output: str, number: float | None) -> Value:
        outcome: Outcome[Score] = (
            Outcome.failed(Reason.REFUSED) if number is None else Outcome.of(Score(number))
        )
        return Value("a", metric, output, outcome, "s")

    herd = "locot2v_herd:records=x.json"
    results = Results(
        {"a": item},
        (
            value("locot2v_aesthetic_quality:upper_bound=7", "locot2v_aesthetic_quality", 0.5),
            value(herd, "themes", 0.25),
            value(herd, "visual_style", None),
            value("sharpness", "sharpness", 1.0),
        ),
        {"x": info},
    )
    scores = scores_of(results)
    assert scores.items == {"a": {"aesthetic_quality": 0.5, "themes": 0.25}}
    assert (scores.models, scores.prompts) == ({"a": "m"}, {"a": "p"})


def test_by_category(many: Scores) -> None:
    found = by_category(many)
    assert set(found) == {"Life", "Nature", "Virtual"}
    assert all(set(models) == {"one", "two"} for models in found.values())


def test_by_theme() -> None:
    """A theme that one generator has no video of is not there for it."""
    scores = Scores(
        {"a": {"themes": 0.25}, "b": {"themes": 0.75}, "c": {"themes": 1.0}},
        {"a": "one", "b": "one", "c": "two"},
        themes={"a": "pets", "b": "food", "c": "pets"},
    )
    found = by_theme(scores)
    assert list(found) == ["food", "pets"]
    assert list(found["food"]) == ["one"]
    totals = {model: one.total.value for model, one in found["pets"].items() if one.total}
    assert totals == {"two": 1.0, "one": 0.25}


def test_regression_equals_scipys(many: Scores) -> None:
    left, right = paired(many, "static_quality", "herd")
    line = charts.regression(left, right)
    expected = stats.linregress(left, right)
    assert line == pytest.approx((expected.slope, expected.intercept, expected.rvalue))
    assert charts.regression([1.0, 1.0], [0.0, 1.0]) is None


def test_complexity(many: Scores) -> None:
    suite = PromptSuite(
        {
            f"p_{n}": PromptRecord(
                f"p_{n}", "x", complexity={"semantic": 7.0 + n, "structural": 9, "control": 8}
            )
            for n in range(3)  # the fourth prompt has no record
        }
    )
    found = by_complexity(many, suite)
    semantic = found["semantic"]["HERD"]
    assert {grade: len(values) for grade, values in semantic.items()} == {7: 10, 8: 10, 9: 10}
    assert by_complexity(many, PromptSuite({})) == {}
    assert by_complexity(many) == {}


def test_complexity_that_the_items_of_a_run_tell() -> None:
    """What `items` wrote into the manifest is enough; what is no number tells nothing."""
    groups = {"semantic_complexity": "7", "structural_complexity": "much", "model": "m"}
    item = Item("a", Path("a.mp4"), groups=groups)
    value = Value("a", "locot2v_herd", "themes", Outcome.of(Score(0.5)), "s")
    scores = scores_of(Results({"a": item}, (value,), {}))
    assert by_complexity(scores) == {"semantic": {"HERD": {7: [0.5]}}}


def test_charts_are_drawn_the_same_every_time(many: Scores, tmp_path: Path) -> None:
    pages = []
    for turn in ("first", "second"):
        path = charts.save(drawing.main_radar(many), tmp_path / f"{turn}.svg")
        ElementTree.parse(path)
        pages.append(path.read_text())
    assert pages[0] == pages[1]
    for words in ("Static", "ITRE BC", "Character", "one", "two"):
        assert words in pages[0]


def test_all_charts_as_pictures(many: Scores, published: Scores, tmp_path: Path) -> None:
    suite = PromptSuite(
        {f"p_{n}": PromptRecord(f"p_{n}", "x", complexity={"semantic": 7 + n}) for n in range(4)}
    )
    category = drawing.category_radar(many)
    assert category is not None
    figures = {
        "scatter": drawing.static_scatter(many),
        "category": category,
        "radar": drawing.main_radar(published),
        "violins": charts.violins(by_complexity(many, suite)),
    }
    for name, figure in figures.items():
        with Image.open(charts.save(figure, tmp_path / f"{name}.png")) as picture:
            assert min(picture.size) > 200
            assert len(set(picture.convert("L").tobytes())) > 10


def test_missing_values_are_gaps(tmp_path: Path) -> None:
    figure = charts.radar({"Some": {"$m_1$": {"a": 0.5, "c": 0.7}}}, {"a": "A", "b": "B", "c": "C"})
    line = figure.axes[0].lines[0]
    assert [math.isnan(float(one)) for one in np.asarray(line.get_ydata())] == [
        *(False, True, False, False)
    ]
    charts.save(figure, tmp_path / "gaps.svg")
    assert drawing.category_radar(Scores({"a": {"themes": 1.0}})) is None


def test_panels_without_any_value_are_left_out() -> None:
    """Without a chat model there are static and temporal values, and nothing else to draw."""
    values = {"aesthetic_quality": 0.5, "temporal_flickering": 0.9}
    scores = Scores({"a": values, "b": {**values, "aesthetic_quality": 0.7}})
    radar = [panel.get_title() for panel in drawing.main_radar(scores).axes]
    assert radar == ["Five dimensions", "Temporal Quality"]
    assert [panel.get_ylabel() for panel in drawing.static_scatter(scores).axes] == [
        "Temporal Quality"
    ]
    assert len(drawing.static_scatter(Scores({"a": {}})).axes) == 4  # each says so


def test_names_that_are_no_charts(tmp_path: Path, many: Scores) -> None:
    with pytest.raises(BadOption, match="invalid chart file"):
        charts.save(drawing.static_scatter(many), tmp_path / "chart.doc")
    with pytest.raises(BadOption, match="nothing to draw"):
        charts.violins({})


def test_reactions_by_hand(tmp_path: Path) -> None:
    """Seen, missed, and seen the wrong way round."""
    pairs = [
        PairScores("color", {"a": 0.9, "b": 0.5}, {"a": 0.1, "b": 0.5}),
        PairScores("color", {"a": 0.2, "b": 0.5}, {"a": 0.4}),
    ]
    found = reactions(pairs)
    assert found["a"]["color"] == Reaction(more=1, less=1)
    assert found["b"]["color"] == Reaction(same=1)
    assert found["a"]["color"].share == found["b"]["color"].share == 0.5
    assert found["a"]["color"].interval.low < 0.5 < found["a"]["color"].interval.high
    shares = {name: {one: cell.share for one, cell in row.items()} for name, row in found.items()}
    path = charts.save(charts.heatmap(shares, ["color", "dynamics_degree"]), tmp_path / "m.svg")
    assert path.read_text().count("0.50") == 2
