"""The sign-flip test: could the sources as well have favoured the other system?

Were two systems alike, each source's sum of differences could have had the opposite sign. The
p-value is the share of all patterns of signs whose total is at least as far from 0.
"""

from __future__ import annotations

import numpy as np

from screentest.stats._arrays import Floats

DRAWS = 10_000
_FINEST = 24
"""Points are halves; over both orders quarters; over three repeats twelfths."""
_LONGEST = 200_000
_ALL_PATTERNS = 12
_SIGNS_AT_ONCE = 4_000_000


def sign_flip_p(sums: Floats, *, seed: int = 0) -> float:
    """The two-sided p-value that each of ``sums`` is as likely to be negative as positive.

    Exact where the sums are whole multiples of a fraction, as points are, and for up to twelve
    sources; otherwise from 10,000 seeded patterns.

    >>> import numpy as np
    >>> sign_flip_p(np.array([1.0, 1.0, 0.5, 2.0, 1.0]))
    0.0625
    """
    moving = np.abs(sums[sums != 0])
    if moving.size == 0:
        return 1.0
    # Rounding must not make a pattern look less extreme than the one it mirrors.
    seen = abs(float(sums.sum())) - 1e-9 * float(moving.sum())
    for scale in range(1, _FINEST + 1):
        steps = moving * scale
        if steps.sum() <= _LONGEST and np.abs(steps - np.rint(steps)).max() < 1e-9:
            return _counted(np.rint(steps).astype(np.intp), seen * scale)
    if moving.size <= _ALL_PATTERNS:
        bits = np.arange(2**moving.size)[:, None] >> np.arange(moving.size)
        return float(np.mean(np.abs((1 - 2 * (bits & 1)) @ moving) >= seen))
    return _drawn(moving, seen, seed)


def _counted(steps: np.ndarray, seen: float) -> float:
    """All patterns at once: the distribution of the total, one source after the other."""
    total = int(steps.sum())
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    reach = 0
    for step in steps:
        # chance[p] is that the sources so far sum to p where they stay positive, 0 otherwise.
        reach += step
        chance[step : reach + 1] = (chance[step : reach + 1] + chance[: reach + 1 - step]) / 2
        chance[:step] /= 2
    distance = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, float(chance[distance >= seen].sum()))


def _drawn(moving: Floats, seen: float, seed: int) -> float:
    generator = np.random.default_rng(seed)
    extreme = 0
    rows = max(1, _SIGNS_AT_ONCE // moving.size)
    for done in range(0, DRAWS, rows):
        signs = 1 - 2 * generator.integers(0, 2, (min(rows, DRAWS - done), moving.size))
        extreme += int(np.count_nonzero(np.abs(signs @ moving) >= seen))
    # What was seen is one of the possible patterns, so p is never 0.
    return (extreme + 1) / (DRAWS + 1)
