"""Prompts to write questions for: plain lines, a manifest, or a released file."""

from __future__ import annotations

import json
from pathlib import Path

from screentest.core import UserError
from screentest.corpus import read_manifest
from screentest.corpus.etva import read_prompts
from screentest.metrics.etva.files import key_of


def read_texts(path: Path) -> list[str]:
    """The prompts of a file, each once.

    A ``.txt`` has one per line. Of a manifest come the prompts of its items; of an item with a
    script, the captions of its clips, since that is how it will be asked about. A released file
    has prompts with questions, which are not looked at.
    """
    kept: dict[str, str] = {}
    for text in _texts(path):
        if text.strip():
            kept.setdefault(key_of(text), text.strip())
    if not kept:
        raise UserError(f"there are no prompts in {path}")
    return list(kept.values())


def _texts(path: Path) -> list[str]:
    if path.suffix.lower() == ".csv" or _is_manifest(path):
        texts = []
        for item in read_manifest(path):
            clips = item.script.clips if item.script is not None else ()
            texts += [clip.caption for clip in clips] or [item.text]
        return texts
    if path.suffix.lower() in (".json", ".jsonl", ".ndjson"):
        return [one.prompt for one in read_prompts(path)]
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise UserError(f"{path} does not open: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8", advice="Give a text file with prompts.") from None


def _is_manifest(path: Path) -> bool:
    """Whether the first row names a video."""
    if path.suffix.lower() not in (".json", ".jsonl", ".ndjson"):
        return False
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            first = next((line for line in file if line.strip()), "")
        row = json.loads(first)
    except (OSError, ValueError):
        return False
    return isinstance(row, dict) and "video" in row
