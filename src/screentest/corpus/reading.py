"""A corpus, whatever its form: a manifest, or a Vript download; told apart by content."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from screentest.core import BadOption, Item, ManifestError
from screentest.corpus._json import Complaint, load_json
from screentest.corpus.manifest import examine_manifest, read_manifest
from screentest.corpus.parted import PartedSource
from screentest.corpus.problems import Kind, Problem
from screentest.corpus.vript import LONGEST_FILE, read_vript


class Format(StrEnum):
    """What a corpus can be."""

    MANIFEST = "manifest"
    VRIPT = "vript"


@dataclass(frozen=True, slots=True)
class Corpus:
    """Films in one file each, or in several; and what is missing or wrong."""

    format: Format
    items: tuple[Item, ...] = ()
    parted: tuple[PartedSource, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_corpus(path: Path, form: str | None = None) -> Corpus:
    """Read a manifest or a Vript download; ``form`` forces one of the two.

    A bad row is one of the problems, and the others are taken. Raises ManifestError where there
    is no corpus, or not one source in it.
    """
    try:
        chosen = Format(form) if form is not None else detect(path)
    except ValueError:
        known = ", ".join(Format)
        raise BadOption(f"there is no format {form!r}", advice=f"Known: {known}.") from None
    if chosen is Format.MANIFEST:
        rows = examine_manifest(path)
        cut_short = any(problem.kind is Kind.BAD_FILE for problem in rows.problems)
        if cut_short or not rows.items:
            return Corpus(chosen, tuple(read_manifest(path)))  # which raises, with every problem
        return Corpus(chosen, tuple(rows.items), problems=rows.problems)
    reading = read_vript(path)
    if not reading.sources:
        told = "\n".join(f"- {problem.message}" for problem in reading.problems[:10])
        raise ManifestError(
            f"no video in {path} can be used:\n{told}",
            advice="Put the clips (VIDEO-Scene-001.mp4 …) below the same folder.",
        )
    return Corpus(chosen, parted=reading.sources, problems=reading.problems)


def detect(path: Path) -> Format:
    """What a corpus looks like: folders and captions files are Vript's, all else a manifest."""
    if path.is_dir():
        return Format.VRIPT
    # A manifest may be far larger than what a captions file can be, and need not be JSON.
    if not path.is_file() or path.suffix.lower() in (".csv", ".tsv"):
        return Format.MANIFEST
    try:
        if path.stat().st_size > LONGEST_FILE:
            return Format.MANIFEST
        content = load_json(path.read_bytes().decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError, Complaint):
        return Format.MANIFEST  # which will say what is wrong
    first = content[0] if isinstance(content, list) and content else content
    described = isinstance(first, dict) and "meta" in first and "data" in first
    return Format.VRIPT if described else Format.MANIFEST
