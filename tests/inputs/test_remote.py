"""Videos on other machines, fetched from a web server on this one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from screentest.analysis.results import read_results
from screentest.core import BadOption, Item, NoValue, Reason
from screentest.inputs import remote
from screentest.inputs.remote import Cache, RemoteVideo, address_of, describe, localized
from screentest.measure.tasks import score_items
from screentest.run.engine import InlineEngine
from screentest.run.store import RunStore
from screentest.sample import sample_videos

pytest.importorskip("aiohttp", reason="pip install 'screentest[remote]'")
pytest.importorskip("fsspec", reason="pip install 'screentest[remote]'")


class Handler(SimpleHTTPRequestHandler):
    """Notes whole fetches; a file's date is its mark."""

    fetched: list[str]

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.fetched.append(self.path)
        super().do_GET()


class Server:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.fetched: list[str] = []
        handler = type("Noting", (Handler,), {"fetched": self.fetched})
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), partial(handler, directory=str(folder))
        )
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        self.base = f"http://127.0.0.1:{self._server.server_port}"

    def put(self, name: str, content: bytes) -> str:
        (self.folder / name).write_bytes(content)
        return f"{self.base}/{name}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "www").mkdir()
    made = Server(tmp_path / "www")
    yield made
    made.close()


def fetched(cache: Cache, address: str) -> bytes:
    video = describe(address)
    with cache.holding([video]):
        return cache.place(video).read_bytes()


def kept(cache: Cache) -> int:
    return sum(one.stat().st_size for one in cache.folder.iterdir() if one.suffix != ".lock")


def test_an_address_survives_being_a_path() -> None:
    assert address_of(Path("https://host/a b/c.mp4")) == "https://host/a b/c.mp4"
    assert address_of(Path("/films") / "gs://bucket/c.mp4") == "gs://bucket/c.mp4"
    assert address_of(Path("/films/file:/c.mp4")) is None
    assert address_of(Path("/films/c.mp4")) is None


