"""The ten aspects in our own words, as judges are told of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from screentest.core import Aspect

DESCRIPTIONS: Final[Mapping[Aspect, str]] = {
    Aspect.AESTHETICS: "How pleasing the pictures are to look at: light, contrast, tones and "
    "colours that belong together. Flat, murky or unnatural tones count against a video.",
    Aspect.TECHNICAL_QUALITY: "How cleanly the pictures are rendered: sharp, with fine detail, "
    "free of blur, blocks and noise. Passages that look soft or low in resolution count against "
    "a video.",
    Aspect.APPEARANCE_STYLE: "Whether one visual style is kept from beginning to end. Passages "
    "that suddenly look painted, drawn or filtered, unlike the rest, count against a video.",
    Aspect.BACKGROUND_CONSISTENCY: "Whether the surroundings stay the same from frame to frame "
    "within a scene. A background that changes or jumps while the scene goes on counts against "
    "a video.",
    Aspect.OBJECT_INTEGRITY: "Whether the things and people that the text names can be seen, "
    "whole and recognisable. Something missing, torn or half erased counts against a video.",
    Aspect.COLOR: "Whether things have the colours that the text gives them. Another colour "
    "than stated counts against a video.",
    Aspect.DYNAMICS_DEGREE: "Whether what should move does move, as the text has it. Passages "
    "that stand still like a photograph count against a video.",
    Aspect.COMPREHENSIVENESS: "Whether all that the text tells is there. Scenes that are left "
    "out count against a video.",
    Aspect.SPATIAL_RELATIONSHIP: "Whether things are where the text puts them: left, right, "
    "above, below, in front, behind. A mirrored or otherwise wrong arrangement counts against a "
    "video.",
    Aspect.TEMPORAL_FLOW: "Whether scenes come in the order in which the text tells them. Scenes "
    "that come too early or too late count against a video.",
}


def title(aspect: Aspect) -> str:
    """The aspect's name for people and models.

    >>> title(Aspect.TECHNICAL_QUALITY)
    'technical quality'
    """
    return aspect.value.replace("_", " ")
