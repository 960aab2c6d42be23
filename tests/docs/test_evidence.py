"""Figures in docs/evidence/ are as the scripts that measured them left them."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.docs.test_prose import ROOT

EVIDENCE = ROOT / "docs" / "evidence"
SCRIPT = runpy.run_path(str(EVIDENCE / "write.py"))
PLACE = SCRIPT["PLACE"]
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(EVIDENCE.glob("*.md"))}
RESULTS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((EVIDENCE / "results").glob("*.json"))
}
NOMINAL = {"5%", "95%"}
"""Levels of tests and intervals, which are chosen and not measured."""


def by_hand(page: str) -> str:
    """What people wrote: no tables of results, code, addresses or comments."""
    for pattern in (PLACE.pattern, r"^```.*?^```$", r"`[^`]*`", r"\]\([^)]*\)", r"<!--.*?-->"):
        page = re.sub(pattern, " ", page, flags=re.MULTILINE | re.DOTALL)
    return page


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_the_results_render_it(name: str) -> None:
    assert SCRIPT["rendered"](PAGES[name]) == PAGES[name]


@pytest.mark.parametrize("name", PAGES)
def test_no_table_with_figures_is_written_by_hand(name: str) -> None:
    tables = [line for line in by_hand(PAGES[name]).splitlines() if line.lstrip().startswith("|")]
    assert not [line for line in tables if re.search(r"\d", line)]


@pytest.mark.parametrize("name", PAGES)
def test_what_prose_says_of_figures_is_in_a_table(name: str) -> None:
    """Fractions and percentages; whole numbers in prose are what was chosen, as sizes are."""
    tables = "\n".join(place[0] for place in PLACE.finditer(PAGES[name]))
    figures = re.findall(r"\d[\d,]*\.\d+%?|\d+%", by_hand(PAGES[name]))
    shown = set(re.findall(r"\d[\d,]*(?:\.\d+)?%?", tables))
    assert not [one for one in figures if one not in shown | NOMINAL]


def test_every_table_is_on_a_page_and_only_once() -> None:
    found = [place for text in PAGES.values() for place in PLACE.finditer(text)]
    places = [(place["name"], place["table"]) for place in found if place["name"] in RESULTS]
    made = [(name, table) for name, result in RESULTS.items() for table in result["tables"]]
    assert sorted(places) == sorted(made)


@pytest.mark.parametrize(("name", "made"), RESULTS.items(), ids=list(RESULTS))
def test_results_name_their_origin(name: str, made: dict[str, Any]) -> None:
    """A run of today has its machine and versions; a figure of an earlier page its commit."""
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", made["date"])
    assert re.fullmatch(r"[0-9a-f]{8}", made["commit"])
    if "measured_at" in made:
        assert made["commit"] in made["measured_at"]
    else:
        assert made["command"].startswith("python ")
        assert made["machine"]
        assert {"python", "screentest"} <= made["versions"].keys()
    for table in made["tables"].values():
        assert {len(row) for row in table["rows"]} == {len(table["columns"])}


def test_a_table_is_written_by_its_forms(tmp_path: Path) -> None:
    """By hand: texts stay, numbers take the format, several numbers its fields, None a dash."""
    columns = {"of": "", "share": "{:.0%}", "ρ": "{:.2f} ({:.2f}–{:.2f})", "n": "{:,}"}
    rows = [["a", 0.126, [0.5, 0.25, 0.75], 1234], ["b", None, "fair", 0]]
    assert list(SCRIPT["rows_of"]({"columns": columns, "rows": rows})) == [
        "| of | share | ρ | n |",
        "|---|---|---|---|",
        "| a | 13% | 0.50 (0.25–0.75) | 1,234 |",
        "| b | – | fair | 0 |",
    ]
    earlier = {"command": "make it", "measured_at": "0123abcd (2026-01-01)", "void": "broken"}
    assert SCRIPT["origin"](earlier) == (
        "**Void: broken.** *Measured at 0123abcd (2026-01-01), not again since: `make it`.*"
    )
    assert SCRIPT["origin"]({"command": "", "measured_at": "0123abcd"}) == (
        "*Measured at 0123abcd, not again since; no script of it is kept.*"
    )


def test_a_script_keeps_what_it_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row on each line, six digits of a float, and all of the origin."""
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import _figures  # type: ignore[import-not-found]

    monkeypatch.setattr(_figures, "RESULTS", tmp_path)
    table = _figures.Table({"of": "", "share": "{:.1%}"}, [("a", 1 / 3), ("b", None)])
    _figures.publish("some", "python bench/some.py", {"shares": table})
    text = (tmp_path / "some.json").read_text(encoding="utf-8")
    assert '\n   ["a", 0.333333],\n   ["b", null]\n' in text
    made = json.loads(text)
    test_results_name_their_origin("some", made | {"commit": made["commit"].rstrip("+")})
    assert made["tables"]["shares"]["columns"] == {"of": "", "share": "{:.1%}"}
