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
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
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


def _builtin(name: str, *, summary: str, hint: str, **texts: Any) -> None:
    def info() -> AspectInfo:
        return AspectInfo(hint=f"{hint} {_LOOK_AGAIN}", **texts)

    register(KIND, name, version=1, summary=summary)(info)
    setattr(Aspect, name.upper(), _objects.setdefault(name, str.__new__(Aspect, name)))


_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
for _name in _TEXTS:
    _builtin(_name, **_TEXTS[_name])

BUILTIN_ASPECTS: Final[tuple[Aspect, ...]] = tuple(
    aspect for aspect in _objects.values() if aspect is not Aspect.TEXT_ALIGNMENT
)
"""Those of SLVMEval, in the order of the paper's tables."""


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
