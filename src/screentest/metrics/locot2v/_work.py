"""What every metric here does alike: run on one item, and say why there is no value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from screentest.core import Consumer, Failure, NoValue, Outcome, Outcomes, Reason, Score


@dataclass(frozen=True, slots=True)
class Work:
    """A measurement: who wants frames, and what to conclude when they have passed."""

    conclude: Callable[[], Outcomes]
    consumers: Sequence[Consumer] = ()

    def finish(self) -> Outcomes:
        """The outcomes."""
        return self.conclude()


def inapplicable(detail: str, advice: str = "") -> NoValue:
    """To be raised where the question makes no sense for an item."""
    return NoValue(Reason.NOT_APPLICABLE, detail, advice=advice)


def no_score(detail: str, reason: Reason = Reason.NOT_APPLICABLE) -> Outcome[Score]:
    """The outcome of one output that has no value while others may have."""
    return Outcome(failure=Failure(reason, detail))
