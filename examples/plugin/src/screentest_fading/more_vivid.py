"""more_vivid: a judge that looks at both videos and prefers the one with more colour.

Any metric is a judge already (``screentest certify saturation``). One like this is for what
needs both videos at once; a judge that rates each alone implements ``RatingJudge`` instead.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from screentest.core import (
    FrameRequest,
    JudgeInfo,
    Outcome,
    Question,
    Resources,
    Size,
    Verdict,
    prefer_higher,
    register,
)
from screentest.video import evenly
from screentest_fading.saturation import saturation_of


@register("judge", "more_vivid", version=1, summary="the video with more colour wins")
def more_vivid(*, frames: int = 24, margin: float = 0.002) -> MoreVivid:
    """``frames`` of each video; differences up to ``margin`` are a tie."""
    return MoreVivid(frames, margin)


class MoreVivid:
    """Compares frames of the two videos."""

    info = JudgeInfo("the video with more colour wins", reads_text=False)

    def __init__(self, frames: int, margin: float) -> None:
        self._frames = frames
        self._margin = margin

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        """The verdict; the reason it gives stands in the report."""
        first, second = (
            self._vividness(item.video, resources) for item in (question.first, question.second)
        )
        verdict = prefer_higher(first, second, margin=self._margin)
        return Outcome.of(replace(verdict, rationale=f"saturation {first:.3f} and {second:.3f}"))

    def _vividness(self, video: Path, resources: Resources) -> float:
        moments = evenly(resources.info(video).span, self._frames)
        frames = resources.frames(video, moments, FrameRequest(size=Size(long_side=128)))
        values = [saturation_of(frame.image) for frame in frames]
        return sum(values) / len(values)
