"""Frames in memory as items: held while they are scored, or kept in a run as lossless files."""

from __future__ import annotations

import filecmp
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from screentest.core.errors import BadOption, UserError
from screentest.core.item import Item, seconds
from screentest.run.database import FILE
from screentest.run.reader import RunReader
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
    try:
        rate = seconds(fps)
    except (UserError, ValueError, TypeError, OverflowError):
        rate = Fraction(0)
    if not 0 < rate <= _MOST_FPS:
        raise BadOption(f"invalid fps {fps}: must be a number in (0, {_MOST_FPS}]")
    found = read_frames(frames, layout=layout, value_range=value_range)
    count = len(found.clips)
    prompts = [prompt] * count if isinstance(prompt, str) else list(prompt)
    names = [ids] if isinstance(ids, str) else list(ids)
    begins = "clip" if step is None else f"step-{step}"
    names = names or [f"{begins}-{number}" if found.batch else begins for number in range(count)]
    for what, given in (("prompt", prompts), ("id", names)):
        if len(given) != count:
            several, clips_ = "s" * (len(given) != 1), "s" * (count != 1)
            raise BadOption(
                f"{len(given)} {what}{several} for {count} clip{clips_}",
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


def added_items(clips: Clips, run: Path, *, named: bool, replace_same: bool) -> list[Item]:
    """The items, with lossless files in the run's folder, beside those that it has.

    Names that nobody gave (not ``named``) are numbered on. A name that was given and is taken by
    other frames is refused, unless those are to be replaced: nothing is lost unasked.
    """
    earlier: dict[str, Item] = {}
    if (run / FILE).is_file():
        with RunReader(run) as reader:
            earlier = reader.items()
    if not named:
        clips = _numbered_on(clips, earlier)
    folder = (run / FOLDER).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    parts: dict[Path, Path] = {}
    made = []
    try:
        for item, video in clips:
            path = folder / f"{quote(item.id, safe=' ')}{LOSSLESS}"
            parts[path] = path.with_name(f".{path.name}.part")
            video.write(parts[path])
            made.append(replace(item, video=path))
            known = earlier.get(item.id)
            if known and not replace_same and not _is_same(known, made[-1], parts[path]):
                raise _taken(made[-1], known, run)
        for path, part in parts.items():
            part.replace(path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    return made


def _numbered_on(clips: Clips, earlier: Collection[str]) -> Clips:
    """The clips with the next names that are free."""
    if not any(item.id in earlier for item, _ in clips):
        return clips
    begins = clips[0][0].id.partition("-")[0]
    ends = (name.removeprefix(f"{begins}-") for name in earlier if name.startswith(f"{begins}-"))
    first = 1 + max((int(end) for end in ends if end.isascii() and end.isdecimal()), default=0)
    return [
        (replace(item, id=f"{begins}-{first + place}"), video)
        for place, (item, video) in enumerate(clips)
    ]


def _is_same(known: Item, item: Item, file: Path) -> bool:
    """Whether a run has the clip already: the same frames with the same prompt."""
    same = known.video == item.video and known.text == item.text and known.video.is_file()
    return same and filecmp.cmp(known.video, file, shallow=False)


def _taken(item: Item, known: Item, run: Path) -> BadOption:
    other = "frames" if known.text == item.text else "frames or another prompt"
    return BadOption(
        f"{run} has a clip {item.id!r} already, with other {other}",
        advice="replace=True puts these in its place and keeps all others; or give another step,"
        " ids= of their own, or another out=.",
    )
