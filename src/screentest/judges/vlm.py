"""Judges that ask a vision-language model: vlm_video, vlm_text, vlm_hybrid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from screentest.core.metric import Calls, JudgeInfo, Question, Resources
from screentest.core.outcome import Outcome, attempt
from screentest.core.registry import register
from screentest.core.verdict import Choice, Shown, Verdict
from screentest.models.ask import Explanation, Frames, Placing, Query, send
from screentest.models.ask.templates import ASPECTS, Pictures, Slot, Trusted
from screentest.models.chat.messages import Film, Picture, Sampling

# What vision-language judges answer, as schemas, and how an answer becomes a verdict.


class Preference(BaseModel):
    """Which of two videos is better."""

    model_config = ConfigDict(extra="forbid")

    reason: Explanation = Field(description="What decided, in one or two sentences.")
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


def as_verdict(answer: Preference, shown: Shown | None = None) -> Verdict:
    """Return the verdict that an answer holds."""
    return Verdict(Choice(answer.better), rationale=answer.reason, shown=shown)


# The frames a judge is shown: the middle of each clip, drawn down to what the model takes.

FFMPEG = "scdet"
"""The detector that works as FFmpeg's own, which the paper uses."""


def clip_centres(budget: int, long_side: int, detector: str) -> Frames:
    """Return the middle of each clip, ``budget`` of them at most."""
    return Frames(placing=Placing.SHOTS, most=budget, long_side=long_side, detector=detector)


# SLVMEval, appendix G.1: Qwen3-VL. GPT-5 takes no sampling settings; the client leaves them out.
# The token limit is ours: room for a model that thinks aloud.
SAMPLING = Sampling(temperature=0.7, top_p=0.8, top_k=20, min_p=0.0, max_tokens=8192)


def _aspect(question: Question, resources: Resources) -> dict[str, Slot]:
    """Return the slots of the aspect in every question."""
    aspect = question.aspect
    words = resources.prompts.definition(aspect, hinted=question.hinted)
    return {"aspect": Trusted(aspect.title), "description": words}


def _calls(query: Query, per: Literal["question", "video"], frames: Frames | None = None) -> Calls:
    if frames is None:
        return Calls(query.role, per)
    return Calls(query.role, per, frames.most, frames.long_side or 512)


def _look(
    frames: Frames, question: Question, resources: Resources, seed: int, roles: Sequence[str]
) -> tuple[list[Pictures], Shown | None]:
    """Frames of both videos as pictures, and when they are on the screen.

    Where a model of these roles is sent the videos themselves, nothing is between the frames.
    """
    taken = [
        list(frames.of(resources, item.video, seed=seed + question.repeat))
        for item in (question.first, question.second)
    ]
    films = [Film(item.video) for item in (question.first, question.second)]
    pictures = [frames.pictures(subset, film) for subset, film in zip(taken, films, strict=True)]
    first, second = (
        [part for part in picture.parts if isinstance(part, Picture)] for picture in pictures
    )
    times = [tuple(frame.time for frame in subset) for subset in taken]
    whole = any(getattr(resources.role(role), "takes_videos", False) for role in roles)
    if whole:
        return pictures, None
    both = (question.first.video, question.second.video)
    found = min(len(resources.shots(video, frames.detector)) for video in both)
    return pictures, Shown(times[0], times[1], first == second, found)


# The paper samples all calls of Qwen3-VL alike, and says why: greedy answers repeat themselves.
DESCRIBE = Query("judges/describe", Description, "chat.caption", "slvm.describe", SAMPLING)
COMPARE_FRAMES = Query("judges/judge_video", Preference, "chat.judge", "slvm.judge", SAMPLING)
COMPARE_TEXTS = Query("judges/judge_text", Preference, "chat.judge", "slvm.judge", SAMPLING)
COMPARE_BOTH = Query("judges/judge_hybrid", Preference, "chat.judge", "slvm.judge", SAMPLING)


