"""CaptionFacts: what a caption says, sorted by the seven criteria that degradations go by.

>>> facts = CaptionFacts(subject=("car",), color=(Coloured("red", "car"),))
>>> facts.color[0].object
'car'
>>> from screentest.core import from_json, to_json
>>> from_json(CaptionFacts, to_json(facts)) == facts
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, Field

from screentest.core import Outcome
from screentest.models.ask import Query, send
from screentest.models.ask.templates import Prompts
from screentest.models.chat.messages import Sampling
from screentest.models.roles import Chat

T = TypeVar("T")


class CaptionAction(NamedTuple):
    """Who does what."""

    agent: str
    action: str


class Coloured(NamedTuple):
    """A colour and the object that has it."""

    color: str
    object: str


class Placed(NamedTuple):
    """A clear position and the object that is there."""

    location: str
    object: str


@dataclass(frozen=True, slots=True)
class CaptionFacts:
    """What one caption says. Nothing said on a criterion is an empty tuple."""

    subject: tuple[str, ...] = ()
    """Things, people and animals; places are scenes."""
    background: tuple[str, ...] = ()
    """What is said to be behind."""
    dynamic_degree: tuple[CaptionAction, ...] = ()
    """What moves, the camera apart."""
    human_action: tuple[CaptionAction, ...] = ()
    """What people do, be it sitting."""
    color: tuple[Coloured, ...] = ()
    spatial_relationship: tuple[Placed, ...] = ()
    """Left, right, above…; never "near" or "next to"."""
    scene: tuple[str, ...] = ()
    """Places and surroundings."""


CRITERIA = tuple(field.name for field in fields(CaptionFacts))
"""The names of the seven, in the order of the paper."""


# The answer that a chat model gives about a caption: an object, every field required.

_LONGEST = 200


class AgentAction(BaseModel):
    """Who or what moves or acts, and how."""

    agent: str = Field(min_length=1, max_length=_LONGEST)
    action: str = Field(min_length=1, max_length=_LONGEST)


class ColourObject(BaseModel):
    """A colour and what has it."""

    color: str = Field(min_length=1, max_length=_LONGEST)
    object: str = Field(min_length=1, max_length=_LONGEST)


class LocationObject(BaseModel):
    """A place in the picture and what is there."""

    location: str = Field(min_length=1, max_length=_LONGEST)
    object: str = Field(min_length=1, max_length=_LONGEST)


class CaptionAnswer(BaseModel):
    """The seven lists, named as in the paper."""

    subject: list[str]
    background: list[str]
    dynamic_degree: list[AgentAction]
    human_action: list[AgentAction]
    color: list[ColourObject]
    spatial_relationship: list[LocationObject]
    scene: list[str]

    def facts(self) -> CaptionFacts:
        """Return the same as facts: blank names left out, each entry once."""
        return CaptionFacts(
            subject=_names(self.subject),
            background=_names(self.background),
            dynamic_degree=_once(CaptionAction, self.dynamic_degree),
            human_action=_once(CaptionAction, self.human_action),
            color=_once(Coloured, self.color),
            spatial_relationship=_once(Placed, self.spatial_relationship),
            scene=_names(self.scene),
        )


def _names(given: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in given if name.strip()))


def _once(kind: Callable[..., T], answers: Sequence[BaseModel]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(kind(**answer.model_dump()) for answer in answers))


TEMPLATE = "testbeds/caption_facts"
# SLVMEval, appendix E.1: Qwen3-8B in thinking mode reads captions. The token limit is ours: room
# for its thoughts.
SAMPLING = Sampling(
    temperature=0.6, top_p=0.95, top_k=20, min_p=0.0, repetition_penalty=1.2, max_tokens=16384
)


READ = Query(TEMPLATE, CaptionAnswer, use="slvm.extract", sampling=SAMPLING)


def read_by_chat(
    captions: Sequence[str], chat: Chat, *, prompts: Prompts | None = None
) -> list[Outcome[CaptionFacts]]:
    """Read captions with a chat model: one outcome per caption, in their order.

    Equal captions are asked about once, and an empty one says nothing, for free. An answer that
    cannot be read, or none at all, is a failed Outcome with its reason. Seven empty lists are an
    answer: the caption mentions nothing of the kind.
    """
    prompts = prompts or Prompts()
    asked = [caption for caption in dict.fromkeys(captions) if caption.strip()]
    requests = [READ.request(prompts, {"caption": caption}) for caption in asked]
    facts = {
        caption: answer.map(CaptionAnswer.facts)
        for caption, answer in zip(asked, send(chat, requests), strict=True)
    }
    return [facts.get(caption, Outcome.of(CaptionFacts())) for caption in captions]
