"""Importers: what films and videos can be read from, chosen by content.

A corpus for ``build`` is films with captions; inputs for ``score`` are videos. Each layout has an
importer: a manifest, a Vript download, videos and folders of videos, those of other tools
(``*_layouts``), and whatever a plugin registers. Those of plugins are asked first, so that
ours, which take nearly anything, come last.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from screentest.core import BadOption, Item, ManifestError, UnknownName, build, register, registry
from screentest.core.registry import BUILTIN
from screentest.core.signature import parse
from screentest.inputs.fields import Complaint, Problem, ProblemKind, did_you_mean, load_json
from screentest.inputs.layouts.contents import (
    BY_PROMPT,
    FEW,
    PROMPT_LISTS,
    TABLES,
    VIDEO_COLUMNS,
    Listing,
    columns_of,
    misspelt,
    name_key,
    no_prompt,
    shown_name,
    surplus,
)
from screentest.inputs.layouts.vript import LONGEST_FILE, NoCaptions, read_vript
from screentest.inputs.manifest import BadRows, examine_manifest, read_manifest
from screentest.inputs.parted import Corpus

VIDEOS = frozenset(
    {
        *(".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg"),
        *(".ogv", ".gif", ".ts", ".flv", ".wmv"),
    }
)
"""How the names of videos end, where a folder is given."""


_WRONG = frozenset({ProblemKind.BAD_FILE, ProblemKind.BAD_ROW, ProblemKind.DUPLICATE_ID})


class Importer(Protocol):
    """Reads one layout of files. Registered under the kind ``importer``."""

    @property
    def for_films(self) -> bool:
        """True if ``build`` may read with it: what it reads has captions."""

    @property
    def for_videos(self) -> bool:
        """True if ``score`` may read with it: each film is one file."""

    def accepts(self, path: Path) -> bool:
        """Return True if a file or folder looks like its layout. Read little, raise nothing."""

    def read(self, path: Path) -> Corpus:
        """Read what is there; raise ManifestError where nothing can be used."""


def read_corpus(path: Path, form: str | None = None) -> Corpus:
    """Films, with captions where they have some; ``form`` names the importer, ``name`` or
    ``name:option=value,…``.

    A bad row is one of the problems, and the others are taken. A corpus without a format is videos
    in a layout that ``score`` reads. Raises ManifestError where there is not one source.
    """
    if form is None and path.suffix.lower() in VIDEOS and not path.is_dir():
        return examine_inputs([path])
    try:
        return importer_of(path, form, films=True).read(path)
    except NoCaptions:
        if form is None and path.is_dir():
            with suppress(NoLayout):
                return examine_inputs([path])
        raise


def read_inputs(inputs: Sequence[Path], prompt: str = "", form: str | None = None) -> list[Item]:
    """Items to score; ``prompt`` is for those that are plain videos."""
    return list(examine_inputs(inputs, prompt, form).items)


def examine_inputs(inputs: Sequence[Path], prompt: str = "", form: str | None = None) -> Corpus:
    """Return the same, with what is missing, surplus and doubled in the folders of layouts."""
    items: list[Item] = []
    problems: list[Problem] = []
    seen = []
    for path in inputs:
        importer = importer_of(path, form)
        corpus = importer.read(path)
        wrong = [problem for problem in corpus.problems if problem.kind in _WRONG]
        if wrong:  # what is scored is counted: no row may be missing
            raise BadRows(path, wrong)
        problems += corpus.problems
        if corpus.seen:
            where = f" ({path})" if len(inputs) > 1 else ""
            seen.append(f"layout: {corpus.format}{where}; {corpus.seen}")
        items += [item if item.text else replace(item, prompt=prompt) for item in corpus.items]
    return Corpus("", tuple(_distinct(items)), (), tuple(problems), "\n".join(seen))


def importer_of(path: Path, form: str | None = None, *, films: bool = False) -> Importer:
    """Return the importer of that name, or the one that takes a path."""
    try:
        made: Importer = build("importer", form or format_of(path, films=films)).thing
    except UnknownName:
        name = parse(form or "")[0]
        advice = did_you_mean(name, [known for known, _ in _importers(films=films)])
        raise BadOption(f"unknown layout {name!r}", advice=advice) from None
    return made


def format_of(path: Path, *, films: bool = True) -> str:
    """Return the name of the importer that takes a path."""
    fitting = (name for name, each in _importers(films=films) if each.accepts(path))
    return next(fitting, "manifest")  # whose errors say what a corpus is


def _importers(*, films: bool) -> Iterator[tuple[str, Importer]]:
    """Those for films or for videos that need no options, of plugins first."""
    entries = sorted(registry.entries("importer"), key=lambda one: one.info.get("last", 0))
    for entry in sorted(entries, key=lambda one: one.origin == BUILTIN):
        if all(
            parameter.default is not inspect.Parameter.empty
            for parameter in entry.parameters.values()
        ):
            importer = entry.factory()
            if importer.for_films if films else importer.for_videos:
                yield entry.name, importer


@register("importer", "vript", summary="a Vript download: captions with clips or untrimmed videos")
class VriptImporter:
    """Films in one file, or in clips that are joined when a testbed is built."""

    for_films, for_videos = True, False

    def accepts(self, path: Path) -> bool:
        """Take every folder, and JSON with ``meta`` and ``data``."""
        if path.is_dir():
            return True
        # A manifest may be far larger than what a captions file can be, and need not be JSON.
        if not path.is_file() or path.suffix.lower() in (".csv", ".tsv"):
            return False
        try:
            if path.stat().st_size > LONGEST_FILE:
                return False
            content = load_json(path.read_bytes().decode("utf-8-sig"))
        except (OSError, UnicodeDecodeError, Complaint):
            return False  # a manifest will say what is wrong
        first = content[0] if isinstance(content, list) and content else content
        return isinstance(first, dict) and "meta" in first and "data" in first

    def read(self, path: Path) -> Corpus:
        """Return the sources whose clips are there."""
        corpus = read_vript(path)
        if not corpus.parted and not corpus.items:
            listed = "\n".join(f"- {problem.message}" for problem in corpus.problems[:10])
            raise ManifestError(
                f"no video in {path} can be used:\n{listed}",
                advice="Put the clips (VIDEO-Scene-001.mp4 …) below the same folder, or the"
                " untrimmed videos (VIDEO.mp4) with VIDEO_cut_meta.json.",
            )
        return corpus


@register("importer", "manifest", summary="a .jsonl, .csv or .json manifest", last=1)
class ManifestImporter:
    """One row per item."""

    for_films, for_videos = True, True

    def accepts(self, path: Path) -> bool:
        """By its name; a JSON array is one, too. A folder by the only one that is in it."""
        if path.is_dir():
            return self._inside(path) is not None
        if path.suffix.lower() == ".json" and path.is_file():
            with path.open("rb") as file:
                return file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
        return path.suffix.lower() in (".jsonl", ".csv")

    def read(self, path: Path) -> Corpus:
        """Return the good rows; a file that is cut short or has none raises all problems."""
        if path.is_dir():
            file = self._inside(path)
            if file is None:
                raise ManifestError(
                    f"{path} has no manifest, or several",
                    advice="Give the .jsonl, .csv or .json file itself.",
                )
            corpus = self.read(file)
            problems = (*corpus.problems, *surplus(path, corpus.items))
            return replace(corpus, problems=problems, seen=f"the rows of {file.name}")
        rows = examine_manifest(path)
        cut_short = any(problem.kind is ProblemKind.BAD_FILE for problem in rows.problems)
        if cut_short or not rows.items:
            return Corpus("manifest", tuple(read_manifest(path)))  # which raises
        return Corpus("manifest", tuple(rows.items), problems=rows.problems)

    def _inside(self, folder: Path) -> Path | None:
        """Return the only manifest beside videos that it names."""
        listing = Listing(folder)
        tables = listing.ending(".jsonl", ".csv", ".json") if listing.videos else ()
        names = {video.name for video in listing.videos}
        fitting = [
            table
            for table in tables[:FEW]
            if columns_of(table) >= {"id", "video"}
            and any(item.video.name in names for item in examine_manifest(table).items)
        ]
        return fitting[0] if len(fitting) == 1 and len(tables) <= FEW else None


class NoLayout(BadOption):
    """Files that are no videos, in no layout that is known."""

    def __init__(self, message: str) -> None:
        names = ", ".join(name for name, _ in _importers(films=False))
        advice = f"Name the layout, `layout=NAME` ({names}), or give a manifest."
        super().__init__(message, advice=advice)


@register("importer", "videos", summary="a video, or a folder of videos", last=2)
class VideoImporter:
    """Files by their suffix in a folder; any file that is named."""

    for_films, for_videos = False, True

    def accepts(self, path: Path) -> bool:
        return True

    def read(self, path: Path) -> Corpus:
        """Return the videos, by name."""
        if not _is_there(path):
            raise BadOption(
                f"{path} is not there", advice="Check the path, or the folder it is relative to."
            )
        listing = Listing(path)
        if not path.is_dir() and path.suffix.lower() in (*TABLES, ".txt"):
            raise NoLayout(f"{path} is not a video, and no layout that is known")
        files = (
            sorted(file for file in path.iterdir() if _is_video(file)) if path.is_dir() else [path]
        )
        if not files:
            raise NoLayout(f"{path} holds no videos; seen: {listing.told()}")
        tables = listing.ending(*TABLES, ".txt") if path.is_dir() else ()
        seen = []
        if tables:
            names = ", ".join(table.name for table in tables[:FEW])
            seen.append(f"no layout was recognised, and {names} not read: name one as `layout`.")
        seen += [
            f"{table.name} is a manifest: give it instead of the folder."
            for table in tables[:FEW]
            if {"id", "video"} <= columns_of(table)
        ]
        named = [video.stem for video in listing.videos if BY_PROMPT.fullmatch(video.stem)]
        spoken = [name for name in named if len(name_key(name).split()) > 1]
        if 0 < len(spoken) < len(listing.videos):
            count = f"{len(named)} of {len(listing.videos)} videos"
            way = "`layout=prompt_names` takes those with prompts."
            seen.append(f"{count} are named PROMPT-SEED: {way}")
        items = tuple(Item(shown_name(file.name), file) for file in files)
        return Corpus("videos", items, (), tuple(_lost_prompts(tables)), " ".join(seen))


def _lost_prompts(tables: Sequence[Path]) -> Iterator[Problem]:
    """Tables and lists whose names or columns say that they hold the prompts."""
    for table in tables:
        columns = columns_of(table)
        near = None if columns & {*VIDEO_COLUMNS} else misspelt(sorted(columns), VIDEO_COLUMNS)
        if near or table.name in PROMPT_LISTS or table.stem == "metadata":
            yield no_prompt(f"{table.name} is not read: no layout fits it and the videos", near)


def _is_there(path: Path) -> bool:
    """Find typing errors at once; addresses and dead links are for who opens them."""
    address = any(part.endswith(":") for part in path.parts)
    return address or path.exists() or path.is_symlink()


def _is_video(path: Path) -> bool:
    # A link to nothing counts: what was to be there is reported as missing, not left out.
    return path.suffix.lower() in VIDEOS and not path.is_dir()


def _distinct(items: list[Item]) -> list[Item]:
    """Files of one name are distinguished by as much of their folders as it takes."""
    named = items
    folders = [[shown_name(part) for part in item.video.absolute().parts[1:-1]] for item in items]
    for depth in range(1, 1 + max(map(len, folders), default=0)):
        seen = Counter(item.id for item in named)
        named = [
            replace(one, id="/".join((*parts[-depth:], item.id))) if seen[one.id] > 1 else one
            for one, item, parts in zip(named, items, folders, strict=True)
        ]
    return named
