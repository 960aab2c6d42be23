"""Checks of input: finite numbers, as many as there should be."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from screentest.core import NoValue, Outcome, Reason

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = (
    Sequence[float] | Sequence[Fraction] | NDArray[np.floating | np.integer | np.bool_]
)
Labels: TypeAlias = Sequence[Hashable]
"""One label per value: the source video it comes from, the group it belongs to."""


def finite(values: Numbers, what: str = "values") -> Floats:
    """``values`` as a row of floats; a NaN in it is a bug of the caller, not a number."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{what} must be one row of numbers, not {array.ndim}-dimensional")
    if not np.isfinite(array).all():
        raise ValueError(f"{what} must be finite: failures are left out and counted, not averaged")
    return array


def some(values: Numbers, what: str = "values") -> Floats:
    """Like ``finite``, for statistics that nothing has none of."""
    array = finite(values, what)
    if array.size == 0:
        raise NoValue(Reason.NOT_APPLICABLE, f"there are no {what}")
    return array


def together(first: Numbers, second: Numbers) -> tuple[Floats, Floats]:
    """Two rows in which the values at one place belong together."""
    left, right = finite(first), finite(second)
    if left.size != right.size:
        raise ValueError(f"cannot pair {left.size} values with {right.size}")
    return left, right


def codes(labels: Labels | None, count: int) -> NDArray[np.intp]:
    """Numbers from 0 for ``labels``, in the order of their names and not of their coming.

    Without labels every value is one of its own.
    """
    if labels is None:
        return np.arange(count)
    if len(labels) != count:
        raise ValueError(f"{len(labels)} labels for {count} values")
    names = sorted(set(labels), key=lambda label: (str(type(label)), str(label)))
    number = {name: place for place, name in enumerate(names)}
    return np.array([number[label] for label in labels], dtype=np.intp)


def proportion(number: float, what: str) -> float:
    """Check that ``number`` is strictly between 0 and 1."""
    if not 0 < number < 1:
        raise ValueError(f"invalid {what} {number}: must be in (0, 1)")
    return number


def undefined(why: str, advice: str = "") -> Outcome[Any]:
    """Return the failure of a statistic that these values do not have."""
    return Outcome.failed(Reason.NOT_APPLICABLE, why, advice)
