"""A little room kept back, for the moment the disk is full.

Answers that were paid for and results that took hours may be in memory when the disk fills
up. Giving this file back makes room to write them down before the run stops.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from screentest.core import StorageError

FILE: Final = "run.reserve"
SIZE: Final = 512 * 1024


class Reserve:
    """The file of a run that only takes up room."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def take(self) -> None:
        """Take the room; a disk that has not even that is full already."""
        try:
            # Made anew: a link left here by somebody else would lead to a file of ours.
            self.release()
            with self._path.open("xb") as file:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, SIZE)
                else:
                    file.write(bytes(SIZE))
        except OSError as error:
            self.release()
            raise StorageError(
                f"cannot write to {self._path.parent}: {error.strerror}",
                advice="A run needs at least a megabyte of free space and the right to write.",
            ) from None

    def release(self) -> None:
        """Give the room back."""
        with suppress(OSError):  # gone already, or a disk that lets nothing be removed either
            self._path.unlink()
