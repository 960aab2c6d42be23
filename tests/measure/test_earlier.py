"""A folder that holds results: added to, replaced on purpose, or refused; never hidden."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

import screentest
from screentest.core import BadOption, Item, registry
from screentest.metrics.functions import metric
from screentest.run.engine import InlineEngine
from screentest.run.session import close_tools


@pytest.fixture(scope="module", autouse=True)
def _metrics() -> Iterator[None]:
    """Two that read no frames; other tests must not meet them."""

    @metric(name="bytes_of", summary="how large the file is", high=1e9)
    def bytes_of(item: Item) -> float:
        return float(item.video.stat().st_size)

    @metric(name="letters_of", summary="how long its name is", high=1e9)
    def letters_of(item: Item) -> float:
        return float(len(item.video.name))

    yield
    for name in ("bytes_of", "letters_of"):
        registry._entries.pop(("metric", name))


@pytest.fixture(autouse=True)
def _clean_tools() -> Iterator[None]:
    yield
    close_tools()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models with the same names, and one video more."""
    root = tmp_path_factory.mktemp("videos")
    for number, path in enumerate(("a/one.mp4", "a/two.mp4", "b/one.mp4", "b/two.mp4", "c/3.mp4")):
        (root / path).parent.mkdir(exist_ok=True)
        write_video(root / path, shade=20 * number)
    return root


def write_video(path: Path, shade: int) -> None:
    with av.open(str(path), "w") as file:
        stream = file.add_stream("mpeg4", rate=4)
        stream.width = stream.height = 64
        for _ in range(2):
            picture = np.full((64, 64, 3), shade, np.uint8)
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode())


def score(*videos: Path, out: Path, metrics: str = "bytes_of", **options: Any) -> Any:
    return screentest.score(videos, metrics=metrics, out=out, engine=InlineEngine(), **options)


def test_the_same_again_and_more_of_it_goes_on(folders: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    score(folders / "a" / "one.mp4", out=out)
    score(folders / "a" / "one.mp4", out=out)
    more = score(folders / "a", out=out, metrics="bytes_of,letters_of")
    assert set(more.results.items) == {"one.mp4", "two.mp4"}
    assert len(more.results.values) == 4


def test_what_would_be_hidden_is_refused_with_three_ways_out(folders: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    score(folders / "a", out=out)
    for videos, metrics, words in (
        (folders / "c", "bytes_of", r"2 videos \(one.mp4, two.mp4\)"),
        (folders / "b", "bytes_of", "2 videos"),  # the same names, other files
        (folders / "a", "letters_of", r"1 metric \(bytes_of\)"),
    ):
        with pytest.raises(BadOption, match=words) as caught:
            score(videos, out=out, metrics=metrics)
        assert all(
            way in str(caught.value.advice) for way in ("`add=True`", "`replace=True`", "`out`")
        )
    assert set(score(folders / "a", out=out).results.items) == {"one.mp4", "two.mp4"}


def test_add_keeps_what_is_there_even_without_its_files(folders: Path, tmp_path: Path) -> None:
    out, gone = tmp_path / "run", tmp_path / "gone"
    gone.mkdir()
    (gone / "old.mp4").write_bytes((folders / "c" / "3.mp4").read_bytes())
    score(gone, out=out)
    (gone / "old.mp4").unlink()
    both = score(folders / "c", out=out, metrics="letters_of", add=True)
    assert {(one.item, one.name) for one in both.results.values} == {
        ("old.mp4", "bytes_of"),
        ("3.mp4", "letters_of"),
    }
    assert all(one.outcome.ok for one in both.results.values)
    assert not both.results.pending


def test_folders_that_are_added_are_compared(folders: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    score(folders / "a", out=out)
    both = score(folders / "b", out=out, add=True)
    assert set(both.results.items) == {"one.mp4", "two.mp4", "b/one.mp4", "b/two.mp4"}
    compared = both.comparison()
    assert compared is not None
    assert (compared.by, compared.models, compared.prompts) == ("folder", ("a", "b"), 2)
    # Once more, and nothing is new; without --add the first folder would be hidden.
    assert len(score(folders / "b", out=out, add=True).results.values) == 4
    with pytest.raises(BadOption, match="hidden"):
        score(folders / "b", out=out)


def test_replace_leaves_out_what_is_not_asked_for(folders: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    score(folders / "a", out=out)
    assert set(score(folders / "c", out=out, replace=True).results.items) == {"3.mp4"}
    with pytest.raises(BadOption, match="mutually exclusive"):
        score(folders / "c", out=out, replace=True, add=True)


def test_a_start_that_made_nothing_hides_nothing(folders: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(ZeroDivisionError):
        screentest.score(folders / "a", metrics="bytes_of", out=out, engine=_Broken())
    score(folders / "c", out=out)


class _Broken(InlineEngine):
    def run(self, *_: Any) -> Any:
        raise ZeroDivisionError
