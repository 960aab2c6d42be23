"""Alignment with the prompt: of the whole video, of its events, and of human actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from screentest.core.frames import VideoInfo
from screentest.core.item import Item
from screentest.core.metric import Calls, MetricInfo, Outcomes, Resources
from screentest.core.outcome import Json, Outcome, Score
from screentest.core.registry import register
from screentest.models.ask import Query
from screentest.models.ask.templates import Slot, Trusted
from screentest.suites.locot2v.data import Event, PromptRecord
from screentest.suites.locot2v.requests import (
    ACTIONS,
    DESCRIBE,
    EVENTS,
    WatchingByRecords,
    actions_of,
    declared,
    description,
    events_of,
    events_of_text,
    inapplicable,
)
from screentest.suites.locot2v.similarity import nearness, text_vectors

OVERALL_ALIGNMENT = "locot2v_overall_alignment"


@register(
    "metric",
    OVERALL_ALIGNMENT,
    version=2,
    summary="similarity of the video's description to the prompt",
    neutral=("records",),
)
class OverallAlignment(WatchingByRecords):
    """Does the video as a whole show what the prompt describes? Cosine of two texts, in 0–1.

    A chat model writes a detailed description of the video. The score is the similarity in meaning
    of that description to the prompt's base: the prompt without what only concerns evaluation.
    """

    info = MetricInfo(
        outputs=declared(OVERALL_ALIGNMENT),
        roles=(DESCRIBE.role, "text_embedding"),
        needs=("text",),
        prompts=(DESCRIBE.template,),
    )

    def asks(self, record: PromptRecord, video: VideoInfo) -> Sequence[Calls]:
        return (self.frames.calls(DESCRIBE.role, video),)

    def conclude(self, item: Item, resources: Resources) -> Outcomes:
        text = description(item, resources, self.frames)
        rows = text_vectors([text, self.records.of(item).content], resources)
        value = float(nearness(rows[:1], rows[1:])[0, 0])
        return {OVERALL_ALIGNMENT: Outcome.of(Score(value, details={"description": text}))}


EVENT_ALIGNMENT = "locot2v_event_alignment"
FIELDS = ("subject", "setting", "action", "camera")


@register(
    "metric",
    EVENT_ALIGNMENT,
    version=2,
    summary="whether the prompt's events happen, as told and in order",
    neutral=("records",),
)
class EventAlignment(WatchingByRecords):
    """Do the events of the prompt happen, as it says, and in its order? (equation 1)

    Events of the prompt and of the video's description are matched one to one so that the sum of
    the similarities of their descriptions is largest (the Hungarian algorithm). A matched pair
    scores that similarity times the mean similarity of its four fields: subject, setting, action
    and camera motion. The mean over pairs is multiplied by 1 − inversions / most possible
    inversions of the matched order. One pair has no order to lose.
    """

    info = MetricInfo(
        outputs=declared(EVENT_ALIGNMENT),
        roles=(DESCRIBE.role, EVENTS.role, "text_embedding"),
        needs=("text",),
        prompts=(DESCRIBE.template, EVENTS.template),
    )

    def asks(self, record: PromptRecord, video: VideoInfo) -> Sequence[Calls]:
        texts = 1 if record.events else 2
        return self.frames.calls(DESCRIBE.role, video), Calls(EVENTS.role, "video", count=texts)

    def conclude(self, item: Item, resources: Resources) -> Outcomes:
        wanted = events_of(self.records.of(item), resources)
        if not wanted:
            raise inapplicable("the prompt tells of no events")
        shown = events_of_text(description(item, resources, self.frames), resources)
        return {
            EVENT_ALIGNMENT: Outcome.of(align(wanted, shown, Nearness.of(wanted, shown, resources)))
        }


@dataclass(frozen=True, slots=True)
class Nearness:
    """Similarities of every wanted event to every shown one: of descriptions and of fields."""

    events: NDArray[np.float64]
    fields: NDArray[np.float64]
    """field × wanted × shown"""

    @classmethod
    def of(cls, wanted: Sequence[Event], shown: Sequence[Event], resources: Resources) -> Nearness:
        if not shown:
            return cls(np.zeros((len(wanted), 0)), np.zeros((len(FIELDS), len(wanted), 0)))
        names = ("event", *FIELDS)
        texts = [getattr(item, name) for name in names for item in (*wanted, *shown)]
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
    return Score(factor * fmean(values), details=details)


def match(weights: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs of a maximum-weight matching, by row; pairs that weigh nothing are none.

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


HUMAN_ACTION = "locot2v_human_action"
SMOOTHNESS = (
    "Does the action go on without a sudden break?",
    "Does the action look natural, not stiff?",
    "Does the action flow from its beginning to its end?",
)


class YesNo(BaseModel):
    """An answer that can be only one of two."""

    answer: Literal["yes", "no"]


OCCURS = Query("locot2v/action_occurs", YesNo, "chat.watch")
SMOOTH = Query("locot2v/action_smooth", YesNo, "chat.watch")


@register(
    "metric",
    HUMAN_ACTION,
    summary="whether people do what the prompt says, and naturally",
    neutral=("records",),
)
class HumanActions(WatchingByRecords):
    """Do the people in the video do what the prompt says, and naturally?

    Human actions are read from the prompt. For each, a chat model is asked whether it occurs; and
    of one that does, three questions on how smoothly it is performed: is it continuous, natural,
    fluid from start to finish. An action scores the share of yes among the three, and 0 where it
    does not occur; the video the mean over its actions. The paper names the questions, not how they
    are put together.
    """

    info = MetricInfo(
        outputs=declared(HUMAN_ACTION),
        roles=(ACTIONS.role, OCCURS.role),
        needs=("text",),
        prompts=(ACTIONS.template, OCCURS.template, SMOOTH.template),
    )

    def asks(self, record: PromptRecord, video: VideoInfo) -> Sequence[Calls] | None:
        if record.actions is None:
            return None
        each = 1 + len(SMOOTHNESS)
        return (self.frames.calls(OCCURS.role, video, each * len(record.actions)),)

    def conclude(self, item: Item, resources: Resources) -> Outcomes:
        actions = actions_of(self.records.of(item), resources)
        if not actions:
            raise inapplicable("nobody acts in the prompt")
        pictures = self.frames.show(resources, item.video)
        seen = OCCURS.ask(
            resources, [{"pictures": pictures, "action": str(entry)} for entry in actions]
        )
        occurs = [_yes(entry) for entry in seen]
        asked: list[dict[str, Slot]] = [
            {"pictures": pictures, "action": str(action), "question": Trusted(question)}
            for action, there in zip(actions, occurs, strict=True)
            if there
            for question in SMOOTHNESS
        ]
        answers = iter([_yes(entry) for entry in SMOOTH.ask(resources, asked)] if asked else [])
        details: list[Json] = []
        values = []
        for action, there in zip(actions, occurs, strict=True):
            smooth = [next(answers) for _ in SMOOTHNESS] if there else []
            value = sum(smooth) / len(smooth) if smooth else 0.0
            values.append(value)
            details.append({"action": str(action), "occurs": there, "smooth": list(smooth)})
        return {HUMAN_ACTION: Outcome.of(Score(fmean(values), details={"actions": details}))}


def _yes(outcome: Outcome[YesNo]) -> bool:
    return outcome.unwrap().answer == "yes"
