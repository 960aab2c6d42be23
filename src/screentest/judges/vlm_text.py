"""vlm_text and vlm_hybrid: each video is described for the aspect, then the two are compared.

SLVMEval's Algorithm 3. The captioner sees one video at a time and never the prompt; its
description of a video is asked for once, however many pairs the video is in. vlm_hybrid shows
the comparing model the frames as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from screentest.core import (
    JudgeInfo,
    Outcome,
    Question,
    Resources,
    Verdict,
    attempt,
    register,
)
from screentest.judges.vlm_video import (
    FFMPEG,
    SAMPLING,
    Description,
    Preference,
    as_verdict,
    clip_centres,
)
from screentest.models.ask import Frames, Query, send
from screentest.models.templates import Pictures, Slot, Trusted

DESCRIBE = Query("judges/describe", Description, "chat.caption", "slvm.describe")
COMPARE = Query("judges/judge_text", Preference, "chat.judge", "slvm.judge", SAMPLING)
COMPARE_BOTH = Query("judges/judge_hybrid", Preference, "chat.judge", "slvm.judge", SAMPLING)
_ROLES = (DESCRIBE.role, COMPARE.role)


@dataclass(frozen=True, slots=True)
class VlmText:
    """Describes, then compares; captioner and comparer may be different models."""

    frames: Frames
    seed: int
    hybrid: bool = False

    @property
    def info(self) -> JudgeInfo:
        """What it needs."""
        if self.hybrid:
            summary = "both videos are described, then compared with their frames in sight"
            return JudgeInfo(summary, _ROLES, (DESCRIBE.template, COMPARE_BOTH.template))
        return JudgeInfo(
            "both videos are described, then the descriptions compared",
            _ROLES,
            (DESCRIBE.template, COMPARE.template),
        )

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        """Two descriptions, which may be known already, and one comparison."""
        return attempt(lambda: self._judge(question, resources))

    def _judge(self, question: Question, resources: Resources) -> Verdict:
        seed = self.seed + question.repeat
        shown = [
            self.frames.show(resources, item.video, seed=seed)
            for item in (question.first, question.second)
        ]
        first, second = _describe(question, shown, resources)
        slots: dict[str, Slot] = {
            "aspect": Trusted(question.aspect.title),
            "description": Trusted(question.aspect.info.definition),
            "prompt": question.prompt,
            "first_video": first,
            "second_video": second,
        }
        if self.hybrid:
            slots |= {"first_frames": shown[0], "second_frames": shown[1]}
        query = COMPARE_BOTH if self.hybrid else COMPARE
        return as_verdict(query.one(resources, slots, repeat=question.repeat))


def _describe(question: Question, shown: list[Pictures], resources: Resources) -> list[str]:
    """A description of each video; what shows the same frames is described, and paid, once."""
    requests = []
    for frames in shown:
        slots: dict[str, Slot] = {
            "aspect": Trusted(question.aspect.title),
            "description": Trusted(question.aspect.info.definition),
            "frames": frames,
        }
        requests.append(DESCRIBE.request(resources.prompts, slots, repeat=question.repeat))
    distinct = {request.key: request for request in requests}
    answers = send(resources.role(DESCRIBE.role), distinct.values())
    by_key = dict(zip(distinct, answers, strict=True))
    return [_text(by_key[request.key].unwrap()) for request in requests]


def _text(description: Description) -> str:
    lines = [f"[{one.seconds:.1f} s] {one.seen}" for one in description.observations]
    return "\n".join([*lines, f"Overall: {description.overall}"])


@register("judge", "vlm_text", version=1, summary="descriptions of both videos, compared as text")
def vlm_text(
    *, frames: int = 64, long_side: int = 512, detector: str = FFMPEG, seed: int = 0
) -> VlmText:
    """``frames`` is the most that the captioner is shown of one video."""
    return VlmText(clip_centres(frames, long_side, detector), seed)


@register("judge", "vlm_hybrid", version=1, summary="descriptions and frames of both, compared")
def vlm_hybrid(
    *, frames: int = 32, long_side: int = 512, detector: str = FFMPEG, seed: int = 0
) -> VlmText:
    """``frames`` is the most that is shown of one video."""
    return VlmText(clip_centres(frames, long_side, detector), seed, hybrid=True)
