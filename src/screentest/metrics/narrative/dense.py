"""dense: a long video judged clip by clip against its script, by a vision-language model.

Five bad clips in sixty vanish in one glance at all of them, and in a mean. So every clip is
looked at on its own, beside the captions that may belong to it, and the clips' scores are
added up by their lower tail. Which caption a clip shows tells what is missing and what comes
out of order. One call per clip, asked once per video.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from screentest.core import (
    Aspect,
    Consumer,
    Filter,
    FrameRequest,
    Item,
    Level,
    Measurement,
    MetricInfo,
    Outcome,
    Outcomes,
    OutputInfo,
    Point,
    Reason,
    Resources,
    Score,
    Shot,
    Size,
    register,
)
from screentest.models.chat.messages import ChatAnswer, ChatRequest
from screentest.models.chat.pictures import Encoding, timed
from screentest.models.chat.presets import preset
from screentest.prompts import Pictures
from screentest.stats.aggregate import lower_tail
from screentest.video import evenly

TEMPLATE = "slvmeval/dense"
BEST = 10
_AT_ONCE = 64
"""Clips whose frames are held together: a film of hours must not be held as a whole."""
OF_A_CLIP = tuple(
    aspect for aspect in Aspect if aspect not in (Aspect.COMPREHENSIVENESS, Aspect.TEMPORAL_FLOW)
)
"""Aspects that a single clip shows; the other two are of the whole."""


class ClipAnswer(BaseModel):
    """What the model says of one clip."""

    model_config = ConfigDict(extra="forbid")

    caption: int = Field(description="Number of the caption that the clip shows; 0 for none.")
    faults: str = Field(description="What is wrong, in one sentence; empty if nothing is.")
    aesthetics: int = Field(ge=0, le=BEST)
    technical_quality: int = Field(ge=0, le=BEST)
    appearance_style: int = Field(ge=0, le=BEST)
    background_consistency: int = Field(ge=0, le=BEST)
    object_integrity: int = Field(ge=0, le=BEST)
    color: int = Field(ge=0, le=BEST)
    dynamics_degree: int = Field(ge=0, le=BEST)
    spatial_relationship: int = Field(ge=0, le=BEST)


@dataclass(frozen=True, slots=True)
class Dense:
    """The metric; one value per aspect, from 0 to 1."""

    frames: int
    long_side: int
    window: int
    tail: float
    most_failed: float

    info = MetricInfo(
        outputs={
            aspect.value: OutputInfo(f"{aspect.value.replace('_', ' ')}, worst clips first")
            for aspect in Aspect
        },
        level=Level.CLIP,
        roles=("chat.judge",),
        shots=True,
        prompts=(TEMPLATE,),
    )

    def start(self, item: Item, resources: Resources) -> Measurement:
        """Nothing streams: each clip is fetched when it is asked about."""
        return _Work(self, item, resources)


@dataclass(slots=True)
class _Work:
    dense: Dense
    item: Item
    resources: Resources
    consumers: Sequence[Consumer] = field(default=())

    def finish(self) -> Outcomes:
        shots = list(self.resources.shots(self.item.video))
        captions = [clip.caption for clip in self.item.script.clips] if self.item.script else []
        read: list[Outcome[ClipAnswer]] = []
        for start in range(0, len(shots), _AT_ONCE):
            read += self._asked(shots, range(start, min(start + _AT_ONCE, len(shots))), captions)
        return self._added_up(shots, read, len(captions))

    def _asked(
        self, shots: list[Shot], places: range, captions: list[str]
    ) -> list[Outcome[ClipAnswer]]:
        window = self.dense.window
        offers = [_offered(place, len(shots), len(captions), window) for place in places]
        requests = [
            self._request(shots[place], [(n + 1, captions[n]) for n in offer])
            for place, offer in zip(places, offers, strict=True)
        ]
        answers = self.resources.role("chat.judge").ask(requests)
        return [
            _read(answer, {n + 1 for n in offer})
            for answer, offer in zip(answers, offers, strict=True)
        ]

    def _request(self, shot: Shot, captions: list[tuple[int, str]]) -> ChatRequest:
        moments = evenly(shot.span, self.dense.frames)
        size = Size(long_side=self.dense.long_side)
        request = FrameRequest(size=size, filter=Filter.AREA)
        frames = self.resources.frames(self.item.video, moments, request)
        slots = {
            "frames": Pictures(timed(frames, Encoding(size))),
            "captions": "\n".join(f"{number}. {text}" for number, text in captions),
        }
        rendered = self.resources.prompts.render(TEMPLATE, slots)
        return ChatRequest(
            rendered.parts,
            rendered.system,
            ClipAnswer,
            sampling=preset("slvm.judge"),
            use="slvm.dense",
        )

    def _added_up(
        self, shots: list[Shot], read: list[Outcome[ClipAnswer]], captions: int
    ) -> dict[str, Outcome[Score]]:
        known = [(shot, one.unwrap()) for shot, one in zip(shots, read, strict=True) if one.ok]
        lost = [one.failure for one in read if one.failure is not None]
        if len(lost) > self.dense.most_failed * len(read):
            # The clips that nobody saw may be the bad ones.
            first = lost[0]
            detail = f"{len(lost)} of {len(read)} clips were not judged; first: {first.detail}"
            failed: Outcome[Score] = Outcome.failed(first.reason, detail, first.advice)
            return {aspect.value: failed for aspect in Aspect}
        details = {"clips": len(read), "not_judged": len(lost)}
        outcomes = {
            aspect.value: Outcome.of(self._tail(aspect, known, details)) for aspect in OF_A_CLIP
        }
        outcomes[Aspect.COMPREHENSIVENESS.value] = _coverage(known, captions)
        outcomes[Aspect.TEMPORAL_FLOW.value] = _order(known)
        return outcomes

    def _tail(
        self, aspect: Aspect, known: list[tuple[Shot, ClipAnswer]], details: dict[str, int]
    ) -> Score:
        curve = tuple(
            Point(shot.span, getattr(answer, aspect.value) / BEST, answer.faults)
            for shot, answer in known
        )
        weights = [float(shot.span.duration) for shot, _ in known]
        value = lower_tail([point.value for point in curve], weights, share=self.dense.tail)
        return Score(value, curve, dict(details))


def _offered(shot: int, shots: int, captions: int, window: int) -> range:
    """Places of the captions that a shot may show: those around its place in the film."""
    if captions == 0:
        return range(0)
    middle = round((shot + 0.5) / shots * captions - 0.5)
    return range(max(0, middle - window), min(captions, middle + window + 1))


def _read(outcome: Outcome[ChatAnswer], offered: set[int]) -> Outcome[ClipAnswer]:
    if outcome.failure is not None:
        return Outcome(failure=outcome.failure)
    value = outcome.unwrap().value
    if not isinstance(value, ClipAnswer):
        return Outcome.failed(Reason.UNPARSABLE, "the answer holds no scores")
    if value.caption and value.caption not in offered:
        return Outcome.failed(Reason.UNPARSABLE, f"caption {value.caption} was not offered")
    return Outcome.of(value)


def _coverage(known: list[tuple[Shot, ClipAnswer]], captions: int) -> Outcome[Score]:
    """The share of captions that some clip shows."""
    if captions == 0:
        return Outcome.failed(Reason.NOT_APPLICABLE, "the item has no script")
    shown = {answer.caption for _, answer in known if answer.caption}
    missing = [number for number in range(1, captions + 1) if number not in shown]
    curve = tuple(
        Point(shot.span, float(answer.caption > 0), f"caption {answer.caption or 'none'}")
        for shot, answer in known
    )
    return Outcome.of(Score(len(shown) / captions, curve, {"missing": list(missing)}))


def _order(known: list[tuple[Shot, ClipAnswer]]) -> Outcome[Score]:
    """One less the share of pairs of clips that show their captions in the wrong order."""
    matched = [(shot, answer.caption) for shot, answer in known if answer.caption]
    if len(matched) < 2:
        return Outcome.failed(Reason.NOT_APPLICABLE, "fewer than two clips show a caption")
    points = []
    wrong_pairs = pairs = 0
    for place, (shot, caption) in enumerate(matched):
        before = sum(other > caption for _, other in matched[:place])
        after = sum(other < caption for _, other in matched[place + 1 :])
        wrong_pairs += before
        pairs += place
        share = 1 - (before + after) / (len(matched) - 1)
        points.append(Point(shot.span, share, f"caption {caption}"))
    return Outcome.of(Score(1 - wrong_pairs / pairs, tuple(points)))


@register("metric", "dense", version=1, summary="every clip judged alone, added up by the worst")
def dense(
    *,
    frames: int = 4,
    long_side: int = 512,
    window: int = 6,
    tail: float = 0.1,
    most_failed: float = 0.1,
) -> Dense:
    """``frames`` of each clip are shown, with captions up to ``window`` places away.

    Where more than ``most_failed`` of the clips got no answer, the video has no score.
    """
    return Dense(frames, long_side, window, tail, most_failed)
