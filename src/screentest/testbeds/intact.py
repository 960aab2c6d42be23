"""The intact videos of a source: normalised once, with a fresh start at every clip."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from screentest._util.atomic import write_whole
from screentest.core.codec import from_json, to_json
from screentest.core.errors import BadOption, NoValue, VideoError
from screentest.core.frames import Size
from screentest.core.item import Item, Script
from screentest.core.outcome import Outcome, Reason
from screentest.run.inputs import hash_file
from screentest.run.tasks import Job, TaskResults
from screentest.testbeds.contract import boundaries, places_of
from screentest.testbeds.options import BuildOptions, Rung
from screentest.testbeds.testbed import SourceFilm, VideoFile
from screentest.video.edit.normalize import NormalizedVideo, normalize
from screentest.video.probe import probe

# Names of files and folders in a testbed: safe on any disk, whatever an id holds.

_HASHED = re.compile(r"-[0-9a-f]{8}$")
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


def folder_name(source: str) -> str:
    """Return the folder of a source: its id, or something like it with a hash where that is unsafe.

    >>> folder_name("film-7"), folder_name("../film 7")
    ('film-7', 'film-7-b6827ff3')
    """
    # An id that itself looks hashed could be what another id is hashed to.
    if _SAFE.fullmatch(source) and not source.endswith(".") and not _HASHED.search(source):
        return source
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_UNSAFE.sub('-', source).strip('-')[:40] or 'source'}-{digest}"


def video_name(name: str, rung: Rung | None, rungs: int, suffix: str = ".mp4") -> str:
    """Return the file of a changed copy; where there is a ladder, the rung is in its name.

    >>> video_name("color", Rung(0.5, 5), 1), video_name("color", Rung(0.5, 5), 2)
    ('color.mp4', 'color_s0.5_n5.mp4')
    """
    step = f"_s{rung.severity:g}_n{rung.clips}" if rung is not None and rungs > 1 else ""
    return f"{name}{step}{suffix}"


VIDEOS = "videos"
PROMPT = "prompt.txt"


@dataclass(frozen=True, slots=True)
class IntactTask:
    """What a worker is given."""

    item: Item
    testbed: Path
    options: BuildOptions
    sides: tuple[int | None, ...]
    """The long sides that are needed; the first is that of ``intact.mp4``."""


@dataclass(frozen=True, slots=True)
class Intact:
    """What it makes of it."""

    source: SourceFilm
    by_side: Mapping[str, str]
    """For each long side that is needed, the path of the intact video."""
    records: Mapping[str, str]
    """What splicing needs to know of them: paths and hashes of the JSON files beside them."""


def make_intact(job: Job) -> TaskResults:
    """Normalise one source. Runs in a worker."""
    task: IntactTask = job.payload
    made = Outcome.of(as_data(to_json(_made(task))))
    return {key: {key.evaluator: made} for key in job.keys}


def as_data(text: str) -> dict[str, object]:
    """JSON as a record keeps it."""
    data: dict[str, object] = json.loads(text)
    return data


def timed_script(item: Item) -> Script:
    """Return the script of a source; raises NoValue where it has none with times."""
    script = item.script
    if script is None or not script.timed:
        raise NoValue(
            Reason.NOT_APPLICABLE,
            "it has no captions with times",
            advice="Give its row a script with start, end and caption of each clip; "
            "`screentest shots` finds the ranges.",
        )
    return script


@contextmanager
def errors_of_source() -> Iterator[None]:
    """Make an error that of one source: whatever it is, it is not that of all the others."""
    try:
        yield
    except BadOption as error:
        raise VideoError(Reason.UNDECODABLE, error.message, advice=error.advice) from error


def load_intact(path: Path, source: Path) -> NormalizedVideo:
    """Return the record beside an intact video, wherever the testbed is now."""
    try:
        text = path.with_suffix(".json").read_bytes()
    except OSError as error:
        raise VideoError(
            Reason.MISSING_FILE,
            f"{path.with_suffix('.json').name} cannot be read: {error.strerror}",
            advice="Remove the intact video and build again.",
        ) from None
    return replace(from_json(NormalizedVideo, text), path=path, source=source)


def video_file(path: Path, testbed: Path) -> VideoFile:
    """Return a finished video as the testbed lists it."""
    info = probe(path)
    return VideoFile(
        path=path.relative_to(testbed).as_posix(),
        sha256=hash_file(path),
        bytes=path.stat().st_size,
        frames=info.frames,
        duration=info.duration,
        width=info.width,
        height=info.height,
    )


def _made(task: IntactTask) -> Intact:
    item, options = task.item, task.options
    script = timed_script(item)
    folder = task.testbed / VIDEOS / folder_name(item.id)
    folder.mkdir(parents=True, exist_ok=True)
    info = probe(item.video)
    files: dict[tuple[int, int], VideoFile] = {}
    by_side: dict[str, str] = {}
    films: list[NormalizedVideo] = []
    for side in task.sides:
        pixels = Size(long_side=side).of(info.width, info.height)
        if pixels not in files:
            name = "intact.mp4" if not files else f"intact_{side}.mp4"
            film = _normalised(item, script, folder / name, side, options)
            films.append(film)
            files[pixels] = video_file(film.path, task.testbed)
        by_side[str(side)] = files[pixels].path
    # Of a film whose clips have no captions there may still be a prompt.
    write_whole(folder / PROMPT, f"{script.text.strip() or item.prompt}\n")
    places = places_of(films[0])
    lost = tuple(  # beyond the end, or between two frames
        number
        for number, clip in enumerate(script.clips)
        if clip.span is not None and places[clip.span.start] >= places[clip.span.end]
    )
    source = SourceFilm(
        id=item.id,
        video=item.video.name,
        sha256=hash_file(item.video),
        folder=folder.relative_to(task.testbed).as_posix(),
        prompt=(folder / PROMPT).relative_to(task.testbed).as_posix(),
        clips=script.clips,
        intact=tuple(files.values()),
        lost=lost,
        faults=tuple(dict.fromkeys(f"{fault.kind}: {fault.detail}" for fault in films[0].faults)),
        groups=item.groups,
    )
    beside = [film.path.with_suffix(".json") for film in films]
    records = {path.relative_to(task.testbed).as_posix(): hash_file(path) for path in beside}
    return Intact(source, by_side, records)


def _normalised(
    item: Item, script: Script, out: Path, side: int | None, options: BuildOptions
) -> NormalizedVideo:
    with errors_of_source():
        film = normalize(
            item.video,
            out,
            keyframes_at=boundaries(script),
            size=Size(long_side=side),
            rate=options.rate,
            settings=options.encoder,
        )
    # Names only: a testbed may be moved, and its source too.
    kept = replace(film, path=Path(out.name), source=Path(item.video.name))
    write_whole(out.with_suffix(".json"), f"{to_json(kept)}\n")
    return film
