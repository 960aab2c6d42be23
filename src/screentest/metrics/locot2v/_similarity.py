"""How near texts are in meaning, by the text embedding role."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core import Resources


def text_vectors(texts: Sequence[str], resources: Resources) -> NDArray[np.float64]:
    """One row per text; a blank text has no meaning and is all zeros."""
    spoken = [place for place, text in enumerate(texts) if text.strip()]
    if not spoken:
        return np.zeros((len(texts), 1))
    known = np.asarray(
        resources.role("text_embedding").embed([texts[place] for place in spoken]), np.float64
    )
    rows = np.zeros((len(texts), known.shape[1]))
    rows[spoken] = known / np.linalg.norm(known, axis=1, keepdims=True)
    return rows


def nearness(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosines in 0–1: opposite meanings are as far as unrelated ones. Both blank: equal.

    >>> nearness(np.array([[1.0, 0], [0, 0]]), np.array([[0.6, 0.8], [0, 0]])).tolist()
    [[0.6, 0.0], [0.0, 1.0]]
    """
    cosines = np.clip(first @ second.T, 0.0, 1.0)
    blank = np.outer(~first.any(axis=1), ~second.any(axis=1))
    return np.where(blank, 1.0, cosines)
