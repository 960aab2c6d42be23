"""clipscore: the same mean cosine for every aspect, as in SLVMEval's equation 5."""

from __future__ import annotations

from collections.abc import Mapping

from screentest.core import Aspect, JudgeInfo, Outcome, Outcomes, Score, register
from screentest.metrics.alignment.clipscore import Policy


@register("judge", "clipscore", version=1, summary="the higher CLIPScore wins, in every aspect")
def clipscore(*, policy: Policy = "truncate") -> ClipScoreJudge:
    """``policy`` as the metric takes it: truncate, ignore, each."""
    return ClipScoreJudge(policy)


class ClipScoreJudge:
    """Rates by one number, whatever the aspect."""

    info = JudgeInfo("the higher CLIPScore of centre frames and prompt wins")

    def __init__(self, policy: Policy) -> None:
        self._metric = f"clipscore:policy={policy}"
        self.metrics = (self._metric,)

    def rate(self, aspect: Aspect, scores: Mapping[str, Outcomes]) -> Outcome[Score]:
        """The score itself."""
        return scores[self._metric]["clipscore"]
