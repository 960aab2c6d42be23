"""What a chat model is asked about a source: captions of its clips, what they say, its category.

Each question is a task of the run: its calls stand in the ledger, what was answered is not
asked or paid for again, and what was not is a typed reason on that one clip.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from screentest.core import (
    Clip,
    Filter,
    Frame,
    Item,
    NoValue,
    Outcome,
    Reason,
    Signature,
    attempt,
    to_json,
)
from screentest.models import Choice, Models
from screentest.models.ask import Frames, Query, send
from screentest.models.chat.costs import Prices
from screentest.models.chat.messages import ChatRequest
from screentest.models.templates import Prompts
from screentest.run import Job, Results
from screentest.testbeds.captions.categories import GROUP, categorise
from screentest.testbeds.captions.categories import TEMPLATE as CATEGORY
from screentest.testbeds.captions.facts import TEMPLATE as FACTS
from screentest.testbeds.captions.facts import ChatExtractor
from screentest.video import probe, sample_frames

CAPTION = "testbeds/clip_caption"
FRAMES = 6
"""Pictures of a clip that the model is shown."""
TOGETHER = 8
"""Clips asked about at once."""
LONG_SIDE = 512
LONGEST_CAPTION = 2000


@dataclass(frozen=True, slots=True)
class ChatUse:
    """The chat models of a build, and what their calls cost.

    ``chat.caption``, ``chat.extract`` and ``chat.category`` may each be another model.
    """

    models: tuple[Choice, ...]
    device: str = "auto"
    prompts: Path | None = None
    """A folder of templates that replace ours."""
    prices: Prices = field(default_factory=Prices)

    def model(self, use: str) -> str:
        """The model for a use, without loading it."""
        return str(Models(self.models).choice("chat", use))

    def signature(self, use: str, *templates: str, **more: object) -> Signature:
        """What answers depend on: model, prompts, and whatever else is given."""
        digest = Prompts(self.prompts).digest(*templates)
        return Signature.of(use, version=1, prompts=digest, model=self.model(use), **more)


@dataclass(frozen=True, slots=True)
class Question:
    """What a worker is given."""

    chat: ChatUse
    item: Item
    """With its timed script, captions and all."""
    categories: tuple[str, ...] = ()


class CaptionText(BaseModel):
    """The answer that holds a caption."""

    caption: str = Field(min_length=1, max_length=LONGEST_CAPTION)


DESCRIBE = Query(CAPTION, CaptionText, use="slvm.caption")
SHOWN = Frames(FRAMES, long_side=LONG_SIDE, filter=Filter.BICUBIC)


def write_captions(job: Job) -> Results:
    """A caption for every clip of a film that has none. Runs in a worker."""
    question: Question = job.payload
    prompts = Prompts(question.chat.prompts)
    outcomes: dict[str, Outcome[Any]] = {}
    with _chatting(job, "caption") as chat:
        # A few clips at a time: pictures of a long film would fill the memory.
        numbered = list(enumerate(_clips(question.item)))
        for first in range(0, len(numbered), TOGETHER):
            some = numbered[first : first + TOGETHER]
            frames = (_frames(question.item.video, clip) for _, clip in some)
            answers = send(chat, [caption_request(prompts, pictures) for pictures in frames])
            for (number, _), answer in zip(some, answers, strict=True):
                outcomes[str(number)] = attempt(partial(_caption, answer))
    return dict.fromkeys(job.keys, outcomes)


def caption_request(prompts: Prompts, frames: Iterable[Frame]) -> ChatRequest:
    """What is asked about one clip."""
    return DESCRIBE.request(prompts, {"pictures": SHOWN.pictures(frames)})


def read_captions(job: Job) -> Results:
    """What the captions of a film say, one outcome per clip. Runs in a worker."""
    question: Question = job.payload
    prompts, model = Prompts(question.chat.prompts), question.chat.model("extract")
    with _chatting(job, "extract") as chat:
        extractor = ChatExtractor(chat, model, prompts=prompts)
        read = extractor.extract([clip.caption for clip in _clips(question.item)])
    outcomes = {
        str(number): one.map(lambda facts: json.loads(to_json(facts)))
        for number, one in enumerate(read)
    }
    return dict.fromkeys(job.keys, outcomes)


def choose_category(job: Job) -> Results:
    """The category of a film, from a list. Runs in a worker."""
    question: Question = job.payload
    prompts = Prompts(question.chat.prompts)
    with _chatting(job, "category") as chat:
        (chosen,) = categorise([question.item], question.categories, chat, prompts=prompts)
    named = chosen.map(lambda item: {"category": item.groups[GROUP]})
    return {key: {key.evaluator: named} for key in job.keys}


def caption_signature(chat: ChatUse) -> Signature:
    """What written captions depend on."""
    return chat.signature("caption", CAPTION, frames=FRAMES, side=LONG_SIDE)


def facts_signature(chat: ChatUse) -> Signature:
    """What facts read from captions depend on."""
    return chat.signature("extract", FACTS)


def category_signature(chat: ChatUse, names: Sequence[str]) -> Signature:
    """What a chosen category depends on."""
    return chat.signature("category", CATEGORY, names=" / ".join(names))


def _clips(item: Item) -> Sequence[Clip]:
    assert item.script is not None
    return item.script.clips


def _frames(video: Path, clip: Clip) -> Iterator[Frame]:
    assert clip.span is not None
    info = probe(video)
    moments = SHOWN.moments(info, clip.span)
    return sample_frames(video, moments, size=SHOWN.size(info, clip.span), filter=SHOWN.filter)


def _caption(answer: Outcome[CaptionText]) -> dict[str, str]:
    text = " ".join(answer.unwrap().caption.split())
    if not text:
        raise NoValue(Reason.UNPARSABLE, "the answer holds no caption")
    return {"caption": text}


_open: dict[str, Models] = {}


def _models(chat: ChatUse) -> Models:
    """The models of a build, loaded once per process."""
    key = to_json([*map(str, chat.models), chat.device])
    if key not in _open:
        _open.clear()  # one set of models at a time
        _open[key] = Models(chat.models, device=chat.device)
    return _open[key]


@contextmanager
def _chatting(job: Job, use: str) -> Iterator[Any]:
    """The model for a use, its calls in the run's ledger; loaded weights stay, connections go."""
    chat: ChatUse = job.payload.chat
    models = _models(chat)
    models.attach(job.ledger, chat.prices)
    backend = models.role(f"chat.{use}")
    try:
        yield backend
    finally:
        if hasattr(backend, "close"):
            backend.close()
