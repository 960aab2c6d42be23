"""A dash in a table has its reason on the same screen, and on the same page."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from screentest.analysis.forecast import Forecast, Work
from screentest.analysis.standings import standings
from screentest.core import Reason
from screentest.core.table import Table
from screentest.present.certificates import certificate_screen
from screentest.present.forecast import forecast_tables
from screentest.present.page.data import read_report
from screentest.present.page.view import page_view
from screentest.present.results import Certificates
from screentest.present.screens import Screen, comparison_screen, scores_screen
from screentest.present.tables import standing_tables, summary_table
from tests.analysis.test_comparison import compared, drawn, without
from tests.analysis.test_standings import TOY
from tests.analysis.test_standings import results as suite_results
from tests.present.runs import CALM, certificate, items, lost, score_run, scored


def gaps(table: Table) -> list[str]:
    """The names of the rows that have a dash, without arrows and levels above."""
    brief = table.short()
    labels = [next(text for text in row if text.strip()) for row in brief.texts()]
    if brief.columns[0].name == "about":
        labels = [row[1] for row in brief.texts()]
    return [
        label.rstrip(" ↑↓").rpartition(" / ")[2]
        for label, row in zip(labels, brief.rows, strict=True)
        if None in row
    ]


def unexplained(screen: Screen) -> list[str]:
    """Rows with a dash of which no line says why: ``NAME (REASON)``."""
    assert screen.table is not None
    told = [text for _, text in screen.lines] + screen.table.note.splitlines() + [*screen.notes]
    return [
        name for name in gaps(screen.table) if not any(name in one and "(" in one for one in told)
    ]


@pytest.mark.parametrize("reason", [Reason.CRASHED, Reason.NOT_APPLICABLE, Reason.TIMED_OUT])
def test_a_model_without_a_value(reason: Reason) -> None:
    given = drawn(30, models="abc", metrics="sharp noise", sharp_a=9.0, noise_a=-4.0)
    some = without(given, "sharp", [f"c/{place}" for place in range(30)])
    values = [
        replace(one, outcome=lost(reason, "too dark")) if one.outcome.failure else one
        for one in some.values
    ]
    screen = comparison_screen(compared(replace(some, values=tuple(values))))
    assert screen.table is not None
    assert gaps(screen.table) == ["sharp"]
    assert screen.table.note == "– c: sharp (too dark)"
    assert unexplained(screen) == []


def test_one_model_alone_has_no_dash() -> None:
    given = without(drawn(5, models="a", metrics="sharp noise"), "sharp", ["a/0", "a/1"])
    every = without(given, "noise", list(given.items))
    for found in (given, every):
        screen = scores_screen(found)
        assert screen.table is not None
        assert gaps(screen.table) == []
    assert dict(scores_screen(every).lines)["no value"] == "noise (crashed)"


def test_a_certificate_with_an_aspect_that_nobody_answered() -> None:
    made = certificate()
    (table,) = Certificates(Path("run"), (made,)).tables()
    assert gaps(table) == ["dynamics degree"]
    assert unexplained(certificate_screen(made, table)) == []


def test_a_suite_with_missing_models() -> None:
    given = dict.fromkeys("ab", (0.5, Reason.MISSING_MODEL, Reason.REFUSED))
    found = standings(suite_results(given), TOY)
    for table in standing_tables(found, TOY):
        assert unexplained(Screen("", (), table)) == []
        assert len(gaps(table)) == 2


def test_the_table_of_every_value_has_a_column_of_reasons() -> None:
    given = without(drawn(5, models="a", metrics="sharp noise"), "noise", [])
    table = summary_table(without(given, "noise", list(given.items)), full=True).short()
    (row,) = (row for row in table.texts() if row[0] == "noise")
    assert "crashed 5" in row


def test_a_forecast() -> None:
    free, unknown = Work("free", {}, 3), Work("asks", {}, 3, calls=None)
    unpriced = Work("unpriced", {}, 3, calls=4, tokens=9)
    priced = replace(unpriced, cost=Decimal(1))
    for work, dashes in (((free, priced), 0), ((free, unknown), 1), ((free, unpriced), 1)):
        (table,) = forecast_tables(Forecast(work))
        assert len(gaps(table)) == dashes
        assert any(line.startswith("–: ") for line in table.note.splitlines()) == bool(dashes)


def test_a_forecast_has_room_for_its_numbers() -> None:
    """Addresses of servers, words without a blank, took a line for every ten letters."""
    asked = {"chat.watch": "openai:a,base_url=http://127.0.0.1:1/v1", "detection": "saliency"}
    (table,) = forecast_tables(Forecast((Work("asks", asked, 3, calls=4),)))
    (row,) = table.texts()
    assert "chat.watch: openai:a, detection: saliency" in row


def test_a_page(tmp_path: Path) -> None:
    films, values = [], {}
    for model in "abc":
        for place in range(8):
            film, *_ = items(f"{model}{place}", model=model)
            films.append(replace(film, prompt=f"Prompt {place}."))
            value = scored(0.5 + place / 100 + (model == "a") / 10)
            values[film.id, "calm"] = lost() if model == "c" else value
    report = read_report([score_run(tmp_path / "run", films, values, metrics={"calm": CALM})])
    view = page_view(report, list(report.results.items))
    (row,) = [*view.rows, *(row for _, fold in view.folds for row in fold)]
    assert [cell.text for cell in row.cells if cell.text == "–"] == ["–"]
    assert "unreadable" in {check.label for check in view.checks}
