"""Sections of the page: each suite of a run added up, and what a plugin brings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from screentest.analysis.suites import Dimension, Suite
from screentest.core import OutputInfo, Table, UnknownName, registry
from screentest.present.page.data import Report, read_report
from screentest.present.page.html import write_html
from screentest.present.page.tables import Part, sections, tables
from tests.present.runs import items, score_run, scored

METRICS = {name: OutputInfo(name) for name in ("sharp", "bright", "calm", "slow")}


@pytest.fixture
def toy() -> Iterator[None]:
    """A suite with a tree of two levels, as a plugin would register it."""

    def suite() -> Suite:
        parts = (
            Dimension("look", ("sharp", "bright"), title="Look"),
            Dimension("motion", ("calm",)),
            Dimension("pace", ("slow",)),
        )
        tree = Dimension("toy_total", parts=parts)
        return Suite("toy_tree", tuple(METRICS), (tree,), title="A <b>toy</b>", scale=100)

    registry.register("suite", "toy_tree")(suite)
    yield
    del registry._entries["suite", "toy_tree"]


@pytest.fixture
def report(tmp_path: Path, toy: None) -> Report:
    films = [*items("a", "b", model="x"), *items("c", "d", model="y")]
    numbers = {"a": 0.1, "b": 0.3, "c": 0.7, "d": 0.9}
    values = {(film.id, name): scored(numbers[film.id]) for film in films for name in METRICS}
    return read_report(
        [score_run(tmp_path / "run", films, values, metrics=METRICS, suite="toy_tree")]
    )


def test_a_suite_of_a_plugin_is_added_up_on_the_page(report: Report, tmp_path: Path) -> None:
    (found,) = sections(report)
    wide, long = found.tables
    assert wide.column("toy_total") == pytest.approx([80.0, 20.0])
    assert wide.column("model") == ["y", "x"]
    assert len(long.rows) == 2 * (1 + 3 + 2)
    assert found.charts == ()  # a suite that wants a chart brings its own
    write_html(report, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "A &lt;b&gt;toy&lt;/b&gt; by model" in page
    assert '<a href="#section-1-toy_tree">' in page
    assert {"toy_tree", "toy_tree_parts"} <= {table.name for table in tables(report)}


def test_a_run_of_metrics_alone_is_added_up_on_request(report: Report, tmp_path: Path) -> None:
    films = items("a", "b")
    values = {(film.id, name): scored(0.5) for film in films for name in METRICS}
    run = score_run(tmp_path / "plain", films, values, metrics=METRICS)
    assert sections(read_report([run])) == []
    (found,) = sections(read_report([run], suites=["toy_tree"]))
    assert found.tables[0].records()[0]["mean"] == pytest.approx(50.0)
    with pytest.raises(UnknownName, match="no suite 'unheard'"):
        read_report([run], suites=["unheard"])


def test_a_suite_that_is_not_installed_leaves_its_values(tmp_path: Path) -> None:
    run = score_run(tmp_path / "run", items("a"), {("a", "calm"): scored(0.5)}, suite="gone:x=1")
    report = read_report([run])
    assert sections(report) == []
    assert report.totals[0].scored == 1


@pytest.fixture
def plugin() -> Iterator[None]:
    @registry.register("section", "notes", title="Notes & remarks")
    def notes(report: Report) -> Sequence[Part]:
        count = len(report.results.items)
        return ["<script>alert(1)</script>", Table("films", "Films", ("count",), [(count,)])]

    @registry.register("section", "broken", title="Broken")
    def broken(report: Report) -> Sequence[Part]:
        raise KeyError("nothing here")

    yield
    for name in ("notes", "broken"):
        del registry._entries["section", name]


@pytest.mark.usefixtures("plugin")
def test_a_section_of_a_plugin_is_text_and_its_fault_is_its_own(tmp_path: Path) -> None:
    run = score_run(tmp_path / "run", items("a"), {("a", "calm"): scored(0.5)})
    report = read_report([run])
    broken, notes = sections(report)
    assert "nothing here" in broken.paragraphs[0]
    assert notes.tables[0].records() == [{"count": 1}]
    write_html(report, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert '<h2 id="section-2-notes-title">Notes &amp; remarks</h2>' in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
