"""``screentest show``: one video in the terminal."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from screentest.analysis.models.coverage import lowest_videos
from screentest.analysis.models.grid import uncompared
from screentest.api.reports import show
from screentest.core import Item, OutputInfo, Reason
from screentest.core.outcome import FRAME_RATE
from screentest.present.page.data import read_report
from tests.messages import names
from tests.present.runs import (
    METRICS,
    NEAT,
    certificate,
    certify_run,
    items,
    lost,
    score_run,
    scored,
)
from tests.terminal import Screentest, fits, invoke


@pytest.fixture
def run(tmp_path: Path) -> Path:
    film = Item("castle-7", Path("/films/castle.mp4"), "A castle. " * 90, groups={"model": "ours"})
    return score_run(
        tmp_path / "scores",
        [film, *items("castle-8", "dune")],
        {
            ("castle-7", "calm"): scored(0.4, 0.9, 0.2, 0.5, 0.6, note="a flash"),
            ("castle-7", "busy"): lost(Reason.MISSING_MODEL, "Traceback\n  x\nno weights"),
            ("dune", "busy"): lost(Reason.UNDECODABLE, "\x1b[2J" + "x" * 300),
        },
        metrics=METRICS | {"neat": NEAT},
    )


def test_curve_worst_moment_and_what_is_missing(screentest: Screentest, run: Path) -> None:
    done = screentest("show", run, "castle-7", "--worst", "1")
    assert done.returncode == 0
    assert fits(done.stdout)
    # 14 columns for four seconds; 0.2 is the lowest, 0.9 the highest.
    assert "███▁▁▁▁" in done.stdout
    assert "0.200 at 0:00:01.0" in done.stdout
    assert re.search(r"0:00:01\.5 +calm +0\.200 \(a flash", done.stdout)
    assert names(done.stdout, "busy: missing_model: ", ": Make it again.")
    assert "neat: still to come" in done.stdout


def test_the_worst_moment_is_first_and_what_describes_has_none(tmp_path: Path) -> None:
    curves = {
        "calm": (0.9, 0.8, 0.9, 0.9, 0.7),
        "busy": (5.0, 50.0, 6.0, 5.0, 5.0),
        "moves": (0.9, 0.9, 0.0, 0.9, 0.9),
    }
    values = {("one", name): scored(1.0, *points) for name, points in curves.items()}
    values |= {("two", name): scored(2.0, *points) for name, points in curves.items()}
    moves = OutputInfo("how much moves", descriptive=True)
    run = score_run(
        tmp_path / "scores", items("one", "two"), values, metrics=METRICS | {"moves": moves}
    )
    found = show(run, "one")
    assert [time for time, _ in found.worst] == [1.5, 4.5]
    assert [words for _, words in found.worst] == ["busy 50.0", "calm 0.700"]
    # What it is last in comes first.
    assert found.scored().column("value") == ["calm", "busy", "moves"]
    assert found.scored().column("place") == ["2/2", "1/2", ""]
    # What only describes is a line, unless all is asked for.
    assert found.scored(described=False).column("value") == ["calm", "busy"]
    assert "(--all): moves 1.00\n" in invoke("show", run, "one").stdout
    assert "Only described" not in invoke("show", run, "one", "--all").stdout


def test_a_last_place_that_is_shared_comes_first(tmp_path: Path) -> None:
    numbers = {"one": (0.5, 60.0), "two": (0.1, 60.0), "six": (0.9, 5.0)}
    values = {
        (item, name): scored(number)
        for item, pair in numbers.items()
        for name, number in zip(("calm", "busy"), pair, strict=True)
    }
    values[("one", "neat")] = lost(Reason.NOT_APPLICABLE, "it has no cuts")
    metrics = METRICS | {"neat": NEAT}
    run = score_run(tmp_path / "scores", items(*numbers), values, metrics=metrics)
    found = show(run, "one").scored()
    assert found.column("value") == ["busy", "calm"]
    assert found.column("place") == ["last of 3", "2/3"]
    assert "it has no cuts" not in invoke("show", run, "one").stdout
    assert "it has no cuts" in invoke("show", run, "one", "--all").stdout
    assert show(run, "NE").item.id == "one"


def test_what_compare_refuses_has_no_place(tmp_path: Path) -> None:
    """Values that depend on the frame rate are in no order where the rates differ."""
    values = {}
    for item, number, rate in (("one", 0.2, 8.0), ("two", 0.4, 10.0), ("six", 0.6, 10.0)):
        for name in METRICS:
            curve = scored(number, number, number)
            values[item, name] = curve
            if name == "busy":
                values[item, name] = curve.map(
                    lambda score, rate=rate: replace(score, details={FRAME_RATE: rate})
                )
    run = score_run(tmp_path / "scores", items("one", "two", "six"), values)
    found = show(run, "six")
    assert dict(zip(*map(found.scored().column, ("value", "place")), strict=True)) == {
        "calm": "1/3",
        "busy": "not compared",
    }
    assert found.place("busy") is None
    told = invoke("show", run, "six").stdout
    assert fits(told)
    assert re.search(r"compared: .*\b8 to 10\b", told)
    report = read_report([run])
    assert set(uncompared(report.results, report.comparison)) == {"busy"}
    # Neither is it what a video is called the worst in.
    assert set(lowest_videos(report.results)) == {"calm"}


def test_one_video_is_shown_without_a_report_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`show` compared all models, and tested every two of them, to print one video."""
    films = [*items("one", model="a"), *items("two", model="b")]
    run = score_run(tmp_path / "scores", films, {("one", "calm"): scored(0.5)})

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nothing is compared here")

    monkeypatch.setattr("screentest.analysis.models.comparison._Work.comparison", refuse)
    assert show(run, "one").numbers == {"calm": 0.5}


def test_a_terminal_with_ascii_only(screentest: Screentest, run: Path) -> None:
    done = screentest("show", run, "castle-7", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert "###____" in done.stdout


def test_nothing_scored_of_it(screentest: Screentest, run: Path) -> None:
    done = screentest("show", run, "dune")
    assert done.returncode == 1
    assert fits(done.stdout)
    assert "busy: undecodable:" in done.stdout
    assert "\\x1b[2Jxxx" in done.stdout


def test_an_id_may_be_cut_short(run: Path) -> None:
    assert invoke("show", run, "du").stdout.startswith("dune\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("castle", "2 items begin"),
        ("dunes", "no item"),
        ("ast", "2 items have"),
        ("", "which item?"),
    ],
)
def test_an_item_that_is_not_there(run: Path, text: str, words: str) -> None:
    done = invoke("show", run, text)
    assert done.exit_code == 2
    assert names(done.stderr, words, f"'{text}'" if text else "", "Items: ")


def test_a_run_without_scores_of_videos(tmp_path: Path) -> None:
    """A certificate's folder was asked "which item?", of none."""
    done = invoke("show", certify_run(tmp_path / "certificates", [certificate()]))
    assert done.exit_code == 2
    assert names(done.stderr, "certificates", "scores")


def test_json_has_every_point(run: Path) -> None:
    told = json.loads(invoke("show", run, "castle-7", "--json").stdout)
    calm, busy = sorted(told["values"], key=lambda one: one["name"], reverse=True)
    assert [point["value"] for point in calm["curve"]] == [0.9, 0.2, 0.5, 0.6]
    assert busy["failed"]["reason"] == "missing_model"
    assert told["pending"] == ["neat"]
