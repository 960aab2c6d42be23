"""Check a manifest, or another layout, against its folder, before anything is evaluated.

In both directions: what is missing, and what nobody asked for.

Rows first, which loads nothing heavy; then whether the files are there; then what is in
them, in worker processes that a bad file cannot take down.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from screentest.core import BadOption, Outcome, Progress, Silent, timecode
from screentest.inputs.fields import Problem, ProblemKind, quoted
from screentest.inputs.files import (
    FileState,
    Inspection,
    Neighbours,
    decoded_state,
    fault_of,
    header_state,
    identity,
    inspect_files,
    picture_state,
    unlisted,
)
from screentest.inputs.importers import format_of, importer_of
from screentest.inputs.manifest import ManifestReading, ManifestRow, examine_manifest


@dataclass(frozen=True, slots=True)
class ManifestReport:
    """What a check found."""

    reading: ManifestReading
    problems: tuple[Problem, ...]
    """All of them: rows in their order, then videos without a row."""
    opened: int
    """How many files were opened."""

    @property
    def ok(self) -> bool:
        """True if there is nothing to fix."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class _Use:
    """A file that a row names, and as what."""

    row: ManifestRow
    field: str
    path: Path


def check_manifest(
    path: str | os.PathLike[str],
    *,
    videos: str | os.PathLike[str] | None = None,
    partial: bool = False,
    deep: bool = False,
    form: str | None = None,
    progress: Progress | None = None,
) -> ManifestReport:
    """Check ``path``, a manifest or another layout (``form``), and the videos beside it.

    ``videos`` is the folder to search for videos without a row, the manifest's own by
    default; ``partial`` skips that search. ``deep`` decodes every frame.
    """
    layout = form or format_of(Path(path), films=False)
    is_manifest = not Path(path).is_dir() and (layout == "manifest" or not Path(path).exists())
    reading = examine_manifest(path) if is_manifest else _layout(Path(path), layout)
    folder = Path(videos) if videos is not None else reading.path.parent
    if not folder.is_dir():
        raise BadOption(f"{folder} is not a folder", advice="Give the folder of the videos.")
    uses = [use for row in reading.rows for use in _uses(row)]
    problems = [*reading.problems]
    if is_manifest:
        problems += _same_videos(reading.rows)
    elif partial:
        problems = [problem for problem in problems if problem.kind is not ProblemKind.UNLISTED]
    present: list[_Use] = []
    neighbours = Neighbours()
    for use in uses:
        problem = _absence(use, neighbours)
        if problem is None:
            present.append(use)
        else:
            problems.append(problem)
    opened, seen = _contents(present, deep, progress or Silent())
    problems += seen
    problems.sort(key=lambda problem: (problem.line or 0, problem.row or 0))
    if is_manifest and not partial:
        problems += _without_row(folder, reading)
    return ManifestReport(reading, tuple(problems), opened)


def _layout(path: Path, form: str) -> ManifestReading:
    """Return a folder of another tool; its importer has looked for what is surplus and doubled."""
    corpus = importer_of(path, form).read(path)
    rows = tuple(ManifestRow(None, item) for item in corpus.items)
    named = frozenset(item.video for item in corpus.items)
    return ManifestReading(path, rows, corpus.problems, named, corpus.format, corpus.seen)


def _uses(row: ManifestRow) -> Iterator[_Use]:
    yield _Use(row, "video", row.item.video)
    if row.item.source is not None:
        yield _Use(row, "source", row.item.source)
    for reference in row.item.references:
        yield _Use(row, "reference", reference)


def _problem(use: _Use, kind: ProblemKind, message: str, advice: str = "") -> Problem:
    row = use.row
    return Problem(kind, message, advice, row.line, row.item.id, use.path, row.number)


def _same_videos(rows: Sequence[ManifestRow]) -> Iterator[Problem]:
    first: dict[tuple[int, int], str] = {}
    for row in rows:
        file = identity(row.item.video)
        if file is None:
            continue
        earlier = first.setdefault(file, row.place)
        if earlier != row.place:
            yield _problem(
                _Use(row, "video", row.item.video),
                ProblemKind.DUPLICATE_VIDEO,
                f"the same video as {earlier}",
                "Keep one of the rows, or give each its own video.",
            )


def _absence(use: _Use, neighbours: Neighbours) -> Problem | None:
    there, fault = fault_of(use.path)
    if not fault:
        return None
    kind = ProblemKind.UNREADABLE if there else ProblemKind.MISSING
    near = "" if there else neighbours.near(use.path)
    spelling = ""
    if "/" in near:
        spelling = ": write paths with forward slashes"
    elif unicodedata.normalize("NFC", near) == unicodedata.normalize("NFC", use.path.name):
        spelling = ", spelt with other Unicode characters"
    advice = f"There is {quoted(near)}{spelling}." if near else ""
    return _problem(use, kind, f"the {use.field} {quoted(str(use.path))} {fault}", advice)


def _contents(uses: Sequence[_Use], deep: bool, progress: Progress) -> tuple[int, list[Problem]]:
    """Look into each file once, however many rows name it."""
    users: dict[Inspection, list[_Use]] = {}
    for use in uses:
        look = decoded_state if deep else header_state
        if use.field == "reference":
            look = picture_state
        users.setdefault((look, use.path), []).append(use)
    problems: list[Problem] = []
    with progress:
        progress.begin("checking", len(users), "files")
        for inspection, outcome in zip(users, inspect_files(list(users)), strict=True):
            for use in users[inspection]:
                problems += _seen(use, outcome)
            progress.advance(note=use.path.name)
    return len(users), problems


def _seen(use: _Use, outcome: Outcome[FileState]) -> Iterator[Problem]:
    name = quoted(str(use.path))
    if outcome.failure is not None:
        detail = outcome.failure.detail.removeprefix(f"{str(use.path)!r} ")
        advice = outcome.failure.advice
        yield _problem(use, ProblemKind.UNREADABLE, f"the {use.field} {name}: {detail}", advice)
        return
    look = outcome.unwrap()
    if look.damage:
        yield _problem(
            use,
            ProblemKind.DAMAGED,
            f"the {use.field} {name} is damaged: {look.damage}",
            "Render or download it again.",
        )
    script = use.row.item.script
    if use.field != "video" or look.end is None or script is None:
        return
    late = [clip.span for clip in script.clips if clip.span and clip.span.start >= look.end]
    if late:
        yield _problem(
            use,
            ProblemKind.MISMATCH,
            f"{len(late)} of {len(script.clips)} clips of the script begin after the video "
            f"ends ({timecode(look.end)})",
            "Check that script and video belong together.",
        )


def _without_row(folder: Path, reading: ManifestReading) -> Iterator[Problem]:
    for path in unlisted(folder, reading.named):
        yield Problem(
            ProblemKind.UNLISTED,
            f"{quoted(str(path))} is in no row",
            "Add a row, or allow such videos with `partial`.",
            path=path,
        )
