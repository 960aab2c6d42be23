"""Videos that are broken by themselves: made with ffmpeg, among whole ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import screentest
from screentest.analysis.models.coverage import VideoFault, broken_videos
from screentest.core import Item
from screentest.sample import sample_videos
from tests.metrics.films import filtered

GREEN = "drawbox=y=ih/6:c=0x008700:t=fill"
"""Zeros in all planes of YUV are this green: most of the picture was not decoded."""
FAULTS = {
    VideoFault.BLANK: "drawbox=c=gray:t=fill",
    VideoFault.BLACK: "drawbox=c=black:t=fill:enable='gt(t,0.5)'",
    VideoFault.WHITE: "drawbox=c=white:t=fill:enable='gt(t,0.5)'",
    VideoFault.GREEN: GREEN,
    VideoFault.STILL: "select='eq(n,0)',loop=loop=-1:size=1,setpts=N/24/TB,trim=duration=2",
    VideoFault.SHORT: "trim=duration=1.2",
}
CODING = ("-c:v", "libx264", "-crf", "17", "-pix_fmt", "yuv420p", "-an")
"""With the fastest preset a still picture changes for a third of a second."""
METRICS = "contrast,tones,tint,frozen"


def made(ffmpeg: str, folder: Path, model: str, place: int, change: str = "null") -> Item:
    film = sample_videos()[0].item.video
    path = folder / model / f"{place}.mp4"
    path.parent.mkdir(exist_ok=True)
    filters, start = f"scale=160:-2,{change}", 1 + 2 * place
    filtered(ffmpeg, film, path, filters, start=start, seconds=2, coding=CODING)
    return Item(f"{model}/{place}", path, f"prompt {place}", groups={"model": model})


@pytest.fixture(scope="module")
def clips(ffmpeg: str, tmp_path_factory: pytest.TempPathFactory) -> list[Item]:
    folder = tmp_path_factory.mktemp("clips")
    whole = [made(ffmpeg, folder, "a", place) for place in range(len(FAULTS) + 1)]
    harmed = [
        made(ffmpeg, folder, "b", place, change) for place, change in enumerate(FAULTS.values())
    ]
    return [*whole, *harmed, made(ffmpeg, folder, "b", len(FAULTS))]


def test_each_fault_is_named_and_nothing_else(clips: list[Item], tmp_path: Path) -> None:
    scores = screentest.score(clips, metrics=METRICS, out=tmp_path / "run")
    found = {video.item: video.fault for video in broken_videos(scores.results)}
    assert found == {f"b/{place}": fault for place, fault in enumerate(FAULTS)}
    comparison = scores.comparison()
    assert comparison is not None
    assert {video.item for video in comparison.broken} == found.keys()


def test_a_model_that_makes_shorter_videos_is_not_broken(
    ffmpeg: str, clips: list[Item], tmp_path: Path
) -> None:
    shorter = [made(ffmpeg, tmp_path, "c", place, FAULTS[VideoFault.SHORT]) for place in range(4)]
    scores = screentest.score([*clips[:4], *shorter], metrics=METRICS, out=tmp_path / "run")
    assert broken_videos(scores.results) == []


def test_a_model_with_one_video_for_all_prompts_is_named_and_joins_no_prompts(
    clips: list[Item], tmp_path: Path
) -> None:
    whole = [clip for clip in clips if clip.groups["model"] == "a"][:4]
    other = [replace(clip, id=f"b{clip.id}", groups={"model": "b"}) for clip in whole]
    same = [
        replace(clip, id=f"c{clip.id}", groups={"model": "c"}, video=whole[0].video)
        for clip in whole
    ]
    scores = screentest.score([*whole, *other, *same], metrics=METRICS, out=tmp_path / "run")
    found = {video.item: video.fault for video in broken_videos(scores.results)}
    assert {item[0] for item, fault in found.items() if fault is VideoFault.REPEATED} >= {"c"}
    comparison = scores.comparison("model=a,b")
    assert comparison is not None
    assert comparison.prompts == 4
