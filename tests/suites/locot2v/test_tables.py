"""Analyses and charts on the published numbers and on made-up items."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from scipy import stats

from screentest.analysis.results import Results, Value
from screentest.analysis.standings import standings
from screentest.cli.tables import show
from screentest.core import BadOption, Item, Outcome, OutputInfo, Reason, Score
from screentest.present import charts
from screentest.present.tables import suite_tables
from screentest.suites.locot2v.data import PromptRecord, PromptSuite
from screentest.suites.locot2v.suite import suite_in
from screentest.suites.locot2v.tables import (
    ALL,
    FIVE,
    TABLE_5,
    by_complexity,
    by_group,
    correlations,
    dimensions_of,
    drawings,
    item_scores,
    main_radar,
    paired,
    static_scatter,
    uncounted,
    with_categories,
)
from tests.suites.locot2v.made import SUITE, results_of
from tests.suites.locot2v.published import TABLE_2
from tests.suites.locot2v.test_published import printed
from tests.terminal import fits


@pytest.fixture(scope="module")
def published() -> Results:
    """Each generator of the paper as one item with its printed values."""
    items = {
        model: {name: value / 100 for name, value in printed(model).items()} for model in TABLE_2
    }
    return results_of(items, {model: {"model": model} for model in items})


@pytest.fixture(scope="module")
def many() -> Results:
    """Forty items of two generators with random values, some missing."""
    rng = np.random.default_rng(3)
    items, groups = {}, {}
    for number in range(40):
        values = {one.name: float(rng.uniform()) for one in ALL}
        if number % 7 == 0:
            del values["event_alignment"]
        items[f"i{number}"] = values
        groups[f"i{number}"] = {
            "model": "one" if number % 2 else "two",
            "category": ("Life", "Nature", "Virtual")[number % 3],
            "prompt_id": f"p_{number % 4}",
        }
    return results_of(items, groups)


def test_the_order_is_the_papers(published: Results) -> None:
    """By printed totals; CausVid's motion smoothness is misprinted, which costs it 0.18."""
    order = [one.group for one in standings(published, SUITE, "model")]
    assert order == sorted(TABLE_2, key=lambda model: -TABLE_2[model][13])


def test_intervals_are_of_the_items_totals(many: Results) -> None:
    """Of the items' own totals, where no value is missing."""
    whole = {
        item: values
        for item, values in item_scores(SUITE, many).items()
        if "event_alignment" in values
    }
    kept = results_of({i: {o.name: v[o.name] for o in ALL} for i, v in whole.items()})
    totals = [np.mean([values[name] for name in FIVE]) for values in whole.values()]
    (one,) = standings(kept, SUITE)
    low, high = stats.t.interval(0.95, len(totals) - 1, np.mean(totals), stats.sem(totals))
    assert one.top.interval is not None
    # Student's t, and at the end of the longer tail what allows for skewness.
    assert one.top.interval.low == pytest.approx(low, abs=0.05 * (high - low))
    assert one.top.interval.high == pytest.approx(high, abs=0.05 * (high - low))
    assert one.top.interval.low <= low + 1e-9
    assert one.top.interval.high >= high - 1e-9


def test_correlations_equal_scipys(many: Results) -> None:
    scores = item_scores(SUITE, many)
    found = correlations(scores)
    assert [(one.first, one.second) for one in found] == list(TABLE_5)
    event = found[4]
    both = [values for values in scores.values() if "event_alignment" in values]
    left = [values["event_alignment"] for values in both]
    right = [values["intra_event_subject"] for values in both]
    assert event.items == len(both) == 34
    assert event.pearson.unwrap().value == pytest.approx(stats.pearsonr(left, right).statistic)
    assert event.spearman.unwrap().value == pytest.approx(stats.spearmanr(left, right).statistic)
    assert event.kendall.unwrap().value == pytest.approx(stats.kendalltau(left, right).statistic)


def test_correlations_of_too_little_have_a_reason() -> None:
    (one, *_) = correlations({"a": {"aesthetic_quality": 0.5, "herd": 0.1}})
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
        {},
    )
    results = replace(results, outputs={one.name: info for one in results.values})
    suite = suite_in(results)
    assert suite is not None
    values = item_scores(suite, results)["a"]
    assert (values["aesthetic_quality"], values["themes"]) == (0.5, 0.25)
    assert (values["static_quality"], values["herd"]) == (0.5, 0.25)
    assert "visual_style" not in values
    assert suite_in(replace(results, outputs={"sharpness": info})) is None


