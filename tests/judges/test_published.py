"""The judges made of published metrics: which number decides which aspect."""

from __future__ import annotations

import pytest

from screentest.core import BUILTIN_ASPECTS, Aspect, Outcome, Reason, Score, build
from screentest.judges.from_metrics import QUALITY_OF

TABLE_10 = {
    "visual_quality": ["aesthetics", "technical_quality", "appearance_style", "color"],
    "factual_consistency": ["background_consistency"],
    "dynamic_degree": ["dynamics_degree"],
    "text_alignment": [
        *("object_integrity", "comprehensiveness", "spatial_relationship", "temporal_flow")
    ],
}
"""SLVMEval's table 10, its aspects by the VideoScore number that stands for them."""


def test_videoscore_decides_as_in_table_10() -> None:
    expected = {Aspect(name): quality for quality, names in TABLE_10.items() for name in names}
    assert expected == QUALITY_OF
    judge = build("judge", "videoscore").thing
    outputs = build("metric", judge.metrics[0]).thing.info.outputs
    scores = {name: Outcome.of(Score(float(place))) for place, name in enumerate(outputs)}
    for aspect, quality in expected.items():
        rating = judge.rate(aspect, {"videoscore": scores}).unwrap()
        assert rating.value == list(outputs).index(quality)


@pytest.mark.parametrize("policy", ["truncate", "ignore", "each"])
def test_clipscore_is_one_number_for_every_aspect(policy: str) -> None:
    judge = build("judge", f"clipscore:policy={policy}").thing
    assert judge.metrics == (f"clipscore:policy={policy}",)
    assert "clipscore" in build("metric", judge.metrics[0]).thing.info.outputs
    score = Outcome.of(Score(0.21))
    ratings = [
        judge.rate(aspect, {judge.metrics[0]: {"clipscore": score}}) for aspect in BUILTIN_ASPECTS
    ]
    assert {rating.unwrap().value for rating in ratings} == {0.21}
    lost: Outcome[Score] = Outcome.failed(Reason.MISSING_MODEL, "no CLIP")
    assert judge.rate(Aspect.COLOR, {judge.metrics[0]: {"clipscore": lost}}) == lost
