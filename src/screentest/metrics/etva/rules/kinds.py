"""Which category an attribute, an action or a place belongs to, by lists of words."""

from __future__ import annotations

from screentest.metrics.etva.categories import Category

MATERIALS = frozenset(
    (
        *("bamboo", "brick", "bronze", "cardboard", "ceramic", "clay", "concrete", "copper"),
        *("cotton", "crystal", "denim", "fabric", "glass", "gold", "granite", "ice", "iron"),
        *("leather", "marble", "metal", "metallic", "paper", "plastic", "porcelain", "rubber"),
        *("sandy", "silk", "silver", "steel", "stone", "straw", "tin", "velvet", "wax", "wood"),
        *("wooden", "wool", "woollen", "woolen", "chrome", "jade", "foam", "felt", "wicker"),
    )
)
_SHAPES = frozenset(
    (
        *("big", "broad", "circular", "curved", "enormous", "flat", "giant", "gigantic", "high"),
        *("huge", "immense", "large", "little", "long", "massive", "miniature", "narrow", "oval"),
        *("pointed", "rectangular", "round", "short", "slender", "slim", "small", "spherical"),
        *("spiral", "square", "tall", "thick", "thin", "tiny", "triangular", "vast", "wide"),
    )
)
_PHYSICAL = frozenset(
    (
        *("boil", "bounce", "break", "burn", "bloom", "collapse", "condense", "crack", "decay"),
        *("dissolve", "drip", "dry", "erupt", "evaporate", "explode", "fade", "float", "freeze"),
        *("grow", "inflate", "deflate", "leak", "melt", "pour", "reflect", "refract", "ripen"),
        *("rot", "rust", "shatter", "shrink", "sink", "spill", "splash", "swell", "thaw", "wilt"),
        *("wither", "ascend", "squeeze", "disappear"),
    )
)
RESTING = frozenset(
    (
        *("sit", "stand", "lie", "perch", "rest", "hang", "stay", "wait", "kneel", "crouch"),
        *("lean", "sleep", "locate", "place", "position", "situate", "surround", "park"),
    )
)
"""Verbs that say where something is rather than what it does."""
PLACES = frozenset(
    (
        *("above", "across", "against", "among", "around", "at", "atop", "behind", "below"),
        *("beneath", "beside", "between", "in", "inside", "near", "next", "on", "outside", "over"),
        *("under", "underneath", "within", "alongside", "amid", "upon", "beyond"),
    )
)
TIMES = frozenset(
    (
        *("dawn", "dusk", "sunrise", "sunset", "night", "nighttime", "midnight", "noon", "evening"),
        *("morning", "afternoon", "twilight", "spring", "summer", "autumn", "fall", "winter"),
        *("daytime",),
    )
)
UNSEEN = frozenset(
    (
        *(
            "tableau",
            "sense",
            "area",
            "attention",
            "due",
            "end",
            "how",
            "pressure",
            "process",
            "reverse",
            "secret",
        ),
        *("secrets", "state", "thing", "time", "way", "world", "moment", "exposure", "skill"),
        *("piece", "group", "pair", "bunch", "last", "flurry", "lot", "number", "series", "kind"),
        *("skills", "emotion", "emotions", "color", "colors", "colour", "colours", "direction"),
    )
)
"""Nouns that nobody can point at."""


def kind_of_attribute(value: str) -> Category:
    """The category of an adjective.

    >>> [kind_of_attribute(word).value for word in ("dragon-shaped", "wooden", "sleepy")]
    ['shape', 'material', 'other']
    """
    low = value.lower()
    if low in MATERIALS:
        return Category.MATERIAL
    if low in _SHAPES or low.endswith("-shaped"):
        return Category.SHAPE
    if low.endswith(("-colored", "-coloured")):
        return Category.COLOR
    return Category.OTHER


def kind_of_action(base: str) -> Category:
    """The category of what somebody or something does."""
    return Category.PHYSICS if base in _PHYSICAL else Category.MOTION
