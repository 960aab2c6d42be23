"""Event-level alignment: do the events of the prompt happen, as told, and in order? (equation 1)

Events of the prompt and of the video's description are matched one to one so that the sum of
the similarities of their descriptions is largest (the Hungarian algorithm). A matched pair
scores that similarity times the mean similarity of its four fields: subject, setting, action
and camera motion. The mean over pairs is multiplied by 1 − inversions / most possible
inversions of the matched order. One pair has no order to lose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import (
    Item,
    MetricInfo,
    Outcome,
    Outcomes,
    OutputInfo,
    Resources,
    Score,
    register,
)
from screentest.corpus.locot2v import Event
from screentest.metrics.locot2v._asking import Glance
from screentest.metrics.locot2v._describing import DESCRIBE, description
from screentest.metrics.locot2v._events import EVENTS, events_of, events_of_text
from screentest.metrics.locot2v._similarity import nearness, text_vectors
from screentest.metrics.locot2v._suite import Records
from screentest.metrics.locot2v._timeline import mean
from screentest.metrics.locot2v._work import Work, inapplicable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core.score import Json

NAME = "locot2v_event_alignment"
FIELDS = ("subject", "setting", "action", "camera")


@register(
    "metric",
    NAME,
    version=1,
    summary="whether the prompt's events happen, as told and in order",
    neutral=("records",),
)
def event_alignment(*, records: str = "", frames: int = 32, long_side: int = 512) -> EventAlignment:
    """``records`` is a prompt suite's file with events; else they are read from the prompt."""
    return EventAlignment(Records(records), Glance(frames, long_side))


@dataclass(frozen=True)
class EventAlignment:
    """Fidelity of matched events, times how well their order was kept."""

    records: Records
    glance: Glance

    info = MetricInfo(
        outputs={NAME: OutputInfo("fidelity of matched events × how well their order is kept")},
        roles=(DESCRIBE.role, EVENTS.role, "text_embedding"),
        needs=("text",),
        prompts=(DESCRIBE.template, EVENTS.template),
    )

    @property
    def signature_parts(self) -> dict[str, str]:
        """Which suite the events come from."""
        return self.records.signature_parts

    def start(self, item: Item, resources: Resources) -> Work:
        """Nothing streams."""

        def conclude() -> Outcomes:
            wanted = events_of(self.records.of(item), resources)
            if not wanted:
                raise inapplicable("the prompt tells of no events")
            shown = events_of_text(description(item, resources, self.glance), resources)
            return {NAME: Outcome.of(align(wanted, shown, Nearness.of(wanted, shown, resources)))}

        return Work(conclude)


@dataclass(frozen=True, slots=True)
class Nearness:
    """Similarities of every wanted event to every shown one: of descriptions and of fields."""

    events: NDArray[np.float64]
    fields: NDArray[np.float64]
    """field × wanted × shown"""

    @classmethod
    def of(cls, wanted: Sequence[Event], shown: Sequence[Event], resources: Resources) -> Nearness:
        """By the embeddings of all texts, taken together."""
        if not shown:
            return cls(np.zeros((len(wanted), 0)), np.zeros((len(FIELDS), len(wanted), 0)))
        names = ("event", *FIELDS)
        texts = [getattr(one, name) for name in names for one in (*wanted, *shown)]
        rows = text_vectors(texts, resources).reshape(len(names), len(wanted) + len(shown), -1)
        tables = [nearness(part[: len(wanted)], part[len(wanted) :]) for part in rows]
        return cls(tables[0], np.stack(tables[1:]))


def align(wanted: Sequence[Event], shown: Sequence[Event], near: Nearness) -> Score:
    """Equation 1; nothing matched is 0, and says so."""
    pairs = match(near.events)
    details: dict[str, Json] = {"wanted": len(wanted), "shown": len(shown), "matched": len(pairs)}
    if not pairs:
        why = "the description tells of no events" if not shown else "no event resembles another"
        return Score(0.0, details={**details, "why": why})
    values = [float(near.events[i, j] * near.fields[:, i, j].mean()) for i, j in pairs]
    factor = order_kept([j for _, j in pairs])
    details["order"] = factor
    details["pairs"] = [
        {"wanted": wanted[i].event, "shown": shown[j].event, "score": value}
        for (i, j), value in zip(pairs, values, strict=True)
    ]
    return Score(factor * mean(values), details=details)


def match(weights: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The pairs of a maximum-weight matching, by row; pairs that weigh nothing are none.

    >>> match(np.array([[0.9, 0.8], [0.8, 0.1]]))
    [(0, 1), (1, 0)]
    """
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(weights, maximize=True)
    chosen = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(i, j) for i, j in chosen if weights[i, j] > 0]


def order_kept(places: Sequence[int]) -> float:
    """1 − inversions / most possible inversions.

    >>> order_kept([2, 0, 1]), order_kept([5]), order_kept([1, 0])
    (0.33333333333333337, 1.0, 0.0)
    """
    most = len(places) * (len(places) - 1) // 2
    inversions = sum(first > second for first, second in combinations(places, 2))
    return 1 - inversions / most if most else 1.0
