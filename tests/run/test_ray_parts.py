"""The parts of the cluster's engine that need no cluster."""

from __future__ import annotations

import json
import os
import pickle
import socket
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from pathlib import Path
from typing import Any

import pytest

import screentest
from screentest.core import BadOption, CallIntent, CallReceipt, CallStatus, RunError, StorageError
from screentest.models.chat.costs import MemoryLedger
from screentest.run.channel import RemoteLedger
from screentest.run.inputs import Stamp
from screentest.run.ray_engine import RayEngine, RayPool, _refuse_other_version
from screentest.run.ray_worker import LedgerAddress, LedgerListener, RayWorker, connect
from tests.run.work import key, measure, task


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RayWorker]:
    monkeypatch.chdir(Path.cwd())  # and back, since a worker changes it
    for name in ("CUDA_VISIBLE_DEVICES", "SCREENTEST_THREADS"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    return RayWorker(
        LedgerAddress("127.0.0.1", 1, b"key"), str(tmp_path), {"SCREENTEST_THREADS": "1"}
    )


def parcel() -> bytes:
    return pickle.dumps(((key(1),), pickle.dumps((measure, {}))))


def stamp(path: Path, size: int) -> Stamp:
    return Stamp(str(path), size, 0, 0, 0)


def test_a_worker_looks_for_the_files_first(worker: RayWorker, tmp_path: Path) -> None:
    """Size alone counts: another machine dates and numbers the same file in its own way."""
    film = tmp_path / "film.mp4"
    film.write_bytes(b"12345")
    assert json.loads(worker.do(parcel(), (stamp(film, 5),)))["kind"] == "done"
    for wrong in (stamp(film, 4), stamp(tmp_path / "none.mp4", 5)):
        said = json.loads(worker.do(parcel(), (wrong,)))
        assert (said["kind"], said["path"]) == ("absent", wrong.path)


def test_a_film_that_one_node_lacks_stops_the_run(tmp_path: Path) -> None:
    film = tmp_path / "film.mp4"
    film.write_bytes(b"12345")
    said = {"host": "node7", "path": str(film)}
    pool: Any = None  # the decision needs none
    found = Stamp.of(film)
    assert found is not None
    here = RayPool._without_file(pool, task(1, files=(found,)), said)
    assert here["kind"] == "stop"
    assert "node7 does not see" in here["error"]["message"]
    gone = RayPool._without_file(pool, task(1, files=(stamp(film, 4),)), said)
    assert gone["kind"] == "done"  # it has changed here too: one film's trouble, not kept


def test_another_version_is_refused() -> None:
    _refuse_other_version({"host": "a", "version": screentest.__version__})
    with pytest.raises(RunError, match=r"a has screentest 0\.0\.7"):
        _refuse_other_version({"host": "a", "version": "0.0.7"})


def test_a_ledger_from_afar() -> None:
    """What a worker pays for is in the driver's ledger; whoever lacks the key is not let in."""
    ledger = MemoryLedger()
    listener = LedgerListener(ledger, "127.0.0.1")
    try:
        distant = RemoteLedger(partial(connect, listener.address))
        call = distant.intend(CallIntent("question", "model", max_cost=Decimal(1)))
        distant.settle(call, CallReceipt(CallStatus.ANSWERED, answer="yes", cost=Decimal(1)))
        known = ledger.recall("question")
        assert known is not None
        assert known.answer == "yes"
        assert distant.recall("other") is None
        with pytest.raises((AuthenticationError, OSError, EOFError)):
            Client((listener.address.host, listener.address.port), authkey=b"another")
        assert distant.recall("question") == known
    finally:
        listener.close()
    host, port = listener.address.host, listener.address.port
    with pytest.raises(StorageError, match=rf"{socket.gethostname()} .*{host}:{port}"):
        RemoteLedger(partial(connect, listener.address)).recall("question")


@pytest.mark.parametrize(
    "options",
    [{"workers": 0}, {"max_deaths": 0}, {"gpus": -1}, {"address": "ray://a:1"}],
)
def test_options_that_cannot_be(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        RayEngine(**options)
