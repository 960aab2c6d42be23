"""Servers of published weights that pack, redirect, lie, stop or drip: no file, and a reason."""

from __future__ import annotations

import gzip
import hashlib
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from screentest.core import NoValue, Reason
from screentest.models.downloads import _download, fetch
from tests.web_server import Behaviour, answer, reset, serving

WEIGHTS = b"weights" * 1000
DIGEST = hashlib.sha256(WEIGHTS).hexdigest()


def fetched(behave: Behaviour, folder: Path, timeout: float = 20.0) -> bytes:
    with serving(behave) as (port, _):
        url = f"http://127.0.0.1:{port}/w.bin"
        to = folder / "w.bin"
        return fetch(url, DIGEST, to, size=len(WEIGHTS), timeout=timeout).read_bytes()


def failed(behave: Behaviour, folder: Path, timeout: float = 20.0) -> str:
    with pytest.raises(NoValue) as caught:
        fetched(behave, folder, timeout)
    assert caught.value.reason is Reason.MISSING_MODEL
    assert list(folder.iterdir()) == []
    return caught.value.message


def test_a_file_as_it_should_be(tmp_path: Path) -> None:
    assert fetched(lambda handler: answer(handler, WEIGHTS), tmp_path) == WEIGHTS


@pytest.mark.parametrize("code", [200, 500])
@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip", "deflate", "br", "zstd"])
def test_packed_files_are_not_taken(encoding: str, code: int, tmp_path: Path) -> None:
    """Not even where the file unpacked would be the right one."""
    packed = gzip.compress(WEIGHTS)
    message = failed(
        lambda handler: answer(handler, packed, code, Content_Encoding=encoding), tmp_path
    )
    assert ("packed" if code == 200 else "500") in message


def test_no_more_is_taken_than_there_should_be(tmp_path: Path) -> None:
    """Also where the server does not say how much it sends."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b"x" * 65536)

    assert "larger than the 7,000 bytes" in failed(behave, tmp_path)


def test_a_reset_in_mid_body(tmp_path: Path) -> None:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        answer(handler, WEIGHTS[:1000], Content_Length=str(len(WEIGHTS)))
        reset(handler)

    failed(behave, tmp_path)


@pytest.mark.parametrize("said", [6000, 8000])
def test_a_length_that_lies(said: int, tmp_path: Path) -> None:
    failed(lambda handler: answer(handler, WEIGHTS, Content_Length=str(said)), tmp_path)


def test_a_body_slower_than_a_drip(tmp_path: Path) -> None:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        answer(handler, b"", Content_Length=str(len(WEIGHTS)))
        for _ in range(200):
            handler.wfile.write(b"w")
            time.sleep(0.02)

    assert "too long" in failed(behave, tmp_path, timeout=0.4)


@pytest.mark.parametrize("drop", [b"H", b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_headers_slower_than_a_drip(drop: bytes, tmp_path: Path) -> None:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        for _ in range(200):
            handler.wfile.write(drop)
            time.sleep(0.02)

    assert "too long" in failed(behave, tmp_path, timeout=0.4)


def test_a_redirect_is_followed_and_a_loop_ends(tmp_path: Path) -> None:
    def once(handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/w.bin":
            answer(handler, b"", 302, Location="/there")
        else:
            answer(handler, WEIGHTS)

    assert fetched(once, tmp_path) == WEIGHTS
    (tmp_path / "w.bin").unlink()
    message = failed(lambda handler: answer(handler, b"", 302, Location="/w.bin"), tmp_path)
    assert "more than 5 times" in message


def test_a_redirect_does_not_leave_https(tmp_path: Path) -> None:
    import requests

    class Redirecting(requests.adapters.BaseAdapter):
        def send(self, request: requests.PreparedRequest, **_: object) -> requests.Response:  # type: ignore[override]
            response = requests.Response()
            response.status_code, response.request, response.url = 302, request, request.url or ""
            response.headers["Location"] = "http://films.example/w.bin"
            return response

        def close(self) -> None:
            pass

    with requests.Session() as session, (tmp_path / "w.bin").open("wb") as target:
        session.mount("https://", Redirecting())
        with pytest.raises(ValueError, match="from https to http"):
            _download(session, "https://films.example/w.bin", target, 10, 1.0, time.monotonic() + 9)
