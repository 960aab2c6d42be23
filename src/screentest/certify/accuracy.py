"""Accuracy: points for the intact video, with every interval that belongs to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from screentest.certify.certificate import Accuracy
from screentest.certify.judgements import Judgement
from screentest.core import Outcome, Reason
from screentest.stats import bootstrap_accuracy, wald, wilson


def accuracy(judgements: Sequence[Judgement]) -> Outcome[Accuracy]:
    """Points with all their intervals; a failed Outcome where nothing was answered."""
    answered = [(one, earned) for one in judgements if (earned := one.points) is not None]
    points = [value for _, value in answered]
    failures = Counter(
        one.outcome.failure.reason
        for one in judgements
        if one.outcome is not None and one.outcome.failure is not None
    )
    if not points:
        told = ", ".join(f"{reason.value} ({count})" for reason, count in sorted(failures.items()))
        reason = max(failures, key=lambda one: failures[one]) if failures else Reason.NOT_APPLICABLE
        return Outcome.failed(reason, told or "nothing was judged")
    # Several orders and repeats of a pair are not independent: sources are resampled whole.
    clusters = [one.case.cluster for one, _ in answered]
    total = sum(points)
    pairs = len({one.place for one, _ in answered})
    return Outcome.of(
        Accuracy(
            points=total,
            judgements=len(points),
            total=len(judgements),
            ties=sum(value == 0.5 for value in points),
            # A judge that rates videos alone gives the same answer in both orders: counted
            # twice, its interval would be too narrow by a factor of √2.
            wilson=wilson(total / len(points) * pairs, pairs),
            wald=wald(total, len(points)),
            clustered=bootstrap_accuracy(points, clusters) if len(set(clusters)) > 1 else None,
            failures=dict(sorted(failures.items())),
            pairs=pairs,
        )
    )


def by_pair(judgements: Iterable[Judgement]) -> dict[tuple[str, str], tuple[Judgement, float]]:
    """One value per pair that was answered: the mean over orders and repeats."""
    found: dict[tuple[str, str], list[tuple[Judgement, float]]] = {}
    for one in judgements:
        if one.points is not None:
            found.setdefault(one.place, []).append((one, one.points))
    return {
        place: (many[0][0], sum(points for _, points in many) / len(many))
        for place, many in sorted(found.items())
    }
