"""``screentest annotate`` from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import httpx2
import psutil
import pytest
from typer.testing import CliRunner

from screentest.annotate.records import import_records
from screentest.annotate.server import bind
from screentest.annotate.store import open_database
from screentest.cli import app
from tests.annotate.stand import open_stand
from tests.annotate.test_votes import UNITS, said
from tests.messages import names
from tests.terminal import CLEAN, fits, invoke

COMMANDS = [
    "serve",
    "invite",
    "workers",
    "filter",
    "results",
    "export",
    "import",
    "plan",
    "translate",
]


@pytest.fixture
def store(testbed: Path, tmp_path: Path) -> str:
    """Five people confirm four of six pairs; of one C was said, one is weak."""
    path = str(tmp_path / "votes.sqlite")
    ratings = ["AAAAA", "AAABB", "AAAAC", "AABBB", "AAAAA", "AAAAA"]
    with open_stand(testbed, path, "check") as stand:
        import_records(
            stand.database,
            [
                said(f"w{number}", unit, rating)
                for unit, told in zip(UNITS, ratings, strict=True)
                for number, rating in enumerate(told)
            ],
        )
    return path


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_fits_the_screen(command: list[str]) -> None:
    result = CliRunner().invoke(app, ["annotate", *command, "--help"], env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert fits(result.output)
    if command:
        assert f"\n  Examples:\n    screentest annotate {command[0]} " in result.output


def test_filter_prints_the_table_and_writes_the_testbed(
    testbed: Path, store: str, tmp_path: Path
) -> None:
    done = invoke("annotate", "filter", testbed, "--store", store, "--out", tmp_path / "kept")
    assert done.exit_code == 0, done.output
    assert fits(done.stdout)
    total = next(line for line in done.stdout.splitlines() if line.startswith("total"))
    assert total.split() == ["total", "6", "1", "1", "4", "66.7%"]
    told = invoke("annotate", "filter", testbed, "--store", store, "--json")
    found = json.loads(told.stdout)
    assert found["undecided"] == 0
    total = found["retention"][-1]
    assert [total[name] for name in ("initial", "failed", "weak", "final")] == [6, 1, 1, 4]
    assert total["aspect"] == "total"
    assert len(total["kept"]) == 4
    pairs = json.loads((tmp_path / "kept" / "testbed.json").read_text())["pairs"]
    assert len(pairs) == 4


def test_workers_and_exclusion(testbed: Path, store: str) -> None:
    done = invoke("annotate", "workers", testbed, "--store", store)
    assert done.exit_code == 0
    assert fits(done.stdout)
    assert "w3" in done.stdout
    after = invoke(
        "annotate", "workers", testbed, "--store", store,
        "--exclude", "w3", "--reason", "why", "--json",
    )  # fmt: skip
    (found,) = [one for one in json.loads(after.stdout) if one["excluded"]]
    assert (found["worker"], found["reason"], found["votes"]) == ("w3", "why", 6)
    fewer = invoke("annotate", "filter", testbed, "--store", store, "--without-excluded")
    assert "6 pairs" in fewer.stdout
    fewer = invoke("annotate", "filter", testbed, "--store", store, "--without-excluded", "--json")
    assert json.loads(fewer.stdout)["undecided"] == 6
    assert invoke("annotate", "workers", testbed, "--store", store, "--exclude", "x").exit_code == 2


def test_export_and_import(testbed: Path, store: str, tmp_path: Path) -> None:
    for name in ("votes.csv", "votes.json"):
        out = tmp_path / name
        assert invoke("annotate", "export", testbed, "--store", store, "--out", out).exit_code == 0
        other = str(tmp_path / f"{name}.sqlite")
        with open_stand(testbed, other, "check"):
            done = invoke("annotate", "import", testbed, out, "--store", other)
        assert "30 added, 0 known" in done.output
    refused = invoke("annotate", "export", testbed, "--store", store, "--out", tmp_path / "v.xls")
    assert refused.exit_code == 2


def test_plan(testbed: Path) -> None:
    done = invoke("annotate", "plan", testbed, "--wage", "1200", "--task", "check", "--json")
    plan = {one["aspect"]: one for one in json.loads(done.stdout)}
    # By hand: the two harmed clips, in both videos, and their captions; 15 characters a second,
    # 40 s more.
    bed = json.loads((testbed / "testbed.json").read_text())
    captions = [clip["caption"] for clip in bed["sources"][0]["clips"]]
    touched = [one for pair in bed["pairs"] if pair["name"] == "aesthetics"
               for one in pair["touched"]]  # fmt: skip
    assert len(touched) == 4  # of two films
    spans = [[Fraction(one["intact"][name]) for name in ("start", "end")] for one in touched]
    harmed = float(sum(end - start for start, end in spans))  # of each film's two videos
    read = sum(len(captions[one["clip"]]) for one in touched) / 2
    seconds = 1.5 * harmed + read / 15 + 40
    assert plan["aesthetics"]["price_per_task"] == pytest.approx(seconds / 3600 * 1200)
    assert plan["aesthetics"]["tasks"] == 10
    assert plan["total"]["cost"] == pytest.approx(
        sum(plan[name]["cost"] for name in plan if name != "total")
    )
    assert fits(invoke("annotate", "plan", testbed, "--wage", "1200", "--currency", "JPY").stdout)


def test_mistakes_are_reported(testbed: Path, tmp_path: Path) -> None:
    for arguments, words in (
        (["serve", testbed, "--task", "nonsense"], "'nonsense'"),
        (["serve", testbed, "--host", "0.0.0.0"], "needs a token"),
        (["serve", testbed, "--language", "xx"], "there is no language"),
        (["serve", testbed, "--task", "questions"], "manifest"),
        (["workers", testbed, "--store", tmp_path / "none.sqlite"], "is not there"),
        (["invite", testbed, "--store", "mysql://x"], "postgresql://"),
    ):
        done = invoke("annotate", *arguments)
        assert done.exit_code == 2, arguments
        assert words in done.stderr, done.stderr


def test_serve_prints_links_that_work(testbed: Path, tmp_path: Path) -> None:
    store = tmp_path / "votes.sqlite"
    with subprocess.Popen(
        [sys.executable, "-m", "screentest", "annotate", "serve", str(testbed), "--task", "pairs",
         "--port", "0", "--store", str(store)],
        env=CLEAN, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        told = [process.stderr.readline() for _ in range(3)]
        assert names(told[0], "6 items", "5 votes")
        for line, page in zip(told[1:], ("/work", "/operator"), strict=True):
            address, _, token = line.split()[-1].partition("/join#")
            with httpx2.Client(base_url=address, headers={"Origin": address}) as client:
                assert client.post("/join", json={"token": token}).json() == {"next": page}
                assert client.get(page).status_code == 200
        links = invoke("annotate", "invite", testbed, "--store", store, "--count", "3")
        assert len(links.stdout.splitlines()) == 3
        os.kill(process.pid, signal.SIGINT)
        assert process.stderr.read() == ""
        process.wait(timeout=60)
    assert process.returncode == 0
    open_database(store).close()


def test_a_port_that_is_taken_leaves_no_store_open(testbed: Path, store: str) -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        done = invoke(
            "annotate", "serve", testbed, "--task", "check", "--port", port, "--store", store
        )
    assert done.exit_code == 2
    assert done.exc_info is not None
    assert not [one for one in psutil.Process().open_files() if one.path == store]


def test_what_was_exported_is_certified(testbed: Path, tmp_path: Path) -> None:
    """From the app's own store: the majority is a judge, and votes stand beside other judges."""
    store = str(tmp_path / "votes.sqlite")
    # i intact, c changed, t no difference. By pair: right, right, tie, wrong, right, right.
    votes = ["iiiii", "iiiic", "iicct", "iiccc", "iiiii", "iiitt"]
    choices = {"i": "intact", "c": "changed", "t": "tie"}
    with open_stand(testbed, store, "check") as stand:
        import_records(
            stand.database,
            [
                said(f"w{number}", unit, choice=choices[vote])
                for unit, told in zip(UNITS, votes, strict=True)
                for number, vote in enumerate(told)
            ],
        )
    for name in ("votes.csv", "votes.json"):
        exported = tmp_path / name
        invoke("annotate", "export", testbed, "--store", store, "--out", exported)
        judge, out = f"human:votes={exported}", tmp_path / f"run-{name}"
        done = invoke("certify", judge, "--testbed", testbed, "--out", out, "--json")
        assert done.exit_code == 0, done.output
        (certificate,) = json.loads(done.stdout)
        assert certificate["overall"]["value"]["points"] == 9.0  # 4.5 of 6, in both orders
        assert certificate["overall"]["value"]["total"] == 12
        beside = [*("certify", "contrast", "--testbed", testbed, "--human", exported, "--json")]
        (certificate,) = json.loads(invoke(*beside, "--out", tmp_path / f"c-{name}").stdout)
        people = {one["aspect"]: one["human"] for one in certificate["aspects"]}
        # Of ten votes each; a tie is half a vote.
        assert people == {"aesthetics": 0.7, "comprehensiveness": 0.9, "temporal_flow": 0.65}
