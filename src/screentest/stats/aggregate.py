"""From many values to one: with coverage, over groups, or by the worst part.

>>> round(lower_tail([0.9] * 55 + [0.1] * 5), 3)
0.233
>>> round(sum([0.9] * 55 + [0.1] * 5) / 60, 3)
0.833
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np

from screentest.core import Failure, Outcome, Reason, Summary, attempt
from screentest.stats.arrays import Labels, Numbers, some
from screentest.stats.intervals import source_interval

TAIL = 0.1
"""The smallest round share that holds five bad clips of sixty, which is how a long video is
harmed in SLVMEval: they weigh 83% of this tail, and 8% of a mean. A smaller share would rest
on one or two clips and so on the noise of the metric."""
TAILS = (TAIL, 0.25, 0.5, 1.0)
"""From the worst tenth to all: a few bad clips weigh much, and yet every clip that gets worse
counts, even where the film has worse ones of its own."""
Range: TypeAlias = tuple[float, float]


def mean_over_prompts(prompts: Mapping[str, float]) -> float:
    """Return what a model has in a comparison: each prompt counts once, however many its videos."""
    return math.fsum(prompts.values()) / len(prompts)


def summarise(
    outcomes: Iterable[Outcome[float]],
    *,
    signature: str = "",
    total: int | None = None,
    sources: Labels | None = None,
    bounds: Range | None = None,
) -> Outcome[Summary]:
    """Return the mean of the values there are, its interval, and how many there should have been.

    It is a mean over items; models are compared by ``mean_over_prompts``. The interval is over
    ``sources``, of which several items may share one. One value, or values of one source, have no
    interval: they say nothing about the spread.
    ``total`` counts what is still to come, too. ``bounds`` is the range that no value can leave.
    """
    listed = list(outcomes)
    if sources is not None and len(sources) != len(listed):
        raise ValueError(f"{len(sources)} sources for {len(listed)} outcomes")
    scored = [place for place, outcome in enumerate(listed) if outcome.ok]
    if not scored:
        return Outcome(failure=_nothing_scored(listed))
    values = [listed[place].unwrap() for place in scored]
    mean = float(np.mean(np.sort(values)))
    chosen = None if sources is None else [sources[place] for place in scored]
    if chosen is not None and len(set(chosen)) == len(chosen):
        chosen = None  # each value is one of its own
    interval = attempt(lambda: source_interval(values, chosen)).value  # no spread, no interval
    if interval is not None:
        interval = (interval.within(*bounds) if bounds is not None else interval).holding(mean)
    return Outcome.of(
        Summary(
            mean,
            interval.low if interval else None,
            interval.high if interval else None,
            len(scored),
            len(listed) if total is None else total,
            signature,
        )
    )


def lower_tail(
    values: Numbers,
    weights: Numbers | None = None,
    *,
    share: float = TAIL,
    higher_is_better: bool = True,
) -> float:
    """Return the mean of the worst ``share`` of the values, by weight.

    Weights are the clips' durations, so that cutting a clip in two changes nothing. The value
    at the border counts with the part of it that still fits. With ``share=1`` it is the
    weighted mean.
    """
    array = some(values)
    weight = np.ones(array.size) if weights is None else some(weights, "weights")
    if weight.size != array.size:
        raise ValueError(f"{weight.size} weights for {array.size} values")
    if (weight < 0).any() or weight.sum() <= 0:
        raise ValueError("weights must not be negative, nor all be zero")
    if not 0 < share <= 1:
        raise ValueError(f"invalid share {share}: must be in (0, 1]")
    order = np.lexsort((weight, array if higher_is_better else -array))
    room = share * float(weight.sum())
    before = np.concatenate(([0.0], np.cumsum(weight[order])[:-1]))
    taken = np.clip(room - before, 0.0, weight[order])
    return float(taken @ array[order] / taken.sum())


def lower_tails(values: Numbers, weights: Numbers | None = None) -> float:
    """Return the mean of a video's lower tails: its worst tenth, quarter, half, and all.

    The worst tenth alone does not change when harm strikes clips that are not among it: a film with
    bad clips of its own would hide it.

    >>> own = [0.1, 0.1] + [0.9] * 18
    >>> harmed = [0.1, 0.1, 0.5, 0.5] + [0.9] * 16
    >>> lower_tail(own) == lower_tail(harmed), lower_tails(own) > lower_tails(harmed)
    (True, True)
    """
    return sum(lower_tail(values, weights, share=share) for share in TAILS) / len(TAILS)


def _nothing_scored(outcomes: list[Outcome[float]]) -> Failure:
    if not outcomes:
        return Failure(Reason.NOT_APPLICABLE, "there is nothing to sum up")
    reasons = [outcome.failure.reason for outcome in outcomes if outcome.failure is not None]
    # The commonest reason, and of equally common ones the first by name.
    common = max(sorted(set(reasons)), key=reasons.count)
    return Failure(common, f"none of {len(outcomes)} has a value, most often {common.value}")
