"""The five dimensions and 26 sub-dimensions, in the paper's order, and which metric gives each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from screentest.analysis.suites import Dimension
from screentest.core.signature import value_name
from screentest.suites.locot2v.data import DIMENSIONS as EXPECTATIONS


@dataclass(frozen=True, slots=True)
class SubDimension:
    """One of the 26 sub-dimensions of the paper."""

    name: str
    title: str
    short: str
    """The paper's abbreviation, for narrow tables and charts."""
    metric: str
    output: str = ""
    """Where it differs from the metric's name."""


STATIC = (
    SubDimension("aesthetic_quality", "Aesthetic Quality", "AQ", "locot2v_aesthetic_quality"),
    SubDimension("technical_quality", "Technical Quality", "TQ", "locot2v_technical_quality"),
)
ALIGNMENT = (
    SubDimension("overall_alignment", "Overall Alignment", "OA", "locot2v_overall_alignment"),
    SubDimension("event_alignment", "Event-level Alignment", "EA", "locot2v_event_alignment"),
)
TEMPORAL = (
    SubDimension("dynamic_degree", "Dynamic Degree", "DD", "locot2v_dynamic_degree"),
    SubDimension("motion_smoothness", "Motion Smoothness", "MS", "locot2v_motion_smoothness"),
    SubDimension("warping_error", "Warping Error", "WE", "locot2v_warping_error"),
    SubDimension(
        "semantic_consistency", "Semantic Consistency", "SC", "locot2v_semantic_consistency"
    ),
    SubDimension("temporal_flickering", "Temporal Flickering", "TF", "locot2v_temporal_flickering"),
    SubDimension(
        "transition_smoothness", "Transition Smoothness", "TS", "locot2v_transition_smoothness"
    ),
    SubDimension("human_action", "Human Action", "HA", "locot2v_human_action"),
    SubDimension(
        "intra_event_subject",
        "Intra-event Subject Consistency",
        "ITAE SC",
        "locot2v_event_consistency",
        "intra_event_subject",
    ),
    SubDimension(
        "intra_event_background",
        "Intra-event Background Consistency",
        "ITAE BC",
        "locot2v_event_consistency",
        "intra_event_background",
    ),
    SubDimension(
        "inter_event_subject",
        "Inter-event Subject Consistency",
        "ITRE SC",
        "locot2v_event_consistency",
        "inter_event_subject",
    ),
    SubDimension(
        "inter_event_background",
        "Inter-event Background Consistency",
        "ITRE BC",
        "locot2v_event_consistency",
        "inter_event_background",
    ),
)
CLARITY = tuple(
    SubDimension(name, title, short, "locot2v_content_clarity", name)
    for name, title, short in (
        ("theme_clarity", "Theme Clarity", "TC"),
        ("logical_structure", "Logical Structure", "LS"),
        ("information_completeness", "Information Completeness", "ICP"),
        ("information_consistency", "Information Consistency", "ICS"),
    )
)
HERD = tuple(
    SubDimension(name, title, "".join(word[0] for word in title.split()), "locot2v_herd", name)
    for name, title in EXPECTATIONS.items()
)
FIVE: Mapping[str, tuple[SubDimension, ...]] = {
    "static_quality": STATIC,
    "text_video_alignment": ALIGNMENT,
    "temporal_quality": TEMPORAL,
    "content_clarity": CLARITY,
    "herd": HERD,
}
TITLES: Mapping[str, str] = {
    "static_quality": "Static Quality",
    "text_video_alignment": "Text-Video Alignment",
    "temporal_quality": "Temporal Quality",
    "content_clarity": "Content Clarity",
    "herd": "HERD",
}
ALL: tuple[SubDimension, ...] = tuple(item for group in FIVE.values() for item in group)
METRICS: tuple[str, ...] = tuple(dict.fromkeys(item.metric for item in ALL))


def tree(specs: Mapping[str, str]) -> Dimension:
    """Return the dimensions over the values of metrics; ``specs`` has the spec of each by name."""
    parts = tuple(
        Dimension(
            name,
            parts=tuple(
                Dimension(
                    subdimension.name,
                    (value_of(subdimension, specs.get(subdimension.metric, subdimension.metric)),),
                    title=subdimension.title,
                )
                for subdimension in subdimensions
            ),
            title=TITLES[name],
        )
        for name, subdimensions in FIVE.items()
    )
    return Dimension("overall", parts=parts, title="Total")


def value_of(one: SubDimension, spec: str) -> str:
    """Return what the value of a sub-dimension is called in a run.

    >>> value_of(HERD[0], "locot2v_herd:unclear=wrong"), value_of(STATIC[0], STATIC[0].metric)
    ('locot2v_herd.emotional_response:unclear=wrong', 'locot2v_aesthetic_quality')
    """
    return value_name(spec, one.output or one.metric)
