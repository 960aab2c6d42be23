"""Human action: do the people in the video do what the prompt says, and naturally?

Human actions are read from the prompt. For each, a chat model is asked whether it occurs; and
of one that does, three questions on how smoothly it is performed: is it continuous, natural,
fluid from start to finish. An action scores the share of yes among the three, and 0 where it
does not occur; the video the mean over its actions. The paper names the questions, not how
they are put together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel

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
from screentest.metrics.locot2v._asking import Asking, Glance
from screentest.metrics.locot2v._events import ACTIONS, actions_of
from screentest.metrics.locot2v._suite import Records
from screentest.metrics.locot2v._timeline import mean
from screentest.metrics.locot2v._work import Work, inapplicable
from screentest.prompts.values import Trusted

if TYPE_CHECKING:
    from screentest.core.score import Json
    from screentest.prompts.values import Slot

NAME = "locot2v_human_action"
SMOOTHNESS = (
    "Does the action go on without a sudden break?",
    "Does the action look natural, not stiff?",
    "Does the action flow from its beginning to its end?",
)


class YesNo(BaseModel):
    """An answer that can be only one of two."""

    answer: Literal["yes", "no"]


OCCURS = Asking("watch", "locot2v/action_occurs", YesNo)
SMOOTH = Asking("watch", "locot2v/action_smooth", YesNo)


@register(
    "metric",
    NAME,
    version=1,
    summary="whether people do what the prompt says, and naturally",
    neutral=("records",),
)
def human_action(*, records: str = "", frames: int = 32, long_side: int = 512) -> HumanActions:
    """``records`` is a prompt suite's file with actions; else they are read from the prompt."""
    return HumanActions(Records(records), Glance(frames, long_side))


@dataclass(frozen=True)
class HumanActions:
    """Mean over actions of occurrence times smoothness."""

    records: Records
    glance: Glance

    info = MetricInfo(
        outputs={NAME: OutputInfo("share of human actions that occur, weighted by smoothness")},
        roles=(ACTIONS.role, OCCURS.role),
        needs=("text",),
        prompts=(ACTIONS.template, OCCURS.template, SMOOTH.template),
    )

    @property
    def signature_parts(self) -> dict[str, str]:
        """Which suite the actions come from."""
        return self.records.signature_parts

    def start(self, item: Item, resources: Resources) -> Work:
        """Nothing streams."""

        def conclude() -> Outcomes:
            actions = actions_of(self.records.of(item), resources)
            if not actions:
                raise inapplicable("nobody acts in the prompt")
            pictures = self.glance.at(item, resources)
            seen = OCCURS.ask(
                resources, [{"pictures": pictures, "action": str(one)} for one in actions]
            )
            occurs = [_yes(one) for one in seen]
            asked: list[dict[str, Slot]] = [
                {"pictures": pictures, "action": str(action), "question": Trusted(question)}
                for action, there in zip(actions, occurs, strict=True)
                if there
                for question in SMOOTHNESS
            ]
            answers = iter([_yes(one) for one in SMOOTH.ask(resources, asked)] if asked else [])
            told: list[Json] = []
            values = []
            for action, there in zip(actions, occurs, strict=True):
                smooth = [next(answers) for _ in SMOOTHNESS] if there else []
                value = sum(smooth) / len(smooth) if smooth else 0.0
                values.append(value)
                told.append({"action": str(action), "occurs": there, "smooth": list(smooth)})
            return {NAME: Outcome.of(Score(mean(values), details={"actions": told}))}

        return Work(conclude)


def _yes(outcome: Outcome[YesNo]) -> bool:
    return outcome.unwrap().answer == "yes"
