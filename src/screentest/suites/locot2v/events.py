"""Events: what happens in a text, in order, each with a description and four fields."""

from __future__ import annotations

import re

from pydantic import BaseModel, Field

from screentest.core import Resources
from screentest.models.ask import Query
from screentest.models.forms import Said
from screentest.suites.locot2v.data import Event, HumanAction, PromptRecord

_LONGEST = 2000
MOST = 60
"""Events of one text; a model that lists more has lost its way."""


class EventForm(BaseModel):
    """One event as a model answers it."""

    event: Said = Field(max_length=_LONGEST)
    subject: str = Field(max_length=_LONGEST)
    setting: str = Field(max_length=_LONGEST)
    action: str = Field(max_length=_LONGEST)
    camera_motion: str = Field(max_length=_LONGEST)


class EventsForm(BaseModel):
    """All events of a text."""

    events: list[EventForm] = Field(max_length=MOST)


class ActionForm(BaseModel):
    """Who does what."""

    subject: Said = Field(max_length=_LONGEST)
    action: Said = Field(max_length=_LONGEST)


class ActionsForm(BaseModel):
    """All human actions of a text; none where nobody acts."""

    actions: list[ActionForm] = Field(max_length=MOST)


EVENTS = Query("locot2v/events", EventsForm, "chat.extract")
ACTIONS = Query("locot2v/actions", ActionsForm, "chat.extract")


def events_of_text(text: str, resources: Resources) -> tuple[Event, ...]:
    """The events that a model finds in a text."""
    found: EventsForm = EVENTS.one(resources, {"description": text})
    return tuple(
        Event(one.event, one.subject, one.setting, one.action, one.camera_motion)
        for one in found.events
    )


def events_of(record: PromptRecord, resources: Resources) -> tuple[Event, ...]:
    """The events that a prompt asks for: the suite's own, or read from the prompt."""
    return record.events or events_of_text(record.content, resources)


def actions_of(record: PromptRecord, resources: Resources) -> tuple[HumanAction, ...]:
    """The human actions that a prompt asks for."""
    if record.actions is not None:
        return record.actions
    found: ActionsForm = ACTIONS.one(resources, {"description": record.content})
    return tuple(HumanAction(one.subject, one.action) for one in found.actions)


# "a man and a woman" are two; "a black and white cat" is one.
_BETWEEN = re.compile(
    r"\s*[,;]\s*(?:and\s+)?|\s+and\s+(?=(?:an?|the|his|her|its|their|one|two|three|another)\b)",
    re.IGNORECASE,
)


def subjects_of(event: Event) -> tuple[str, ...]:
    """The subjects of an event, each as a phrase.

    >>> subjects_of(Event("", "A man, the dog and a black and white cat"))
    ('A man', 'the dog', 'a black and white cat')
    """
    parts = (part.strip(" .") for part in _BETWEEN.split(event.subject))
    return tuple(dict.fromkeys(part for part in parts if part))
