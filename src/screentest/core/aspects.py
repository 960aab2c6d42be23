"""Aspects: the qualities along which a testbed harms a video and asks a judge to notice.

The ten of SLVMEval are built in. A plugin has aspects of its own, which testbeds, judges,
certificates, the annotation app and reports take like the ten:

    @register("aspect", "rhythm", summary="cuts that fall where the text wants them")
    def rhythm() -> AspectInfo:
        return AspectInfo("Whether the cuts come as quickly as the text says. …")

A definition says what the aspect means, what to weigh and what not, and nothing of how testbeds
harm a video: a judge that is told which fault to look for is a detector of that fault. What it
would be told is the ``hint``, which only the probe ``hinted`` of ``certify`` shows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final

from screentest.core.errors import BadOption
from screentest.core.registry import register, registry

KIND: Final = "aspect"
PEOPLE: Final = "people/"
"""How the name of an aspect begins that people somewhere were asked about, in words of theirs. It
is not registered: nothing is built or annotated for it, but judges are held against the answers."""


@dataclass(frozen=True, slots=True)
class AspectInfo:
    """What an aspect is, as judges and annotators read it."""

    definition: str
    """What it means, what to weigh, what not: for judges and people alike. It is the template
    ``aspects/NAME``, which a folder given with ``--prompts`` can replace."""
    about_text: bool = False
    """Whether intact and harmed can be told apart only by what the prompt says."""
    about_order: bool = False
    """Whether the order of the captions is part of it."""
    hint: str = ""
    """What harm looks like in testbeds of this aspect; shown in the probe ``hinted`` alone."""


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
    TEXT_ALIGNMENT: ClassVar[Aspect]

    def __new__(cls, name: str) -> Aspect:
        result = _objects.get(name)
        if result is not None:
            return result
        if not _is_peoples(name) and name not in registry.names(KIND):
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
        return self.value.removeprefix(PEOPLE).replace("_", " ")

    @property
    def asked(self) -> Aspect:
        """Return what a judge is asked about: of people's aspects the one that is called alike, if
        any.

        >>> Aspect("people/color").asked, Aspect("people/charm").asked
        (Aspect('color'), Aspect('people/charm'))
        """
        plain = self.value.removeprefix(PEOPLE)
        return Aspect(plain) if plain in registry.names(KIND) else self

    @property
    def info(self) -> AspectInfo:
        if _is_peoples(self.value):
            return AspectInfo(f"Which of the two videos people prefer, asked about: {self.title}.")
        result: AspectInfo = registry.build(KIND, self.value).thing
        return result

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
_LONGEST: Final = 80


def _is_peoples(name: str) -> bool:
    return name.startswith(PEOPLE) and len(PEOPLE) < len(name) <= _LONGEST and name.isprintable()


_LOOK_AGAIN: Final = "If both seem alike, look again for the passage in which they differ."


def _builtin(
    name: str,
    summary: str,
    *,
    definition: str,
    hint: str,
    about_text: bool = False,
    about_order: bool = False,
) -> Aspect:
    def info() -> AspectInfo:
        return AspectInfo(definition, about_text, about_order, f"{hint} {_LOOK_AGAIN}")

    register(KIND, name, version=1, summary=summary)(info)
    return _objects.setdefault(name, str.__new__(Aspect, name))


Aspect.AESTHETICS = _builtin(
    "aesthetics",
    "pleasing pictures",
    definition="Whether the pictures appeal to the eye: composition, harmony, photographic "
    "quality. Weigh how each frame looks as a picture. What it shows, and whether the text asks "
    "for it, is not part of this aspect.",
    hint="Flat, murky or unnatural tones count against a video.",
)
Aspect.TECHNICAL_QUALITY = _builtin(
    "technical_quality",
    "clean pictures",
    definition="Whether each frame is free from technical artifacts, such as blur, noise, "
    "compression artifacts, over- or under-exposure. Weigh how well each frame is recorded and "
    "rendered. Beauty, style and content are not part of this aspect.",
    hint="Passages that look soft or low in resolution count against a video.",
)
Aspect.APPEARANCE_STYLE = _builtin(
    "appearance_style",
    "the style of the text",
    definition="Whether the video has the visual style that the text asks for, such as film noir, "
    "documentary or science fiction; where the text names none, the style that its content "
    "implies. Weigh how well that style is represented. Whether the style is a beautiful one is "
    "not part of this aspect.",
    hint="Passages that suddenly look painted, drawn or filtered, unlike the rest, count against "
    "a video.",
)
Aspect.BACKGROUND_CONSISTENCY = _builtin(
    "background_consistency",
    "a consistent background",
    definition="Whether the background is visually stable and consistent across frames. Weigh the "
    "surroundings of the main subjects within each scene. That another scene has other "
    "surroundings, and what the subjects themselves do, is not part of this aspect.",
    hint="A background that changes or jumps while the scene goes on counts against a video.",
)
Aspect.OBJECT_INTEGRITY = _builtin(
    "object_integrity",
    "the objects of the text",
    definition="Whether the people, animals and things that the text mentions are shown "
    "correctly. Weigh those that the text names, such as a dog or a car. Their colour, their "
    "place in the picture, and whatever the text does not mention are not part of this aspect.",
    hint="Something missing, torn or half erased counts against a video.",
    about_text=True,
)
Aspect.COLOR = _builtin(
    "color",
    "the colours of the text",
    definition="Whether the colours that the text states, such as that of an object, are shown "
    "correctly. Weigh the things to which the text gives a colour. Other colours, and whether "
    "colours are beautiful, are not part of this aspect.",
    hint="An object in another colour than stated counts against a video.",
    about_text=True,
)
Aspect.DYNAMICS_DEGREE = _builtin(
    "dynamics_degree",
    "the amount of motion",
    definition="Whether the video has an appropriate amount of motion for what the text "
    "describes: neither too little nor too erratic. Weigh how much moves and how. What the things "
    "that move are or look like is not part of this aspect.",
    hint="Passages that stand still like a photograph count against a video.",
)
Aspect.COMPREHENSIVENESS = _builtin(
    "comprehensiveness",
    "the scenes of the text",
    definition="Whether the scenes that the text describes are shown as a whole, for example an "
    "ocean where the text speaks of an ocean. Weigh how much of what the text tells is to be seen. "
    "Small details, and the order of the scenes, are not part of this aspect.",
    hint="Scenes that are left out count against a video.",
    about_text=True,
)
Aspect.SPATIAL_RELATIONSHIP = _builtin(
    "spatial_relationship",
    "things in their places",
    definition="Whether things are placed as the text says, in four relations: horizontal (left, "
    "right), vertical (above, below), proximity (near, next to, far) and depth (in front, behind, "
    "partly covered). Weigh the things to which the text gives a place. Where anything else is, is "
    "not part of this aspect.",
    hint="A mirrored or otherwise wrong arrangement counts against a video.",
    about_text=True,
)
Aspect.TEMPORAL_FLOW = _builtin(
    "temporal_flow",
    "scenes in their order",
    definition="Whether the scenes flow coherently and chronologically, in the order that the "
    "text implies, without unintended leaps in time and without coming back to what was over. "
    "Weigh how scenes and events follow one another. How well any one of them is shown is not "
    "part of this aspect.",
    hint="Scenes that come too early or too late count against a video.",
    about_text=True,
    about_order=True,
)

BUILTIN_ASPECTS: Final[tuple[Aspect, ...]] = tuple(_objects.values())
"""Those of SLVMEval, in the order of the paper's tables."""

