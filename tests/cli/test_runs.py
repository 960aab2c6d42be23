"""``screentest runs`` and ``screentest export``, as a user has them."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from pathlib import Path

import pytest

from screentest.core import CallIntent, CallReceipt, CallStatus
from screentest.run import InlineEngine, RunStore, execute
from tests.run.work import task
from tests.terminal import Screentest, fits


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two records, one of them failed, and two paid calls, one of them cut off."""
    folder = tmp_path / "results" / "tuesday"
    with RunStore(folder, command="score", arguments={"suite": "core"}) as store:
        execute(store, [task(1), task(2, "no_value", "refused")], engine=InlineEngine())
        call = store.ledger.intend(CallIntent("r", "m", max_cost=Decimal(1)))
        receipt = CallReceipt(
            CallStatus.ANSWERED, tokens_in=1200, tokens_out=30, cost=Decimal("0.5")
        )
        store.ledger.settle(call, receipt)
        store.ledger.intend(CallIntent("r2", "m", max_cost=Decimal("0.25")))
    return folder


def test_list(run: Path, screentest: Screentest) -> None:
    done = screentest("runs")
    assert done.returncode == 0
    (line,) = [line for line in done.stdout.splitlines() if "tuesday" in line]
    cells = line.split()
    assert cells[:2] == ["results/tuesday", "score"]
    assert cells[4:] == ["finished", "1/2", "0.50", "(+0.25?)"]
    assert fits(done.stdout)


def test_one_run(run: Path, screentest: Screentest) -> None:
    done = screentest("runs", run)
    facts = {
        line.strip().partition("  ")[0]: line.strip().partition("  ")[2].strip()
        for line in done.stdout.splitlines()
    }
    assert facts["Command"] == "score"
    assert facts["Arguments"] == "suite=core"
    assert facts["Scored"] == "1 of 2 (50.0%)"
    assert facts["refused"] == "1"
    assert facts["Calls"] == "2 calls, 1 answered"
    assert facts["Tokens"] == "1,200 in, 30 out"
    assert facts["Cost"] == "0.50 (+0.25?)"
    assert facts["Unknown"] == "1 call cut off, maybe billed"
    assert fits(done.stdout)


def test_json(run: Path, screentest: Screentest) -> None:
    (found,) = json.loads(screentest("runs", "--json").stdout)
    assert (found["state"], found["total"], found["scored"], found["failed"]) == (
        "finished",
        2,
        1,
        1,
    )
    assert (found["cost"], found["cost_at_risk"]) == ("0.5", "0.25")
    assert found["reasons"] == {"refused": 1}


def test_nothing_there(screentest: Screentest) -> None:
    done = screentest("runs")
    assert (done.returncode, done.stdout) == (0, "")
    assert "No runs under" in done.stderr
    assert screentest("runs", "--json").stdout == "[]\n"
    missing = screentest("runs", "nowhere")
    assert missing.returncode == 2
    assert "nowhere is not a folder" in missing.stderr


def test_damaged_and_repaired(run: Path, screentest: Screentest) -> None:
    data = bytearray((run / "run.db").read_bytes())
    data[40:100] = bytes(60)
    (run / "run.db").write_bytes(data)
    listed = screentest("runs")
    assert "Cannot be read (1 of 1)" in listed.stdout
    assert f"--repair {run}" in screentest("runs", run).stdout.replace("\n", "").replace(
        " " * 11, ""
    )
    refused = screentest("export", run)
    assert refused.returncode == 2
    assert "--repair" in refused.stderr
    done = screentest("runs", "--repair", run)
    assert done.returncode == 0
    assert "2 kept" in done.stdout
    assert "lost" not in done.stdout
    assert fits(done.stdout)
    assert "1 of 2 (50.0%)" in screentest("runs", run).stdout


def test_export(run: Path, screentest: Screentest) -> None:
    done = screentest("export", run)
    assert done.returncode == 0
    assert "1 of 2 records scored" in " ".join(done.stderr.split())
    with (run / "records.csv").open(newline="") as file:
        assert [row["status"] for row in csv.DictReader(file)] == ["value", "refused"]


def test_export_to_a_pipe(run: Path, screentest: Screentest) -> None:
    done = screentest("export", run, "--to", "json", "--out", "-")
    assert [row["status"] for row in json.loads(done.stdout)["records"]] == ["value", "refused"]
    table = screentest("export", run, "-o", "-").stdout
    assert len(list(csv.reader(io.StringIO(table)))) == 3


def test_export_refuses(run: Path, screentest: Screentest) -> None:
    assert screentest("export", run, "--to", "xlsx").returncode == 2
    assert screentest("export", run.parent).returncode == 2
    assert screentest("export", run, "--out", "no/such/folder.csv").returncode == 74
