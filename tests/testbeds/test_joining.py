"""Videos joined into one source; the frames are counted and compared by Debian's ffmpeg."""

from __future__ import annotations

import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.core import BadOption, Item, Reason
from screentest.core.frames import NATIVE
from screentest.inputs.parted import PartedSource, SourcePart, in_groups_of
from screentest.sample import sample_videos
from screentest.testbeds.join import FOLDER, join_sources
from screentest.video.edit.normalize import normalize
from tests.video.outside import Outside


@pytest.fixture(scope="module")
def shorts() -> list[Item]:
    films = [sample_videos()[number].item for number in (2, 1)]
    return [replace(item, prompt=f"film {item.id}", script=None) for item in films]


def test_each_video_becomes_a_clip(shorts: list[Item], tmp_path: Path, outside: Outside) -> None:
    sources = list(in_groups_of(shorts, 2))
    joined = join_sources(sources, tmp_path, long_side=96)
    (item,) = joined.items
    assert item.id == "real_5shots+1"
    assert item.script is not None
    assert [clip.caption for clip in item.script.clips] == [short.prompt for short in shorts]
    # Each picture once: as many as ffmpeg decodes of both files.
    counts = [len(outside.pictures(short.video, pixels="gray")) for short in shorts]
    pictures = outside.pictures(item.video, pixels="yuv420p")
    assert pictures.shape == (sum(counts), 54 * 3 // 2, 96)
    # The newsreel is nearly square: black at both sides, not stretched.
    newsreel = pictures[counts[0] + 100, :54]
    assert newsreel[:, :8].max() <= 16
    assert newsreel[:, -8:].max() <= 16
    assert newsreel[:, 40:56].mean() > 30
    again = join_sources(sources, tmp_path, long_side=96)
    assert again == joined
    assert len(list((tmp_path / FOLDER).glob("*.mp4"))) == 1


def test_films_keep_their_scripts(tmp_path: Path) -> None:
    films = [sample_videos()[number].item for number in (2, 0)]
    (item,) = join_sources(list(in_groups_of(films, 2)), tmp_path, long_side=64).items
    scripts = [film.script for film in films]
    assert item.script is not None
    assert scripts[0] is not None
    assert scripts[1] is not None
    assert [clip.caption for clip in item.script.clips] == [
        clip.caption for script in scripts if script for clip in script.clips
    ]
    second = item.script.clips[len(scripts[0].clips)].span
    own = scripts[1].clips[0].span
    assert second is not None
    assert own is not None
    assert second.start == own.start + 15.5  # the length of the five shots
    assert second.duration == own.duration


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(8), Fraction(30_000, 1001)])
def test_at_a_rate_only_the_frames_are_kept_that_a_film_of_this_rate_shows(
    rate: Fraction, shorts: list[Item], tmp_path: Path
) -> None:
    """Pictures and boundaries are those of the film that was joined with all its frames."""
    sources = list(in_groups_of([*shorts, replace(shorts[0], id="third")], 3))
    made, sizes = [], []
    for name, wanted in (("all", None), ("some", rate)):
        (item,) = join_sources(sources, tmp_path / name, long_side=64, rate=wanted).items
        assert item.script is not None
        sizes.append(item.video.stat().st_size)
        starts = [clip.span.start for clip in item.script.clips if clip.span]
        film = normalize(
            item.video, tmp_path / f"{name}.mp4", keyframes_at=starts, rate=rate, size=NATIVE
        )
        made.append((film.frames, film.checksums, [cut.time for cut in film.cuts], film.duration))
    assert made[0] == made[1]
    assert len(made[0][2]) == 3
    assert sizes[1] < sizes[0] or rate > 24


def test_a_source_that_fails_harms_only_itself(shorts: list[Item], tmp_path: Path) -> None:
    bad = replace(shorts[1], id="bad", video=tmp_path / "absent.mp4")
    sources = list(in_groups_of([shorts[0], bad, shorts[1], shorts[0], shorts[1]], 2))
    joined = join_sources(sources, tmp_path, long_side=64)
    assert [item.id for item in joined.items] == ["frenchgp_1906+1"]
    assert joined.failed["real_5shots+1"].reason is Reason.MISSING_FILE
    assert len(list((tmp_path / FOLDER).iterdir())) == 2  # one film and its script


def test_gaps_are_left_out_where_they_may_be(shorts: list[Item], tmp_path: Path) -> None:
    good, bad = tmp_path / "good.mp4", tmp_path / "bad.mp4"
    shutil.copy(shorts[1].video, good)
    bad.write_bytes(good.read_bytes()[:300])
    parts = (SourcePart(bad, "One."), SourcePart(good, "Two."))
    sources = [PartedSource("v", parts), PartedSource("nothing", parts[:1])]
    joined = join_sources(sources, tmp_path, long_side=64, gaps=True)
    (item,) = joined.items
    assert item.script is not None
    assert [clip.caption for clip in item.script.clips] == ["Two."]
    assert [fault.partition(" is ")[0] for fault in joined.faults] == ["v: bad.mp4"]
    assert joined.failed["nothing"].reason is Reason.UNDECODABLE


@pytest.mark.parametrize("count", [1, 0, -2, 1001])
def test_what_cannot_be_joined(count: int) -> None:
    with pytest.raises(BadOption, match=f"`join` {count}:"):
        list(in_groups_of([], count))
