"""What somebody with tools learns from the bytes, headers and times of the two videos of a pair.

The truth is read from the store. The app draws sides in secret, so a test can fail by chance: each
asks for what happens less than once in a million times where there is nothing to find.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import random
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from mmap import MAP_PRIVATE, PROT_READ, PROT_WRITE, mmap
from pathlib import Path

import httpx2
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest
from sqlalchemy import select

from screentest.annotate.assignment import Rules
from screentest.annotate.commands import serve
from screentest.annotate.people import invite
from screentest.annotate.schema import files, media, sittings, units
from screentest.judges.votes import VoteTask
from tests.annotate.stand import Person, Stand, open_stand, served

WORKERS = 24
PIECE = 4096


@dataclass(frozen=True)
class Sight:
    """One of two videos, as a worker gets it."""

    address: str
    body: bytes
    headers: dict[str, str]
    seconds: tuple[float, float, float]
    """Until the head, a part and all of it were there."""


@dataclass(frozen=True)
class Sitting:
    worker: int
    unit: str
    both: tuple[Sight, Sight]
    intact: int
    """Which of both is the original."""


def sights(client: httpx2.Client, addresses: list[str], rng: random.Random) -> tuple[Sight, Sight]:
    taken = {}
    for address in rng.sample(addresses, 2):
        moments = [time.perf_counter()]
        headers = client.head(address).headers
        moments.append(time.perf_counter())
        assert client.get(address, headers={"Range": "bytes=100-50000"}).status_code == 206
        moments.append(time.perf_counter())
        body = client.get(address).content
        moments.append(time.perf_counter())
        seconds = tuple(np.diff(moments).tolist())
        taken[address] = Sight(address, body, dict(headers), seconds)
    return taken[addresses[0]], taken[addresses[1]]


def simulate(stand: Stand) -> Iterator[Sitting]:
    """Every worker goes through all pairs over plain HTTP."""
    rng = random.Random(20)
    with served(stand) as address:
        for worker, invitation in enumerate(invite(stand.database, WORKERS)):
            with httpx2.Client(base_url=address, headers={"Origin": address}) as client:
                person = Person(client, invitation.label)
                person.join(invitation.token)
                person.form("/consent")
                page = person.begin()
                while page.open:
                    # Scenes that are left out make a video shorter, which its player shows.
                    both = sights(client, page.videos, rng)
                    with stand.database.read() as connection:
                        row = connection.execute(
                            select(sittings.c.left_video, units.c.key, units.c.aspect)
                            .select_from(sittings.join(units))
                            .where(sittings.c.id == page.sitting)
                        ).one()
                    if row.aspect != "comprehensiveness":
                        yield Sitting(worker, row.key, both, row.left_video)
                    assert page.vote({"choice": "left"}).status_code == 200
                    page = person.page()


@pytest.fixture(scope="module")
def seen(testbed: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Sitting]:
    """Six pairs for each of 24 workers, but for two whose lengths differ: 96 sittings."""
    store = str(tmp_path_factory.mktemp("blind") / "votes.sqlite")
    with open_stand(testbed, store, "pairs", rules={"votes": 1000}) as stand:
        found = list(simulate(stand))
    assert len(found) == 4 * WORKERS
    return found


def parts_of(body: bytes) -> set[bytes]:
    """Hashes of the file, of it without what fills it up, of its ends and of its boxes."""
    padding = body.rfind(b"free") - 4
    parts = [body, body.rstrip(b"\0"), body[: max(padding, 0)], body[:PIECE], body[-PIECE:]]
    for match in re.finditer(b"free|mdat|moov|stsz|stco|co64", body):
        size = int.from_bytes(body[match.start() - 4 : match.start()])
        if 64 < size < len(body):
            parts.append(body[match.start() : match.start() - 4 + size])
    return {hashlib.sha256(part).digest() for part in parts if len(part) > 64}


def test_no_bytes_come_again_in_another_sitting(seen: list[Sitting]) -> None:
    """What is in many sittings would be the original."""
    hashes = [[parts_of(sight.body) for sight in sitting.both] for sitting in seen]
    often = Counter(part for both in hashes for parts in both for part in parts)
    assert max(often.values()) == 1


def features(sight: Sight) -> list[float]:
    """What can be counted without taking samples apart."""
    body = sight.body
    boxes: dict[bytes, int] = {}
    place = 0
    while place + 8 <= len(body):
        size = int.from_bytes(body[place : place + 4])
        size = int.from_bytes(body[place + 8 : place + 16]) if size == 1 else size
        boxes.setdefault(body[place + 4 : place + 8], size)
        place += max(8, size)
    table = body.index(b"stsz")
    number = int.from_bytes(body[table + 12 : table + 16])
    sizes = np.frombuffer(body, ">u4", number, table + 16).astype(float)
    return [
        len(body),
        len(body.rstrip(b"\0")),
        boxes.get(b"mdat", 0),
        boxes[b"moov"],
        boxes.get(b"free", 0),
        sizes.sum(),  # what ffprobe shows as the bit rate
        sum(map(len, sight.headers.values())),
        float(sight.headers["content-length"]),
        sum(sight.address.encode()),
        *sight.seconds,
    ]


@pytest.fixture(scope="module")
def differences(seen: list[Sitting]) -> NDArray[np.float64]:
    """Of all features of left and right: a row for each sitting."""
    return np.array([np.subtract(*map(features, sitting.both)) for sitting in seen])


def twins(seen: list[Sitting]) -> list[tuple[int, int]]:
    """Two sittings of one pair, one after the other: the second has the sides that the first had
    not. Which of both has which is a coin, tossed for these two alone."""
    found: dict[tuple[str, int], list[int]] = {}
    for place, sitting in enumerate(seen):
        found.setdefault((sitting.unit, sitting.worker // 2), []).append(place)
    both = [(first, second) for first, second in found.values()]
    assert all(seen[first].intact != seen[second].intact for first, second in both)
    return both


def test_no_feature_is_larger_in_one_of_both(
    seen: list[Sitting], differences: NDArray[np.float64]
) -> None:
    """Sign test of each, on twins in both of which it is larger in the original, or smaller."""
    sides = np.where([sitting.intact for sitting in seen], -1, 1)
    signs = np.sign(differences) * sides[:, None]
    for column in signs.T:
        sums = [column[first] + column[second] for first, second in twins(seen)]
        larger, smaller = sums.count(2), sums.count(-2)
        if larger + smaller:
            assert binomtest(larger, larger + smaller).pvalue > 1e-6 / len(signs.T)


def test_a_classifier_learns_nothing(seen: list[Sitting], differences: NDArray[np.float64]) -> None:
    """Logistic regression on all features, tested on workers it never saw.

    It learns the sides as they were, and 400 times as they might have been: with the sides of some
    twins exchanged. As they were it is right no more often than five standard deviations above.
    """
    rng = np.random.default_rng(4)
    labels = np.repeat([[sitting.intact] for sitting in seen], 401, axis=1)
    for pair in twins(seen):
        labels[np.ix_(pair, np.flatnonzero(rng.integers(0, 2, 400)) + 1)] ^= 1
    half = np.array([sitting.worker // 2 % 2 == 0 for sitting in seen])
    right = np.zeros(401)
    for train in (half, ~half):
        x = differences / np.maximum(differences[train].std(axis=0), 1e-9)
        weights = np.zeros((x.shape[1], 401))
        for _ in range(500):
            error = 1 / (1 + np.exp(-np.clip(x[train] @ weights, -30, 30))) - labels[train]
            weights -= 0.1 * (x[train].T @ error / train.sum() + 0.01 * weights)
        right += (((x[~train] @ weights) > 0) == labels[~train]).sum(axis=0)
    assert right[0] <= right[1:].mean() + 5 * right[1:].std()


def test_headers_are_the_same_and_addresses_fresh(seen: list[Sitting]) -> None:
    for sitting in seen:
        first, second = sitting.both
        assert first.headers == {**second.headers, "date": first.headers["date"]}
        assert not {"etag", "last-modified"} & first.headers.keys()
        assert len(first.body) == len(second.body) == int(first.headers["content-length"])
    addresses = {sight.address for sitting in seen for sight in sitting.both}
    assert len(addresses) == 2 * len(seen)


def test_a_worker_sees_no_original_twice(testbed: Path, tmp_path: Path) -> None:
    """By default one pair of each of the two films, and then nothing is left."""
    store = str(tmp_path / "votes.sqlite")
    default = signature(serve).parameters["per_source"].default
    assert default == Rules(VoteTask.PAIRS).per_source
    for limit, expected in ((default, 2), (2, 4), (3, 6)):
        with open_stand(testbed, f"{store}{limit}", "pairs", rules={"per_source": limit}) as stand:
            person = stand.worker()
            page, number = person.begin(), 0
            while page.open:
                number += 1
                with stand.database.read() as connection:
                    files = connection.execute(select(media.c.file_id)).scalars().all()
                assert max(Counter(files).values()) <= limit
                assert page.vote({"choice": "left"}).status_code == 200
                page = person.page()
            assert number == expected
            assert "thank you" in person.client.get("/work").text.lower()


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what is in memory")
def test_no_video_is_later_because_it_comes_from_the_disk(testbed: Path, tmp_path: Path) -> None:
    with open_stand(testbed, str(tmp_path / "votes.sqlite"), "pairs") as stand:
        person = stand.worker()
        person.begin()
        with stand.database.read() as connection:
            names = connection.scalars(select(files.c.served).join(media)).all()
        for name in names:
            shutil.copy2(name, tmp_path / "copy")
            with (tmp_path / "copy").open("rb") as file:
                os.fsync(file.fileno())
            (tmp_path / "copy").replace(name)
            with Path(name).open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        if any(map(in_memory, names)):
            pytest.skip("this disk is memory")
        person.page()
        assert all(map(in_memory, names))


def in_memory(name: str) -> bool:
    """Whether the beginning of a file can be had without asking the disk; asks for nothing."""
    with Path(name).open("rb") as file:
        mapped = mmap(file.fileno(), PIECE, prot=PROT_READ | PROT_WRITE, flags=MAP_PRIVATE)
        page, state = ctypes.c_char.from_buffer(mapped), ctypes.c_ubyte()
        call = ctypes.CDLL(None, use_errno=True).mincore
        assert call(ctypes.byref(page), ctypes.c_size_t(PIECE), ctypes.byref(state)) == 0
        return bool(state.value & 1)
