"""The importer of a folder of folders: one for each model or checkpoint."""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from screentest._util.atomic import write_whole
from screentest.core import Item, ManifestError, register
from screentest.inputs.fields import Problem, ProblemKind, quoted
from screentest.inputs.files import VIDEO_SUFFIXES
from screentest.inputs.importers import Importer, importer_of
from screentest.inputs.layouts.contents import (
    BY_PROMPT,
    PROMPT_COLUMNS,
    PROMPT_LISTS,
    Listing,
    caption,
    missing,
    most_match,
)
from screentest.inputs.layouts.names import NUMBERED, Numbered, PromptNames
from screentest.inputs.layouts.tables import Metadata, VideosToCaption
from screentest.inputs.parted import Corpus
from screentest.models.weights import cache_folder


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
                    why = f"{archive.name} has a key of an earlier archive"
                    problems.append(_second(item.id, why))
                items.setdefault(item.id, item)
        if not items:
            raise ManifestError(
                f"{path} has no videos", advice="A sample is KEY.mp4 with KEY.txt or KEY.json."
            )
        words = f"{len(archives)} archive{'s' * (len(archives) != 1)}"
        return Corpus("webdataset", tuple(items.values()), (), tuple(problems), words)

    def _archive(self, archive: Path) -> tuple[list[Item], list[Problem]]:
        state = archive.stat()
        mark = f"{archive.absolute()}\n{state.st_size}\n{state.st_mtime_ns}"
        place = cache_folder() / "webdataset" / hashlib.sha256(mark.encode()).hexdigest()[:16]
        videos: dict[str, Path] = {}
        prompts: dict[str, str] = {}
        problems: list[Problem] = []
        try:
            with tarfile.open(archive) as file:
                for member in file:
                    # Keys end at the first dot of the name, as WebDataset has it.
                    folder, _, name = member.name.rpartition("/")
                    stem, _, ending = name.partition(".")
                    key, suffix = f"{folder}/{stem}".strip("/"), f".{ending.lower()}"
                    if not member.isfile() or not stem:
                        continue
                    if suffix in VIDEO_SUFFIXES:
                        if key in videos:
                            why = f"{archive.name} has two videos of this key"
                            problems.append(_second(key, why))
                            continue
                        videos[key] = self._unpacked(file, member, place, key, suffix)
                    elif suffix in self.TEXTS and member.size <= self.LONGEST_TEXT:
                        prompts.setdefault(key, _prompt_in(_content(file, member), suffix))
        except (tarfile.TarError, EOFError) as error:
            raise ManifestError(f"{archive} cannot be unpacked: {error}") from None
        for key in prompts.keys() - videos.keys():
            problems.append(missing(f"{archive.name} has no video {quoted(key)}"))
        items = [Item(key, video, prompts.get(key, "")) for key, video in videos.items()]
        problems += [
            Problem(ProblemKind.UNLISTED, f"no prompt in {archive.name}", id=item.id)
            for item in items
            if not item.prompt
        ]
        return items, problems

    def _unpacked(
        self, file: tarfile.TarFile, member: tarfile.TarInfo, place: Path, key: str, suffix: str
    ) -> Path:
        # A name of our own: one in an archive may lead anywhere.
        target = place / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}{suffix}"
        if not target.is_file() or target.stat().st_size != member.size:
            place.mkdir(parents=True, exist_ok=True)
            write_whole(target, _content(file, member))
        return target


def _second(key: str, why: str) -> Problem:
    return Problem(ProblemKind.DUPLICATE_VIDEO, why, "The first is taken.", id=key)


def _content(file: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = file.extractfile(member)
    return stream.read() if stream is not None else b""


def _prompt_in(content: bytes, suffix: str) -> str:
    text = content.decode("utf-8-sig", "replace").strip()
    if suffix != ".json":
        return text
    try:
        fields = json.loads(text)
    except ValueError:
        return ""
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
        """Take a folder without videos of its own, of at least two that a layout fits."""
        if not path.is_dir():
            return False
        listing = Listing(path)
        return not listing.videos and len(self._folders(listing)) > 1

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
            layouts[folder.name] = part.format
            for item in part.items:
                groups = {"model": folder.name, **item.groups}
                items.append(replace(item, id=f"{folder.name}/{item.id}", groups=groups))
            problems += [
                replace(problem, message=f"{folder.name}: {problem.message}")
                for problem in part.problems
            ]
        if not items:
            raise ManifestError(f"{path} has no folders of videos")
        problems += _not_shared(items)
        words = ", ".join(f"{name} ({layout})" for name, layout in layouts.items())
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
    have: dict[str, set[str]] = defaultdict(set)
    for item in items:
        if item.prompt:
            have[item.groups["model"]].add(item.prompt)
    every = dict.fromkeys(item.prompt for item in items if item.prompt)
    for model, ids in have.items():
        for prompt in every:
            if prompt not in ids:
                yield missing(
                    f"{model}: no video of the prompt {quoted(prompt)}, which others have"
                )
