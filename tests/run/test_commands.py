"""``screentest runs`` and ``screentest export``, as a user has them."""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

from screentest.core import CallIntent, CallReceipt, CallStatus
from screentest.run.engine import InlineEngine
from screentest.run.execute import execute
from screentest.run.store import RunStore
from tests.messages import names
from tests.run.work import task
from tests.terminal import fits, invoke


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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


def test_list(run: Path) -> None:
    done = invoke("runs")
    assert done.exit_code == 0
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("results/tuesday ")]
    cells = line.split()
    assert cells[:2] == ["results/tuesday", "score"]
    assert cells[4:] == ["finished", "1", "2", "0.50"]
    assert re.search(r"results/tuesday: .* 0\.25 ", done.stdout)
    assert fits(done.stdout)


def test_calls_of_unknown_price_are_not_free(tmp_path: Path) -> None:
    with RunStore(tmp_path / "monday", command="score") as store:
        call = store.ledger.intend(CallIntent("r", "m"))
        store.ledger.settle(call, CallReceipt(CallStatus.ANSWERED, tokens_in=1200, tokens_out=30))
    done = invoke("runs")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("monday ")]
    assert line.split()[-1] == "–"
    assert names(done.stdout, "monday: ", " 1 of 1 call ")
    (found,) = json.loads(invoke("runs", "--json").stdout)
    assert found["cost"] is None


def test_one_run(run: Path) -> None:
    done = invoke("runs", run)
    facts = {
        line.strip().partition("  ")[0]: line.strip().partition("  ")[2].strip()
        for line in done.stdout.splitlines()
    }
    assert facts["Command"] == "score"
    assert facts["Arguments"] == "suite=core"
    assert (facts["Scored"], facts["Records"], facts["Share scored"]) == ("1", "2", "50.0%")
    assert facts["Some value missing"] == "refused=1"
    assert (facts["Calls"], facts["Answered"]) == ("2", "1")
    assert (facts["Tokens in"], facts["Tokens out"]) == ("1,200", "30")
    assert (facts["Cost"], facts["At risk"]) == ("0.50", "0.25")
    assert facts["Cut off, maybe billed"] == "1"
    assert fits(done.stdout)


def test_json(run: Path) -> None:
    (found,) = json.loads(invoke("runs", "--json").stdout)
    assert (found["state"], found["total"], found["scored"], found["failed"]) == (
        "finished",
        2,
        1,
        1,
    )
    assert (found["cost"], found["cost_at_risk"]) == ("0.5", "0.25")
    assert found["reasons"] == {"refused": 1}


def test_nothing_there() -> None:
    done = invoke("runs")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "No runs under" in done.stderr
    assert invoke("runs", "--json").stdout == "[]\n"
    missing = invoke("runs", "nowhere")
    assert missing.exit_code == 2
    assert missing.stderr.startswith("error: nowhere ")


def test_damaged_and_repaired(run: Path) -> None:
    data = bytearray((run / "run.db").read_bytes())
    data[40:100] = bytes(60)
    (run / "run.db").write_bytes(data)
    listed = invoke("runs")
    assert "results/tuesday: run.db " in listed.stdout
    assert "screentest runs --repair results/tuesday" in listed.stdout
    (found,) = json.loads(invoke("runs", "--json").stdout)
    assert (found["state"], found["scored"], found["cost"]) == ("damaged", None, None)
    assert "To repair: " in invoke("runs", run).stdout
    refused = invoke("export", run)
    assert refused.exit_code == 2
    assert "--repair" in refused.stderr
    done = invoke("runs", "--repair", run)
    assert done.exit_code == 0
    assert any(line.split() == ["records", "2", "0"] for line in done.stdout.splitlines())
    assert fits(done.stdout)
    (found,) = json.loads(invoke("runs", "--json").stdout)
    assert (found["scored"], found["total"]) == (1, 2)


def test_export(run: Path) -> None:
    done = invoke("export", run)
    assert done.exit_code == 0
    assert names(" ".join(done.stderr.split()), "1 of 2 records")
    with (run / "records.csv").open(newline="") as file:
        assert [row["status"] for row in csv.DictReader(file)] == ["value", "refused"]


def test_export_to_a_pipe(run: Path) -> None:
    done = invoke("export", run, "--to", "json", "--out", "-")
    assert [row["status"] for row in json.loads(done.stdout)["records"]] == ["value", "refused"]
    table = invoke("export", run, "-o", "-").stdout
    assert len(list(csv.reader(io.StringIO(table)))) == 3


def test_export_refuses(run: Path) -> None:
    assert invoke("export", run, "--to", "xlsx").exit_code == 2
    assert invoke("export", run.parent).exit_code == 2
    assert invoke("export", run, "--out", "no/such/folder.csv").exit_code == 74
