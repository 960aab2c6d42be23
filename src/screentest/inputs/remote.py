"""Videos on other machines: fetched by the worker that needs them, into a cache with a limit.

Only where the user allows it, and only by addresses of stores and web servers. What a video is goes
by the mark its server gives it (an ETag, a date) and its size, so that nothing has to be fetched to
know that it was measured already. Several processes may share a cache.

Web servers are asked by ``web``, since nobody vouches for where they lead; stores by fsspec. Its
``filecache`` is not used: it limits neither the size of a file nor its own, and has no locks, so
that a video could go or be half-written while another process reads it.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

from screentest._util.optional import need, optional
from screentest.core import BadOption, Failure, Item, NoValue, Reason
from screentest.inputs.web import Network, open_web

SCHEMES: Final = frozenset({"http", "https", "s3", "gs", "gcs"})
DEFAULT_LIMIT: Final = 20 * 2**30

_MARKS: Final = ("etag", "md5hash", "content-md5", "lastmodified", "last-modified", "updated")
_BLOCK: Final = 2**22
_LOOK: Final = 0.5  # seconds between two looks whether somebody has let go of a video
_PART: Final = ".part"
_SAFE: Final = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True, slots=True)
class RemoteVideo:
    """A video on another machine, as its server described it."""

    address: str
    size: int
    mark: str
    """Changes when the content does."""
    network: Network | None = None
    """Where its web server was: its name must not stand for a more private machine later."""

    @property
    def digest(self) -> str:
        """Stands for the content where a file's hash would."""
        return hashlib.sha256(f"{self.address}\n{self.size}\n{self.mark}".encode()).hexdigest()

    @property
    def name(self) -> str:
        """A file name of its own, with the ending that the address has."""
        last = self.address.partition("?")[0].rpartition("/")[2]
        return f"{self.digest[:24]}-{_SAFE.sub('_', last)[-80:]}"


def address_of(path: Path) -> str | None:
    """Return the address that a path was made of; None for a path of this machine.

    >>> address_of(Path("films") / "s3://bucket/a/film.mp4")
    's3://bucket/a/film.mp4'
    >>> address_of(Path("films/film.mp4")) is None
    True
    """
    parts = path.parts
    for place, part in enumerate(parts):
        if part.endswith(":") and part[:-1].lower() in SCHEMES:
            return f"{part[:-1].lower()}://{'/'.join(parts[place + 1 :])}"
    return None


def describe(address: str) -> RemoteVideo:
    """Ask the server what it has; NoValue where it cannot tell."""
    network: Network | None = None
    try:
        if _is_web(address):
            info, network = _web_info(address)
        else:
            system, path = _opened(address)
            info = system.info(path)
    except NoValue:
        raise
    except Exception as error:  # every kind of server fails in its own way
        raise _unreachable(address, error) from error
    if info.get("size") is None:
        raise NoValue(
            Reason.NOT_APPLICABLE,
            f"{address}: the server does not say how large it is",
            advice="Fetch it yourself, and give the file.",
        )
    marks = {name.lower(): mark for name, mark in info.items()}
    mark = next((str(marks[name]) for name in _MARKS if marks.get(name)), "")
    return RemoteVideo(address, int(info["size"]), mark, network)


def _is_web(address: str) -> bool:
    return address.startswith(("http://", "https://"))


