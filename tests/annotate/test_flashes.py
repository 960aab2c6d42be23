"""Flashes by the rule of WCAG 2.3.1, on films whose flashes are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from numpy.typing import NDArray
from sqlalchemy import select

from screentest.annotate.flashes import MOST, flashes_in
from screentest.annotate.schema import files
from screentest.annotate.server import open_project
from screentest.annotate.store import open_database
from screentest.judges.votes import VoteTask
from screentest.testing.films import write_film
from tests.annotate.stand import Stand

RATE = 24
Colour = tuple[int, int, int]
BLACK, WHITE, RED = (0, 0, 0), (255, 255, 255), (220, 0, 0)


def flashing(times: int, one: Colour, two: Colour, share: float = 1.0) -> list[NDArray[np.uint8]]:
    """Two seconds, ``times`` flashes in each, in a part of the picture."""
    pictures = []
    for number in range(2 * RATE):
        picture = np.full((48, 64, 3), 128, np.uint8)
        lit = number * 2 * times // RATE % 2
        picture[:, : round(64 * share)] = one if lit else two
        pictures.append(picture)
    return pictures


@pytest.mark.parametrize(
    ("pictures", "risky"),
    [
        (lambda: flashing(3, WHITE, BLACK), False),
        (lambda: flashing(4, WHITE, BLACK), True),
        (lambda: flashing(12, WHITE, BLACK), True),
        (lambda: flashing(12, WHITE, BLACK, share=0.2), False),
        (lambda: flashing(12, WHITE, BLACK, share=0.3), True),
        # Linear light: less than a tenth apart; and both above 0.8.
        (lambda: flashing(12, (60, 60, 60), (30, 30, 30)), False),
        (lambda: flashing(12, WHITE, (240, 240, 240)), False),
        # A saturated red on black: a small change of luminance, a large one of red.
        (lambda: flashing(12, RED, (60, 0, 0)), True),
        # A fade, however far it goes, is no flash.
        (lambda: [np.full((48, 64, 3), 5 * n, np.uint8) for n in range(48)], False),
    ],
)
def test_the_rule(
    tmp_path: Path, pictures: Callable[[], list[NDArray[np.uint8]]], risky: bool
) -> None:
    film = write_film(tmp_path / "film.mp4", pictures(), RATE)
    assert (flashes_in(film) > MOST) is risky


def test_each_video_is_measured_once_and_kept(
    stand: Stand, testbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "votes.sqlite"
    database, _ = open_project(testbed, store, VoteTask.CHECK)
    with database.read() as connection:
        rows = connection.execute(select(files.c.path, files.c.flashes, files.c.stamp)).all()
    database.close()
    assert rows
    assert all(row.flashes is not None and row.stamp for row in rows)
    monkeypatch.setattr("screentest.annotate.server.measure_all", _never)
    again, _ = open_project(testbed, store, VoteTask.CHECK)
    again.close()


def test_what_was_measured_is_kept_where_the_rest_is_not(
    testbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(paths: list[Path], **_: object) -> Iterator[tuple[Path, int]]:
        yield paths[0], 2
        raise KeyboardInterrupt

    store = tmp_path / "votes.sqlite"
    monkeypatch.setattr("screentest.annotate.server.measure_all", stopped)
    with pytest.raises(KeyboardInterrupt) as stop:
        open_project(testbed, store, VoteTask.CHECK)
    # While the traceback, and so the database in it, is still there.
    assert stop.tb is not None
    assert not [one for one in psutil.Process().open_files() if one.path == str(store)]
    database = open_database(store)
    with database.read() as connection:
        found = [row.flashes for row in connection.execute(select(files.c.flashes))]
    database.close()
    assert found.count(2) == 1


def _never(*_: object, **__: object) -> None:
    raise AssertionError("measured again")
