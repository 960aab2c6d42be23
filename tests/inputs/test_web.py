"""Web servers that lead astray, lie, stop or drip: a typed reason, and nothing else is reached."""

from __future__ import annotations

import gzip
import ipaddress
import socket
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from screentest.core import NoValue, Reason
from screentest.inputs import web
from screentest.inputs.remote import Cache, RemoteVideo, describe
from screentest.inputs.web import Network, Timeouts, network_of, open_web
from tests.web_server import answer, reset, serving


def read(url: str, **more: Any) -> bytes:
    with open_web(url, **more) as file:
        return b"".join(file.blocks())


def refused(url: str, **more: Any) -> NoValue:
    with pytest.raises(NoValue) as caught:
        read(url, **more)
    return caught.value


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Names and what they stand for, one after another; a number stands for itself."""
    names: dict[str, list[str]] = {}
    real = socket.getaddrinfo

    def resolve(host: str, port: int, *rest: Any, **more: Any) -> Any:
        left = names.get(host)
        if left is None:
            return real(host, port, *rest, **more)
        address = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return names


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that are connected to. One that is not on this machine is this machine's."""
    made: list[str] = []
    real = socket.create_connection

    def connect(address: tuple[str, int], *rest: Any, **more: Any) -> socket.socket:
        made.append(address[0])
        return real(("127.0.0.1", address[1]), *rest, **more)

    monkeypatch.setattr(socket, "create_connection", connect)
    return made


PUBLIC = "93.184.216.34"
NETWORKS = {
    PUBLIC: Network.INTERNET,
    "2606:2800:220:1:248:1893:25c8:1946": Network.INTERNET,
    "10.0.0.1": Network.PRIVATE,
    "172.16.0.1": Network.PRIVATE,
    "192.168.1.1": Network.PRIVATE,
    "100.64.0.1": Network.PRIVATE,
    "fd12:3456::1": Network.PRIVATE,
    "127.0.0.1": Network.THIS_MACHINE,
    "127.255.255.254": Network.THIS_MACHINE,
    "::1": Network.THIS_MACHINE,
    "::ffff:127.0.0.1": Network.THIS_MACHINE,
    "64:ff9b::7f00:1": Network.THIS_MACHINE,
    "2002:7f00:1::": Network.THIS_MACHINE,
    "169.254.169.254": Network.NOBODY,
    "::ffff:169.254.169.254": Network.NOBODY,
    "64:ff9b::a9fe:a9fe": Network.NOBODY,
    "fd00:ec2::254": Network.NOBODY,
    "100.100.100.200": Network.NOBODY,
    "192.0.0.192": Network.NOBODY,
    "fe80::1": Network.NOBODY,
    "0.0.0.0": Network.NOBODY,
    "::": Network.NOBODY,
    "::7f00:1": Network.NOBODY,
    "224.0.0.1": Network.NOBODY,
    "255.255.255.255": Network.NOBODY,
}


@pytest.mark.parametrize("address", NETWORKS)
def test_where_an_address_leads(address: str) -> None:
    assert network_of(ipaddress.ip_address(address)) is NETWORKS[address]


@pytest.mark.parametrize(
    "host",
    [
        *("169.254.169.254", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "2852039166"),
        *("0xa9fea9fe", "0.0.0.0", "0", "[::]", "[fd00:ec2::254]"),
    ],
)
def test_some_addresses_are_never_asked(host: str, connections: list[str]) -> None:
    with serving(lambda handler: answer(handler, b"film")) as (port, asked):
        error = refused(f"http://{host}:{port}/latest/meta-data/")
    assert error.reason is Reason.UNSAFE
    assert not asked
    assert not connections


