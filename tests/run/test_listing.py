"""Listing: every run under a folder, also those that run, were killed or are damaged."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from screentest.core import CallIntent, CallReceipt, CallStatus, RunError, ServiceError
from screentest.run.engine import InlineEngine
from screentest.run.execute import execute
from screentest.run.reader import find_runs, read_summary
from screentest.run.store import RunStore
from tests.run.work import task


def test_every_run_with_its_state(tmp_path: Path) -> None:
    with RunStore(tmp_path / "b" / "finished", command="score") as store:
        execute(store, [task(1), task(2, "no_value", "refused")], engine=InlineEngine())
        call = store.ledger.intend(CallIntent("r", "m", max_cost=Decimal(1)))
        store.ledger.settle(call, CallReceipt(CallStatus.ANSWERED, cost=Decimal("0.5")))
    with pytest.raises(ServiceError), RunStore(tmp_path / "a", command="score") as store:
        execute(store, [task(1, "turned_away")], engine=InlineEngine())
    damaged = tmp_path / "c"
    damaged.mkdir()
    (damaged / "run.db").write_bytes(b"not a database at all" * 500)
    (tmp_path / "b" / "finished" / "again").symlink_to(tmp_path)
    with RunStore(tmp_path / "d", command="score"):
        found = list(find_runs(tmp_path))
    places = [str(run.folder.relative_to(tmp_path)) for run in found]
    assert places == ["a", "b/finished", "c", "d"]
    assert [run.state for run in found] == ["failed", "finished", "damaged", "running"]
    finished = found[1]
    assert (finished.coverage.total, finished.coverage.scored, finished.coverage.failed) == (
        2,
        1,
        1,
    )
    assert finished.spending.cost == Decimal("0.5")
    assert "not a database" in found[2].problem
    assert read_summary(tmp_path / "d").state == "finished"


def test_what_lies_in_a_run_belongs_to_it(tmp_path: Path) -> None:
    RunStore(tmp_path / "run", command="score").close()
    RunStore(tmp_path / "run" / "inner", command="score").close()
    assert len(list(find_runs(tmp_path))) == 1


def test_not_a_folder(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="is not a folder"):
        list(find_runs(tmp_path / "nowhere"))
