"""Importers of tables of videos and prompts: ``metadata.csv``, ``captions.json``, FastVideo's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from screentest.core import Item, ManifestError, register
from screentest.inputs.fields import GROUP_PREFIX, Problem, ProblemKind, quoted
from screentest.inputs.layouts.contents import (
    FEW,
    GROUP_COLUMNS,
    MISSPELT,
    PROMPT_COLUMNS,
    PROMPT_LISTS,
    TABLES,
    VIDEO_COLUMNS,
    Listing,
    NoColumn,
    TableRow,
    caption,
    column_of,
    columns_of,
    misspelt,
    names_of,
    no_prompt,
    surplus,
    table_rows,
    text_of,
    without_doubles,
)
from screentest.inputs.manifest import BadRows
from screentest.inputs.parted import Corpus

METADATA = tuple(f"metadata{suffix}" for suffix in (".jsonl", ".csv", ".json", ".parquet", ".tsv"))


@register(
    "importer",
    "metadata",
    summary="a table of videos and prompts: metadata.csv, .json, .jsonl, .parquet",
    last=-1,
)
class Metadata:
    """Rows with a column of videos (``video``, ``file_name``, …) and one of prompts.

    ``video`` and ``prompt`` name the columns where they are called otherwise.
    """

    for_films, for_videos = True, True

    def __init__(self, *, video: str = "", prompt: str = "") -> None:
        self._videos = (video,) if video else VIDEO_COLUMNS
        self._prompts = (prompt,) if prompt else PROMPT_COLUMNS

    def accepts(self, path: Path) -> bool:
        """Take a folder with such a table, or a table that is not a manifest: it has no ids."""
        table = self._table(path)
        if table is None or not table.is_file():
            return False
        columns = columns_of(table)
        if {"id", "video"} <= columns and table is path:
            return False
        return not columns.isdisjoint(self._videos)

    def read(self, path: Path) -> Corpus:
        """Return an item for each row."""
        table = self._table(path)
        if table is None:
            raise ManifestError(
                f"{path} has no table of its videos", advice=f"Looked for {', '.join(METADATA)}."
            )
        return read_table(table, table_rows(table), self._videos, self._prompts, "metadata")

    def _table(self, path: Path) -> Path | None:
        """``metadata.*`` of a folder, or the only table in it that names its videos and prompts."""
        if not path.is_dir():
            return path
        listing = Listing(path)
        usual = listing.first(METADATA)
        tables = listing.ending(*TABLES) if listing.videos else ()
        if usual or len(tables) > FEW:
            return usual
        if listed := listing.first(PROMPT_LISTS):
            return listed if names_videos(listed, self._videos) else None
        fitting = [table for table in tables if self._is_one(table)]
        return fitting[0] if len(fitting) == 1 else None

    def _is_one(self, table: Path) -> bool:
        columns = columns_of(table)
        if columns.isdisjoint(self._prompts) or "id" in columns:
            return False
        return names_videos(table, self._videos)


def names_videos(table: Path, columns: Sequence[str] = VIDEO_COLUMNS) -> bool:
    """Return True if a file is a table with a column of videos beside it."""
    if columns_of(table).isdisjoint(columns):
        return False
    try:
        rows = table_rows(table)
    except ManifestError:
        return True  # that it is broken is said when it is read
    video = column_of(rows, columns)
    names = (text_of(row.fields.get(video)) for row in rows)
    return any((table.parent / name).is_file() for name in names)


def read_table(
    table: Path,
    rows: Sequence[TableRow],
    videos: Sequence[str],
    prompts: Sequence[str],
    layout: str,
    folder: Path | None = None,
) -> Corpus:
    """Return the items of rows; their videos are below ``folder``, or beside the table."""
    video, prompt = column_of(rows, videos), column_of(rows, prompts)
    if rows and not video:
        raise NoColumn(table, "videos", rows, videos)
    place = folder or table.parent
    items, problems = [], []
    for row in rows:
        name = text_of(row.fields.get(video))
        if not name:
            near = misspelt(row.fields, (video,))
            advice = MISSPELT.format(*near) if near else ""
            problems.append(
                Problem(ProblemKind.BAD_ROW, f"no {video}", advice, row.line, row=row.row)
            )
            continue
        asked = row.fields.get(prompt)
        if isinstance(asked, int | float | dict):
            words = f"{prompt} must be text, and is {quoted(str(asked))}"
            problems.append(Problem(ProblemKind.BAD_ROW, words, "", row.line, row=row.row))
            continue
        groups = _groups(row.fields, {video, prompt})
        named = text_of(row.fields.get("id")) or name
        text = caption(asked) if prompt else ""
        items.append(Item(named, place / name, text, groups=groups))
    if not items and problems:
        raise BadRows(table, problems)
    if not items:
        raise ManifestError(f"{table} names no video")
    single, doubled = without_doubles(items)
    words = f"{table.name}: videos by {video!r}, "
    words += f"prompts by {prompt!r}" if prompt else "no column of prompts"
    if not prompt and (near := misspelt(set(names_of(rows)) - {video}, prompts)):
        problems.append(no_prompt(f"{table.name} has no column of prompts", near))
    elif prompt and (empty := sum(not item.prompt for item in items)):
        words += f", {empty} without a prompt"
        if empty < len(items):
            noun = "row" if len(items) == 1 else "rows"
            problems.append(no_prompt(f"{empty} of {len(items)} {noun} have no {prompt}"))
    reported = [*problems, *doubled, *surplus(place, items)]
    return Corpus(layout, single, (), tuple(reported), words)


def _groups(fields: Mapping[str, object], used: set[str]) -> dict[str, str]:
    groups = {}
    for name, value in fields.items():
        wanted = name in GROUP_COLUMNS or name.startswith(GROUP_PREFIX)
        if wanted and name not in used and (text := text_of(value)):
            groups[name.removeprefix(GROUP_PREFIX)] = text
    return groups


@register(
    "importer",
    "videos2caption",
    summary="videos2caption.json beside a folder videos/, as FastVideo has it",
    last=-2,
)
class VideosToCaption:
    """Rows of ``path`` and ``cap``; the videos are below ``videos/``, or beside the file."""

    for_films, for_videos = True, True
    FILE = "videos2caption.json"

    def __init__(self, *, videos: str = "") -> None:
        self._videos = Path(videos) if videos else None

    def accepts(self, path: Path) -> bool:
        return path.name == self.FILE or (path / self.FILE).is_file()

    def read(self, path: Path) -> Corpus:
        """Return an item for each row."""
        table = path / self.FILE if path.is_dir() else path
        beside = table.parent / "videos"
        folder = self._videos or (beside if beside.is_dir() else table.parent)
        names = ("path", *VIDEO_COLUMNS)
        prompts = ("cap", *PROMPT_COLUMNS)
        return read_table(table, table_rows(table), names, prompts, "videos2caption", folder)
