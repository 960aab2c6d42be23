"""A smaller testbed of some pairs, or one of several, with all it needs, whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TypeVar

from screentest._util.atomic import storage_error
from screentest.core import BadOption, NoValue, UserError
from screentest.run.inputs import hash_file
from screentest.testbeds.files import file_in
from screentest.testbeds.page import write_page
from screentest.testbeds.testbed import (
    FILE,
    Pair,
    Skip,
    SourceFilm,
    Testbed,
    draw_evenly,
    of_prompts,
    read_testbed,
    write_testbed,
)

_T = TypeVar("_T")


def sample_testbed(
    folder: Path,
    out: Path,
    count: int,
    *,
    seed: int = 7,
    per_aspect: bool = False,
    copy: bool = False,
) -> Testbed:
    """Draw pairs evenly over aspects into the new folder ``out``.

    Files are hard links where the disk allows it and ``copy`` does not say otherwise.
    """
    if count < 1:
        raise BadOption.of("count", count, "1 or more")
    testbed = read_testbed(folder)
    if not testbed.pairs:
        raise UserError(f"{folder} has no pairs to draw from", advice="Build it first.")
    pairs = draw_evenly(testbed, count, seed, per_aspect=per_aspect)
    origin = (
        f"{len(pairs)} of {len(testbed.pairs)} pairs, seed {seed}, of {hash_file(folder / FILE)}"
    )
    smaller = subset_of(testbed, pairs, {"sample": origin})
    write_subset(folder, out, smaller, copy=copy)
    return smaller


def subset_of(testbed: Testbed, pairs: Sequence[Pair], recipe: Mapping[str, str]) -> Testbed:
    """Return the testbed of some pairs; ``recipe`` says how they were chosen.

    What was skipped is not part of it: the pairs were chosen from what was made.
    """
    used = {pair.source: set[str]() for pair in pairs}
    owners = {file.path: source.id for source in testbed.sources for file in source.intact}
    for pair in pairs:
        # Beside a pair of prompts may be the video of another source.
        owner = owners[pair.intact] if pair.prompts is not None else pair.source
        used.setdefault(owner, set()).add(pair.intact)
    sources = []
    for source in testbed.sources:
        if source.id in used:
            first, *others = source.intact
            kept = [first, *(file for file in others if file.path in used[source.id])]
            sources.append(replace(source, intact=tuple(kept)))
    return replace(
        testbed,
        recipe={**testbed.recipe, **recipe},
        sources=tuple(sources),
        pairs=tuple(pairs),
        skips=(),
        pending=0,
    )


def _needed(testbed: Testbed) -> Iterator[str]:
    for source in testbed.sources:
        yield source.prompt
        for file in source.intact:
            yield file.path
            if not of_prompts(testbed):
                yield PurePosixPath(file.path).with_suffix(".json").as_posix()
    yield from (pair.changed.path for pair in testbed.pairs if pair.prompts is None)


def write_subset(folder: Path, out: Path, testbed: Testbed, *, copy: bool = False) -> None:
    """Fill a folder out of sight with all that ``testbed`` needs of ``folder``, then name it."""
    _write(dict.fromkeys(_needed(testbed), folder), out, testbed, copy=copy)


def merge_testbeds(folders: Sequence[Path], out: Path, *, copy: bool = False) -> Testbed:
    """Put the films and pairs of testbeds that were built alike into the new folder ``out``.

    Every video is checked against its hash. Runs and votes stay where they are.
    """
    parts = [read_testbed(folder) for folder in folders]
    first, places = parts[0], dict[str, Path]()
    sources, pairs, skips = dict[object, SourceFilm](), dict[object, Pair](), dict[object, Skip]()
    for folder, part in zip(folders, parts, strict=True):
        built = [
            {**one.recipe, "seed": one.seed, "version": one.screentest} for one in (first, part)
        ]
        differing = sorted(
            key for key in {**built[0], **built[1]} if built[0].get(key) != built[1].get(key)
        )
        if differing:
            raise UserError(
                f"{folders[0]} and {folder} were not built alike: {', '.join(differing)}",
                advice="Build both with the same options and the same version.",
            )
        for source in part.sources:
            _take(sources, source.id, source, folder)
        for pair in part.pairs:
            _take(pairs, _identity(pair), pair, folder)
        for skip in part.skips:
            skips.setdefault(_identity(skip), skip)
        places = dict.fromkeys(_needed(part), folder) | places
    if len({source.folder for source in sources.values()}) < len(sources):
        raise UserError("two films have the same folder", advice="Give them other ids.")
    whole = replace(
        first,
        sources=tuple(sources.values()),
        pairs=tuple(pairs.values()),
        skips=tuple(skip for identity, skip in skips.items() if identity not in pairs),
        pending=sum(part.pending for part in parts),
    )
    _write(places, out, whole, copy=copy, checked=True)
    return whole


def _identity(one: Pair | Skip) -> object:
    return one.source, one.kind, one.name, one.severity, one.clips


def _take(table: dict[object, _T], key: object, value: _T, folder: Path) -> None:
    if table.setdefault(key, value) != value:
        name = " ".join(str(part) for part in key) if isinstance(key, tuple) else key
        raise UserError(
            f"{name} differs between {folder} and another testbed",
            advice="Two films need two ids: rename one, and build it again.",
        )


def _write(
    places: Mapping[str, Path], out: Path, testbed: Testbed, *, copy: bool, checked: bool = False
) -> None:
    """Fill a folder out of sight from these folders by path, then name it."""
    out = out.absolute()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadOption(f"{out} exists and is not empty", advice="Give a new folder.")
    videos = [file for source in testbed.sources for file in source.intact]
    hashes = {file.path: file.sha256 for file in (*videos, *(p.changed for p in testbed.pairs))}
    with hidden_folder(out) as hidden:
        for path, folder in places.items():
            try:
                place = file_in(folder, path)
            except NoValue as error:
                raise UserError(f"{path}: {error.message}", advice=error.advice) from None
            take_file(place, hidden / path, copy=copy)
            if checked and path in hashes and hash_file(hidden / path) != hashes[path]:
                raise UserError(
                    f"{place} is not the file of its testbed",
                    advice="See `screentest testbed verify`; build it again.",
                )
        finish_folder(hidden, out, testbed)


@contextmanager
def hidden_folder(out: Path) -> Iterator[Path]:
    """Return a folder beside ``out`` to fill; it is removed afterwards unless it was finished."""
    hidden = out.parent / f".screentest-{secrets.token_hex(8)}.part"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        hidden.mkdir()
        yield hidden
    except OSError as error:
        raise storage_error(out, error) from error
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def finish_folder(hidden: Path, out: Path, testbed: Testbed) -> None:
    """Write the list and the page of a filled folder, and give it its name: whole or not at all."""
    write_testbed(hidden, testbed)
    write_page(hidden, testbed)
    if out.exists():
        out.rmdir()
    hidden.rename(out)


def take_file(source: Path, target: Path, *, copy: bool = False) -> None:
    """Link a file, or copy it where the disk has no links or ``copy`` says so."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not copy:
        try:
            # Of a link the file it leads to: a sample may not hang on another folder's link.
            os.link(source.resolve(), target)
        except OSError as error:
            # Another disk, or one that knows no links.
            if error.errno not in (errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK):
                raise
        else:
            return
    shutil.copyfile(source, target)
