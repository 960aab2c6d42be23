"""CaptionFacts: what a caption says, sorted by the seven criteria that degradations go by.

>>> facts = CaptionFacts(subject=("car",), color=(Coloured("red", "car"),))
>>> facts.color[0].object
'car'
>>> from screentest.core import from_json, to_json
>>> from_json(CaptionFacts, to_json(facts)) == facts
True
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, Field

from screentest._util.atomic import storage_error, write_whole
from screentest.core import DecodeError, Outcome, Signature, from_json, to_json
from screentest.models.ask import Query, send
from screentest.models.ask.templates import Prompts
from screentest.models.chat.messages import ChatRequest, Sampling
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

    @property
    def sides(self) -> tuple[Placed, ...]:
        """The positions that a mirror image would make wrong: those with left or right.

        >>> CaptionFacts(spatial_relationship=(Placed("above", "kite"),)).sides
        ()
        """
        return tuple(
            placed
            for placed in self.spatial_relationship
            if {"left", "right"} & set(placed.location.lower().replace("-", " ").split())
        )


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
# SLVMEval, appendix E.1: Qwen3-8B reads captions. The token limit is ours.
SAMPLING = Sampling(temperature=0.6, top_p=0.95, top_k=20, min_p=0.0, repetition_penalty=1.2)


def _must_hold_something(slots: Mapping[str, object], answer: CaptionAnswer) -> None:
    if answer.facts() == CaptionFacts():
        raise ValueError("all seven lists are empty, but the caption says something")


READ = Query(
    TEMPLATE, CaptionAnswer, use="slvm.extract", sampling=SAMPLING, check=_must_hold_something
)
VERSION = 1


class ChatExtractor:
    """Reads captions with a chat model.

    An answer that cannot be read, or none at all, is a failed Outcome with its reason. It is never
    an empty list of facts: that would say the caption mentions nothing.

    ``model`` is the signature of the model. Equal captions are asked about once; with a
    ``cache`` folder, which several processes may share, once for all runs.
    """

    def __init__(
        self,
        chat: Chat,
        model: Signature | str,
        *,
        prompts: Prompts | None = None,
        cache: Path | None = None,
    ) -> None:
        self._chat = chat
        self._prompts = prompts or Prompts()
        self._known: dict[str, CaptionFacts] = {}
        self._cache = cache
        self.signature = Signature.of(
            "caption_chat", version=VERSION, prompts=self._prompts.digest(TEMPLATE), model=model
        )
        """What the facts depend on."""

    def extract(self, captions: Sequence[str]) -> list[Outcome[CaptionFacts]]:
        """One outcome per caption, in their order. An empty caption says nothing, for free."""
        outcomes: dict[str, Outcome[CaptionFacts]] = {}
        asked: list[str] = []
        for caption in dict.fromkeys(captions):
            facts = CaptionFacts() if not caption.strip() else self._recall(caption)
            if facts is not None:
                outcomes[caption] = Outcome.of(facts)
            else:
                asked.append(caption)
        answers = send(self._chat, [self.request(caption) for caption in asked])
        for caption, answer in zip(asked, answers, strict=True):
            outcomes[caption] = answer.map(partial(self._keep, caption))
        return [outcomes[caption] for caption in captions]

    def request(self, caption: str) -> ChatRequest:
        return READ.request(self._prompts, {"caption": caption})

    def _recall(self, caption: str) -> CaptionFacts | None:
        kept = self._known.get(caption)
        if kept is None and self._cache is not None:
            try:
                kept = from_json(CaptionFacts, self._path(caption).read_bytes())
            except (OSError, DecodeError):
                return None  # what cannot be read counts as not there
        return kept

    def _keep(self, caption: str, answer: CaptionAnswer) -> CaptionFacts:
        facts = answer.facts()
        self._known[caption] = facts
        if self._cache is not None:
            path = self._path(caption)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise storage_error(path, error) from error
            write_whole(path, to_json(facts))
        return facts

    def _path(self, caption: str) -> Path:
        """Return the place of the facts of a caption: another model or prompt never finds it."""
        assert self._cache is not None
        key = f"{self.signature}\0{caption}".encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(key).hexdigest()
        return self._cache / digest[:2] / f"{digest[2:]}.json"
