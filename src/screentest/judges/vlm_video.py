"""vlm_video: a vision-language model looks at frames of both videos and names the better one.

SLVMEval's Algorithm 2: clips as FFmpeg cuts them, their centre frames, a random draw down to
the model's budget, one structured question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from screentest.core import (
    BadOption,
    Choice,
    JudgeInfo,
    Outcome,
    Question,
    Resources,
    Verdict,
    register,
)
from screentest.models.ask import Frames, Placing, Query, send
from screentest.models.chat.messages import Sampling
from screentest.models.templates import Slot, Trusted

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


def as_verdict(answer: Preference) -> Verdict:
    """The verdict that an answer holds."""
    return Verdict(Choice(answer.better), rationale=answer.reason)


# The frames a judge is shown: the middle of each clip, drawn down to what the model takes.

FFMPEG = "scdet"
"""The detector that works as FFmpeg's own, which the paper uses."""


def clip_centres(budget: int, long_side: int, detector: str) -> Frames:
    """The middle of each clip, ``budget`` of them at most."""
    if budget < 1:
        raise BadOption(f"invalid number of frames {budget}: must be 1 or more")
    return Frames(placing=Placing.SHOTS, most=budget, long_side=long_side, detector=detector)


# SLVMEval, appendix G.1: Qwen3-VL. GPT-5 takes no sampling settings; the client leaves them out.
# The token limit is ours: room for a model that thinks aloud.
SAMPLING = Sampling(temperature=0.7, top_p=0.8, top_k=20, min_p=0.0, max_tokens=8192)
TEMPLATE = "judges/judge_video"


COMPARE = Query(TEMPLATE, Preference, "chat.judge", "slvm.judge", SAMPLING)


@dataclass(frozen=True, slots=True)
class VlmVideo:
    """Asks one question with the frames of both videos."""

    frames: Frames
    seed: int

    info = JudgeInfo(
        "a vision-language model compares frames of both videos",
        roles=("chat.judge",),
        prompts=(TEMPLATE,),
    )

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        """One call."""
        seed = self.seed + question.repeat
        slots: dict[str, Slot] = {
            "aspect": Trusted(question.aspect.title),
            "description": Trusted(question.aspect.info.definition),
            "prompt": question.prompt,
            "first_frames": self.frames.show(resources, question.first.video, seed=seed),
            "second_frames": self.frames.show(resources, question.second.video, seed=seed),
        }
        request = COMPARE.request(resources.prompts, slots, repeat=question.repeat)
        (answer,) = send(resources.role(COMPARE.role), [request])
        return answer.map(as_verdict)


@register("judge", "vlm_video", version=1, summary="a vision-language model on frames of both")
def vlm_video(
    *, frames: int = 64, long_side: int = 512, detector: str = FFMPEG, seed: int = 0
) -> VlmVideo:
    """``frames`` is the most that is shown of one video."""
    return VlmVideo(clip_centres(frames, long_side, detector), seed)
