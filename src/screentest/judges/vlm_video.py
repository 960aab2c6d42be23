"""vlm_video: a vision-language model looks at frames of both videos and names the better one.

SLVMEval's Algorithm 2: clips as FFmpeg cuts them, their centre frames, a random draw down to
the model's budget, one structured question.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from screentest.core import (
    BadOption,
    Choice,
    Filter,
    FrameRequest,
    JudgeInfo,
    Outcome,
    Question,
    Reason,
    Resources,
    Size,
    Time,
    Verdict,
    register,
)
from screentest.judges.aspects import DESCRIPTIONS, title
from screentest.models.chat.endpoint import preset
from screentest.models.chat.messages import ChatAnswer, ChatRequest, Encoding, Part, timed
from screentest.models.templates import Pictures, Trusted

# What vision-language judges answer, as schemas, and how an answer becomes a verdict.


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


# The frames a judge is shown: the middle of each clip, drawn down to what the model takes.

FFMPEG = "scdet"
"""The detector that works as FFmpeg's own, which the paper uses."""


def must_show(frames: int, long_side: int) -> None:
    """Refuse options under which a judge would see nothing."""
    if frames < 1 or long_side < 16:
        raise BadOption(
            f"{frames} frames of {long_side} pixels show nothing",
            advice="frames is 1 or more, long_side 16 or more.",
        )


def clip_centres(
    video: Path, resources: Resources, *, budget: int, detector: str, seed: int
) -> list[Time]:
    """The middle of each clip, in order; at random as many as the budget allows.

    The draw depends on how many clips there are and on nothing else: two videos cut alike are
    looked at in the same places, whichever comes first.
    """
    centres = [shot.span.centre for shot in resources.shots(video, detector)]
    return drawn(centres, budget, seed)


def drawn(moments: Sequence[Time], budget: int, seed: int) -> list[Time]:
    """``budget`` of the moments, in their order.

    >>> [int(t) for t in drawn([Time(n) for n in range(10)], 3, seed=0)]
    [1, 2, 8]
    """
    if len(moments) <= budget:
        return list(moments)
    dice = random.Random(f"{seed}/{len(moments)}/{budget}")
    return [moments[place] for place in sorted(dice.sample(range(len(moments)), budget))]


def pictures(
    video: Path, moments: Sequence[Time], resources: Resources, *, long_side: int
) -> list[Part]:
    """The frames at these moments, each after its time in words."""
    size = Size(long_side=long_side)
    request = FrameRequest(size=size, filter=Filter.AREA)
    return timed(resources.frames(video, moments, request), Encoding(size))


TEMPLATE = "judges/judge_video"


@dataclass(frozen=True, slots=True)
class VlmVideo:
    """Asks one question with the frames of both videos."""

    frames: int
    long_side: int
    detector: str
    seed: int

    info = JudgeInfo(
        "a vision-language model compares frames of both videos",
        roles=("chat.judge",),
        prompts=(TEMPLATE,),
    )

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        """One call."""
        slots: dict[str, object] = {
            "aspect": Trusted(title(question.aspect)),
            "description": Trusted(DESCRIPTIONS[question.aspect]),
            "prompt": question.prompt,
        }
        for name, item in (("first", question.first), ("second", question.second)):
            moments = clip_centres(
                item.video,
                resources,
                budget=self.frames,
                detector=self.detector,
                seed=self.seed + question.repeat,
            )
            shown = pictures(item.video, moments, resources, long_side=self.long_side)
            slots[f"{name}_frames"] = Pictures(shown)
        rendered = resources.prompts.render(TEMPLATE, slots)
        request = ChatRequest(
            rendered.parts,
            rendered.system,
            Preference,
            sampling=preset("slvm.judge"),
            use="slvm.judge",
            repeat=question.repeat,
        )
        (answer,) = resources.role("chat.judge").ask([request])
        return as_verdict(answer)


@register("judge", "vlm_video", version=1, summary="a vision-language model on frames of both")
def vlm_video(
    *, frames: int = 64, long_side: int = 512, detector: str = FFMPEG, seed: int = 0
) -> VlmVideo:
    """``frames`` is the most that is shown of one video."""
    must_show(frames, long_side)
    return VlmVideo(frames, long_side, detector, seed)
