"""The description of a video as a metric: its value is how many of the 21 fields it fills.

The description itself is in the details; ``screentest caption`` writes it out. So captioning
has what every run has: a ledger, a cap, a signature, and it goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from screentest.core import (
    Consumer,
    Item,
    MetricInfo,
    NoValue,
    Outcome,
    Outcomes,
    OutputInfo,
    Point,
    Reason,
    Resources,
    Score,
    Span,
    register,
    seconds,
)
from screentest.core import Level as Looks
from screentest.metrics.univ.asking import CAPTION
from screentest.metrics.univ.builtin.describer import Watching
from screentest.metrics.univ.describing import (
    TEMPLATES,
    Described,
    Describer,
    described_shot,
    spans_of,
)
from screentest.metrics.univ.dimensions import ALL_SUBDIMENSIONS, OWNER
from screentest.metrics.univ.looking import Looking
from screentest.metrics.univ.schema import Description, VideoDescription
from screentest.metrics.univ.script import join_shots, write_script

if TYPE_CHECKING:
    from screentest.core.score import Json

CHAT, BUILTIN = "univ_caption", "univ_caption_builtin"
_SUMMARY = "of the 21 sub-dimensions, the share that is described"


@register("metric", CHAT, version=1, summary="a structured description by a chat model")
def univ_caption(
    *, fps: float = 2, short_side: int = 480, most_frames: int = 320, shots: bool = True
) -> ChatCaption:
    """``shots=false`` describes the video as one piece, whatever cuts it has."""
    return ChatCaption(Looking(Fraction(repr(fps)), short_side, most_frames), shots)


@register("metric", BUILTIN, version=1, summary="what pixels tell: colours, light, camera, cuts")
def univ_caption_builtin() -> BuiltinCaption:
    """Needs no model; what pixels cannot tell stays empty."""
    return BuiltinCaption()


@dataclass(frozen=True)
class ChatCaption:
    """Asks a model."""

    looking: Looking
    by_shot: bool

    @property
    def info(self) -> MetricInfo:
        """What it gives and needs."""
        return MetricInfo(
            outputs={CHAT: OutputInfo(_SUMMARY)},
            level=Looks.CLIP,
            roles=(CAPTION,),
            shots=self.by_shot,
            prompts=TEMPLATES,
        )

    def start(self, item: Item, resources: Resources) -> Asking:
        """Frames are sampled: nothing streams."""
        return Asking(item, resources, self.looking, self.by_shot)


@dataclass(frozen=True)
class Asking:
    """One video before the model."""

    item: Item
    resources: Resources
    looking: Looking
    by_shot: bool
    consumers: Sequence[Consumer] = ()

    def finish(self) -> Outcomes:
        """Describe it, shot by shot."""
        whole = self.resources.info(self.item.video).span
        found = self.resources.shots(self.item.video) if self.by_shot else ()
        describer = Describer(self.item, self.resources, self.looking, CHAT)
        return {CHAT: Outcome.of(_score(describer.describe(spans_of(found, whole))))}


@dataclass(frozen=True)
class BuiltinCaption:
    """Looks at pixels."""

    info = MetricInfo(
        outputs={BUILTIN: OutputInfo(_SUMMARY)}, level=Looks.CLIP, roles=("flow",), shots=True
    )

    def start(self, item: Item, resources: Resources) -> Measuring:
        """Streams."""
        return Measuring(item, resources, Watching(resources))


@dataclass(frozen=True)
class Measuring:
    """One video passing by."""

    item: Item
    resources: Resources
    watching: Watching

    @property
    def consumers(self) -> Sequence[Consumer]:
        """The one who watches."""
        return (self.watching,)

    def finish(self) -> Outcomes:
        """Cut what was seen at the shots."""
        if not self.watching.looks:
            raise NoValue(Reason.UNDECODABLE, "the video has no frame")
        whole = self.resources.info(self.item.video).span
        shots = []
        for span in spans_of(self.resources.shots(self.item.video), whole):
            seen = self.watching.describe(span)
            shots.append(described_shot(span, seen, write_script(seen)))
        video = VideoDescription(
            id=self.item.id,
            described_by=BUILTIN,
            overview=None,
            shots=shots,
            script=join_shots(shot.script for shot in shots),
        )
        return {BUILTIN: Outcome.of(_score(Described(video)))}


def _score(described: Described) -> Score:
    video = described.video
    spans = [Span(seconds(shot.start), seconds(shot.end)) for shot in video.shots]
    curve = tuple(
        Point(span, _filled([shot.description]), shot.script[:200])
        for span, shot in zip(spans, video.shots, strict=True)
    )
    missing: list[Json] = [
        {"start": str(span.start), "end": str(span.end), "failed": str(failure)}
        for span, failure in described.missing
    ]
    details: dict[str, Json] = {"description": video.model_dump(mode="json"), "missing": missing}
    return Score(_filled([shot.description for shot in video.shots]), curve, details)


def _filled(shots: Sequence[Description]) -> float:
    told = {about for shot in shots for about, text in shot.by_subdimension() if text.strip()}
    return len(told & OWNER.keys()) / len(ALL_SUBDIMENSIONS)
