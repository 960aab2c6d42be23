"""LoCoT2V-Bench in a report: its tables hold known means, its charts come in both editions."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from screentest._util.optional import install_line
from screentest.core import Item, Outcome, OutputInfo, Reason, Score, Table
from screentest.present.page.data import Report, read_report
from screentest.present.page.html import write_html
from screentest.present.page.tables import sections, tables
from screentest.suites.locot2v.tables import own_charts
from tests.messages import each_names
from tests.present.runs import score_run
from tests.suites.locot2v.made import SUITE

VALUES = (
    "locot2v_aesthetic_quality",
    "locot2v_technical_quality",
    "locot2v_overall_alignment",
    "locot2v_temporal_flickering",
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Two makers, three prompts; a's values are 0.1 to 0.3, b's 0.5 more, one is refused."""
    items, values = [], {}
    for maker, more in (("a", 0.0), ("b", 0.5)):
        for n in (1, 2, 3):
            groups = {
                "model": maker,
                "theme": "pets" if n < 3 else "food",
                "category": "Nature Exploration" if n < 3 else "Human Real Life",
                "semantic_complexity": str(6 + n),
            }
            name = f"{maker}/p_{n}"
            items.append(Item(name, Path(f"{maker}{n}.mp4"), prompt=f"Prompt {n}.", groups=groups))
            for metric in VALUES:
                values[name, metric] = Outcome.of(Score(n / 10 + more))
    values["a/p_1", "locot2v_overall_alignment"] = Outcome.failed(Reason.REFUSED)
    folder = tmp_path_factory.mktemp("run") / "run"
    outputs = {name: OutputInfo(name) for name in VALUES}
    return read_report([score_run(folder, items, values, metrics=outputs, suite="locot2v")])


def table(report: Report, name: str) -> list[dict[str, object]]:
    (found,) = [one for one in tables(report) if one.name == name]
    return [dict(row) for row in found.records()]


def test_standings(report: Report) -> None:
    """By hand: a's alignment is the mean of 0.2 and 0.3; a total is the mean of three."""
    best, other = table(report, "locot2v")
    assert (best["model"], other["model"]) == ("b", "a")
    assert best["static_quality"] == pytest.approx(0.7)
    assert other["text_video_alignment"] == pytest.approx(0.25)
    assert other["overall"] == pytest.approx((0.2 + 0.25 + 0.2) / 3)
    assert (other["herd"], other["scored"], other["total"]) == (None, 0, 3)  # 22 parts are missing
    assert (other["parts"], other["of_parts"]) == (4, 26)
    low, high = best["low"], best["high"]
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert low < 0.7 < high


def test_by_category_and_theme(report: Report) -> None:
    rows = table(report, "locot2v_categories")
    assert [(row["category"], row["model"]) for row in rows] == [
        *(("Human Real Life", "b"), ("Human Real Life", "a")),
        *(("Nature Exploration", "b"), ("Nature Exploration", "a")),
    ]
    assert rows[2]["static_quality"] == pytest.approx(0.65)
    themes = {
        (row["theme"], row["model"]): row["overall"] for row in table(report, "locot2v_themes")
    }
    assert themes["food", "b"] == pytest.approx(0.8)


def test_parts_count_what_is_missing(report: Report) -> None:
    rows = table(report, "locot2v_parts")
    assert len(rows) == (1 + 5 + 26) * 2
    name = "text_video_alignment / overall_alignment"
    alignment = [row for row in rows if row["dimension"] == name]
    assert [(row["model"], row["scored"], row["total"]) for row in alignment] == [
        *(("b", 3, 3), ("a", 2, 3))
    ]
    lost = [row for row in rows if row["dimension"] == "temporal_quality / human_action"]
    assert {row["mean"] for row in lost} == {None}


def test_what_goes_together(report: Report) -> None:
    """All values rise together, so every coefficient is 1."""
    rows = table(report, "locot2v_together")
    first = rows[0]
    assert (first["first"], first["second"]) == ("Static Quality", "Temporal Quality")
    assert [first[name] for name in ("r", "ρ", "τ")] == pytest.approx([1, 1, 1])
    assert first["videos"] == 6


def test_without_matplotlib_the_tables_remain(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    (found,) = sections(report)
    assert found.tables
    assert not found.charts
    (left_out,) = found.paragraphs
    assert install_line(["matplotlib"]) in left_out


def test_the_papers_charts_in_both_editions(report: Report) -> None:
    charts = own_charts(SUITE, report.results, report.by)
    assert each_names(
        [one.title for one in charts],
        ("LoCoT2V-Bench",),
        ("LoCoT2V-Bench", "category"),
        ("Static quality",),
        ("Complexity",),
    )
    for chart in charts:
        for edition, ink in ((chart.light, "#1c2024"), (chart.dark, "#e6e8eb")):
            ElementTree.fromstring(edition)
            assert ink in edition
        assert chart.words


def test_the_page_has_a_section(report: Report, tmp_path: Path) -> None:
    write_html(report, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert '<section id="section-1-locot2v"' in page
    assert '<a href="#section-1-locot2v">LoCoT2V-Bench</a>' in page
    assert "LoCoT2V-Bench by theme" in page
    assert "UniVBench" not in page


def test_other_runs_have_none_of_it(tmp_path: Path) -> None:
    item = Item("a", Path("a.mp4"))
    run = score_run(tmp_path / "run", [item], {("a", "calm"): Outcome.of(Score(0.5))})
    report = read_report([run])
    assert not [one for one in tables(report) if is_suites(one)]
    assert sections(report) == []
    write_html(report, tmp_path / "report.html")
    assert "LoCoT2V-Bench" not in (tmp_path / "report.html").read_text()


def is_suites(one: Table) -> bool:
    return one.name.startswith("locot2v")
