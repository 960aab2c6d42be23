"""Films of a corpus by id or path, the first of them, and those of some length."""

from __future__ import annotations

from pathlib import Path

import pytest

from screentest.core import BadOption, Item
from screentest.inputs.fields import Problem, ProblemKind
from screentest.inputs.parted import Corpus, PartedSource, SourcePart, chosen
from screentest.sample import sample_videos

FILMS = [video.item for video in sample_videos()]


def corpus() -> Corpus:
    # 30 seconds, as its name says.
    long = next(item for item in FILMS if item.video.stem.startswith("bbb_first30s"))
    gone = Item("gone", Path("nowhere.mp4"))
    parts = tuple(SourcePart(long.video) for _ in range(3))
    problems = [Problem(ProblemKind.MISSING, "no clip", "", id=name) for name in ("long", "three")]
    return Corpus(
        "manifest", (Item("long", long.video), gone), (PartedSource("three", parts),), (*problems,)
    )


def ids(given: Corpus) -> list[str]:
    return [film.id for film in (*given.items, *given.parted)]


def test_by_id_and_by_path_and_what_is_said_of_the_others_goes_with_them() -> None:
    found = chosen(corpus(), ["three", "nowhere.mp4"], None, 0)
    assert ids(found) == ["gone", "three"]
    assert [problem.id for problem in found.problems] == ["three"]
    assert chosen(corpus(), [], None, 0) == corpus()


def test_the_first_of_those_that_are_long_enough() -> None:
    """What cannot be read is kept: the build says what is wrong with it."""
    assert ids(chosen(corpus(), [], 2, 0)) == ["long", "gone"]
    assert ids(chosen(corpus(), [], None, 31)) == ["gone", "three"]
    assert ids(chosen(corpus(), [], None, 91)) == ["gone"]
    assert ids(chosen(corpus(), ["long", "three"], 1, 31)) == ["three"]


def test_a_name_that_is_none_is_an_error() -> None:
    with pytest.raises(BadOption, match="'thre'"):
        chosen(corpus(), ["thre", "long"], None, 0)
    with pytest.raises(BadOption, match="limit"):
        chosen(corpus(), [], 0, 0)
    with pytest.raises(BadOption, match="31"):
        chosen(corpus(), ["long"], None, 31)
