"""What a chat model is asked about a source: captions of its clips, what they say, its category.

Each question is a task of the run: its calls stand in the ledger, what was answered is not
asked or paid for again, and what was not is a typed reason on that one clip.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from screentest.core.codec import to_object
from screentest.core.errors import BadOption
from screentest.core.frames import Filter, Frame
from screentest.core.item import Clip, Item
from screentest.core.outcome import Outcome, Reason, attempt
from screentest.core.signature import Signature
from screentest.models import Models
from screentest.models.ask import Frames, NonBlank, Query, send
from screentest.models.ask.templates import Prompts, Slot
from screentest.models.chat.messages import ChatRequest
from screentest.models.roles import Chat
from screentest.run.session import Settings, Tools, open_tools
from screentest.run.tasks import Job, TaskResults
from screentest.testbeds.captions.facts import TEMPLATE as FACTS
from screentest.testbeds.captions.facts import read_by_chat
from screentest.video.probe import probe
from screentest.video.samples import sample_frames

CAPTION = "testbeds/clip_caption"
FRAMES = 6
"""Pictures of a clip that the model is shown."""
TOGETHER = 8
"""Clips asked about at once."""
LONG_SIDE = 512
LONGEST_CAPTION = 2000


@dataclass(frozen=True, slots=True)
class FilmTask:
    """What a worker is given."""

    settings: Settings
    """``chat.caption``, ``chat.extract`` and ``chat.category`` may each be another model."""
    item: Item
    """With its timed script, captions and all."""
    categories: tuple[str, ...] = ()


class CaptionText(BaseModel):
    """The answer that holds a caption."""

    caption: NonBlank = Field(max_length=LONGEST_CAPTION)


DESCRIBE = Query(CAPTION, CaptionText, use="slvm.caption")
SHOWN = Frames(FRAMES, long_side=LONG_SIDE, filter=Filter.BICUBIC)


def write_captions(job: Job) -> TaskResults:
    """Return a caption for every clip of a film that has none. Runs in a worker."""
    task: FilmTask = job.payload
    tools = _tools(job)
    chat = tools.role("chat.caption")
    outcomes: dict[str, Outcome[Any]] = {}
    # A few clips at a time: pictures of a long film would fill the memory.
    numbered = list(enumerate(_clips(task.item)))
    for first in range(0, len(numbered), TOGETHER):
        batch = numbered[first : first + TOGETHER]
        frames = (_frames(task.item.video, clip) for _, clip in batch)
        answers = send(chat, [caption_request(tools.prompts, pictures) for pictures in frames])
        for (number, _), answer in zip(batch, answers, strict=True):
            outcomes[str(number)] = attempt(partial(_caption, answer))
    return dict.fromkeys(job.keys, outcomes)


def caption_request(prompts: Prompts, frames: Iterable[Frame]) -> ChatRequest:
    """Return the request about one clip."""
    return DESCRIBE.request(prompts, {"pictures": SHOWN.pictures(frames)})


def read_captions(job: Job) -> TaskResults:
    """Read the captions of a film, one outcome per clip. Runs in a worker."""
    task: FilmTask = job.payload
    tools = _tools(job)
    captions = [clip.caption for clip in _clips(task.item)]
    read = read_by_chat(captions, tools.role("chat.extract"), prompts=tools.prompts)
    outcomes = {str(number): outcome.map(to_object) for number, outcome in enumerate(read)}
    return dict.fromkeys(job.keys, outcomes)


def choose_category(job: Job) -> TaskResults:
    """Return the category of a film, from a list. Runs in a worker."""
    task: FilmTask = job.payload
    tools = _tools(job)
    chat = tools.role("chat.category")
    chosen = category_of(task.item.text, task.categories, chat, prompts=tools.prompts)
    named = chosen.map(lambda name: {"category": name})
    return {key: {key.evaluator: named} for key in job.keys}


def caption_signature(settings: Settings) -> Signature:
    """Return the signature of written captions."""
    return _signature(settings, "caption", CAPTION, frames=FRAMES, side=LONG_SIDE)


def facts_signature(settings: Settings) -> Signature:
    """Return the signature of facts read from captions."""
    return _signature(settings, "extract", FACTS)


def category_signature(settings: Settings, names: Sequence[str]) -> Signature:
    """Return the signature of a chosen category."""
    return _signature(settings, "category", CATEGORY, names=" / ".join(names))


def _clips(item: Item) -> Sequence[Clip]:
    assert item.script is not None
    return item.script.clips


def _frames(video: Path, clip: Clip) -> Iterator[Frame]:
    assert clip.span is not None
    info = probe(video)
    moments = SHOWN.moments(info, clip.span)
    return sample_frames(video, moments, size=SHOWN.size(info, clip.span), filter=SHOWN.filter)


def _caption(answer: Outcome[CaptionText]) -> dict[str, str]:
    return {"caption": " ".join(answer.unwrap().caption.split())}


def _model(settings: Settings, use: str) -> str:
    """Return the model for a use, without loading it."""
    return str(Models(settings.models).choice("chat", use))


def _signature(settings: Settings, use: str, *templates: str, **more: object) -> Signature:
    """Return the signature of answers: model, prompts, and whatever else is given."""
    digest = Prompts(settings.prompts).digest(*templates)
    return Signature.of(use, version=1, prompts=digest, model=_model(settings, use), **more)


def _tools(job: Job) -> Tools:
    """Return the models and templates of the build, its calls in the run's ledger."""
    tools = open_tools(job.payload.settings)
    tools.attach(job.ledger)
    return tools


# Categories of sources: as their metadata says, or as a chat model chooses from a list.


GROUP = "category"
"""The group of an item that holds its category."""
CATEGORY = "testbeds/category"
LONGEST = 8000
"""So many characters of a description are shown to the model: a film is what it begins as."""


def category_of(
    text: str, categories: Sequence[str], chat: Chat, *, prompts: Prompts | None = None
) -> Outcome[str]:
    """Return the category of what a text describes.

    The model can only answer with a name from the list. Without an answer there is no
    category, and the outcome says why.
    """
    names = list(dict.fromkeys(name.strip() for name in categories if name.strip()))
    if len(names) < 2:
        raise BadOption("a choice needs two categories or more", advice="Give a longer list.")
    if not text.strip():
        return Outcome.failed(
            Reason.NOT_APPLICABLE, "it has no text to go by", "Give it a prompt or a script."
        )
    query = Query(CATEGORY, _schema(names), use="slvm.category")
    slots: dict[str, Slot] = {"description": text[:LONGEST], "categories": names}
    (answer,) = send(chat, [query.request(prompts or Prompts(), slots)])
    return answer.map(lambda chosen: str(chosen.category.value))


def _schema(names: list[str]) -> type[BaseModel]:
    from pydantic import create_model

    fields: dict[str, Any] = {"category": (Enum("Category", [(name, name) for name in names]), ...)}
    return create_model("CategoryAnswer", **fields)
