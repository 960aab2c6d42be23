"""Judges that ask a vision-language model: vlm_video, vlm_text, vlm_hybrid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from screentest.core.errors import BadOption
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
    if budget < 1:
        raise BadOption.of("frames", budget, "1 or more")
    return Frames(placing=Placing.SHOTS, most=budget, long_side=long_side, detector=detector)


# SLVMEval, appendix G.1: Qwen3-VL. GPT-5 takes no sampling settings; the client leaves them out.
# The token limit is ours: room for a model that thinks aloud.
SAMPLING = Sampling(temperature=0.7, top_p=0.8, top_k=20, min_p=0.0, max_tokens=8192)
COMPARE_FRAMES = Query("judges/judge_video", Preference, "chat.judge", "slvm.judge", SAMPLING)


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
    frames: Frames, question: Question, resources: Resources, seed: int, *roles: str
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
    return pictures, None if whole else Shown(times[0], times[1], first == second)


@dataclass(frozen=True, slots=True)
class VlmVideo:
    """Asks one question with the frames of both videos.

    SLVMEval's Algorithm 2: clips as FFmpeg cuts them, their centre frames, a random draw down to
    the model's budget, one structured question.
    """

    frames: Frames
    seed: int

    @property
    def info(self) -> JudgeInfo:
        return JudgeInfo(
            "a vision-language model compares frames of both videos",
            roles=("chat.judge",),
            prompts=(COMPARE_FRAMES.template, ASPECTS),
            calls=(_calls(COMPARE_FRAMES, "question", self.frames),),
        )

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        (first, second), shown = _look(
            self.frames, question, resources, self.seed, COMPARE_FRAMES.role
        )
        slots: dict[str, Slot] = {
            **_aspect(question, resources),
            "prompt": question.prompt,
            "first_frames": first,
            "second_frames": second,
        }
        request = COMPARE_FRAMES.request(resources.prompts, slots, repeat=question.repeat)
        (answer,) = send(resources.role(COMPARE_FRAMES.role), [request])
        return answer.map(lambda preference: as_verdict(preference, shown))


@register("judge", "vlm_video", version=1, summary="a vision-language model on frames of both")
def vlm_video(
    *, frames: int = 64, long_side: int = 512, detector: str = FFMPEG, seed: int = 0
) -> VlmVideo:
    """``frames`` is the most that is shown of one video."""
    return VlmVideo(clip_centres(frames, long_side, detector), seed)


# The paper samples all calls of Qwen3-VL alike, and says why: greedy answers repeat themselves.
DESCRIBE = Query("judges/describe", Description, "chat.caption", "slvm.describe", SAMPLING)
COMPARE_TEXTS = Query("judges/judge_text", Preference, "chat.judge", "slvm.judge", SAMPLING)
COMPARE_BOTH = Query("judges/judge_hybrid", Preference, "chat.judge", "slvm.judge", SAMPLING)
_ROLES = (DESCRIBE.role, COMPARE_TEXTS.role)


@dataclass(frozen=True, slots=True)
class VlmText:
    """Describes, then compares; captioner and comparer may be different models.

    SLVMEval's Algorithm 3. The captioner sees one video at a time and never the prompt; its
    description of a video is asked for once, however many pairs the video is in. vlm_hybrid shows
    the comparing model the frames as well.
    """

    frames: Frames
    seed: int
    hybrid: bool = False

    @property
    def info(self) -> JudgeInfo:
        summary = "both videos are described, then the descriptions compared"
        if self.hybrid:
            summary = "both videos are described, then compared with their frames in sight"
        query, shown = (COMPARE_BOTH, self.frames) if self.hybrid else (COMPARE_TEXTS, None)
        calls = (_calls(DESCRIBE, "video", self.frames), _calls(query, "question", shown))
        return JudgeInfo(summary, _ROLES, (DESCRIBE.template, query.template, ASPECTS), calls=calls)

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        """Two descriptions, which may be known already, and one comparison."""
        return attempt(lambda: self._judge(question, resources))

    def _judge(self, question: Question, resources: Resources) -> Verdict:
        roles = _ROLES if self.hybrid else _ROLES[:1]
        pictures, shown = _look(self.frames, question, resources, self.seed, *roles)
        first, second = _describe(question, pictures, resources)
        slots: dict[str, Slot] = {
            **_aspect(question, resources),
            "prompt": question.prompt,
            "first_video": first,
            "second_video": second,
        }
        if self.hybrid:
            slots |= {"first_frames": pictures[0], "second_frames": pictures[1]}
        query = COMPARE_BOTH if self.hybrid else COMPARE_TEXTS
        return as_verdict(query.one(resources, slots, repeat=question.repeat), shown)


def _describe(question: Question, shown: list[Pictures], resources: Resources) -> list[str]:
    """Return a description of each video; equal frames are described, and paid, once."""
    requests = []
    for frames in shown:
        slots: dict[str, Slot] = {
            **_aspect(question, resources),
            "frames": frames,
        }
        requests.append(DESCRIBE.request(resources.prompts, slots, repeat=question.repeat))
    chat = resources.role(DESCRIBE.role)
    # Two videos may show the same frames and differ between them.
    whole = getattr(chat, "takes_videos", False)
    keys = [str(number) if whole else request.key for number, request in enumerate(requests)]
    distinct = dict(zip(keys, requests, strict=True))
    answers = send(chat, distinct.values())
    by_key = dict(zip(distinct, answers, strict=True))
    return [_text(by_key[key].unwrap()) for key in keys]


def _text(description: Description) -> str:
    lines = [
        f"[{observation.seconds:.1f} s] {observation.seen}"
        for observation in description.observations
    ]
    return "\n".join([*lines, f"Overall: {description.overall}"])


@register("judge", "vlm_text", summary="descriptions of both videos, compared as text")
def vlm_text(
    *, frames: int = 64, long_side: int = 512, detector: str = FFMPEG, seed: int = 0
) -> VlmText:
    """``frames`` is the most that the captioner is shown of one video."""
    return VlmText(clip_centres(frames, long_side, detector), seed)


@register("judge", "vlm_hybrid", summary="descriptions and frames of both, compared")
def vlm_hybrid(
    *, frames: int = 32, long_side: int = 512, detector: str = FFMPEG, seed: int = 0
) -> VlmText:
    """``frames`` is the most that is shown of one video."""
    return VlmText(clip_centres(frames, long_side, detector), seed, hybrid=True)
