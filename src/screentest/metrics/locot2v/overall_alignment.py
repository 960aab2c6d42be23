"""Overall alignment: does the video as a whole show what the prompt describes?

A chat model writes a detailed description of the video. The score is the similarity in meaning
of that description to the prompt's base: the prompt without what only concerns evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass

from screentest.core import (
    Item,
    MetricInfo,
    Outcome,
    Outcomes,
    OutputInfo,
    Resources,
    Score,
    register,
)
from screentest.metrics.locot2v._asking import Glance
from screentest.metrics.locot2v._describing import DESCRIBE, description
from screentest.metrics.locot2v._similarity import nearness, text_vectors
from screentest.metrics.locot2v._suite import Records
from screentest.metrics.locot2v._work import Work

NAME = "locot2v_overall_alignment"


@register(
    "metric",
    NAME,
    version=1,
    summary="similarity of the video's description to the prompt",
    neutral=("records",),
)
def overall_alignment(
    *, records: str = "", frames: int = 32, long_side: int = 512
) -> OverallAlignment:
    """``records`` is a prompt suite's file; the model is shown ``frames`` frames."""
    return OverallAlignment(Records(records), Glance(frames, long_side))


@dataclass(frozen=True)
class OverallAlignment:
    """Cosine of two texts, in 0–1."""

    records: Records
    glance: Glance

    info = MetricInfo(
        outputs={NAME: OutputInfo("similarity of the video's description to the prompt")},
        roles=(DESCRIBE.role, "text_embedding"),
        needs=("text",),
        prompts=(DESCRIBE.template,),
    )

    @property
    def signature_parts(self) -> dict[str, str]:
        """Which suite the prompts' bases come from."""
        return self.records.signature_parts

    def start(self, item: Item, resources: Resources) -> Work:
        """Nothing streams."""

        def conclude() -> Outcomes:
            told = description(item, resources, self.glance)
            rows = text_vectors([told, self.records.of(item).content], resources)
            value = float(nearness(rows[:1], rows[1:])[0, 0])
            return {NAME: Outcome.of(Score(value, details={"description": told}))}

        return Work(conclude)