def test_by_category(many: Results) -> None:
    found = by_group(SUITE, many, "category", "model")
    assert set(found) == {"Life", "Nature", "Virtual"}
    assert all({one.group for one in some} == {"one", "two"} for some in found.values())


def test_what_is_in_no_category_is_shown() -> None:
    """Themes without a category vanished from table 6 and figure 9 without a word."""
    results = results_of(
        {"a": {"themes": 0.25}, "b": {"themes": 0.75}},
        {
            "a": {"model": "one", "theme": "food", "category": "Life"},
            "b": {"model": "one", "theme": "zzz"},
        },
    )
    found = by_group(SUITE, results, "category", "model")
    assert len(found) == 2
    assert [one.top.value for some in found.values() for one in some] == [0.25, 0.75]
    named = with_categories(results, {"zzz": "Life"})
    assert list(by_group(SUITE, named, "category", "model")) == ["Life"]


def test_by_theme() -> None:
    """A theme that one generator has no video of is not there for it."""
    results = results_of(
        {"a": {"themes": 0.25}, "b": {"themes": 0.75}, "c": {"themes": 1.0}},
        {
            "a": {"model": "one", "theme": "pets"},
            "b": {"model": "one", "theme": "food"},
            "c": {"model": "two", "theme": "pets"},
        },
    )
    found = by_group(SUITE, results, "theme", "model")
    assert list(found) == ["food", "pets"]
    assert [one.group for one in found["food"]] == ["one"]
    totals = {one.group: dimensions_of(one)["overall"] for one in found["pets"]}
    assert totals == {"two": 1.0, "one": 0.25}


def test_regression_equals_scipys(many: Results) -> None:
    left, right = paired(item_scores(SUITE, many), "static_quality", "herd")
    line = charts.regression(left, right)
    expected = stats.linregress(left, right)
    assert line == pytest.approx((expected.slope, expected.intercept, expected.rvalue))
    assert charts.regression([1.0, 1.0], [0.0, 1.0]) is None


def test_complexity(many: Results) -> None:
    suite = PromptSuite(
        {
            f"p_{n}": PromptRecord(
                f"p_{n}", "x", complexity={"semantic": 7.0 + n, "structural": 9, "control": 8}
            )
            for n in range(3)  # the fourth prompt has no record
        }
    )
    scores = item_scores(SUITE, many)
    found = by_complexity(many, scores, suite)
    semantic = found["semantic"]["HERD"]
    assert {grade: len(values) for grade, values in semantic.items()} == {7: 10, 8: 10, 9: 10}
    assert by_complexity(many, scores, PromptSuite({})) == {}
    assert by_complexity(many, scores) == {}


def test_complexity_that_the_items_of_a_run_tell() -> None:
    """What `items` wrote into the manifest is enough; what is no number tells nothing."""
    groups = {"semantic_complexity": "7", "structural_complexity": "much", "model": "m"}
    results = results_of({"a": {"themes": 0.5}}, {"a": groups})
    assert by_complexity(results, item_scores(SUITE, results)) == {"semantic": {"HERD": {7: [0.5]}}}


def test_charts_are_drawn_the_same_every_time(many: Results, tmp_path: Path) -> None:
    pages = []
    for turn in ("first", "second"):
        path = charts.save(main_radar(standings(many, SUITE, "model")), tmp_path / f"{turn}.svg")
        ElementTree.parse(path)
        pages.append(path.read_text())
    assert pages[0] == pages[1]
    for words in ("Static", "ITRE BC", "Character", "one", "two"):
        assert words in pages[0]


def test_all_charts_as_pictures(many: Results, published: Results, tmp_path: Path) -> None:
    suite = PromptSuite(
        {f"p_{n}": PromptRecord(f"p_{n}", "x", complexity={"semantic": 7 + n}) for n in range(4)}
    )
    made = drawings(SUITE, many, "model", suite)
    assert [one.name for one in made] == ["radar", "radar_by_category", "scatter", "complexity"]
    for one in [*made, *drawings(SUITE, published)]:
        with Image.open(charts.save(one.make(), tmp_path / f"{one.name}.png")) as picture:
            assert min(picture.size) > 200
            assert len(set(picture.convert("L").tobytes())) > 10


