"""Frames in memory as items: held while they are scored, or kept in a run as lossless files."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from numbers import Integral
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from urllib.parse import quote

from screentest._util.atomic import storage_error
from screentest.analysis.results import Results, Value
from screentest.api import texts_of
from screentest.core.calls import Progress
from screentest.core.codec import to_json
from screentest.core.errors import BadOption, StorageError, UserError
from screentest.core.item import STEP, Item, seconds
from screentest.core.signature import value_name
from screentest.measure.evaluators import Evaluator
from screentest.measure.items import measure
from screentest.measure.tasks import signed_metrics
from screentest.present.text import frames_words
from screentest.run.inputs import hash_file
from screentest.run.session import Settings, Tools, open_tools
from screentest.run.store import RunStore
from screentest.video.arrays import read_frames
from screentest.video.memory import LOSSLESS, MemoryVideo, held


def score_clips(
    items: Sequence[Item],
    metrics: Sequence[str],
    settings: Settings,
    *,
    suite: str = "",
    progress: Progress,
) -> Results:
    """Measure all metrics on items whose videos are held in memory, or are files."""
    tools = open_tools(settings)
    evaluators = _signed_once(tuple(metrics), settings, tools)
    built = {evaluator.name: evaluator.metric for evaluator in evaluators}
    values: list[Value] = []
    with progress:
        progress.begin("scoring", len(items), "clips")
        for item in items:
            outcomes = measure(item, built, tools)
            values += [
                Value(item.id, evaluator.name, output, outcome, str(evaluator.signature))
                for evaluator in evaluators
                for output, outcome in outcomes[evaluator.name].items()
            ]
            progress.advance(note=item.id)
    infos = [(evaluator.name, evaluator.metric.info) for evaluator in evaluators]
    return Results(
        {item.id: item for item in items},
        tuple(values),
        {value_name(name, key): out for name, info in infos for key, out in info.outputs.items()},
        suites=(suite,) if suite else (),
        traits={
            value_name(name, key): info.traits_of(key)
            for name, info in infos
            for key in info.outputs
        },
    )


_signed: dict[tuple[tuple[str, ...], str], list[Evaluator]] = {}


def _signed_once(metrics: tuple[str, ...], settings: Settings, tools: Tools) -> list[Evaluator]:
    """Sign the metrics; those of the last call are kept: a loop asks again."""
    key = metrics, to_json(settings)
    if key not in _signed:
        signed = signed_metrics(metrics, tools)
        _signed.clear()
        _signed[key] = signed
    return _signed[key]


Clips: TypeAlias = list[tuple[Item, MemoryVideo]]
FOLDER = "frames"
"""Where a run keeps what it was given in memory."""
_PARTS = ".parts-"
_MOST_FPS = 1000


def read_clips(
    frames: Any,
    fps: Any,
    layout: str,
    value_range: tuple[float, float] | None,
    prompt: str | Sequence[str],
    names: Sequence[str],
    step: Any,
) -> tuple[Clips, str]:
    """Read clips with their prompts and ids; gives them with one line on how they were read."""
    try:
        # A scalar of NumPy or torch; 1/7 as a float is a ratio of large numbers.
        rate = seconds(getattr(fps, "item", lambda: fps)()).limit_denominator(10**6)
    except (UserError, ValueError, TypeError, OverflowError, RuntimeError):
        rate = Fraction(0)
    if not 0 < rate <= _MOST_FPS:
        raise BadOption.of("fps", fps, f"a number in (0, {_MOST_FPS}]")
    if step is not None and (isinstance(step, bool) or not isinstance(step, Integral)):
        raise BadOption.of("step", step, "a whole number")
    read = read_frames(frames, layout=layout, value_range=value_range)
    count = len(read.clips)
    prompts = texts_of("prompt", [prompt] * count if isinstance(prompt, str) else prompt)
    begins = "clip" if step is None else f"step-{step}"
    names = names or [f"{begins}-{number}" if read.batch else begins for number in range(count)]
    for option, given in (("prompt", prompts), ("ids", names)):
        if len(given) != count:
            raise BadOption(
                f"invalid `{option}`: {len(given)} for {count} clip{'s' * (count != 1)}"
            )
    if len(set(names)) < count or not all(names):
        raise BadOption("invalid `ids`: each clip needs one of its own")
    groups = {} if step is None else {STEP: str(step)}
    clips = [
        (Item(name, Path(), text, groups=groups), MemoryVideo(pictures, rate))
        for name, text, pictures in zip(names, prompts, read.clips, strict=True)
    ]
    return clips, frames_words(read, float(rate))


@contextmanager
def held_items(clips: Clips) -> Iterator[list[Item]]:
    """Give the items paths that stand for their frames meanwhile."""
    with ExitStack() as opened:
        yield [replace(item, video=opened.enter_context(held(video))) for item, video in clips]


def added_items(clips: Clips, run: RunStore, *, named: bool, replace_same: bool) -> list[Item]:
    """Write the clips as lossless files into the folder of a run that is open for writing.

    Clips that have no name (not ``named``) get the next free numbers. A name that other frames have
    is refused, unless those are to be replaced.
    """
    earlier = run.items()
    if not named:
        clips = _numbered_on(clips, earlier)
    folder = run.folder / FOLDER
    made = []
    try:
        folder.mkdir(exist_ok=True)
        for left in folder.glob(f"{_PARTS}*"):  # by processes that were killed
            shutil.rmtree(left, ignore_errors=True)
        with TemporaryDirectory(prefix=_PARTS, dir=folder) as parts:
            for number, (item, video) in enumerate(clips):
                part = Path(parts, str(number))
                video.write(part)
                path = folder / f"{file_name(item.id)}{LOSSLESS}"
                made.append(replace(item, video=path, sha256=hash_file(part)))
                before = earlier.get(item.id)
                if before and not replace_same and not _is_same(before, made[-1]):
                    raise _taken(made[-1], before, run.folder)
            for number, item in enumerate(made):
                Path(parts, str(number)).replace(item.video)
    except OSError as error:
        raise storage_error(folder, error) from error
    for item in made:
        if hash_file(item.video) != item.sha256:
            raise StorageError(f"{item.video} was overwritten while it was added")
    return made


def file_name(name: str) -> str:
    """Return the name of an id's file; the rest of a long one is its hash.

    >>> file_name("a/b"), file_name("A"), len(file_name(300 * "c"))
    ('a%2Fb', '%41', 215)
    """
    # There are disks on which "A" and "a" are one file.
    quoted = "".join(f"%{ord(c):X}" if "A" <= c <= "Z" else quote(c, safe=" ") for c in name)
    if len(quoted) <= 220:  # file systems take 255 bytes
        return quoted
    return f"{quoted[:150]}+{hashlib.sha256(name.encode()).hexdigest()}"


def _numbered_on(clips: Clips, earlier: Collection[str]) -> Clips:
    if not any(item.id in earlier for item, _ in clips):
        return clips
    begins = clips[0][0].id.partition("-")[0]
    ends = (name.removeprefix(f"{begins}-") for name in earlier if name.startswith(f"{begins}-"))
    first = 1 + max((int(end) for end in ends if end.isascii() and end.isdecimal()), default=0)
    return [
        (replace(item, id=f"{begins}-{first + place}"), video)
        for place, (item, video) in enumerate(clips)
    ]


def _is_same(before: Item, item: Item) -> bool:
    """Test if a run has the clip already: the same frames with the same prompt."""
    same = before.video == item.video and before.text == item.text
    return same and hash_file(before.video) == item.sha256


def _taken(item: Item, before: Item, run: Path) -> BadOption:
    other = "frames" if before.text == item.text else "frames or another prompt"
    return BadOption(
        f"{run} has a clip {item.id!r} already, with other {other}",
        advice="`replace=True` puts these in its place; or give another `step`, `ids` or `out`.",
    )