@dataclass(frozen=True, slots=True)
class VlmJudge:
    """Compares the frames of two videos, descriptions of them, or both.

    By frames it is SLVMEval's Algorithm 2: clips as FFmpeg cuts them, their centre frames, a random
    draw down to the model's budget, one structured question. By descriptions it is Algorithm 3: the
    captioner, which may be another model, sees one video at a time and never the prompt; a video is
    described once, however many pairs it is in.
    """

    summary: str
    query: Query
    """Compares."""
    frames: Frames
    seed: int
    describes: bool = True
    compares_frames: bool = True

    @property
    def info(self) -> JudgeInfo:
        asked = (DESCRIBE, self.query) if self.describes else (self.query,)
        compared = self.frames if self.compares_frames else None
        calls = (_calls(DESCRIBE, "video", self.frames), _calls(self.query, "question", compared))
        return JudgeInfo(
            self.summary,
            tuple(query.role for query in asked),
            (*(query.template for query in asked), ASPECTS),
            calls=calls[-len(asked) :],
        )

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        return attempt(lambda: self._judge(question, resources))

    def _judge(self, question: Question, resources: Resources) -> Verdict:
        shown_to = {DESCRIBE.role: self.describes, self.query.role: self.compares_frames}
        roles = [role for role, is_shown in shown_to.items() if is_shown]
        pictures, shown = _look(self.frames, question, resources, self.seed, roles)
        slots: dict[str, Slot] = {**_aspect(question, resources), "prompt": question.prompt}
        if self.describes:
            texts = _describe(question, pictures, resources)
            slots |= {"first_video": texts[0], "second_video": texts[1]}
        if self.compares_frames:
            slots |= {"first_frames": pictures[0], "second_frames": pictures[1]}
        return as_verdict(self.query.one(resources, slots, repeat=question.repeat), shown)


def _describe(question: Question, shown: list[Pictures], resources: Resources) -> list[str]:
    """Return a description of each video; equal frames are described, and paid, once."""
    aspect = _aspect(question, resources)
    requests = [
        DESCRIBE.request(resources.prompts, {**aspect, "frames": frames}, repeat=question.repeat)
        for frames in shown
    ]
    chat = resources.role(DESCRIBE.role)
    # Two videos may show the same frames and differ between them.
    whole = getattr(chat, "takes_videos", False)
    keys = [str(number) if whole else request.key for number, request in enumerate(requests)]
    distinct = dict(zip(keys, requests, strict=True))
    answers = send(chat, distinct.values())
    by_key = dict(zip(distinct, answers, strict=True))
    return [_text(by_key[key].unwrap()) for key in keys]


def _text(description: Description) -> str:
    lines = [f"[{at.seconds:.1f} s] {at.seen}" for at in description.observations]
    return "\n".join([*lines, f"Overall: {description.overall}"])


@register("judge", "vlm_video", version=1, summary="a vision-language model on frames of both")
def vlm_video(
    *, frames: int = 64, long_side: int = 512, detector: str = FFMPEG, seed: int = 0
) -> VlmJudge:
    """``frames`` is the most that is shown of one video."""
    summary = "a vision-language model compares frames of both videos"
    centres = clip_centres(frames, long_side, detector)
    return VlmJudge(summary, COMPARE_FRAMES, centres, seed, describes=False)


@register("judge", "vlm_text", summary="descriptions of both videos, compared as text")
def vlm_text(
    *, frames: int = 64, long_side: int = 512, detector: str = FFMPEG, seed: int = 0
) -> VlmJudge:
    """``frames`` is the most that the captioner is shown of one video."""
    summary = "both videos are described, then the descriptions compared"
    centres = clip_centres(frames, long_side, detector)
    return VlmJudge(summary, COMPARE_TEXTS, centres, seed, compares_frames=False)


@register("judge", "vlm_hybrid", summary="descriptions and frames of both, compared")
def vlm_hybrid(
    *, frames: int = 32, long_side: int = 512, detector: str = FFMPEG, seed: int = 0
) -> VlmJudge:
    """``frames`` is the most that is shown of one video."""
    summary = "both videos are described, then compared with their frames in sight"
    return VlmJudge(summary, COMPARE_BOTH, clip_centres(frames, long_side, detector), seed)
