"""Aspects: the qualities along which a testbed harms a video and asks a judge to notice.

The ten of SLVMEval are built in. A plugin has aspects of its own, which testbeds, judges,
certificates, the annotation app and reports take like the ten:

    @register("aspect", "rhythm", summary="cuts that fall where the text wants them")
    def rhythm() -> AspectInfo:
        return AspectInfo("Whether the cuts come as quickly as the text says. …")
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final

from screentest.core.registry import register, registry

KIND: Final = "aspect"


@dataclass(frozen=True, slots=True)
class AspectInfo:
    """What an aspect is, as judges and annotators read it."""

    definition: str
    """What to look at, and what counts against a video."""
    about_text: bool = False
    """Whether intact and harmed can be told apart only by what the prompt says."""
    about_order: bool = False
    """Whether the order of the captions is part of it."""


class Aspect(str):
    """The name of an aspect that is registered. There is one object for each name."""

    __slots__ = ()

    AESTHETICS: ClassVar[Aspect]
    TECHNICAL_QUALITY: ClassVar[Aspect]
    APPEARANCE_STYLE: ClassVar[Aspect]
    BACKGROUND_CONSISTENCY: ClassVar[Aspect]
    OBJECT_INTEGRITY: ClassVar[Aspect]
    COLOR: ClassVar[Aspect]
    DYNAMICS_DEGREE: ClassVar[Aspect]
    COMPREHENSIVENESS: ClassVar[Aspect]
    SPATIAL_RELATIONSHIP: ClassVar[Aspect]
    TEMPORAL_FLOW: ClassVar[Aspect]

    def __new__(cls, name: str) -> Aspect:
        found = _objects.get(name)
        if found is not None:
            return found
        if name not in registry.names(KIND):
            raise ValueError(f"{name!r} is not an aspect: none of that name is registered")
        return _objects.setdefault(str(name), super().__new__(cls, name))

    @property
    def value(self) -> str:
        """The name as plain text."""
        return str.__str__(self)

    @property
    def title(self) -> str:  # type: ignore[override]
        """The name for people and models.

        >>> Aspect.TECHNICAL_QUALITY.title
        'technical quality'
        """
        return self.value.replace("_", " ")

    @property
    def info(self) -> AspectInfo:
        found: AspectInfo = registry.build(KIND, self.value).thing
        return found

    def __str__(self) -> str:
        return "".join(self)

    def __repr__(self) -> str:
        return f"Aspect({self.value!r})"

    def __reduce__(self) -> tuple[type[Aspect], tuple[str]]:
        return Aspect, (self.value,)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic import AfterValidator

        return handler.generate_schema(Annotated[str, AfterValidator(cls)])


_objects: dict[str, Aspect] = {}


def _builtin(
    name: str, definition: str, summary: str, *, about_text: bool = False, about_order: bool = False
) -> Aspect:
    def info() -> AspectInfo:
        return AspectInfo(definition, about_text, about_order)

    register(KIND, name, version=1, summary=summary)(info)
    return _objects.setdefault(name, str.__new__(Aspect, name))


Aspect.AESTHETICS = _builtin(
    "aesthetics",
    "How pleasing the pictures are to look at: light, contrast, tones and colours that belong "
    "together. Flat, murky or unnatural tones count against a video.",
    "pleasing pictures",
)
Aspect.TECHNICAL_QUALITY = _builtin(
    "technical_quality",
    "How cleanly the pictures are rendered: sharp, with fine detail, free of blur, blocks and "
    "noise. Passages that look soft or low in resolution count against a video.",
    "clean pictures",
)
Aspect.APPEARANCE_STYLE = _builtin(
    "appearance_style",
    "Whether one visual style is kept from beginning to end. Passages that suddenly look painted, "
    "drawn or filtered, unlike the rest, count against a video.",
    "one visual style",
)
Aspect.BACKGROUND_CONSISTENCY = _builtin(
    "background_consistency",
    "Whether the surroundings stay the same from frame to frame within a scene. A background that "
    "changes or jumps while the scene goes on counts against a video.",
    "a steady background",
)
Aspect.OBJECT_INTEGRITY = _builtin(
    "object_integrity",
    "Whether the things and people that the text names can be seen, whole and recognisable. "
    "Something missing, torn or half erased counts against a video.",
    "whole objects",
    about_text=True,
)
Aspect.COLOR = _builtin(
    "color",
    "Whether things have the colours that the text gives them. Another colour than stated counts "
    "against a video.",
    "the colours of the text",
    about_text=True,
)
Aspect.DYNAMICS_DEGREE = _builtin(
    "dynamics_degree",
    "Whether what should move does move, as the text has it. Passages that stand still like a "
    "photograph count against a video.",
    "movement",
)
Aspect.COMPREHENSIVENESS = _builtin(
    "comprehensiveness",
    "Whether all that the text tells is there. Scenes that are left out count against a video.",
    "nothing left out",
    about_text=True,
)
Aspect.SPATIAL_RELATIONSHIP = _builtin(
    "spatial_relationship",
    "Whether things are where the text puts them: left, right, above, below, in front, behind. A "
    "mirrored or otherwise wrong arrangement counts against a video.",
    "things in their places",
    about_text=True,
)
Aspect.TEMPORAL_FLOW = _builtin(
    "temporal_flow",
    "Whether scenes come in the order in which the text tells them. Scenes that come too early or "
    "too late count against a video.",
    "scenes in their order",
    about_text=True,
    about_order=True,
)

BUILTIN_ASPECTS: Final[tuple[Aspect, ...]] = tuple(_objects.values())
"""Those of SLVMEval, in the order of the paper's tables."""


def all_aspects() -> list[Aspect]:
    """The built-in aspects in the paper's order, then those of plugins by name."""
    others = [name for name in registry.names(KIND) if name not in BUILTIN_ASPECTS]
    return [*BUILTIN_ASPECTS, *map(Aspect, others)]


class PairKind(StrEnum):
    """What was done to the second video of a pair: harm, or something that changes nothing."""

    DEGRADATION = "degradation"
    PLACEBO = "placebo"