def test_missing_values_are_gaps(tmp_path: Path) -> None:
    figure = charts.radar({"Some": {"$m_1$": {"a": 0.5, "c": 0.7}}}, {"a": "A", "b": "B", "c": "C"})
    line = figure.axes[0].lines[0]
    assert [math.isnan(float(one)) for one in np.asarray(line.get_ydata())] == [
        *(False, True, False, False)
    ]
    charts.save(figure, tmp_path / "gaps.svg")
    made = drawings(SUITE, results_of({"a": {"themes": 1.0}}))
    assert [one.name for one in made] == ["radar"]


def test_a_generator_looks_the_same_in_every_panel() -> None:
    """X alone has videos of nature; it was drawn as B is in the panel beside it."""
    items, groups = {}, {}
    for model, category, value in (
        *(("A", "Life", 0.2), ("B", "Life", 0.9), ("X", "Life", 0.5)),
        *(("X", "Nature", 0.4), ("A", "Virtual", 0.8), ("X", "Virtual", 0.1)),
    ):
        name = f"{model}{category}"
        items[name], groups[name] = {"themes": value}, {"model": model, "category": category}
    made = {one.name: one.make() for one in drawings(SUITE, results_of(items, groups), "model")}
    looks = []
    for figure in (made["radar"], made["radar_by_category"]):
        (legend,) = figure.legends
        names = [text.get_text() for text in legend.get_texts()]
        assert names == ["A", "B", "X"]
        keys = [(line.get_color(), line.get_marker()) for line in legend.get_lines()]
        looks.append(dict(zip(names, keys, strict=True)))
    assert looks[0] == looks[1]
    nature = next(p for p in made["radar_by_category"].axes if p.get_title() == "Nature")
    (line,) = nature.lines
    assert (line.get_color(), line.get_marker()) == looks[0]["X"]


def test_a_video_without_a_cut_is_not_steadier_for_it() -> None:
    """Table 5: temporal quality is of the parts that all videos have, or it tells who cuts."""
    absent: Outcome[Score] = Outcome.failed(Reason.NOT_APPLICABLE)
    results = results_of(
        {
            "cut": {"warping_error": 0.8, "transition_smoothness": 0.1},
            "whole": {"warping_error": 0.6},
            "refused": {"transition_smoothness": 0.3},
        }
    )
    name = "locot2v_transition_smoothness"
    results = replace(results, values=(*results.values, Value("whole", name, name, absent, "s")))
    scores = item_scores(SUITE, results)
    assert [scores[item].get("temporal_quality") for item in results.items] == [0.8, 0.6, None]
    assert scores["cut"]["transition_smoothness"] == 0.1
    assert uncounted(SUITE, results) == ["transition_smoothness"]


def test_panels_without_any_value_are_left_out() -> None:
    """Without a chat model there are static and temporal values, and nothing else to draw."""
    values = {"aesthetic_quality": 0.5, "temporal_flickering": 0.9}
    results = results_of({"a": values, "b": {**values, "aesthetic_quality": 0.7}})
    found = main_radar(standings(results, SUITE))
    radar = [panel.get_title() for panel in found.axes]
    assert radar == ["Five dimensions", "Temporal Quality"]
    scatter = static_scatter(item_scores(SUITE, results))
    assert [panel.get_ylabel() for panel in scatter.axes] == ["Temporal Quality"]
    assert len(static_scatter({"a": {}}).axes) == 4  # each says so


def test_tables_are_whole_at_80_columns(
    many: Results, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No number and no word of a heading was whole: "HE", "0.4" for 0.431."""
    monkeypatch.setenv("COLUMNS", "80")
    one = {
        item: {**values.groups, "category": "Virtual Entertainment"}
        for item, values in many.items.items()
    }
    items = {name: replace(item, groups=one[name]) for name, item in many.items.items()}
    tables = suite_tables(replace(many, items=items), SUITE, "model")
    assert {"locot2v", "locot2v_categories", "locot2v_parts"} <= {table.name for table in tables}
    for table in tables:
        show(table)
        shown = capsys.readouterr().out
        assert fits(shown)
        brief = table.short()
        cells = [text for row in brief.texts() for text in row]
        words = {word for text in cells for word in text.split()}
        heads = {word for column in brief.columns for word in column.heading.split()}
        assert words | heads <= set(shown.split())


def test_names_that_are_no_charts(tmp_path: Path, many: Results) -> None:
    with pytest.raises(BadOption, match=r"chart\.doc: .*\.svg"):
        charts.save(static_scatter(item_scores(SUITE, many)), tmp_path / "chart.doc")
    with pytest.raises(BadOption, match="nothing to draw"):
        charts.violins({})
