"""Temporal grounding: when in a video an event happens, as a chat model sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from screentest.core import Item, Resources, Span, VideoInfo, seconds
from screentest.corpus.locot2v import Event
from screentest.metrics.locot2v._asking import Asking, Glance

if TYPE_CHECKING:
    from screentest.prompts.values import Slot


class Place(BaseModel):
    """When an event happens, in seconds; the times of one that does not are ignored."""

    happens: bool
    start: float = Field(ge=0)
    end: float = Field(ge=0)


GROUND = Asking("ground", "locot2v/ground", Place)


@dataclass(frozen=True, slots=True)
class Grounded:
    """An event and its part of the video."""

    event: Event
    span: Span


def ground(
    events: Sequence[Event], item: Item, resources: Resources, glance: Glance
) -> list[Grounded]:
    """The events that can be found, in the order of the prompt."""
    video = resources.info(item.video)
    pictures = glance.at(item, resources)
    questions: list[dict[str, Slot]] = [
        {"pictures": pictures, "event": event.event, "duration": round(float(video.span.end), 2)}
        for event in events
    ]
    found = []
    for event, answer in zip(events, GROUND.ask(resources, questions), strict=True):
        span = span_of(answer.unwrap(), video)
        if span is not None:
            found.append(Grounded(event, span))
    return found


def span_of(place: Place, video: VideoInfo) -> Span | None:
    """The range that was meant, within the video; None where there is none."""
    if not place.happens:
        return None
    start = max(video.span.start, seconds(round(place.start, 3)))
    end = min(video.span.end, seconds(round(place.end, 3)))
    return Span(start, end) if start < end else None
