"""Where the real videos come from: a folder, or a list of addresses through yt-dlp."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path
from typing import Any

from screentest._util.optional import need
from screentest.core import BadOption, Item, StorageError
from screentest.inputs.files import VIDEO_SUFFIXES
from screentest.suites.locot2v.construction.stages import SourceVideo

_NAME = re.compile(r"[^\w.-]+")


def sources_in(folder: Path, theme: str = "") -> list[SourceVideo]:
    """Return the videos of a folder; those in a folder of their own have its name as theme.

    The id of ``pets/dog.mp4`` is ``pets_dog``, so that its theme is what stands before the
    last underscore.
    """
    if not folder.is_dir():
        raise BadOption(f"{folder} is not a folder of videos")
    sources: dict[str, SourceVideo] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in VIDEO_SUFFIXES or not path.is_file():
            continue
        inside = path.relative_to(folder).parts[:-1]
        subject = theme or (_NAME.sub("_", inside[0]) if inside else "")
        stem = _NAME.sub("-", path.stem).replace("_", "-")
        name = f"{subject}_{stem}" if subject else _NAME.sub("-", path.stem)
        if name in sources:
            raise BadOption(
                f"{path} and {sources[name].item.video} would both be called {name!r}",
                advice="Rename one of them.",
            )
        sources[name] = SourceVideo(name, Item(name, path), subject)
    if not sources:
        raise BadOption(f"{folder} holds no videos")
    return list(sources.values())


def download(addresses: Path, into: Path, *, shortest: float, longest: float) -> list[str]:
    """Fetch the videos that a file lists, one address per line, within the duration window.

    Returns the addresses that could not be had. Needs the package yt-dlp.
    """
    try:
        lines = addresses.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadOption(f"{addresses} does not open: {error.strerror}") from None
    wanted = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    for address in wanted:
        if not re.match(r"https?://", address):
            raise BadOption(
                f"{address!r} in {addresses} is not an address", advice="Write https://…"
            )
    need("yt_dlp")
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot make {into}: {error.strerror}") from None
    return _fetch(wanted, into, shortest, longest)


def _fetch(addresses: list[str], into: Path, shortest: float, longest: float) -> list[str]:
    fetcher: Any = importlib.import_module("yt_dlp")

    def fits(info: dict[str, Any], *, incomplete: bool = False) -> str | None:
        duration = info.get("duration")
        if duration is None or shortest <= float(duration) <= longest:
            return None
        return f"{duration} seconds are outside the window"

    lost: list[str] = []
    options = {
        "outtmpl": str(into / "%(id)s.%(ext)s"),
        "format": "bestvideo[ext=mp4]/best[ext=mp4]/best",
        "match_filter": fits,
        "noplaylist": True,
        "quiet": True,
        "noprogress": True,
        "no_warnings": True,
        "overwrites": False,
        "cachedir": False,
    }
    with fetcher.YoutubeDL(options) as client:
        for address in addresses:
            try:
                client.download([address])
            except fetcher.utils.DownloadError:
                lost.append(address)
    return lost
