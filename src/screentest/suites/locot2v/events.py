"""Events: what happens in a text, in order, each with a description and four fields."""

from __future__ import annotations

import re

from pydantic import BaseModel, Field

from screentest.core import Resources
from screentest.english.chunks import chunks_of
from screentest.models.ask import NonBlank, Query
from screentest.suites.locot2v.data import Event, HumanAction, PromptRecord

_LONGEST = 2000
MOST = 60
"""Events of one text; a model that lists more has lost its way."""


class EventForm(BaseModel):
    """One event as a model answers it."""

    event: NonBlank = Field(max_length=_LONGEST)
    subjects: list[str] = Field(max_length=20)
    setting: str = Field(max_length=_LONGEST)
    action: str = Field(max_length=_LONGEST)
    camera_motion: str = Field(max_length=_LONGEST)


class EventsForm(BaseModel):
    """All events of a text."""

    events: list[EventForm] = Field(max_length=MOST)


class ActionForm(BaseModel):
    """Who does what."""

    subject: NonBlank = Field(max_length=_LONGEST)
    action: NonBlank = Field(max_length=_LONGEST)


class ActionsForm(BaseModel):
    """All human actions of a text; none where nobody acts."""

    actions: list[ActionForm] = Field(max_length=MOST)


EVENTS = Query("locot2v/events", EventsForm, "chat.extract")
ACTIONS = Query("locot2v/actions", ActionsForm, "chat.extract")


def events_of_text(text: str, resources: Resources) -> tuple[Event, ...]:
    """Return the events that a model finds in a text."""
    result: EventsForm = EVENTS.one(resources, {"description": text})
    return tuple(
        _event(event, tuple(text.strip() for text in event.subjects if text.strip()))
        for event in result.events
    )


def _event(one: EventForm, subjects: tuple[str, ...]) -> Event:
    named = ", ".join(subjects)
    return Event(one.event, named, one.setting, one.action, one.camera_motion, subjects=subjects)


def events_of(record: PromptRecord, resources: Resources) -> tuple[Event, ...]:
    """Return the events that a prompt asks for: the suite's own, or read from the prompt."""
    return record.events or events_of_text(record.content, resources)


def actions_of(record: PromptRecord, resources: Resources) -> tuple[HumanAction, ...]:
    """Return the human actions that a prompt asks for; of the prompt itself, not of its base."""
    if record.actions is not None:
        return record.actions
    result: ActionsForm = ACTIONS.one(resources, {"description": record.prompt})
    return tuple(HumanAction(action.subject, action.action) for action in result.actions)


_ARTICLES = "an?|the|his|her|its|their|one|two|three|four|five|several|some|another"
# Only where a new phrase begins: "a woman, tall and blond, in a red dress" is one subject.
_BETWEEN = re.compile(
    rf"\s*[,;]\s*(?:and\s+)?(?=(?:{_ARTICLES})\b)|\s+and\s+(?=(?:{_ARTICLES})\b)", re.IGNORECASE
)
_BARE_AND = re.compile(r"\s+and\s+", re.IGNORECASE)


def subjects_of(event: Event) -> tuple[str, ...]:
    """Return the subjects of an event, each as a phrase: as listed, or read from their text.

    >>> subjects_of(Event("", "A man, the dog and a black and white cat"))
    ('A man', 'the dog', 'a black and white cat')
    >>> subjects_of(Event("", "A woman, tall and blond, in a red dress"))
    ('A woman, tall and blond, in a red dress',)
    >>> subjects_of(Event("", "one adult elephant and baby elephant"))
    ('one adult elephant', 'baby elephant')
    """
    if event.subjects:
        return tuple(dict.fromkeys(event.subjects))
    parts = (part for whole in _BETWEEN.split(event.subject) for part in _at_and(whole))
    return tuple(dict.fromkeys(part.strip(" .,;") for part in parts if part.strip(" .,;")))


def _at_and(phrase: str) -> list[str]:
    """Return a phrase at its "and", where somebody stands right before and after it."""
    parts = _BARE_AND.split(phrase)
    if len(parts) == 2 and all(_somebody(part) for part in parts):
        return parts
    return [phrase]


def _somebody(phrase: str) -> bool:
    """Return whether a phrase is a noun for a person or an animal, with what stands before it."""
    chunks = chunks_of(phrase)
    return len(chunks) == 1 and chunks[0].kind in ("people", "animals")