@pytest.mark.parametrize(
    "target",
    [
        *("127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "0x7f.1", "127.1"),
        *("[::ffff:127.0.0.1]", "169.254.169.254", "2852039166", "10.0.0.7", "192.168.0.1"),
    ],
)
def test_a_redirect_does_not_lead_inside(
    target: str, named: dict[str, list[str]], connections: list[str]
) -> None:
    named["films.example"] = [PUBLIC]

    def behave(handler: BaseHTTPRequestHandler) -> None:
        port = handler.server.server_address[1]  # type: ignore[index]
        answer(handler, b"", 302, Location=f"http://{target}:{port}/secret")

    with serving(behave) as (port, asked):
        error = refused(f"http://films.example:{port}/film.mp4")
    assert error.reason is Reason.UNSAFE
    assert asked == ["GET /film.mp4"]
    assert connections == [PUBLIC]


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://x/", ""])
def test_a_redirect_leads_to_web_servers_only(location: str) -> None:
    with serving(lambda handler: answer(handler, b"", 301, Location=location)) as (port, asked):
        assert refused(f"http://127.0.0.1:{port}/").reason is Reason.UNSAFE
    assert len(asked) <= web._MOST_REDIRECTS + 1


def test_a_redirect_within_the_same_network_is_followed(named: dict[str, list[str]]) -> None:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/film.mp4":
            answer(handler, b"", 302, Location="/here/film%20two.mp4?a=b")
        else:
            answer(handler, handler.path.encode())

    with serving(behave) as (port, _):
        assert read(f"http://127.0.0.1:{port}/film.mp4") == b"/here/film%20two.mp4?a=b"


def test_a_redirect_does_not_leave_https() -> None:
    with pytest.raises(NoValue, match="from https to http"):
        web._next(web._split("https://a.example/film.mp4"), "http://a.example/film.mp4")
    assert web._next(web._split("http://a.example/a"), "https://a.example/b").scheme == "https"


def test_a_loop_of_redirects_ends() -> None:
    with serving(lambda handler: answer(handler, b"", 302, Location="/again")) as (port, asked):
        assert "more than 5 times" in refused(f"http://127.0.0.1:{port}/").message
    assert len(asked) == 6


def test_the_address_that_was_checked_is_the_one_that_is_asked(
    named: dict[str, list[str]], connections: list[str]
) -> None:
    """A name that stands for another machine the second time it is looked up."""
    named["films.example"] = [PUBLIC, "127.0.0.1"]
    with serving(lambda handler: answer(handler, b"film")) as (port, _):
        assert read(f"http://films.example:{port}/film.mp4") == b"film"
    assert connections == [PUBLIC]


def test_a_name_that_moves_inside_before_the_video_is_fetched(
    named: dict[str, list[str]], connections: list[str], tmp_path: Path
) -> None:
    named["films.example"] = [PUBLIC, "127.0.0.1"]
    with serving(lambda handler: answer(handler, b"film")) as (port, asked):
        video = describe(f"http://films.example:{port}/film.mp4")
        assert video.network is Network.INTERNET
        with pytest.raises(NoValue) as caught, Cache(tmp_path / "cache").holding([video]):
            pass
    assert caught.value.reason is Reason.UNSAFE
    assert connections == [PUBLIC]
    assert asked == ["HEAD /film.mp4"]


@pytest.mark.parametrize("code", [200, 500])
@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip", "deflate", "br", "zstd"])
def test_packed_files_are_not_taken(encoding: str, code: int) -> None:
    bomb = gzip.compress(bytes(10_000_000), 1)
    with serving(lambda handler: answer(handler, bomb, code, Content_Encoding=encoding)) as (
        port,
        _,
    ):
        error = refused(f"http://127.0.0.1:{port}/film.mp4")
        with pytest.raises(NoValue):
            describe(f"http://127.0.0.1:{port}/film.mp4")
    assert error.reason is Reason.SERVICE_FAILED


def fetch(port: int, size: int, folder: Path) -> NoValue:
    video = RemoteVideo(f"http://127.0.0.1:{port}/film.mp4", size, "1")
    cache = Cache(folder / "cache")
    with pytest.raises(NoValue) as caught, cache.holding([video]):
        pass
    assert not [one for one in cache.folder.iterdir() if one.suffix != ".lock"]
    return caught.value


def test_a_reset_in_mid_body(tmp_path: Path) -> None:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        answer(handler, b"x" * 1000, Content_Length="100000")
        reset(handler)

    with serving(behave) as (port, _):
        assert fetch(port, 100_000, tmp_path).reason is Reason.SERVICE_FAILED


@pytest.mark.parametrize("said", [500, 1500])
def test_a_length_that_lies(said: int, tmp_path: Path) -> None:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        answer(handler, b"x" * 1000, Content_Length=str(said))

    with serving(behave) as (port, _):
        error = fetch(port, 1000 if said < 1000 else said, tmp_path)
    assert error.reason is Reason.SERVICE_FAILED
    assert "should have" in error.message


def test_a_body_slower_than_a_drip() -> None:
    """No silence is ever long enough to notice."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        answer(handler, b"", Content_Length="1000")
        for _ in range(200):
            handler.wfile.write(b"x")
            time.sleep(0.02)

    timeouts = Timeouts(silence=5.0, window=0.3, least=1000)
    with serving(behave) as (port, _):
        assert refused(f"http://127.0.0.1:{port}/", timeouts=timeouts).reason is Reason.TIMED_OUT


def test_a_line_between_chunks_slower_than_a_drip() -> None:
    """It is read whole, however long it takes to come."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        answer(handler, b"", Transfer_Encoding="chunked", Content_Length="1000")
        handler.wfile.write(b"1;")
        for _ in range(200):
            handler.wfile.write(b"x")
            time.sleep(0.02)

    timeouts = Timeouts(silence=5.0, window=0.3, least=1000)
    with serving(behave) as (port, _):
        assert refused(f"http://127.0.0.1:{port}/", timeouts=timeouts).reason is Reason.TIMED_OUT


def test_a_body_packed_for_the_way_is_not_taken() -> None:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        answer(handler, b"x" * 100, Transfer_Encoding="gzip, chunked")

    with serving(behave) as (port, _):
        assert refused(f"http://127.0.0.1:{port}/").reason is Reason.SERVICE_FAILED


def test_headers_slower_than_a_drip() -> None:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.0 200 OK\r\nX: ")
        for _ in range(200):
            handler.wfile.write(b"x")
            time.sleep(0.02)

    timeouts = Timeouts(silence=5.0, window=0.3, least=1000)
    with serving(behave) as (port, _), pytest.raises(TimeoutError):
        read(f"http://127.0.0.1:{port}/", timeouts=timeouts)


def test_a_server_that_says_nothing(tmp_path: Path) -> None:
    with serving(lambda handler: time.sleep(1.0)) as (port, _), pytest.raises(TimeoutError):
        read(f"http://127.0.0.1:{port}/", timeouts=Timeouts(silence=0.2))
