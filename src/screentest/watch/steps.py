"""Which step of a training a clip is of, by its name, and whether its file is whole.

>>> read_step(Path("validation_step_500_inference_steps_50_video_2.mp4"))
Step(number=500, clip='validation_step_*_inference_steps_50_video_2')
>>> read_step(Path("checkpoint-2000/a cat.mp4"))
Step(number=2000, clip='checkpoint-*/a cat')
>>> read_step(Path("samples/001500/3.mp4"))
Step(number=1500, clip='samples/*/3')
>>> read_step(Path("a cat.mp4")) is None
True
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from screentest._util.text import natural
from screentest.core.errors import BadOption
from screentest.run.inputs import Stamp
from screentest.video.probe import probe
from screentest.video.sandbox import supervised

SUFFIXES = frozenset({".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".gif", ".nut"})
_WORD = r"(?:global[_-]?)?(?:step|steps|iter|iters|iteration|checkpoint|ckpt|epoch|it)"
_NAMED = re.compile(
    rf"(?<![A-Za-z])(?<!inference_)(?<!inference-)(?<!sampling_)(?<!num_){_WORD}[_=-]?0*(\d+)(?!\d)",
    re.IGNORECASE,
)
_FOLDER = re.compile(r"0*(\d+)")


@dataclass(frozen=True, slots=True)
class Step:
    """When a clip was made, and which of the clips of its step it is."""

    number: int
    clip: str
    """The name without the step: clips of the same one are compared over steps."""


def read_step(path: Path, pattern: re.Pattern[str] | None = None) -> Step | None:
    """Find the step in a path; None where it names none.

    Looked for is ``pattern`` (its first group is the step), else ``step_500``, ``checkpoint-500``,
    ``iter500``, ``epoch=5`` in the name, then in the folders from the inside out, then a folder
    that is a number.
    """
    parts = [*path.parent.parts, path.stem]
    if pattern is not None:
        whole = "/".join(parts)
        match = pattern.search(whole)
        if match is None:
            return None
        return Step(int(match[1]), whole[: match.start(1)] + "*" + whole[match.end(1) :])
    for place in range(len(parts) - 1, -1, -1):
        match = _NAMED.search(parts[place])
        if match is not None:
            return _step(parts, place, match)
    for place in range(len(parts) - 2, -1, -1):
        match = _FOLDER.fullmatch(parts[place])
        if match is not None:
            return _step(parts, place, match)
    return None


def _step(parts: list[str], place: int, match: re.Match[str]) -> Step:
    text = parts[place]
    start = match.end(1) - len(match[1])
    # Zeros before the number belong to it.
    while start > 0 and text[start - 1] == "0":
        start -= 1
    masked = f"{text[:start]}*{text[match.end(1) :]}"
    return Step(int(match[1]), "/".join([*parts[:place], masked, *parts[place + 1 :]]))


def step_pattern(text: str) -> re.Pattern[str] | None:
    """Compile the expression that finds a step; its first group is the number."""
    if not text:
        return None
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise BadOption(f"invalid `step_pattern` {text!r}: {error}") from None
    if pattern.groups < 1:
        raise BadOption(
            f"invalid `step_pattern` {text!r}: has no group", advice=r"As in 'run(\d+)_'."
        )
    return pattern


class Arrivals:
    """The videos of a folder that are whole: written to their end, and readable.

    A file counts when it looks the same as at the last look, and can be opened with all that its
    structure promises. One that stays unreadable for ``patience`` seconds is given up: it is handed
    on all the same, and its scores say why there are none.
    """

    def __init__(self, folder: Path, patience: float = 600.0) -> None:
        self.folder = folder
        self.patience = patience
        self._seen: dict[Path, tuple[Stamp, float]] = {}
        self._whole: dict[Path, Stamp] = {}

    def look(self) -> tuple[list[Path], list[Path]]:
        """List the files that are whole by now, and those that are waited for."""
        whole, waiting = [], []
        now = time.monotonic()
        for path in self._files():
            stamp = Stamp.of(path)
            if stamp is None:
                continue
            before, since = self._seen.get(path, (None, now))
            if self._whole.get(path) == stamp:
                whole.append(path)
                continue
            if before != stamp:
                self._seen[path] = (stamp, now)
                waiting.append(path)
            elif _is_readable(path) or now - since > self.patience:
                self._whole[path] = stamp
                self._seen.pop(path)
                whole.append(path)
            else:
                waiting.append(path)
        return whole, waiting

    def _files(self) -> Iterator[Path]:
        try:
            paths = sorted(self.folder.rglob("*"), key=lambda path: natural(str(path)))
        except OSError:  # a folder that is being moved or removed: the next look tells
            return
        for path in paths:
            hidden = any(part.startswith(".") for part in path.relative_to(self.folder).parts)
            if path.suffix.lower() in SUFFIXES and not hidden and path.is_file():
                yield path


def _is_readable(path: Path) -> bool:
    """Test if a file has all that its structure promises, in a process of its own."""
    info = supervised(probe, path).value
    return info is not None and not any(fault.kind == "cut_short" for fault in info.faults)
