"""Equations 8–15 as functions on unit vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from screentest.metrics.locot2v._timeline import mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows: TypeAlias = NDArray[np.floating]
    """One vector of length one per frame, in order of time."""


def within(frames: Rows) -> float | None:
    """Equation 10: the mean similarity of consecutive frames; None below two.

    >>> within(np.array([[1.0, 0], [1, 0], [0, 1]]))
    0.5
    """
    if len(frames) < 2:
        return None
    return mean(float(one @ two) for one, two in pairwise(np.asarray(frames, np.float64)))


def intra(events: Mapping[int, Sequence[Rows]], weights: Mapping[int, float]) -> float | None:
    """Equations 11 and 12: mean over the subjects of an event, weighted mean over events."""
    by_event = {}
    for event, subjects in events.items():
        values = [value for value in map(within, subjects) if value is not None]
        if values:
            by_event[event] = mean(values)
    if not by_event:
        return None
    total = sum(weights[event] for event in by_event)
    return sum(weights[event] * value for event, value in by_event.items()) / total


def across(appearances: Sequence[Rows]) -> float | None:
    """Equations 13 and 14: mean over pairs of events of the mean similarity of their frames.

    The mean over all pairs of frames is the product of the mean vectors.

    >>> across([np.array([[1.0, 0], [0, 1]]), np.array([[1.0, 0]])])
    0.5
    """
    centres = [np.asarray(rows, np.float64).mean(axis=0) for rows in appearances if len(rows)]
    if len(centres) < 2:
        return None
    return mean(float(one @ two) for one, two in combinations(centres, 2))


def inter(subjects: Sequence[Sequence[Rows]]) -> float | None:
    """Equation 15: mean over the subjects that appear in at least two events."""
    values = [value for value in map(across, subjects) if value is not None]
    return mean(values) if values else None
