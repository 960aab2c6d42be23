"""Loops: a clip that goes round, as when a generator falls back to its first frames."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Image, NoValue, OutputInfo, Reason, Score, register
from screentest.metrics.curve import GREY, FilmMetric, at_rate

if TYPE_CHECKING:
    from screentest.metrics.curve import Rows, SeenShots

GRID = (12, 8)
"""Columns and rows to which a picture is reduced."""
SHORTEST = 0.5
"""Seconds: what comes back sooner is flicker."""
LONGEST = 120
"""Seconds: a film that long has shots, which ``repeated_shots`` looks up."""
LOOPS = OutputInfo(
    "share of the time that repeats what was shown before",
    higher_is_better=False,
)


@register("metric", "loops", version=1, summary="time that repeats what was shown before")
def loops(*, rate: float = 8.0, level: float = 1.0) -> FilmMetric:
    """Compares each stretch with those before it, across cuts; a held picture is no loop.

    ``level``: the mean difference, in levels, up to which two pictures are the same.
    """
    score = partial(repeated, rate=rate, level=level)
    return FilmMetric("loops", LOOPS, at_rate(GREY, rate), fields, score)


def fields(image: Image) -> list[float]:
    """Return the picture in 12 × 8 fields."""
    import cv2

    small = cv2.resize(image, GRID, interpolation=cv2.INTER_AREA)
    result: list[float] = small.astype(np.float64).ravel().tolist()
    return result


def repeated(seen: SeenShots, shots: int, *, rate: float, level: float) -> Score:
    """Return the share of frames in stretches that were there before, with something else in
    between."""
    rows = np.concatenate([rows for _, rows in seen]) if seen else np.empty((0, 1))
    least = max(2, round(SHORTEST * rate))
    if len(rows) < 2 * least:
        raise NoValue(Reason.NOT_APPLICABLE, f"a loop takes {2 * SHORTEST:g} s or more")
    if len(rows) > LONGEST * rate:
        raise NoValue(
            Reason.NOT_APPLICABLE,
            f"longer than {LONGEST} s: loops are looked for in clips",
            advice="repeated_shots is for films.",
        )
    again = repeats(rows, least, level)
    return Score(float(again.mean()), (), {"shots": shots, "frames": len(rows)})


def repeats(rows: Rows, least: int, level: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which frames belong to ``least`` or more in a row that were all shown ``lag`` frames
    before.

    >>> once = np.arange(0.0, 80.0, 10.0)[:, None]
    >>> repeats(np.concatenate([once, once]), 4, 1.0).astype(int).tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
    >>> bool(repeats(np.zeros((16, 1)), 4, 1.0).any())
    False
    """
    result = np.zeros(len(rows), bool)
    for lag in range(least, len(rows) - least + 1):
        same = np.abs(rows[lag:] - rows[:-lag]).mean(axis=1) <= level
        run = 0
        for place, alike in enumerate(same):
            run = run + 1 if alike else 0
            if run >= least:
                stretch = rows[place - run + 1 : place + lag + 1]
                # Where the picture stands still all the while, nothing comes back.
                if float(np.abs(stretch - stretch[0]).mean(axis=1).max()) > 2 * level:
                    result[lag + place - run + 1 : lag + place + 1] = True
    return result
