"""Whole videos for servers that take them: as ``video_url`` (vLLM, SGLang, …) or as a file.

The frames of a whole video carry its ``Film``. Where the backend's option ``video`` says so, they
and their times are left out and the video itself is sent in their place.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from screentest.core import BadOption, NoValue, Reason
from screentest.models import weights
from screentest.models.chat.messages import ChatRequest, Film, Part, Picture

FRAMES = "frames"
VideoOption = Literal["frames", "video_url", "file"]
"""``video_url`` is what vLLM, SGLang and most hosted services of open models call it; ``file`` a
file in the message, as OpenAI's own interface has it."""

_KINDS = {
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".mov": "video/quicktime",
    ".webm": "video/webm",
    ".mkv": "video/x-matroska",
    ".avi": "video/x-msvideo",
    ".ogv": "video/ogg",
}
_MEGABYTE = 10**6


@dataclass(frozen=True, slots=True)
class NativeVideo:
    """The way videos are sent."""

    part: str
    most_bytes: int
    """Of a file that is sent within the request."""
    root: Path | None = None
    base: str = ""
    """The address under which the server finds the files of ``root``."""

    @classmethod
    def of(cls, part: VideoOption, limit: float, root: str, base: str) -> NativeVideo | None:
        """As the options of a backend say; None where frames are sent."""
        if bool(root) != bool(base):
            raise BadOption("video_root and video_base go together: a folder, and its address")
        if limit <= 0:
            raise BadOption(f"invalid video_limit {limit}: must be above 0 MB")
        if part == FRAMES:
            return None
        folder = Path(root).expanduser().resolve() if root else None
        if folder is not None and not folder.is_dir():
            raise BadOption(f"video_root {root} is not a folder")
        return cls(part, round(limit * _MEGABYTE), folder, base)

    def piece(self, film: Film) -> bytes:
        """Return a film as a part of the message, without the name of its file, which may tell."""
        url = self._url(film)
        if self.part == "file":
            held = {"filename": f"video{film.path.suffix.lower()}", "file_data": url}
            return json.dumps({"type": "file", "file": held}).encode()
        return json.dumps({"type": "video_url", "video_url": {"url": url}}).encode()

    def _url(self, film: Film) -> str:
        place = film.path.resolve()
        if self.root is not None and place.is_relative_to(self.root):
            return f"{self.base.rstrip('/')}/{quote(place.relative_to(self.root).as_posix())}"
        kind = _KINDS.get(film.path.suffix.lower())
        if kind is None:
            raise NoValue(
                Reason.NOT_APPLICABLE,
                f"{film.path.name} is not a kind of file that servers take as video",
                advice="Convert it to MP4, or send frames: video=frames.",
            )
        try:
            size = place.stat().st_size
            if size > self.most_bytes:
                raise NoValue(
                    Reason.TOO_LARGE,
                    f"the video has {size / _MEGABYTE:.1f} MB, more than is sent in a request "
                    f"({self.most_bytes / _MEGABYTE:g} MB)",
                    advice="Raise video_limit=, name an address (video_root, video_base), or send "
                    "frames: video=frames.",
                )
            data = place.read_bytes()
        except OSError as error:
            raise NoValue(Reason.MISSING_FILE, f"cannot read {film.path}: {error}") from None
        return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def with_films(request: ChatRequest) -> Iterator[Part | Film]:
    """Yield the parts of a request, with a film in the place of its frames and their times."""
    before: Film | None = None
    for part in request.parts:
        if part.film is None:
            yield part
        elif part.film is not before:
            yield part.film
        before = part.film


def films(request: ChatRequest) -> list[Film]:
    """Return the whole videos of a request, in order."""
    return [part for part in with_films(request) if isinstance(part, Film)]


def pictures_sent(request: ChatRequest, video: NativeVideo | None) -> list[Picture]:
    """Return the pictures that go along: no frames of what is sent as a video."""
    return [picture for picture in request.pictures if video is None or picture.film is None]


def digests(shown: Sequence[Film]) -> list[str]:
    """Hashes of the files: the same frames may be of different videos."""
    try:
        return [weights.sha256_of(film.path) for film in shown]
    except OSError as error:
        raise NoValue(Reason.MISSING_FILE, f"cannot read a video: {error}") from None
