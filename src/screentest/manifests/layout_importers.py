"""Importers of the layouts that people have: names, tables and lists of other tools.

Each reads a folder (or its table) as it is, keeps the prompt and the index of the seed, and lists
what is missing, surplus and doubled. Seeds of one prompt have one prompt, so that they count as
one in every interval.
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from screentest._util.atomic import write_whole
from screentest.core import BadOption, Item, ManifestError, register
from screentest.manifests.fields import GROUP_PREFIX, Problem, ProblemKind, quoted
from screentest.manifests.files import VIDEO_SUFFIXES
from screentest.manifests.importers import Corpus, Importer, importer_of
from screentest.manifests.layouts import (
    GROUP_COLUMNS,
    PROMPT_COLUMNS,
    TABLES,
    VIDEO_COLUMNS,
    ListedPrompt,
    Listing,
    TableRow,
    caption,
    column_of,
    columns_of,
    name_key,
    read_prompts,
    surplus,
    table_rows,
    text_of,
    without_doubles,
)
from screentest.manifests.vript_files import CLIP
from screentest.models.weights import cache_folder

PROMPT_LISTS = (
    *("prompts.txt", "prompt.txt", "prompts.csv", "prompts.parquet"),
    *("prompts.json", "prompts.jsonl", "VBench_full_info.json"),
)
"""Where the prompts of a folder are looked for."""
METADATA = tuple(f"metadata{suffix}" for suffix in (".jsonl", ".csv", ".json", ".parquet", ".tsv"))
_BY_PROMPT = re.compile(r"(?P<prompt>.*\S)[-_](?P<seed>\d{1,6})", re.DOTALL)
_NUMBERED = re.compile(
    r"(?:[A-Za-z]+[-_ ]?)?(?P<number>\d{1,9})(?:[-_](?:seed)?(?P<seed>\d{1,6}))?"
)
_CUT = 60
"""Characters from which on a name may be the beginning of a prompt only."""


def _missing(message: str, advice: str = "") -> Problem:
    return Problem(ProblemKind.MISSING, message, advice)


def _seeds(found: Iterable[str]) -> list[str]:
    return sorted(set(found), key=lambda seed: (len(seed), seed))


def _uneven(seeds: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
    """Prompts that lack a seed which others have."""
    every = _seeds(seed for own in seeds.values() for seed in own)
    for prompt, own in seeds.items():
        for seed in every:
            if seed not in own:
                yield _missing(f"no video {seed} of the prompt {quoted(prompt)}")


def _doubled(item: Item, earlier: Item) -> Problem:
    return Problem(
        ProblemKind.DUPLICATE_VIDEO,
        f"the same prompt and seed as {earlier.video.name}",
        "The first is taken.",
        id=item.id,
        path=item.video,
    )


# ---- videos that are named by their prompt


@register(
    "importer",
    "prompt_names",
    version=1,
    summary="videos named PROMPT-SEED.mp4, as VBench has them",
    last=-1,
)
def prompt_names(*, prompts: str = "") -> PromptNames:
    """Prompts from the names, or from a list that the names are matched with."""
    return PromptNames(Path(prompts) if prompts else None)


class PromptNames:
    """``{prompt}-{i}.mp4``; with a list of prompts beside them, or without."""

    for_films, for_videos = False, True

    def __init__(self, prompts: Path | None = None) -> None:
        self._prompts = prompts

    def accepts(self, path: Path) -> bool:
        """A folder of videos whose names are all several words and a number."""
        stems = [one.stem for one in Listing(path).videos] if path.is_dir() else []
        named = [_BY_PROMPT.fullmatch(stem) for stem in stems]
        return bool(named) and all(
            one is not None and len(name_key(one["prompt"]).split()) > 1 and not CLIP.fullmatch(s)
            for one, s in zip(named, stems, strict=True)
        )

    def read(self, path: Path) -> Corpus:
        """The videos by prompt and seed."""
        listing = Listing(path)
        if not listing.videos:
            raise ManifestError(f"{path} has no videos", advice="Give their folder.")
        source = self._prompts or listing.first(PROMPT_LISTS)
        known = [one.text for one in read_prompts(source)] if source is not None else None
        problems: list[Problem] = []
        taken: dict[tuple[str, str], Item] = {}
        for video in listing.videos:
            found = _BY_PROMPT.fullmatch(video.stem)
            prompt = found["prompt"] if found else ""
            if known is not None and prompt:
                prompt = _listed_as(prompt, known)
            if found is None or not prompt:
                problems.append(_no_prompt(video, listed=found is not None))
                continue
            seed = str(int(found["seed"]))
            item = Item(video.name, video, prompt, groups={"seed": seed})
            earlier = taken.setdefault((prompt, seed), item)
            if earlier is not item:
                problems.append(_doubled(item, earlier))
        seeds: dict[str, list[str]] = defaultdict(list)
        for prompt, seed in taken:
            seeds[prompt].append(seed)
        problems += _uneven(seeds)
        if known is not None:
            lost = [one for one in dict.fromkeys(known) if one not in seeds]
            problems += [_missing(f"no video of the prompt {quoted(one)}") for one in lost]
        if not taken:
            raise ManifestError(f"no video in {path} is named PROMPT-SEED", advice=_HOW)
        names = f"{len(seeds)} prompts, seeds {', '.join(_seeds(seed for _, seed in taken))}"
        return Corpus("prompt_names", tuple(taken.values()), (), tuple(problems), names)


_HOW = "Names look like 'A cat sleeps-0.mp4'."


def _listed_as(name: str, known: Sequence[str]) -> str:
    """The prompt of a list that a name stands for: the same, or the only one it begins."""
    if name in known:  # two prompts of VBench differ by a capital letter
        return name
    key = name_key(name)
    same = [one for one in known if name_key(one) == key]
    if not same and len(key) >= _CUT:
        same = list(dict.fromkeys(one for one in known if name_key(one).startswith(key)))
    return same[0] if same and (len(same) == 1 or len(set(same)) == 1) else ""


def _no_prompt(video: Path, *, listed: bool) -> Problem:
    why = "is named by no prompt of the list" if listed else "is not named PROMPT-SEED"
    return Problem(
        ProblemKind.UNLISTED,
        f"{quoted(video.name)} {why}",
        "Videos without a prompt are left out.",
        path=video,
    )


# ---- tables of videos and prompts


@register(
    "importer",
    "metadata",
    version=1,
    summary="a table of videos and prompts: metadata.csv, .json, .jsonl, .parquet",
    last=-1,
)
def metadata(*, video: str = "", prompt: str = "") -> Metadata:
    """``video`` and ``prompt`` name the columns where they are called otherwise."""
    return Metadata((video,) if video else VIDEO_COLUMNS, (prompt,) if prompt else PROMPT_COLUMNS)


class Metadata:
    """Rows with a column of videos (``video``, ``file_name``, …) and one of prompts."""

    for_films, for_videos = True, True

    def __init__(self, videos: Sequence[str], prompts: Sequence[str]) -> None:
        self._videos = videos
        self._prompts = prompts

    def accepts(self, path: Path) -> bool:
        """A folder with ``metadata.*``, or a table that is not a manifest: it has no ids."""
        table = Listing(path).first(METADATA) if path.is_dir() else path
        if table is None or table.suffix.lower() not in TABLES or not table.is_file():
            return False
        columns = columns_of(table)
        if {"id", "video"} <= columns and table is path:
            return False
        return not columns.isdisjoint(self._videos)

    def read(self, path: Path) -> Corpus:
        """An item for each row."""
        table = Listing(path).first(METADATA) if path.is_dir() else path
        if table is None:
            raise ManifestError(f"{path} has no table", advice=f"One of {', '.join(METADATA)}.")
        return read_table(table, table_rows(table), self._videos, self._prompts, "metadata")


def read_table(
    table: Path,
    rows: Sequence[TableRow],
    videos: Sequence[str],
    prompts: Sequence[str],
    layout: str,
    folder: Path | None = None,
) -> Corpus:
    """The items of rows; their videos are below ``folder``, or beside the table."""
    video, prompt = column_of(rows, videos), column_of(rows, prompts)
    if rows and not video:
        raise ManifestError(
            f"{table} has no column of videos",
            advice=f"Columns are looked for under: {', '.join(videos)}.",
        )
    place = folder or table.parent
    items, problems = [], []
    for row in rows:
        name = text_of(row.fields.get(video))
        if not name:
            problems.append(Problem(ProblemKind.BAD_ROW, f"no {video}", line=row.line))
            continue
        groups = _groups(row.fields, {video, prompt})
        named = text_of(row.fields.get("id")) or name
        text = caption(row.fields.get(prompt)) if prompt else ""
        items.append(Item(named, place / name, text, groups=groups))
    if not items:
        raise ManifestError(f"{table} names no video")
    single, doubled = without_doubles(items)
    words = f"{table.name}: videos by {video!r}, " + (
        f"prompts by {prompt!r}" if prompt else "no column of prompts"
    )
    found = [*problems, *doubled, *surplus(place, items)]
    return Corpus(layout, single, (), tuple(found), words)


def _groups(fields: Mapping[str, object], used: set[str]) -> dict[str, str]:
    found = {}
    for name, value in fields.items():
        wanted = name in GROUP_COLUMNS or name.startswith(GROUP_PREFIX)
        if wanted and name not in used and (text := text_of(value)):
            found[name.removeprefix(GROUP_PREFIX)] = text
    return found


@register(
    "importer",
    "videos2caption",
    version=1,
    summary="videos2caption.json beside a folder videos/, as FastVideo has it",
    last=-2,
)
def videos2caption(*, videos: str = "") -> VideosToCaption:
    """``videos`` is the folder of the videos where it is another."""
    return VideosToCaption(Path(videos) if videos else None)


class VideosToCaption:
    """Rows of ``path`` and ``cap``; the videos are below ``videos/``, or beside the file."""

    for_films, for_videos = True, True
    FILE = "videos2caption.json"

    def __init__(self, videos: Path | None = None) -> None:
        self._videos = videos

    def accepts(self, path: Path) -> bool:
        return path.name == self.FILE or (path / self.FILE).is_file()

    def read(self, path: Path) -> Corpus:
        """An item for each row."""
        table = path / self.FILE if path.is_dir() else path
        beside = table.parent / "videos"
        folder = self._videos or (beside if beside.is_dir() else table.parent)
        names = ("path", *VIDEO_COLUMNS)
        prompts = ("cap", *PROMPT_COLUMNS)
        return read_table(table, table_rows(table), names, prompts, "videos2caption", folder)


# ---- lists of prompts


@register(
    "importer",
    "lists",
    version=1,
    summary="prompts.txt and videos.txt, line by line",
    last=-2,
)
def lists() -> Lists:
    """The first prompt belongs to the first video, and so on."""
    return Lists()


class Lists:
    """Two files of equally many lines."""

    for_films, for_videos = True, True
    PROMPTS = ("prompts.txt", "prompt.txt")
    VIDEOS = ("videos.txt", "video.txt")

    def accepts(self, path: Path) -> bool:
        listing = Listing(path)
        return listing.first(self.PROMPTS) is not None and listing.first(self.VIDEOS) is not None

    def read(self, path: Path) -> Corpus:
        """An item for each line."""
        listing = Listing(path)
        texts, files = listing.first(self.PROMPTS), listing.first(self.VIDEOS)
        if texts is None or files is None:
            raise ManifestError(f"{path} has no prompts.txt with videos.txt")
        prompts = [one.text for one in read_prompts(texts)]
        videos = [one.text for one in read_prompts(files)]
        if len(prompts) != len(videos):
            raise ManifestError(
                f"{texts.name} has {len(prompts)} lines and {files.name} {len(videos)}",
                advice="Line by line they belong together; which one is missing cannot be known.",
            )
        both = zip(videos, prompts, strict=True)
        single, doubled = without_doubles(Item(one, path / one, text) for one, text in both)
        found = (*doubled, *surplus(path, single))
        return Corpus("lists", single, (), found, f"{len(single)} lines")


@register(
    "importer",
    "numbered",
    version=1,
    summary="numbered videos (0001.mp4, 0001-2.mp4) in the order of a list of prompts",
    last=-1,
)
def numbered(*, prompts: str = "", first: int = -1) -> Numbered:
    """``prompts`` is the list (.txt or a table), ``first`` the number that it begins with."""
    return Numbered(Path(prompts) if prompts else None, first)


class Numbered:
    """The number of a video is the place of its prompt in a list."""

    for_films, for_videos = False, True

    def __init__(self, prompts: Path | None = None, first: int = -1) -> None:
        self._prompts = prompts
        self._first = first

    def accepts(self, path: Path) -> bool:
        """A folder with a list of prompts, and videos that all have a number."""
        listing = Listing(path)
        return (
            bool(listing.videos)
            and listing.first(PROMPT_LISTS) is not None
            and all(_NUMBERED.fullmatch(one.stem) for one in listing.videos)
        )

    def read(self, path: Path) -> Corpus:
        """The videos with their prompts."""
        listing = Listing(path)
        source = self._prompts or listing.first(PROMPT_LISTS)
        if source is None:
            raise ManifestError(
                f"{path} has no list of prompts",
                advice="Put prompts.txt into it, or give --layout numbered:prompts=FILE.",
            )
        prompts = read_prompts(source)
        problems: list[Problem] = []
        videos: list[tuple[int, str, Path]] = []
        for video in listing.videos:
            if found := _NUMBERED.fullmatch(video.stem):
                videos.append((int(found["number"]), str(int(found["seed"] or 0)), video))
            else:
                problems.append(_surplus_number(video, "has no number"))
        if not videos:
            raise ManifestError(f"no video in {path} has a number")
        first = self._begins([number for number, _, _ in videos], prompts, source)
        taken: dict[tuple[int, str], Item] = {}
        for number, seed, video in videos:
            if not 0 <= number - first < len(prompts):
                problems.append(_surplus_number(video, f"{source.name} has no prompt {number}"))
                continue
            prompt = prompts[number - first].text
            item = Item(video.name, video, prompt, groups={"seed": seed})
            earlier = taken.setdefault((number, seed), item)
            if earlier is not item:
                problems.append(_doubled(item, earlier))
        problems += self._lost(prompts, first, taken)
        if not taken:
            raise ManifestError(f"no video in {path} has the number of a prompt in {source.name}")
        words = f"{source.name}: {len(prompts)} prompts, counted from {first}"
        return Corpus("numbered", tuple(taken.values()), (), tuple(problems), words)

    def _begins(self, numbers: list[int], prompts: Sequence[ListedPrompt], source: Path) -> int:
        """The number of the first prompt, where it is said or follows from the names."""
        if self._first >= 0:
            return self._first
        if min(numbers) == 0:
            return 0
        if max(numbers) == len(prompts):
            return 1
        raise BadOption(
            f"numbers go from {min(numbers)} to {max(numbers)}, and {source.name} has"
            f" {len(prompts)} prompts: whether it is counted from 0 or 1 cannot be seen",
            advice="Say it: --layout numbered:first=0, or first=1.",
        )

    @staticmethod
    def _lost(
        prompts: Sequence[ListedPrompt], first: int, taken: Mapping[tuple[int, str], Item]
    ) -> Iterator[Problem]:
        seeds = _seeds(seed for _, seed in taken)
        for place, one in enumerate(prompts, start=first):
            own = [seed for seed in seeds if (place, seed) in taken]
            if not own:
                yield _missing(f"no video of prompt {place}: {quoted(one.text)}")
            for seed in seeds if own else ():
                if seed not in own:
                    yield _missing(f"no video {seed} of prompt {place}: {quoted(one.text)}")


def _surplus_number(video: Path, why: str) -> Problem:
    return Problem(
        ProblemKind.UNLISTED,
        f"{quoted(video.name)}: {why}",
        "Videos without a prompt are left out.",
        path=video,
    )


# ---- archives


@register(
    "importer",
    "webdataset",
    version=1,
    summary="WebDataset: .tar files of KEY.mp4 with KEY.txt or KEY.json",
    last=-1,
)
def webdataset() -> WebDataset:
    """The videos are unpacked once, into the cache."""
    return WebDataset()


class WebDataset:
    """Files of one key are one sample: the video, and its prompt as text or in JSON."""

    for_films, for_videos = True, True
    TEXTS = (".txt", ".caption", ".prompt", ".json")
    LONGEST_TEXT = 2**20

    def accepts(self, path: Path) -> bool:
        """A .tar file, or a folder that has some and no videos."""
        if path.is_dir():
            listing = Listing(path)
            return bool(listing.ending(".tar")) and not listing.videos
        return path.suffix.lower() == ".tar" and path.is_file()

    def read(self, path: Path) -> Corpus:
        """The samples of every archive; keys are distinguished by its name where they repeat."""
        archives = Listing(path).ending(".tar") if path.is_dir() else (path,)
        items: dict[str, Item] = {}
        problems: list[Problem] = []
        for archive in archives:
            found, wrong = self._archive(archive)
            problems += wrong
            for item in found:
                if item.id in items:
                    problems.append(
                        Problem(
                            ProblemKind.DUPLICATE_VIDEO,
                            f"{archive.name} has a key of an earlier archive",
                            "The first is taken.",
                            id=item.id,
                        )
                    )
                items.setdefault(item.id, item)
        if not items:
            raise ManifestError(
                f"{path} has no videos", advice="A sample is KEY.mp4 with KEY.txt or KEY.json."
            )
        return Corpus(
            "webdataset", tuple(items.values()), (), tuple(problems), f"{len(archives)} archives"
        )

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
                            problems.append(_second(key, archive))
                            continue
                        videos[key] = self._unpacked(file, member, place, key, suffix)
                    elif suffix in self.TEXTS and member.size <= self.LONGEST_TEXT:
                        prompts.setdefault(key, _prompt_in(_content(file, member), suffix))
        except (tarfile.TarError, EOFError) as error:
            raise ManifestError(f"{archive} cannot be unpacked: {error}") from None
        for key in prompts.keys() - videos.keys():
            problems.append(_missing(f"{archive.name} has no video {quoted(key)}"))
        items = [Item(key, video, prompts.get(key, "")) for key, video in videos.items()]
        problems += [
            Problem(ProblemKind.UNLISTED, f"no prompt in {archive.name}", id=one.id)
            for one in items
            if not one.prompt
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


def _second(key: str, archive: Path) -> Problem:
    why = f"{archive.name} has two videos of this key"
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


# ---- one folder for each model


@register(
    "importer",
    "models",
    version=1,
    summary="a folder of folders: one for each model, each in a layout of its own",
    last=-1,
)
def models() -> Models:
    """The name of a folder is the group ``model``."""
    return Models()


class Models:
    """Folders beside each other. A list of prompts above them is for all."""

    for_films, for_videos = False, True

    def accepts(self, path: Path) -> bool:
        """A folder without videos of its own, of at least two that a layout fits."""
        if not path.is_dir():
            return False
        listing = Listing(path)
        return not listing.videos and len(self._folders(listing)) > 1

    @staticmethod
    def _folders(listing: Listing) -> list[Path]:
        return [one for one in listing.folders if Listing(one).videos or _is_other(one)]

    def read(self, path: Path) -> Corpus:
        """The videos of all."""
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
                replace(one, message=f"{folder.name}: {one.message}") for one in part.problems
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
            if all(_NUMBERED.fullmatch(one.stem) for one in videos):
                return Numbered(prompts)
            if all(_BY_PROMPT.fullmatch(one.stem) for one in videos):
                return PromptNames(prompts)
        return importer_of(folder)


def _is_other(folder: Path) -> bool:
    """Whether it has a table or archive of its own."""
    return any(kind.accepts(folder) for kind in (metadata(), videos2caption(), webdataset()))


def _not_shared(items: Sequence[Item]) -> Iterator[Problem]:
    """Prompts that some of the models have and others lack."""
    have: dict[str, set[str]] = defaultdict(set)
    for item in items:
        if item.prompt:
            have[item.groups["model"]].add(item.prompt)
    every = dict.fromkeys(item.prompt for item in items if item.prompt)
    for model, own in have.items():
        for prompt in every:
            if prompt not in own:
                yield _missing(
                    f"{model}: no video of the prompt {quoted(prompt)}, which others have"
                )
