"""``screentest testbed`` as a user has it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from screentest.cli import app
from tests.terminal import Screentest, fits, invoke
from tests.testbeds.testbeds import built_in, copy_of


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_in(tmp_path_factory.getbasetemp())


@pytest.mark.parametrize("command", ["", "show", "verify", "stats", "sample", "merge", "page"])
def test_help_fits_the_screen_and_has_examples(command: str) -> None:
    words = ["testbed", command] if command else ["testbed"]
    result = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert fits(result.output)
    if command:
        assert f"\n  Examples:\n    screentest testbed {command} " in result.output
    else:
        assert "..." not in result.output.partition("Commands:")[2]


def test_show_tells_what_is_in_it(built: Path, screentest: Screentest) -> None:
    done = screentest("testbed", "show", built)
    assert done.returncode == 0, done.stderr
    assert fits(done.stdout)
    for words in ("7 of 2 sources", "real_5shots/aesthetics", "trim", "frenchgp_1906"):
        assert words in done.stdout
    # The newsreel has one clip, and two are asked for.
    assert re.search(r"\b2\sclips\b[^:]*\b1\s", done.stdout)


def test_show_tells_all_of_one_pair(built: Path) -> None:
    done = invoke("testbed", "show", built, "real_5shots/temporal_flow")
    assert done.exit_code == 0
    assert fits(done.output)
    for words in ("temporal_flow|v:", "Touched clips", "now at", "Clips chosen"):
        assert words in done.output
    (data,) = json.loads(invoke("testbed", "show", built, "temporal_flow", "--json").output)
    assert len(data["touched"]) == 2
    assert all(one["caption"] for one in data["touched"])
    assert "deleted" in invoke("testbed", "show", built, "comprehensiveness").output


def test_show_as_json_lists_sources_pairs_and_skips(built: Path) -> None:
    data = json.loads(invoke("testbed", "show", built, "--json").output)
    assert [len(data[name]) for name in ("sources", "pairs", "skips")] == [2, 7, 3]


def test_what_is_not_there_is_reported(built: Path, tmp_path: Path) -> None:
    done = invoke("testbed", "show", built, "beauty")
    assert done.exit_code == 2
    assert "'beauty'" in done.output
    for name in ("show", "verify", "stats", "page"):
        done = invoke("testbed", name, tmp_path)
        assert done.exit_code == 2
        assert "`build`" in done.output


def test_verify_ends_with_1_where_something_is_wrong(built: Path, tmp_path: Path) -> None:
    bed = copy_of(built, tmp_path / "bed")
    (bed / "videos/real_5shots/prompt.txt").write_text("A cat.")
    done = invoke("testbed", "verify", bed)
    assert done.exit_code == 1
    assert fits(done.output)
    assert "1 thing is wrong" in done.output
    data = json.loads(invoke("testbed", "verify", bed, "--json").output)
    assert not data["ok"]
    assert [one["where"] for one in data["findings"]] == ["videos/real_5shots/prompt.txt"]


def test_stats_as_tables_json_and_charts(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # its own path may be longer than the screen is wide
    done = invoke("testbed", "stats", built, "--plots", "charts")
    assert done.exit_code == 0
    assert fits(done.output)
    # Of two films one has the clips that three aspects want: 3 × 2 asked for, 3 made.
    assert "total" in done.output
    assert (tmp_path / "charts" / "durations.svg").exists()
    data = json.loads(invoke("testbed", "stats", built, "--json").output)
    counts = {
        one["name"]: (one["initial"], one["eligible"], one["kept"]) for one in data["aspects"]
    }
    assert counts["aesthetics"] == (2, 1, 1)
    assert counts["trim"] == (2, 2, 2)
    assert data["durations"] == [{"start": 0, "end": 100, "sources": 2, "pairs": 7}]


def test_sample_and_page(built: Path, tmp_path: Path) -> None:
    done = invoke("testbed", "sample", built, "--out", tmp_path / "small", "-n", "3")
    assert done.exit_code == 0
    assert "3 pairs of" in done.output
    (tmp_path / "small" / "testbed.html").unlink()
    assert invoke("testbed", "page", tmp_path / "small").exit_code == 0
    assert (tmp_path / "small" / "testbed.html").exists()
    again = invoke("testbed", "sample", built, "--out", tmp_path / "small", "-n", "3")
    assert again.exit_code == 2
    assert "not empty" in again.output
