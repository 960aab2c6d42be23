"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from screentest.core import StorageError


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """Write here; the file gets its name when all of it is on the disk."""
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise StorageError(f"{path} is there already and is not a file", advice="Choose a name.")
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise StorageError(
            f"cannot write {path}: {error.strerror or error}",
            advice="See whether the folder exists, may be written to and has space left.",
        ) from error
    finally:
        with suppress(OSError):  # there only where something went wrong
            part.unlink()
