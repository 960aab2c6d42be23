"""Servers of published weights that lie, redirect or stop: no file, and a reason."""

from __future__ import annotations

import hashlib
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from screentest.core import NoValue, Reason
from screentest.models.weights import WeightsFile
from screentest.models.weights.pull import _fetch_here, fetch
from tests.web_server import Behaviour, answer, reset, serving

# pooch leaves the connection of a failed response to the collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
WEIGHTS = b"weights" * 1000
FILE = WeightsFile("w.bin", len(WEIGHTS), hashlib.sha256(WEIGHTS).hexdigest())


def fetched(behave: Behaviour, folder: Path) -> bytes:
    with serving(behave) as (port, _):
        return fetch(f"http://127.0.0.1:{port}/w.bin", FILE, folder / "w.bin").read_bytes()


def failed(behave: Behaviour, folder: Path) -> str:
    with pytest.raises(NoValue) as caught:
        fetched(behave, folder)
    assert caught.value.reason is Reason.MISSING_MODEL
    assert list(folder.iterdir()) == []
    return caught.value.message


def test_a_file_as_it_should_be(tmp_path: Path) -> None:
    assert fetched(lambda handler: answer(handler, WEIGHTS), tmp_path) == WEIGHTS


@pytest.mark.parametrize("code", [404, 500])
def test_an_error_of_the_server_is_named(code: int, tmp_path: Path) -> None:
    assert str(code) in failed(lambda handler: answer(handler, WEIGHTS, code), tmp_path)


def test_another_file_is_refused(tmp_path: Path) -> None:
    message = failed(lambda handler: answer(handler, WEIGHTS[:-1] + b"!"), tmp_path)
    assert "hash" in message


def test_a_reset_in_mid_body(tmp_path: Path) -> None:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        answer(handler, WEIGHTS[:1000], Content_Length=str(len(WEIGHTS)))
        reset(handler)

    failed(behave, tmp_path)


def test_a_body_that_ends_early(tmp_path: Path) -> None:
    failed(lambda handler: answer(handler, WEIGHTS, Content_Length="8000"), tmp_path)


def test_a_silent_server_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("screentest.models.weights.pull._SILENCE", 0.3)

    def behave(handler: BaseHTTPRequestHandler) -> None:
        answer(handler, b"", Content_Length=str(len(WEIGHTS)))
        handler.connection.recv(1)  # until the client hangs up

    with serving(behave) as (port, _):
        line = ["-c", f"http://127.0.0.1:{port}/w.bin", FILE.sha256, str(tmp_path / "w.bin")]
        monkeypatch.setattr("sys.argv", line)
        with pytest.raises(SystemExit, match="timed out"):
            _fetch_here()  # in the process that `fetch` starts
    assert list(tmp_path.iterdir()) == []


def test_without_a_network_the_host_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoValue, match=r"w\.bin of 127\.0\.0\.1:9"):
        fetch("http://127.0.0.1:9/w.bin", FILE, tmp_path / "w.bin")


def test_a_redirect_is_followed_and_a_loop_ends(tmp_path: Path) -> None:
    def once(handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/w.bin":
            answer(handler, b"", 302, Location="/there")
        else:
            answer(handler, WEIGHTS)

    assert fetched(once, tmp_path) == WEIGHTS
    (tmp_path / "w.bin").unlink()
    failed(lambda handler: answer(handler, b"", 302, Location="/w.bin"), tmp_path)


HUB = "https://huggingface.co/someone/model/resolve/0123abcd/onnx/w.bin"


def test_files_of_the_hub_come_by_its_own_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = pytest.importorskip("huggingface_hub")
    asked: list[Any] = []

    def download(repository: str, name: str, *, revision: str, local_dir: Path) -> str:
        asked.append((repository, name, revision))
        (local_dir / "onnx").mkdir(parents=True)
        (local_dir / name).write_bytes(WEIGHTS)
        return str(local_dir / name)

    monkeypatch.setattr(hub, "hf_hub_download", download)
    monkeypatch.setattr("sys.argv", ["-c", HUB, FILE.sha256, str(tmp_path / "w.bin")])
    _fetch_here()  # in the process that `fetch` starts
    assert (tmp_path / "w.bin").read_bytes() == WEIGHTS
    assert asked == [("someone/model", "onnx/w.bin", "0123abcd")]


def test_a_hub_that_cannot_be_reached_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(NoValue, match=r"w\.bin of huggingface\.co"):
        fetch(HUB, FILE, tmp_path / "w.bin")
