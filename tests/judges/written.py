"""Testbeds without pictures to speak of: each file is one grey frame and a number."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import av
import numpy as np

from screentest.core import Aspect, PairKind
from screentest.testbeds.testbed import Pair, SourceFilm, Testbed, VideoFile, write_testbed


def number_in(video: Path) -> float:
    """The number that is written into a file."""
    return float(video.read_bytes().rpartition(b"free")[2])


def written(
    folder: Path,
    films: Mapping[str, Mapping[str, float]],
    operators: tuple[str, ...],
    *,
    contents: Mapping[str, str] | None = None,
) -> Path:
    """A testbed whose files hold a number each: by film the number of each edit, 0 if intact.

    ``contents`` says what a film's own file is, where it is not one for each name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sources, pairs = [], []
    for film, numbers in films.items():
        (folder / f"{film}.txt").write_text("A film.")
        intact = _file(folder, f"{film}/intact.mp4", numbers.get("intact", 0.0))
        content = (contents or {}).get(film, film)
        sources.append(SourceFilm(film, f"{film}.mp4", content, ".", f"{film}.txt", (), (intact,)))
        for name, number in numbers.items():
            if name != "intact":
                changed = _file(folder, f"{film}/{name}.mp4", number)
                harmful = name in operators
                kind = PairKind.DEGRADATION if harmful else PairKind.PLACEBO
                aspect = Aspect.AESTHETICS if harmful else None
                pairs.append(Pair(film, kind, name, intact.path, changed, name, aspect))
    write_testbed(folder, Testbed(1, "0", 7, {}, tuple(sources), tuple(pairs)))
    return folder


def _file(folder: Path, path: str, number: float) -> VideoFile:
    """One grey frame, and behind it the number, in a box that players skip."""
    (folder / path).parent.mkdir(exist_ok=True)
    text = repr(number).encode()
    box = (8 + len(text)).to_bytes(4, "big") + b"free" + text
    (folder / path).write_bytes(_frame(folder) + box)
    return VideoFile(path, "", (folder / path).stat().st_size, 1, Fraction(1), 16, 16)


@cache
def _frame(folder: Path) -> bytes:
    with av.open(str(folder / "frame.mp4"), "w") as out:
        stream: Any = out.add_stream("mpeg4", rate=1)
        stream.width = stream.height = 16
        picture = np.full((16, 16, 3), 128, np.uint8)
        out.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        out.mux(stream.encode(None))
    return (folder / "frame.mp4").read_bytes()
