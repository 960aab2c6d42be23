"""What a worker's answers must be: checked before anybody uses them.

The right number of things, of the right shape, finite, in range. What fails is UNPARSABLE, never
a value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import NoValue, Reason
from screentest.models.pictures import check_picture
from screentest.models.roles import Detection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core.frames import Image
    from screentest.models.roles import Mask, Vectors


def number(found: object, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite number in range.

    >>> number(0.5, 0, 1)
    0.5
    """
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not math.isfinite(found):
        raise unfit(found, "a finite number")
    if not low <= found <= high:
        raise unfit(found, f"a number from {low:g} to {high:g}")
    return float(found)


def whole_number(found: object) -> int:
    """A whole number that is not negative."""
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise unfit(found, "a whole number")
    return found


def several(found: object, count: int) -> list[Any]:
    """A list of exactly that many."""
    if isinstance(found, np.ndarray):
        found = list(found)
    if isinstance(found, tuple):
        found = list(found)
    if not isinstance(found, list) or len(found) != count:
        raise unfit(found, f"a list of {count}")
    return found


def plane(found: object, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """A finite array of that shape."""
    if not isinstance(found, np.ndarray) or found.shape != shape or not np.isfinite(found).all():
        raise unfit(found, f"a finite array of shape {shape}")
    return found.astype(np.float32)


def picture(found: object, like: Image) -> Image:
    """An RGB picture of bytes, of the size of another."""
    if (
        not isinstance(found, np.ndarray)
        or found.dtype != np.uint8
        or found.shape != check_picture(like).shape
    ):
        raise unfit(found, f"a uint8 array of shape {like.shape}")
    return found


def mask_over(found: object, image: Image) -> Mask:
    """An array of 0–1 over a picture."""
    soft = plane(found, image.shape[:2])
    if soft.min() < 0 or soft.max() > 1:
        raise unfit(found, "an array of values from 0 to 1")
    return soft


def unit_rows(found: object, count: int) -> Vectors:
    """Rows made length one; a row of zeros has no direction and is refused."""
    if not isinstance(found, np.ndarray) or found.ndim != 2 or len(found) != count:
        raise unfit(found, f"an array of {count} rows")
    rows = plane(found, found.shape)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (lengths > 0).all():
        raise unfit(found, "rows that are not all zeros")
    return np.asarray(rows / lengths, np.float32)


def detection(found: object, phrases: Sequence[str]) -> Detection:
    """Something found, under one of the phrases."""
    if not isinstance(found, dict) or found.get("label") not in phrases:
        raise unfit(found, "a detection whose label is one of the phrases")
    left, top, right, bottom = (number(side) for side in several(found.get("box"), 4))
    return Detection(str(found["label"]), number(found.get("score")), (left, top, right, bottom))


def no_rows() -> Vectors:
    """What no pictures or texts are embedded as."""
    return np.zeros((0, 1), np.float32)


def unfit(found: object, wanted: str) -> NoValue:
    """Says what came and what was wanted."""
    if isinstance(found, np.ndarray):
        came = f"a {found.dtype} array of shape {found.shape}"
    else:
        came = repr(found)[:200]
    return NoValue(
        Reason.UNPARSABLE,
        f"the worker's result is {came}, and not {wanted}",
        advice="docs/external.md says what each role's methods return.",
    )
