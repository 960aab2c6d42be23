"""vlm_text and vlm_hybrid: each video is described for the aspect, then the two are compared.

SLVMEval's Algorithm 3. The captioner sees one video at a time and never the prompt; its
description of a video is asked for once, however many pairs the video is in. vlm_hybrid shows
the comparing model the frames as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from screentest.core import (
    Aspect,
    Item,
    JudgeInfo,
    NoValue,
    Outcome,
    Question,
    Reason,
    Resources,
    Verdict,
    attempt,
    register,
)
from screentest.judges.aspects import DESCRIPTIONS, title
from screentest.judges.vlm_video import (
    FFMPEG,
    Description,
    Preference,
    as_verdict,
    clip_centres,
    must_show,
    pictures,
)
from screentest.models.chat.endpoint import preset
from screentest.models.chat.messages import ChatRequest, Part
from screentest.models.templates import Pictures, Trusted

DESCRIBE = "judges/describe"
COMPARE = "judges/judge_text"
COMPARE_BOTH = "judges/judge_hybrid"
_ROLES = ("chat.caption", "chat.judge")


@dataclass(frozen=True, slots=True)
class VlmText:
    """Describes, then compares; captioner and comparer may be different models."""

    frames: int
    long_side: int
    detector: str
    seed: int
    hybrid: bool = False

    @property
    def info(self) -> JudgeInfo:
        """What it needs."""
        if self.hybrid:
            summary = "both videos are described, then compared with their frames in sight"
            return JudgeInfo(summary, _ROLES, (DESCRIBE, COMPARE_BOTH))
        return JudgeInfo(
            "both videos are described, then the descriptions compared",
            _ROLES,
            (DESCRIBE, COMPARE),
        )

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        """Two descriptions, which may be known already, and one comparison."""
        return attempt(lambda: self._judge(question, resources).unwrap())

    def _judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        seed = self.seed + question.repeat
        shown = [
            self._pictures(item, resources, seed) for item in (question.first, question.second)
        ]
        requests = [
            _describe(question.aspect, parts, resources, question.repeat) for parts in shown
        ]
        told = _descriptions(requests, resources)
        slots: dict[str, object] = {
            "aspect": Trusted(title(question.aspect)),
            "description": Trusted(DESCRIPTIONS[question.aspect]),
            "prompt": question.prompt,
            "first_video": told[0],
            "second_video": told[1],
        }
        if self.hybrid:
            slots |= {"first_frames": Pictures(shown[0]), "second_frames": Pictures(shown[1])}
        rendered = resources.prompts.render(COMPARE_BOTH if self.hybrid else COMPARE, slots)
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

    def _pictures(self, item: Item, resources: Resources, seed: int) -> list[Part]:
        moments = clip_centres(
            item.video, resources, budget=self.frames, detector=self.detector, seed=seed
        )
        return pictures(item.video, moments, resources, long_side=self.long_side)


def _describe(aspect: Aspect, shown: list[Part], resources: Resources, repeat: int) -> ChatRequest:
    slots = {
        "aspect": Trusted(title(aspect)),
        "description": Trusted(DESCRIPTIONS[aspect]),
        "frames": Pictures(shown),
    }
    rendered = resources.prompts.render(DESCRIBE, slots)
    return ChatRequest(
        rendered.parts,
        rendered.system,
        Description,
        sampling=preset("slvm.describe"),
        use="slvm.describe",
        repeat=repeat,
    )


def _descriptions(requests: list[ChatRequest], resources: Resources) -> list[str]:
    """The text for each request; what shows the same frames is described, and paid, once."""
    distinct = {request.key: request for request in requests}
    answers = resources.role("chat.caption").ask(list(distinct.values()))
    by_key = dict(zip(distinct, answers, strict=True))
    return [_told(by_key[request.key]) for request in requests]


def _told(outcome: Outcome[object]) -> str:
    """A description as text; raises NoValue where there is none."""
    answer = outcome.unwrap()
    value = getattr(answer, "value", None)
    if not isinstance(value, Description):
        raise NoValue(Reason.UNPARSABLE, "the captioner's answer holds no description")
    lines = [f"[{one.seconds:.1f} s] {one.seen}" for one in value.observations]
    return "\n".join([*lines, f"Overall: {value.overall}"])


@register("judge", "vlm_text", version=1, summary="descriptions of both videos, compared as text")
def vlm_text(
    *, frames: int = 64, long_side: int = 512, detector: str = FFMPEG, seed: int = 0
) -> VlmText:
    """``frames`` is the most that the captioner is shown of one video."""
    must_show(frames, long_side)
    return VlmText(frames, long_side, detector, seed)


@register("judge", "vlm_hybrid", version=1, summary="descriptions and frames of both, compared")
def vlm_hybrid(
    *, frames: int = 32, long_side: int = 512, detector: str = FFMPEG, seed: int = 0
) -> VlmText:
    """``frames`` is the most that is shown of one video."""
    must_show(frames, long_side)
    return VlmText(frames, long_side, detector, seed, hybrid=True)