def _web_info(address: str) -> tuple[Mapping[str, Any], Network]:
    try:
        with open_web(address, method="HEAD") as file:
            if file.size is not None:
                return {"size": file.size, **file.headers}, file.network
    except NoValue as error:
        if error.reason is not Reason.SERVICE_FAILED:
            raise  # forbidden; some servers only do not know HEAD
    with open_web(address) as file:
        return {"size": file.size, **file.headers}, file.network


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder that holds at most so many bytes of videos; the longest unused goes first."""

    folder: Path
    limit: int = DEFAULT_LIMIT

    def place(self, video: RemoteVideo) -> Path:
        """Return where a video is once it is here."""
        return self.folder / video.name

    @contextmanager
    def holding(self, videos: Sequence[RemoteVideo]) -> Iterator[None]:
        """Have these videos here, and keep them for as long as this is open."""
        # All in one order, or two could wait for what the other has.
        wanted = [video for _, video in sorted({video.name: video for video in videos}.items())]
        size = sum(video.size for video in wanted)
        if size > self.limit:
            raise NoValue(
                Reason.TOO_LARGE,
                f"{', '.join(video.address for video in wanted)}: {size:,} bytes, "
                f"and the cache holds {self.limit:,} at most",
                advice="Allow a larger cache: `cache_limit`.",
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as held:
            with ExitStack() as turn:
                if len(wanted) > 1:
                    # One at a time: of two that each have a part, neither would find room to go on.
                    turn.enter_context(_locked(self.folder / "turn.lock", alone=True))
                rights = [self._reserve(video, held) for video in wanted]
            for video, right in zip(wanted, rights, strict=True):
                with right:
                    place = self.place(video)
                    if not place.exists():
                        self._fetch(video, place)
                    os.utime(place)
            yield

    def _reserve(self, video: RemoteVideo, held: ExitStack) -> ExitStack:
        """Keep a video from being removed; where it is not here, take room and the right to fetch.

        Two locks, since one that is first had alone and then shared is nobody's for an instant.
        """
        place = self.place(video)
        held.enter_context(_locked(self._lock(place), alone=False))
        right = held.enter_context(ExitStack())
        if not place.exists():
            right.enter_context(_locked(self._lock(place, ".fetch"), alone=True))
        if not place.exists():
            self._make_room(self._unfinished(place), video.size)
            right.callback(self._unfinished(place).unlink, missing_ok=True)
        return right

    def _unfinished(self, place: Path) -> Path:
        return place.with_name(f"{place.name}{_PART}")

    def _lock(self, place: Path, what: str = "") -> Path:
        return place.with_name(f"{place.name}{what}.lock")

    def _fetch(self, video: RemoteVideo, place: Path) -> None:
        unfinished = self._unfinished(place)
        try:
            with _blocks(video) as source, unfinished.open("r+b") as target:
                _copy(source, target, video)
            with self._counting():  # or a count would see neither of the two names
                unfinished.replace(place)
        except NoValue:
            raise
        except Exception as error:  # every kind of server fails in its own way
            raise _unreachable(video.address, error) from error

    def _counting(self) -> AbstractContextManager[None]:
        return _locked(self.folder / "cache.lock", alone=True)

    def _make_room(self, unfinished: Path, size: int) -> None:
        """Take the room before it is filled, so that two who fetch do not count on the same."""
        while True:
            with self._counting():
                sizes: dict[Path, os.stat_result] = {}
                for path in self.folder.iterdir():
                    if path.suffix != ".lock":
                        with suppress(FileNotFoundError):  # its fetcher has just given it up
                            sizes[path] = path.stat()
                taken = sum(status.st_size for status in sizes.values())
                for path in sorted(sizes, key=lambda file: sizes[file].st_mtime):
                    if taken + size <= self.limit:
                        break
                    if self._let_go(path):
                        taken -= sizes[path].st_size
                if taken + size <= self.limit:
                    with unfinished.open("wb") as file:
                        file.truncate(size)
                    return
            time.sleep(_LOOK)  # all that is here is in use

    def _let_go(self, one: Path) -> bool:
        """Remove a video that nobody uses, or a part of one whose fetcher was killed."""
        place = one.with_name(one.name.removesuffix(_PART))
        with suppress(BlockingIOError), _locked(self._lock(place), alone=True, wait=False):
            one.unlink(missing_ok=True)
            return True
        return False


@dataclass(frozen=True, slots=True)
class Fetching:
    """What a task has to have here before it begins."""

    cache: Cache
    videos: tuple[RemoteVideo, ...] = ()
    failure: Failure | None = None
    """Why one of them cannot be had."""

    def here(self) -> AbstractContextManager[None]:
        """Return a context in which they are here; raises NoValue where they cannot be."""
        if self.failure is not None:
            raise NoValue(self.failure.reason, self.failure.detail, advice=self.failure.advice)
        return self.cache.holding(self.videos)


def localized(
    items: Sequence[Item], cache: Cache | None
) -> tuple[list[Item], dict[str, Fetching], dict[Path, str]]:
    """Items whose videos will be in the cache; what each has to fetch; what stands for a hash.

    An item whose server cannot be asked keeps its address for a path, and why it failed.
    """
    local: list[Item] = []
    fetching: dict[str, Fetching] = {}
    digests: dict[Path, str] = {}
    for item in items:
        wanted = {path: address_of(path) for path in _paths(item)}
        remote: dict[Path, RemoteVideo] = {}
        for path, address in wanted.items():
            if address is not None and not path.exists():
                if cache is None:
                    raise BadOption(
                        f"{item.id} is on another machine: {address}",
                        advice="Allow to fetch it: `allow_remote=True`.",
                    )
                if not _is_web(address):
                    need("fsspec")
                try:
                    remote[path] = describe(address)
                except NoValue as error:
                    fetching[item.id] = Fetching(cache, failure=error.failure)
        if not remote or cache is None or item.id in fetching:
            local.append(item)
            continue
        places = {path: cache.place(video) for path, video in remote.items()}
        digests |= {places[path]: video.digest for path, video in remote.items()}
        fetching[item.id] = Fetching(cache, tuple(remote.values()))
        local.append(
            replace(
                item,
                video=places.get(item.video, item.video),
                source=None if item.source is None else places.get(item.source, item.source),
                references=tuple(places.get(path, path) for path in item.references),
                groups=dict(item.groups),
            )
        )
    return local, fetching, digests


def _paths(item: Item) -> list[Path]:
    return [path for path in (item.video, item.source, *item.references) if path is not None]


def _opened(address: str) -> tuple[Any, str]:
    core = optional("fsspec.core")
    try:
        system, path = core.url_to_fs(address)
    except ImportError as error:  # s3fs, gcsfs or aiohttp
        raise NoValue(
            Reason.MISSING_FILE,
            f"{address} cannot be reached: {error}",
            advice="pip install 'screentest[remote]', and s3fs or gcsfs for such stores.",
        ) from error
    return system, str(path)


@contextmanager
def _blocks(video: RemoteVideo) -> Iterator[Iterator[bytes]]:
    if _is_web(video.address):
        with open_web(video.address, within=video.network) as file:
            yield file.blocks()
        return
    system, path = _opened(video.address)
    with system.open(path, "rb") as source:
        yield iter(partial(source.read, _BLOCK), b"")


def _copy(source: Iterator[bytes], target: IO[bytes], video: RemoteVideo) -> None:
    seen = 0
    for block in source:
        seen += len(block)
        if seen > video.size:
            break
        target.write(block)
    if seen != video.size:
        raise NoValue(
            Reason.SERVICE_FAILED,
            f"{video.address} should have {video.size:,} bytes, not {seen:,}",
            advice="It may have changed meanwhile: start the same command again.",
        )


def _unreachable(address: str, error: Exception) -> NoValue:
    if isinstance(error, TimeoutError):
        return NoValue(Reason.TIMED_OUT, f"{address} could not be fetched: the server says nothing")
    lines = str(error).strip().splitlines()
    message = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return NoValue(
        Reason.SERVICE_FAILED,
        f"{address} could not be fetched: {message[:300]}",
        advice="See whether it is there, and whether this machine may read it.",
    )


if sys.platform == "win32":

    @contextmanager
    def _locked(path: Path, *, alone: bool, wait: bool = True) -> Iterator[None]:
        raise BadOption("videos on other machines cannot be fetched on Windows")
        yield

else:
    import fcntl

    @contextmanager
    def _locked(path: Path, *, alone: bool, wait: bool = True) -> Iterator[None]:
        """Hold a lock, which the system takes from whoever dies.

        Its file stays: were it taken away, two could hold a lock of one name.
        """
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
            fcntl.flock(descriptor, how | (0 if wait else fcntl.LOCK_NB))
            yield
        finally:
            os.close(descriptor)
