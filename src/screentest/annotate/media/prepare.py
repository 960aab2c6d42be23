"""Prepare: files that a browser plays and that say nothing of where they come from.

A file that is clean already is served as it lies. Tags (title, comment, encoder, date) can name
the model that made a video, so a file with tags is copied without them, packet by packet; one
that no browser plays is encoded anew. Copies are kept beside the store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from screentest.core import Progress, Silent, UserError

if TYPE_CHECKING:
    from av.container import InputContainer

MP4: Final = "video/mp4"
_SAYS_NOTHING = {"major_brand", "minor_version", "compatible_brands", "language"}
_DEFAULTS = {"handler_name": {"VideoHandler", "SoundHandler"}, "vendor_id": {"[0][0][0][0]"}}
_IN_MP4 = {"h264", "vp9", "av1"}
_PIXELS = {"yuv420p", "yuvj420p"}
_SOUNDS = {"aac", "mp3", "opus"}


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is served in place of a file."""

    path: Path
    bytes: int
    kind: str


def prepare_all(
    paths: Iterable[Path], folder: Path, *, progress: Progress | None = None
) -> dict[Path, Prepared]:
    """Each file as it is to be served; those that had to be copied lie in ``folder``."""
    from screentest.video import supervised

    wanted = list(dict.fromkeys(paths))
    ready: dict[Path, Prepared] = {}
    with progress or Silent() as watched:
        watched.begin("looking at videos", len(wanted), "video")
        for path in wanted:
            ready[path] = supervised(prepare, path, folder).unwrap()
            watched.advance()
    return ready


def prepare(path: Path, folder: Path) -> Prepared:
    """One file; raises VideoError where it is none."""
    from screentest.video import normalize
    from screentest.video.gate import open_container, video_stream

    container = open_container(path)
    try:
        stream = video_stream(container)
        if stream is None:
            raise UserError(f"{path} has no video", advice="Check that it plays.")
        pixels = stream.codec_context.pix_fmt
        codec = stream.codec_context.name
        isom = "mp4" in container.format.name.split(",")
        playable = codec in _IN_MP4 and pixels in _PIXELS
        if playable and isom and not _tags(container):
            return Prepared(path, path.stat().st_size, MP4)
        target = folder / f"{_digest(path)}.mp4"
        if target.is_file():
            return Prepared(target, target.stat().st_size, MP4)
        folder.mkdir(parents=True, exist_ok=True)
        if playable:
            _copy(container, stream, target)
    finally:
        container.close()
    if not target.is_file():
        normalize(path, target)
    return Prepared(target, target.stat().st_size, MP4)


def _tags(container: InputContainer) -> bool:
    """Whether the file says anything of itself beyond what every file of its kind does."""
    told: list[Mapping[str, str]] = [container.metadata, *(s.metadata for s in container.streams)]
    for tags in told:
        for name, value in tags.items():
            if name not in _SAYS_NOTHING and value not in _DEFAULTS.get(name, set()):
                return True
    return bool(container.chapters()) or _attached(container)


def _attached(container: InputContainer) -> bool:
    kinds = [stream.type for stream in container.streams]
    return kinds.count("video") != 1 or bool(set(kinds) - {"video", "audio"})


def _copy(container: InputContainer, stream: Any, target: Path) -> None:
    import av

    from screentest.base.atomic import atomic_output

    sounds = [one for one in container.streams.audio if one.codec_context.name in _SOUNDS]
    chosen = [stream, *sounds[:1]]
    with (
        atomic_output(target) as file,
        av.open(file, mode="w", format="mp4", container_options={"fflags": "+bitexact"}) as output,
    ):
        copies = {}
        for one in chosen:
            copies[one.index] = copy = output.add_stream_from_template(one)
            copy.metadata.clear()
        for packet in container.demux(chosen):
            if packet.dts is None:
                continue
            packet.stream = copies[packet.stream.index]
            output.mux_one(packet)
            file.check()


def _digest(path: Path) -> str:
    status = path.stat()
    known = f"{path}\0{status.st_size}\0{status.st_mtime_ns}"
    return hashlib.sha256(known.encode("utf-8", "surrogateescape")).hexdigest()[:32]
