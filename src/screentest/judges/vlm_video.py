"""vlm_video: a vision-language model looks at frames of both videos and names the better one.

SLVMEval's Algorithm 2: clips as FFmpeg cuts them, their centre frames, a random draw down to
the model's budget, one structured question.
"""

from __future__ import annotations

from dataclasses import dataclass

from screentest.core import (
    JudgeInfo,
    Outcome,
    Question,
    Resources,
    Verdict,
    register,
)
from screentest.judges._answers import Preference, as_verdict
from screentest.judges._frames import FFMPEG, clip_centres, must_show, pictures
from screentest.judges.aspects import DESCRIPTIONS, title
from screentest.models.chat.messages import ChatRequest
from screentest.models.chat.presets import preset
from screentest.prompts import Pictures, Trusted

TEMPLATE = "slvmeval/judge_video"


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
