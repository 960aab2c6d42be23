"""Short videos joined into one source; the frames are counted and compared by Debian's ffmpeg."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from screentest.core import BadOption, Item, Reason
from screentest.degrade.joining import FOLDER, framed, join_videos
from screentest.sample import sample_videos
from tests.video.outside import Outside


@pytest.fixture(scope="module")
def shorts() -> list[Item]:
    films = [sample_videos()[number].item for number in (2, 1)]
    return [replace(item, prompt=f"film {item.id}", script=None) for item in films]


def test_each_video_becomes_a_clip(shorts: list[Item], tmp_path: Path, outside: Outside) -> None:
    joined = join_videos(shorts, 2, tmp_path, long_side=96, rate=Fraction(4))
    (item,) = joined.items
    assert item.id == "real_5shots+frenchgp_1906"
    assert item.script is not None
    assert [clip.caption for clip in item.script.clips] == [short.prompt for short in shorts]
    # 15.5 s and 19.2 s at 4 frames a second; the rest of a frame rounds to the nearest.
    frames = [int(clip.span.duration * 4) for clip in item.script.clips if clip.span]
    assert frames == [62, 77]
    pictures = outside.pictures(item.video, pixels="yuv420p")
    assert pictures.shape == (62 + 77, 54 * 3 // 2, 96)
    # The newsreel is nearly square: black at both sides, not stretched.
    newsreel = pictures[62 + 30, :54]
    assert newsreel[:, :8].max() <= 16
    assert newsreel[:, -8:].max() <= 16
    assert newsreel[:, 40:56].mean() > 30
    again = join_videos(shorts, 2, tmp_path, long_side=96, rate=Fraction(4))
    assert again == joined
    assert len(list((tmp_path / FOLDER).glob("*.mp4"))) == 1


def test_a_group_that_fails_harms_only_itself(shorts: list[Item], tmp_path: Path) -> None:
    bad = replace(shorts[1], id="bad", video=tmp_path / "absent.mp4")
    joined = join_videos(
        [shorts[0], bad, shorts[1], shorts[0], shorts[1]],
        2,
        tmp_path,
        long_side=64,
        rate=Fraction(1),
    )
    assert [item.id for item in joined.items] == ["frenchgp_1906+real_5shots"]
    assert joined.failed["real_5shots+bad"].reason is Reason.MISSING_FILE
    assert joined.left_over == ("frenchgp_1906",)
    assert not list((tmp_path / FOLDER).glob("*bad*"))


def test_one_video_is_not_joined(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="1 videos cannot be joined"):
        join_videos([], 1, tmp_path)


def test_a_framed_picture_is_whole_in_its_frame() -> None:
    picture = np.arange(6 * 8, dtype=np.uint8).reshape(6, 8)  # 8 × 4 in I420
    result = framed(picture, 12, 8)
    assert (result[2:6, 2:10] == picture[:4]).all()
    assert set(result[:2].ravel()) == {16}
    inner = result[8:].reshape(2, 4, 6)[:, 1:3, 1:5]
    assert (inner == picture[4:].reshape(2, 2, 4)).all()
