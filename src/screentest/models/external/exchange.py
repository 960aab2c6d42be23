"""Arrays on their way to a worker and back: as .npy files in a private folder.

In a message an array is ``{"npy": path}``. Only plain arrays of numbers are read, and only from
the folder of the request they answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from screentest.core import NoValue, Reason

KEY = "npy"
LARGEST_FILE = 4 << 30


class Exchange:
    """The arrays of one request, in its folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[int, Path] = {}
        self._kept: list[Any] = []

    def write(self, value: Any) -> Any:
        """``value`` as JSON takes it; arrays become files, each array one, however often used."""
        if isinstance(value, np.ndarray):
            if id(value) not in self._written:
                path = self._folder / f"{len(self._written):06}.npy"
                np.save(path, np.ascontiguousarray(value), allow_pickle=False)
                self._written[id(value)] = path
                self._kept.append(value)  # so that its id stays its own
            return {KEY: str(self._written[id(value)])}
        if isinstance(value, dict):
            return {key: self.write(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.write(item) for item in value]
        return value

    def read(self, value: Any) -> Any:
        """A worker's result with its arrays in place."""
        if isinstance(value, dict):
            if set(value) == {KEY}:
                return self._array(value[KEY])
            return {key: self.read(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.read(item) for item in value]
        return value

    def _array(self, name: object) -> np.ndarray[Any, Any]:
        try:
            path = (self._folder / str(name)).resolve(strict=True)
            if not path.is_relative_to(self._folder.resolve()) or not path.is_file():
                raise ValueError("it is not in the request's folder")
            if path.stat().st_size > LARGEST_FILE:
                raise ValueError(f"it is over {LARGEST_FILE} bytes")
            with path.open("rb") as file:
                found = np.load(file, allow_pickle=False)
            if not isinstance(found, np.ndarray) or found.dtype.kind not in "biuf":
                raise ValueError("it holds no array of numbers")
        except (OSError, ValueError, EOFError) as error:
            raise NoValue(
                Reason.UNPARSABLE,
                f"the worker's array {str(name)!r} cannot be read: {error}",
                advice="Save arrays with numpy.save into the folder that the request names.",
            ) from None
        return found
