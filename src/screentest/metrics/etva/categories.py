"""The ten kinds of questions.

>>> read_category("Action")
<Category.MOTION: 'motion'>
"""

from __future__ import annotations

import difflib
from enum import StrEnum

from screentest.core import UserError


class Category(StrEnum):
    """What a question asks about. Stored in files: members are never renamed."""

    EXISTENCE = "existence"
    MOTION = "motion"
    MATERIAL = "material"
    SPATIAL = "spatial"
    NUMBER = "number"
    SHAPE = "shape"
    COLOR = "color"
    CAMERA = "camera"
    PHYSICS = "physics"
    OTHER = "other"


MEANINGS: dict[Category, str] = {
    Category.EXISTENCE: "whether something or somebody, or the setting, can be seen at all",
    Category.MOTION: "what somebody or something does, and how it moves",
    Category.MATERIAL: "what something is made of",
    Category.SPATIAL: "where something is in the picture, or in relation to something else",
    Category.NUMBER: "how many there are",
    Category.SHAPE: "the form or size of something",
    Category.COLOR: "the colour of something",
    Category.CAMERA: "how the camera moves, or how it was filmed",
    Category.PHYSICS: "whether matter behaves as it must: floating, melting, falling, growing",
    Category.OTHER: "anything else: style, light, weather, time, feeling, written words",
}
"""Which questions belong to each, for people and for models; in our own words."""

# The larger benchmark writes "action" for motion, and has an eleventh label that no published
# table has a column for.
_ALIASES = {
    "action": Category.MOTION,
    "colour": Category.COLOR,
    "counting": Category.NUMBER,
    "environment": Category.OTHER,
}


def read_category(label: str) -> Category:
    """The category that a label names, in whatever case and by the aliases of released files."""
    name = label.strip().lower()
    if name in _ALIASES:
        return _ALIASES[name]
    try:
        return Category(name)
    except ValueError:
        near = difflib.get_close_matches(name, [one.value for one in Category], n=1)
        known = ", ".join(one.value for one in Category)
        raise UserError(
            f"there is no category {label[:40]!r}",
            advice=f"Did you mean {near[0]}?" if near else f"Categories: {known}.",
        ) from None
