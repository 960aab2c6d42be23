"""What a chat model is asked about a source: captions of its clips, what they say, its category.

Each question is a task of the run: its calls stand in the ledger, what was answered is not
asked or paid for again, and what was not is a typed reason on that one clip.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from screentest.core import (
    Clip,
    Frame,
    Item,
    Outcome,
    Reason,
    Signature,
    Size,
    Span,
    to_json,
)
from screentest.models import Choice, Models, Role
from screentest.models.chat.costs import Prices
from screentest.models.chat.endpoint import preset
from screentest.models.chat.messages import ChatAnswer, ChatRequest
from screentest.models.templates import Pictures, Prompts
from screentest.run import Job, Results
from screentest.testbeds.captions.categories import GROUP, categorise
from screentest.testbeds.captions.categories import TEMPLATE as CATEGORY
from screentest.testbeds.captions.facts import TEMPLATE as FACTS
from screentest.testbeds.captions.facts import ChatExtractor

CAPTION = "testbeds/clip_caption"
CAPTION_USE = "slvm.caption"
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
        return str(Models(self.models).choice(Role.CHAT, use))

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
            frames = (_pictures(question.item.video, clip) for _, clip in some)
            answers = chat.ask([caption_request(prompts, pictures) for pictures in frames])
            for (number, _), answer in zip(some, answers, strict=True):
                outcomes[str(number)] = _caption(answer)
    return dict.fromkeys(job.keys, outcomes)


def caption_request(prompts: Prompts, frames: Sequence[Frame]) -> ChatRequest:
    """What is asked about one clip."""
    from screentest.models.chat.messages import Encoding, timed

    parts = timed(frames, Encoding(Size(long_side=LONG_SIDE)))
    rendered = prompts.render(CAPTION, {"pictures": Pictures(parts)})
    return ChatRequest(
        rendered.parts,
        rendered.system,
        CaptionText,
        sampling=preset(CAPTION_USE),
        use=CAPTION_USE,
    )


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


def _pictures(video: Path, clip: Clip) -> list[Frame]:
    from screentest.video import evenly, sample_frames

    assert clip.span is not None
    moments = evenly(Span(clip.span.start, clip.span.end), FRAMES)
    return list(sample_frames(video, moments, size=Size(long_side=LONG_SIDE)))


def _caption(outcome: Outcome[ChatAnswer]) -> Outcome[dict[str, str]]:
    if outcome.failure is not None:
        return Outcome(failure=outcome.failure)
    value = outcome.unwrap().value
    text = " ".join(value.caption.split()) if isinstance(value, CaptionText) else ""
    if not text:
        return Outcome.failed(Reason.UNPARSABLE, "the answer holds no caption")
    return Outcome.of({"caption": text})


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
    backend = models.role(f"{Role.CHAT.value}.{use}")
    try:
        yield backend
    finally:
        if hasattr(backend, "close"):
            backend.close()
