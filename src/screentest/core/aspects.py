"""The ten qualities along which SLVMEval harms a video and asks a judge to notice."""

from __future__ import annotations

from enum import StrEnum


class Aspect(StrEnum):
    """One quality of a video. The order is that of the paper's tables."""

    AESTHETICS = "aesthetics"
    TECHNICAL_QUALITY = "technical_quality"
    APPEARANCE_STYLE = "appearance_style"
    BACKGROUND_CONSISTENCY = "background_consistency"
    OBJECT_INTEGRITY = "object_integrity"
    COLOR = "color"
    DYNAMICS_DEGREE = "dynamics_degree"
    COMPREHENSIVENESS = "comprehensiveness"
    SPATIAL_RELATIONSHIP = "spatial_relationship"
    TEMPORAL_FLOW = "temporal_flow"


class PairKind(StrEnum):
    """What was done to the second video of a pair: harm, or something that changes nothing."""

    DEGRADATION = "degradation"
    PLACEBO = "placebo"
