"""Frames in memory as items: held while they are scored, or kept in a run as lossless files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from screentest.core.errors import BadOption
from screentest.core.item import Item, seconds
from screentest.video.arrays import read_frames
from screentest.video.memory import LOSSLESS, MemoryVideo, held

Clips: TypeAlias = list[tuple[Item, MemoryVideo]]
FOLDER = "frames"
"""Where a run keeps what it was given in memory."""
STEP = "step"
"""The group of items that says when in a training they were made."""
_MOST_FPS = 1000


def read_clips(
    frames: Any,
    *,
    fps: str | int | float | Fraction | None,
    layout: str = "",
    value_range: tuple[float, float] | None = None,
    prompt: str | Sequence[str] = "",
    ids: str | Sequence[str] = (),
    step: int | None = None,
) -> tuple[Clips, str]:
    """The clips with what is known of each, and how the frames were read."""
    if fps is None:
        raise BadOption("frames need fps", advice="Say how many a second: fps=24.")
    rate = seconds(fps)
    if not 0 < rate <= _MOST_FPS:
        raise BadOption(f"invalid fps {fps}: must be in (0, {_MOST_FPS}]")
    found = read_frames(frames, layout=layout, value_range=value_range)
    count = len(found.clips)
    prompts = [prompt] * count if isinstance(prompt, str) else list(prompt)
    names = [ids] if isinstance(ids, str) else list(ids)
    begins = "clip" if step is None else f"step-{step}"
    names = names or [f"{begins}-{number}" if found.batch else begins for number in range(count)]
    for what, given in (("prompt", prompts), ("ids", names)):
        if len(given) != count:
            raise BadOption(
                f"{len(given)} of {what} for {count} clip{'s' * (count != 1)}",
                advice="Give one for each.",
            )
    if len(set(names)) < count:
        raise BadOption("two clips have the same id", advice="Give each its own.")
    groups = {} if step is None else {STEP: str(step)}
    clips = [
        (Item(name, Path(), text, groups=groups), MemoryVideo(pictures, rate))
        for name, text, pictures in zip(names, prompts, found.clips, strict=True)
    ]
    return clips, f"{found.words}, {float(rate):g} fps"


@contextmanager
def held_items(clips: Clips) -> Iterator[list[Item]]:
    """The items, with paths that stand for their frames meanwhile."""
    with ExitStack() as opened:
        yield [replace(item, video=opened.enter_context(held(video))) for item, video in clips]


def kept_items(clips: Clips, run: Path) -> list[Item]:
    """The items, with lossless files in the run's folder."""
    folder = (run / FOLDER).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for item, video in clips:
        path = folder / f"{quote(item.id, safe=' ')}{LOSSLESS}"
        beside = path.with_name(f".{path.name}.part")
        video.write(beside)
        beside.replace(path)
        made.append(replace(item, video=path))
    return made
