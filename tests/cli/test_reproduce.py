"""``screentest reproduce``: what a paper's experiment needs and takes."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from screentest.present.forecast import load_table
from tests.terminal import fits, invoke

PAPERS = ("etva", "locot2v", "slvmeval", "univ")


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_missing_is_named_with_the_line_that_gets_it(paper: str) -> None:
    done = invoke("reproduce", paper)
    assert done.exit_code == 0, done.output
    assert fits(done.stdout)
    plan = json.loads(invoke("reproduce", paper, "--json").stdout)
    assert plan["missing"]
    printed = "".join(done.stdout.split())
    parts = plan["recipe"]["parts"]
    assert all("".join(parts[name]["get"].split()) in printed for name in plan["missing"])
    choices = ["".join(part["choice"].split()) for part in parts.values() if "choice" in part]
    assert all(f"--model{choice}" in printed for choice in choices)  # only --json had them
    assert ",0GB" not in printed  # of a model of 0.1


def test_papers_are_listed() -> None:
    listed = json.loads(invoke("reproduce", "--json").stdout)
    assert {row["paper"] for row in listed} >= set(PAPERS)


def test_places_are_read(tmp_path: Path) -> None:
    films = tmp_path / "films.jsonl"
    films.write_text("{}")
    done = invoke("reproduce", "slvmeval", "--at", f"films={films}", "--json")
    missing = json.loads(done.stdout)["missing"]
    assert "films" not in missing
    assert "backgrounds" in missing
    for wrong in ("films", "films=", "other=x"):
        assert invoke("reproduce", "slvmeval", "--at", wrong).exit_code == 2


def test_a_total_with_unknown_prices_has_no_cost() -> None:
    load = {"in_m": 1.0, "out_m": 0.0, "up_gb": 0.0, "gb": 0.0, "gpu_hours": 0.0, "hours": 1.0}
    loads = [{"what": "judge", "calls": 3} | load, {"what": "build", "calls": 0} | load]
    assert load_table(loads, [None, None]).records()[-1]["cost"] is None
    assert load_table(loads, [Decimal(2), None]).records()[-1]["cost"] == 2.0