def test_a_video_is_fetched_once(server: Server, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    address = server.put("film.mp4", b"x" * 5000)
    assert fetched(cache, address) == fetched(cache, address) == b"x" * 5000
    assert server.fetched == ["/film.mp4"]
    assert describe(address).name.endswith("-film.mp4")


def test_what_changes_on_the_server_is_another_video(server: Server) -> None:
    address = server.put("film.mp4", b"one")
    before = describe(address)
    server.put("film.mp4", b"two")
    os.utime(server.folder / "film.mp4", (0, 0))  # the server's mark is a date, in seconds
    assert describe(address).digest != before.digest


def test_the_cache_keeps_to_its_limit_and_drops_the_longest_unused(
    server: Server, tmp_path: Path
) -> None:
    cache = Cache(tmp_path / "cache", limit=2500)
    names = ["a.mp4", "b.mp4", "c.mp4"]
    one, two, three = (server.put(name, name.encode() * 200) for name in names)  # 1,000 bytes each
    fetched(cache, one)
    fetched(cache, two)
    os.utime(cache.place(describe(two)), (1, 1))  # longest unused, whatever the clock's step
    fetched(cache, three)
    assert kept(cache) == 2000
    fetched(cache, one)
    assert server.fetched == ["/a.mp4", "/b.mp4", "/c.mp4"]
    fetched(cache, two)
    assert server.fetched[-1] == "/b.mp4"
    assert kept(cache) == 2000


def test_what_is_in_use_is_not_dropped(server: Server, tmp_path: Path) -> None:
    """The second video waits for room until the first is let go."""
    cache = Cache(tmp_path / "cache", limit=1500)
    first = describe(server.put("a.mp4", b"a" * 1000))
    second = server.put("b.mp4", b"b" * 1000)
    got: list[bytes] = []
    waiting = threading.Thread(target=lambda: got.append(fetched(cache, second)))
    with cache.holding([first]):
        waiting.start()
        waiting.join(1.0)
        assert waiting.is_alive()
        assert cache.place(first).read_bytes() == b"a" * 1000
    waiting.join()
    assert got == [b"b" * 1000]
    assert not cache.place(first).exists()


def test_what_cannot_be_fetched_says_why(server: Server, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", limit=100)
    with pytest.raises(NoValue) as missing:
        describe(f"{server.base}/none.mp4")
    assert missing.value.reason is Reason.SERVICE_FAILED
    with pytest.raises(NoValue) as large:
        fetched(cache, server.put("a.mp4", b"a" * 101))
    assert large.value.reason is Reason.TOO_LARGE
    address = server.put("b.mp4", b"b" * 50)
    with (
        pytest.raises(NoValue, match="should have 60 bytes"),
        cache.holding([RemoteVideo(address, 60, "old")]),
    ):
        pass
    assert kept(cache) == 0


def ended(work: Sequence[Callable[[], object]]) -> bool:
    """Whether all of it comes to an end when done at once."""
    threads = [threading.Thread(target=one, daemon=True) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return not any(thread.is_alive() for thread in threads)


def test_nobody_waits_for_ever(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For what another has, for room that there never is, or for room that one killed has taken."""
    monkeypatch.setattr(remote, "_LOOK", 0.02)
    films = [describe(server.put(f"{n}.mp4", b"x" * 600)) for n in range(4)]

    def having(cache: Cache, wanted: Sequence[RemoteVideo]) -> Callable[[], None]:
        def use() -> None:
            for _ in range(10):
                with cache.holding(wanted):
                    assert all(cache.place(film).exists() for film in wanted)

        return use

    opposite = Cache(tmp_path / "opposite")
    assert ended([having(opposite, films[:2]), having(opposite, films[1::-1])])
    narrow = Cache(tmp_path / "narrow", limit=1300)
    assert ended([having(narrow, films[:2]), having(narrow, films[2:])])
    with (
        pytest.raises(NoValue, match="1,200 bytes") as large,
        Cache(tmp_path / "small", limit=1000).holding(films[:2]),
    ):
        pass
    assert large.value.reason is Reason.TOO_LARGE
    killed = Cache(tmp_path / "killed", limit=1000)
    killed.folder.mkdir()
    (killed.folder / f"{films[3].name}.part").write_bytes(b"x" * 600)
    assert ended([having(killed, films[:1])])


def test_one_gives_up_while_another_counts(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part that is listed and gone before it is measured takes no room, and is no error."""
    cache = Cache(tmp_path / "cache")
    cache.folder.mkdir()
    given_up = cache.folder / "another.mp4.part"
    given_up.touch()
    stat = Path.stat

    def late(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        found = stat(path, follow_symlinks=follow_symlinks)
        if path == given_up:
            path.unlink()
        return found

    monkeypatch.setattr(Path, "stat", late)
    with cache.holding([describe(server.put("a.mp4", b"a" * 1000))]):
        assert kept(cache) == 1000


def test_several_use_one_video_at_once(server: Server, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    film = describe(server.put("a.mp4", b"a" * 1000))
    with cache.holding([film]), cache.holding([film, film]):
        assert cache.place(film).exists()
    assert server.fetched == ["/a.mp4"]


def test_remote_is_off_unless_allowed() -> None:
    item = Item("film", Path("http://127.0.0.1:1/film.mp4"))
    with pytest.raises(BadOption, match="on another machine"):
        localized([item], None)


def test_scoring_gives_what_the_file_gives(server: Server, tmp_path: Path) -> None:
    here = sample_videos()[2].item.video
    address = server.put("film.mp4", here.read_bytes())
    values = []
    for number, video in enumerate((here, Path(address), Path(address))):
        items = [Item("film", video)]
        with RunStore(tmp_path / f"run{min(number, 1)}", command="score") as store:
            done = score_items(
                store,
                items,
                ["sharpness"],
                engine=InlineEngine(),
                cache=Cache(tmp_path / "cache"),
            )
            values.append([one.outcome.unwrap().value for one in read_results(store).values])
    assert values[0] == values[1] == values[2]
    assert (done.reused, done.made) == (1, 0)
    assert server.fetched == ["/film.mp4"]
