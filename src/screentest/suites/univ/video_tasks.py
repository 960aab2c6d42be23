"""The metrics of the five tasks that end in a video: findings first, then points out of ten.

Judged as a whole, as the released code does, or shot by shot, which long videos need: every
point on the curve then is one shot, with the judge's reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from screentest.core import Level
from screentest.core.frames import Consumer
from screentest.core.item import Item
from screentest.core.metric import MetricInfo, Outcomes, OutputInfo, Resources
from screentest.core.registry import register
from screentest.models.ask import Frames
from screentest.suites.univ.pieces import PieceLevel, UnivTask, shot_pieces, whole_piece
from screentest.suites.univ.requests import JUDGE, shown
from screentest.suites.univ.schema import MOST
from screentest.suites.univ.scores import AVERAGE, SCORE_TEMPLATE, Inspector, outcomes_of
from screentest.suites.univ.vocabulary import TITLES, Dimension

OUTPUTS = {
    AVERAGE: OutputInfo("the mean of the eight dimensions", high=MOST),
    **{
        dimension.value: OutputInfo(f"{TITLES[dimension]}, out of ten", high=MOST)
        for dimension in Dimension
    },
}


@register("metric", "univ_t2v", version=1, summary="does the video show what its text says?")
def univ_t2v(
    *, level: PieceLevel = "video", fps: float = 4, short_side: int = 480, most_frames: int = 320
) -> VideoTask:
    """Text to video; ``level`` is video, shots or both."""
    return _task(UnivTask.T2V, level, fps, short_side, most_frames)


@register("metric", "univ_r2v", version=1, summary="does it keep to text and reference pictures?")
def univ_r2v(
    *, level: PieceLevel = "video", fps: float = 4, short_side: int = 480, most_frames: int = 320
) -> VideoTask:
    """Reference pictures and text to video."""
    return _task(UnivTask.R2V, level, fps, short_side, most_frames)


@register("metric", "univ_tv2v", version=1, summary="is the original edited as the text says?")
def univ_tv2v(
    *, level: PieceLevel = "video", fps: float = 4, short_side: int = 480, most_frames: int = 320
) -> VideoTask:
    """A video edited by an instruction."""
    return _task(UnivTask.TV2V, level, fps, short_side, most_frames)


@register(
    "metric", "univ_rv2v", version=1, summary="is the original edited as text and pictures say?"
)
def univ_rv2v(
    *, level: PieceLevel = "video", fps: float = 4, short_side: int = 480, most_frames: int = 320
) -> VideoTask:
    """A video edited by an instruction with reference pictures."""
    return _task(UnivTask.RV2V, level, fps, short_side, most_frames)


@register("metric", "univ_v2v", version=1, summary="is the original reconstructed faithfully?")
def univ_v2v(
    *, level: PieceLevel = "video", fps: float = 4, short_side: int = 480, most_frames: int = 320
) -> VideoTask:
    """A video made again from what a model understood of it."""
    return _task(UnivTask.V2V, level, fps, short_side, most_frames)


def _task(
    task: UnivTask, level: PieceLevel, fps: float, short_side: int, most_frames: int
) -> VideoTask:
    return VideoTask(task, level, shown(Fraction(repr(fps)), short_side, most_frames))


@dataclass(frozen=True)
class VideoTask:
    """Eight dimensions out of ten, and their average."""

    task: UnivTask
    level: PieceLevel
    frames: Frames

    @property
    def info(self) -> MetricInfo:
        """Return what it gives and needs; shots only where it looks at them."""
        return MetricInfo(
            outputs=OUTPUTS,
            level=Level.VIDEO if self.level == "video" else Level.CLIP,
            roles=(JUDGE,),
            needs=self.task.needs,
            shots=self.level != "video",
            prompts=(self.task.template, SCORE_TEMPLATE),
        )

    def start(self, item: Item, resources: Resources) -> Judging:
        """Frames are sampled: nothing streams."""
        return Judging(Inspector(self.task, item, resources, self.frames), self.level)


@dataclass(frozen=True)
class Judging:
    """One item being judged, piece by piece."""

    inspector: Inspector
    level: PieceLevel
    consumers: Sequence[Consumer] = ()

    def finish(self) -> Outcomes:
        item, resources = self.inspector.item, self.inspector.resources
        whole = whole_piece(item, resources)
        if self.level == "video":
            (judged,) = self.inspector.judge([whole])
            return outcomes_of(judged, ())
        pieces = shot_pieces(item, resources)
        # A video of one shot is the same at both levels: it is asked about once.
        if self.level == "shots" or len(pieces) == 1:
            return outcomes_of(None, self.inspector.judge(pieces))
        both = self.inspector.judge([whole, *pieces])
        return outcomes_of(both[0], both[1:])