Aspect.TEXT_ALIGNMENT = _builtin(
    "text_alignment",
    "what the text says",
    definition="Whether the video shows what the text says: its things, their number, colours and "
    "places, what they do, and in which order. Weigh every word of the text that says what is to "
    "be seen. How well it is filmed is not part of this aspect.",
    hint="A text of which a single word is false of the video counts against it.",
    about_text=True,
)
"""Not one of the ten: testbeds of prompts change the text, and no video."""


def all_aspects() -> list[Aspect]:
    """Those of the paper in its order, the text alone, then those of plugins by name."""
    ours = [*BUILTIN_ASPECTS, Aspect.TEXT_ALIGNMENT]
    return [*ours, *map(Aspect, [name for name in registry.names(KIND) if name not in ours])]


class PairKind(StrEnum):
    """What was done to the second video of a pair."""

    DEGRADATION = "degradation"
    PLACEBO = "placebo"
    PREFERENCE = "preference"
    """Nothing: they are two videos of one prompt, of which people prefer the first."""
    PROMPT = "prompt"
    """Nothing: it is the same video twice, with its own prompt and with one that is false of it."""

    @property
    def has_answer(self) -> bool:
        """Return whether one of the two videos is the better one, so that a judge can be right."""
        return self is not PairKind.PLACEBO


def aspects_of(names: Sequence[str]) -> list[Aspect] | None:
    """Return aspects by their names, or as people read them; None for all.

    >>> aspects_of(["technical quality", "color"])
    [Aspect('technical_quality'), Aspect('color')]
    """
    plain = [name if _is_peoples(name) else re.sub("[ -]", "_", name) for name in names]
    try:
        return [Aspect(name) for name in plain] or None
    except ValueError as error:
        every = ", ".join(aspect.value for aspect in all_aspects())
        raise BadOption(f"{error}", advice=f"Aspects: {every}.") from None
