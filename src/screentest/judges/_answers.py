"""What vision-language judges answer, as schemas, and how an answer becomes a verdict."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from screentest.core import Choice, Outcome, Reason, Verdict
from screentest.models.chat.messages import ChatAnswer


class Preference(BaseModel):
    """Which of two videos is better."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(description="What decided, in one or two sentences.")
    better: Literal["first", "second"] = Field(description="The better video.")


class Observation(BaseModel):
    """Something seen at a certain time."""

    model_config = ConfigDict(extra="forbid")

    seconds: float = Field(description="When it is seen.")
    seen: str = Field(description="What is seen, in one sentence.")


class Description(BaseModel):
    """What a video shows, with an eye to one aspect."""

    model_config = ConfigDict(extra="forbid")

    observations: list[Observation] = Field(description="In order of time.")
    overall: str = Field(description="The whole video with regard to the aspect.")


def as_verdict(outcome: Outcome[ChatAnswer]) -> Outcome[Verdict]:
    """The verdict in an answer; an answer without one is a failure, never the second video."""
    if outcome.failure is not None:
        return Outcome(failure=outcome.failure)
    value = outcome.unwrap().value
    if not isinstance(value, Preference):
        return Outcome.failed(Reason.UNPARSABLE, "the answer names neither video")
    return Outcome.of(Verdict(Choice(value.better), rationale=value.reason))
