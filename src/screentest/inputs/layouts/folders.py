"""The importer of a folder of folders: one for each model or checkpoint."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tarfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from screentest._util.atomic import atomic_output
from screentest._util.collect import grouped
from screentest.core import Item, ManifestError, register
from screentest.inputs.fields import Complaint, Problem, ProblemKind, load_json, quoted
from screentest.inputs.files import VIDEO_SUFFIXES
from screentest.inputs.importers import Importer, importer_of
from screentest.inputs.layouts.contents import (
    BY_PROMPT,
    LARGEST_ARCHIVE,
    PROMPT_COLUMNS,
    PROMPT_LISTS,
    Listing,
    caption,
    missing,
    most_match,
    no_prompt,
    shown_name,
)
from screentest.inputs.layouts.names import NUMBERED, Numbered, PromptNames
from screentest.inputs.layouts.tables import Metadata, VideosToCaption
from screentest.inputs.manifest import BadRows
from screentest.inputs.parted import Corpus
from screentest.models.weights import cache_folder
from screentest.models.weights.archives import TarMember
from screentest.run.inputs import ABSENT, hash_file


@register(
    "importer",
    "webdataset",
    summary="WebDataset: .tar files of KEY.mp4 with KEY.txt or KEY.json",
    last=-1,
)
class WebDataset:
    """Files of one key are one sample: the video, and its prompt as text or in JSON."""

    for_films, for_videos = True, True
    TEXTS = (".txt", ".caption", ".prompt", ".json")
    LONGEST_TEXT = 2**20

    def accepts(self, path: Path) -> bool:
        """Take a .tar file, or a folder that has some and no videos."""
        if path.is_dir():
            listing = Listing(path)
            return bool(listing.ending(".tar")) and not listing.videos
        return path.suffix.lower() == ".tar" and path.is_file()

    def read(self, path: Path) -> Corpus:
        """Read every archive; where keys repeat, its name tells them apart."""
        archives = Listing(path).ending(".tar") if path.is_dir() else (path,)
        items: dict[str, Item] = {}
        problems: list[Problem] = []
        for archive in archives:
            members, wrong = self._archive(archive)
            problems += wrong
            for item in members:
                if item.id in items:
                    problems.append(_second(item.id, f"{archive.name} has it once more"))
                items.setdefault(item.id, item)
        if not items and problems:
            raise BadRows(path, problems)
        if not items:
            raise ManifestError(
                f"{path} has no videos", advice="A sample is KEY.mp4 with KEY.txt or KEY.json."
            )
        words = f"{len(archives)} archive{'s' * (len(archives) != 1)}"
        return Corpus("webdataset", tuple(items.values()), (), tuple(problems), words)

    def _archive(self, archive: Path) -> tuple[list[Item], list[Problem]]:
        # Another archive of the same name, size and date is another archive.
        digest = hash_file(archive, LARGEST_ARCHIVE.get())
        if " " in digest or digest == ABSENT:
            why = "cannot be read" if digest == ABSENT else "is larger than `max_file_size`"
            raise ManifestError(f"{archive} {why}", advice=_UNPACK)
        videos: dict[str, tarfile.TarInfo] = {}
        prompts: dict[str, str] = {}
        problems: list[Problem] = []
        try:
            with tarfile.open(archive, "r:", tarinfo=TarMember) as file:
                for member in file:
                    if member.size < 0:
                        raise tarfile.ReadError("a member has a negative size")
                    # Keys end at the first dot of the name, as WebDataset has it.
                    folder, _, name = shown_name(member.name).rpartition("/")
                    stem, _, ending = name.partition(".")
                    key, suffix = f"{folder}/{stem}".strip("/"), f".{ending.lower()}"
                    if not member.isfile() or not stem:
                        continue
                    if member.issparse():  # a few bytes can stand for terabytes
                        why = f"{archive.name} has {quoted(name)} as a sparse file"
                        problems.append(Problem(ProblemKind.UNREADABLE, why, _UNPACK, id=key))
                    elif suffix in VIDEO_SUFFIXES:
                        if key in videos:
                            problems.append(_second(key, f"{archive.name} has two of this key"))
                        videos.setdefault(key, member)
                    elif suffix in self.TEXTS and member.size <= self.LONGEST_TEXT:
                        try:
                            prompts.setdefault(key, _prompt_in(file, member, suffix))
                        except Complaint as complaint:
                            problems.append(no_prompt(f"{quoted(name)}: {complaint.message}"))
                places = _unpacked(file, videos, cache_folder() / "webdataset" / digest[:32])
        except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
            raise ManifestError(f"{archive} cannot be unpacked: {error}", advice=_UNPACK) from None
        for key in prompts.keys() - videos.keys():
            problems.append(missing(f"{archive.name} has no video {quoted(key)}"))
        items = [Item(key, video, prompts.get(key, "")) for key, video in places.items()]
        problems += [
            Problem(ProblemKind.UNLISTED, f"no prompt in {archive.name}", id=item.id)
            for item in items
            if not item.prompt
        ]
        return items, problems


_UNPACK = "Read archives are plain .tar files; unpack others: tar -xf ARCHIVE."
MOST_UNPACKED = 20 * 2**30
"""Bytes that all that is unpacked of archives may take."""
_IN_USE = 3 * 24 * 3600  # seconds for which what was unpacked stays: a run may read it


def _unpacked(
    file: tarfile.TarFile, videos: Mapping[str, tarfile.TarInfo], place: Path
) -> dict[str, Path]:
    """Copy the videos of an archive to its place in the cache, where they are not there yet."""
    places, absent = {}, {}
    for key, member in videos.items():
        # A name of our own: one in an archive may lead anywhere.
        name = hashlib.sha256(key.encode()).hexdigest()[:24]
        path = places[key] = place / f"{name}{Path(member.name).suffix.lower()}"
        if not path.is_file() or path.stat().st_size != member.size:
            absent[path] = member
    if absent:
        _make_room(place, sum(member.size for member in absent.values()))
        place.mkdir(parents=True, exist_ok=True)
    for path, member in absent.items():
        with atomic_output(path) as target:
            shutil.copyfileobj(file.extractfile(member) or io.BytesIO(), target, 2**20)
    if places:
        os.utime(place)
    return places


def _make_room(place: Path, size: int) -> None:
    """Remove archives that were not read for days, the longest unused first; or refuse."""
    cache = place.parent
    sizes: Counter[tuple[float, Path]] = Counter()
    for path in cache.glob("*/*"):
        with suppress(FileNotFoundError):  # removed by another process
            sizes[path.parent.stat().st_mtime, path.parent] += path.stat().st_size
    left = sizes.total() + size
    for (used, folder), taken in sorted(sizes.items()):
        if left > MOST_UNPACKED and folder != place and used < time.time() - _IN_USE:
            shutil.rmtree(folder, ignore_errors=True)
            left -= taken
    if left > MOST_UNPACKED:
        raise ManifestError(
            f"unpacked archives would take {left:,} bytes, and {cache} may hold {MOST_UNPACKED:,}",
            advice=f"Remove what is there. {_UNPACK}",
        )


def _second(key: str, why: str) -> Problem:
    return Problem(ProblemKind.DUPLICATE_VIDEO, why, "The first is taken.", id=key)


def _prompt_in(file: tarfile.TarFile, member: tarfile.TarInfo, suffix: str) -> str:
    """Return the prompt of a text or JSON file; raises Complaint where that is broken."""
    content = file.extractfile(member) or io.BytesIO()
    text = content.read().decode("utf-8-sig", "replace").strip()
    if suffix != ".json":
        return text
    fields = load_json(text, constants=True)
    if not isinstance(fields, dict):
        return ""
    return next((caption(fields[name]) for name in PROMPT_COLUMNS if name in fields), "")


@register(
    "importer",
    "models",
    summary="a folder of folders: one for each model, each in a layout of its own",
    last=-1,
)
class Models:
    """Folders beside each other. A list of prompts above them is for all."""

    for_films, for_videos = False, True

    def accepts(self, path: Path) -> bool:
        """Take a folder without videos of its own, with folders that a layout fits."""
        if not path.is_dir():
            return False
        listing = Listing(path)
        return not listing.videos and bool(self._folders(listing))

    @staticmethod
    def _folders(listing: Listing) -> list[Path]:
        return [folder for folder in listing.folders if Listing(folder).videos or _is_other(folder)]

    def read(self, path: Path) -> Corpus:
        """Return the videos of all."""
        listing = Listing(path)
        prompts = listing.first(PROMPT_LISTS)
        items: list[Item] = []
        problems: list[Problem] = []
        layouts: dict[str, str] = {}
        for folder in self._folders(listing):
            part = self._importer(folder, prompts).read(folder)
            model = shown_name(folder.name)
            layouts[model] = part.format
            for item in part.items:
                groups = {"model": model, **item.groups}
                items.append(replace(item, id=f"{model}/{item.id}", groups=groups))
            problems += [
                replace(problem, message=f"{model}: {problem.message}") for problem in part.problems
            ]
        if not items:
            raise ManifestError(f"{path} has no folders of videos")
        problems += _not_shared(items)
        alike = grouped((layout, name) for name, layout in layouts.items())
        words = "; ".join(f"{', '.join(models)}: {layout}" for layout, models in alike.items())
        return Corpus("models", tuple(items), (), tuple(problems), words)

    @staticmethod
    def _importer(folder: Path, prompts: Path | None) -> Importer:
        if prompts is not None and not _is_other(folder):
            videos = Listing(folder).videos
            if most_match(NUMBERED, videos):
                return Numbered(prompts=str(prompts))
            if most_match(BY_PROMPT, videos):
                return PromptNames(prompts=str(prompts))
        return importer_of(folder)


def _is_other(folder: Path) -> bool:
    """Return True if it has a table or archive."""
    return any(kind.accepts(folder) for kind in (Metadata(), VideosToCaption(), WebDataset()))


def _not_shared(items: Sequence[Item]) -> Iterator[Problem]:
    """Prompts that some of the models have and others lack."""
    have = grouped((item.groups["model"], item.prompt) for item in items if item.prompt)
    every = dict.fromkeys(prompt for prompts in have.values() for prompt in prompts)
    for model, prompts in have.items():
        theirs = set(prompts)
        for prompt in (prompt for prompt in every if prompt not in theirs):
            yield missing(f"{model}: no video of the prompt {quoted(prompt)}, which others have")
