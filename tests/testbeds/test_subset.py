"""Samples: even over aspects, nested, whole, and testbeds like any other."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from screentest.cli import app
from screentest.core import BadOption, PairKind, UserError
from screentest.testbeds.subset import merge_testbeds, sample_testbed, subset_of, write_subset
from screentest.testbeds.testbed import Testbed, draw_evenly, find_pair, pair_name, read_testbed
from screentest.testbeds.verify import verify_testbed
from tests.testbeds.test_statistics import film, pair
from tests.testbeds.testbeds import built_in, copy_of, rewrite


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_in(tmp_path_factory.getbasetemp())


def many() -> Testbed:
    """Thirty pairs of color, three of aesthetics, ten of a placebo."""
    films = [film(f"f{number}", 10, ["word"]) for number in range(30)]
    pairs = [
        *(pair(one.id, "color") for one in films),
        *(pair(one.id, "aesthetics") for one in films[:3]),
        *(pair(one.id, "trim", PairKind.PLACEBO) for one in films[:10]),
    ]
    return Testbed(1, "0", 7, {}, tuple(films), tuple(pairs))


def test_aspects_take_turns() -> None:
    drawn = Counter(one.name for one in draw_evenly(many(), 9, 7))
    assert drawn == {"color": 3, "aesthetics": 3, "trim": 3}
    # Aesthetics has no more than three: its turns are the others'.
    drawn = Counter(one.name for one in draw_evenly(many(), 15, 7))
    assert drawn == {"color": 6, "aesthetics": 3, "trim": 6}


def test_so_many_of_each_aspect() -> None:
    drawn = Counter(one.name for one in draw_evenly(many(), 4, 7, per_aspect=True))
    assert drawn == {"color": 4, "aesthetics": 3, "trim": 4}


def test_the_seed_decides_and_larger_samples_hold_smaller_ones() -> None:
    def names(count: int, seed: int) -> set[str]:
        return {pair_name(one) for one in draw_evenly(many(), count, seed)}

    assert names(12, 7) == names(12, 7) != names(12, 8)
    assert names(6, 7) < names(12, 7)
    assert len(names(1000, 7)) == 43


def test_a_sample_is_a_testbed(built: Path, tmp_path: Path) -> None:
    made = sample_testbed(built, tmp_path / "deep" / "small", 1, per_aspect=True)
    assert len(made.pairs) == 5
    assert read_testbed(tmp_path / "deep" / "small") == made
    assert verify_testbed(tmp_path / "deep" / "small").findings == ()
    assert (tmp_path / "deep" / "small" / "testbed.html").exists()
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["small"]


@pytest.mark.parametrize("copy", [False, True])
def test_files_are_linked_unless_copies_are_wanted(built: Path, tmp_path: Path, copy: bool) -> None:
    bed = copy_of(built, tmp_path / "bed")
    made = sample_testbed(bed, tmp_path / "small", 2, copy=copy)
    for one in made.pairs:
        path = one.changed.path
        assert (tmp_path / "small" / path).samefile(bed / path) is not copy
        assert (tmp_path / "small" / path).read_bytes() == (bed / path).read_bytes()


def test_nothing_is_left_of_a_sample_that_fails(built: Path, tmp_path: Path) -> None:
    bed = copy_of(built, tmp_path / "bed")
    (bed / "videos/real_5shots/intact.mp4").unlink()
    with pytest.raises(UserError, match="it is not there"):
        sample_testbed(bed, tmp_path / "small", 7)
    assert [path.name for path in tmp_path.iterdir()] == ["bed"]


def test_a_testbed_cannot_make_a_sample_of_other_files(built: Path, tmp_path: Path) -> None:
    bed = copy_of(built, tmp_path / "bed")
    (tmp_path / "secret").write_text("secret")

    def reach_out(data: Any) -> None:
        for source in data["sources"]:
            source["prompt"] = "../secret"

    rewrite(bed, reach_out)
    with pytest.raises(UserError, match="out of the testbed"):
        sample_testbed(bed, tmp_path / "small", 3)


def parts_of(built: Path, folder: Path) -> list[Path]:
    """Make a testbed of each film, as two machines would."""
    testbed, parts = read_testbed(built), []
    for source in testbed.sources[:2]:
        pairs = [one for one in testbed.pairs if one.source == source.id]
        write_subset(built, folder / source.id, replace(subset_of(testbed, pairs, {}), pending=1))
        parts.append(folder / source.id)
    return parts


def test_parts_become_a_whole(built: Path, tmp_path: Path) -> None:
    parts = parts_of(built, tmp_path)
    (parts[0] / "annotate").mkdir()
    done = CliRunner().invoke(
        app, ["testbed", "merge", *map(str, parts), "--out", str(tmp_path / "all")]
    )
    assert done.exit_code == 0, done.output
    assert str(parts[0] / "annotate") in "".join(done.output.split())
    made, testbed = read_testbed(tmp_path / "all"), read_testbed(built)
    films = {source.id for source in testbed.sources[:2]}
    assert {source.id for source in made.sources} == films
    assert [*made.pairs] == [one for one in testbed.pairs if one.source in films]
    assert made.pending == 2
    assert [one.check for one in verify_testbed(tmp_path / "all").findings] == ["unfinished"]
    assert (
        merge_testbeds([parts[0], parts[0]], tmp_path / "same").pairs
        == read_testbed(parts[0]).pairs
    )


def test_what_differs_is_not_merged(built: Path, tmp_path: Path) -> None:
    one, two = parts_of(built, tmp_path)
    other = copy_of(one, tmp_path / "other")

    def other_hash(data: Any) -> None:
        data["pairs"][0]["changed"]["sha256"] = "0" * 64

    rewrite(other, other_hash)
    with pytest.raises(UserError, match="differs between"):
        merge_testbeds([one, other], tmp_path / "all")
    with pytest.raises(UserError, match="of its testbed"):
        merge_testbeds([other, two], tmp_path / "all")
    rewrite(other, lambda data: data.update(seed=8))
    with pytest.raises(UserError, match="alike: seed"):
        merge_testbeds([one, other], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_a_folder_in_use_is_not_touched(built: Path, tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "mine.txt").write_text("mine")
    with pytest.raises(BadOption, match="not empty"):
        sample_testbed(built, tmp_path / "small", 3)
    with pytest.raises(BadOption, match="`count` 0"):
        sample_testbed(built, tmp_path / "other", 0)


def test_a_pair_is_found_by_name_or_by_its_end(built: Path) -> None:
    testbed = read_testbed(built)
    for wanted in ("real_5shots/aesthetics", "aesthetics", "videos/real_5shots/aesthetics.mp4"):
        assert pair_name(find_pair(testbed, wanted)) == "real_5shots/aesthetics"
    with pytest.raises(UserError, match=r"2 pairs .*'placebo_trim'"):
        find_pair(testbed, "placebo_trim")
    with pytest.raises(UserError, match="no pair 'beauty'"):
        find_pair(testbed, "beauty")
