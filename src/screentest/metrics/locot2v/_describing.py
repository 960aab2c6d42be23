"""The description of a video by a chat model, which both alignments start from."""

from __future__ import annotations

from screentest.core import Item, Resources
from screentest.metrics.locot2v._asking import Asking, Glance

DESCRIBE = Asking("describe", "locot2v/describe", None)


def description(item: Item, resources: Resources, glance: Glance) -> str:
    """What the video shows, in one paragraph; the same question is not paid twice in a run."""
    text: str = DESCRIBE.one(resources, {"pictures": glance.at(item, resources)})
    return text.strip()
