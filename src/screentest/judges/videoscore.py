"""videoscore: VideoScore's five numbers, mapped to the ten aspects as in SLVMEval's table 10."""

from __future__ import annotations

from collections.abc import Mapping

from screentest.core import Aspect, JudgeInfo, Outcome, Outcomes, Score, register

QUALITY_OF = {
    Aspect.AESTHETICS: "visual_quality",
    Aspect.TECHNICAL_QUALITY: "visual_quality",
    Aspect.APPEARANCE_STYLE: "visual_quality",
    Aspect.BACKGROUND_CONSISTENCY: "factual_consistency",
    Aspect.OBJECT_INTEGRITY: "text_alignment",
    Aspect.COLOR: "visual_quality",
    Aspect.DYNAMICS_DEGREE: "dynamic_degree",
    Aspect.COMPREHENSIVENESS: "text_alignment",
    Aspect.SPATIAL_RELATIONSHIP: "text_alignment",
    Aspect.TEMPORAL_FLOW: "text_alignment",
}


@register("judge", "videoscore", version=1, summary="VideoScore, one of its numbers per aspect")
def videoscore() -> VideoScoreJudge:
    """The role videoscore says which version."""
    return VideoScoreJudge()


class VideoScoreJudge:
    """Rates by the number that fits the aspect."""

    info = JudgeInfo("the higher of the VideoScore number that fits the aspect wins")
    metrics = ("videoscore",)

    def rate(self, aspect: Aspect, scores: Mapping[str, Outcomes]) -> Outcome[Score]:
        """The number that table 10 names."""
        return scores["videoscore"][QUALITY_OF[aspect]]
