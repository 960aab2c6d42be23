"""Answers kept in a folder, one small file each: no caption is paid for twice.

A file is named by a hash of the signature and the text, so that another model, prompt or
version never finds it. A file that cannot be read counts as not there.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Generic, TypeVar

from screentest.base.atomic import storage_error, write_whole
from screentest.core import DecodeError, Signature, from_json, to_json

T = TypeVar("T")


class AnswerCache(Generic[T]):
    """Values of one kind by signature and text. Several processes may share the folder."""

    def __init__(self, folder: Path, kind: type[T]) -> None:
        self._folder = Path(folder)
        self._kind = kind

    def get(self, signature: Signature, text: str) -> T | None:
        """What was kept for a text, if anything was."""
        try:
            return from_json(self._kind, self._path(signature, text).read_bytes())
        except (OSError, DecodeError):
            return None

    def put(self, signature: Signature, text: str, value: T) -> None:
        """Keep a value; whole or not at all."""
        path = self._path(signature, text)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(path, error) from error
        write_whole(path, to_json(value))

    def _path(self, signature: Signature, text: str) -> Path:
        key = f"{signature}\0{text}".encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(key).hexdigest()
        return self._folder / digest[:2] / f"{digest[2:]}.json"
