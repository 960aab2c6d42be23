"""One question to the judge: a template, its slots, the form of the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from screentest.core import Outcome, Resources
from screentest.models.chat.messages import ChatRequest, Sampling
from screentest.models.chat.presets import preset

if TYPE_CHECKING:
    from pydantic import BaseModel

    from screentest.prompts.values import Slot

JUDGE = "chat.judge"
CAPTION = "chat.caption"
AT_ONCE = 16
"""Questions that are asked together."""


def request(
    resources: Resources,
    template: str,
    slots: Mapping[str, Slot],
    form: type[BaseModel] | None,
    use: str,
    sampling: Sampling | None = None,
) -> ChatRequest:
    """A request with its slots filled; sampled as the paper's judge unless told otherwise."""
    rendered = resources.prompts.render(template, slots)
    chosen = sampling or preset("univ.judge")
    return ChatRequest(rendered.parts, rendered.system, form, sampling=chosen, use=use)


def ask(resources: Resources, role: str, requests: Iterable[ChatRequest]) -> list[Outcome[Any]]:
    """An object of each request's form, or its text where it has none.

    Requests are made as they are needed: the pictures of a long film's shots are many, and
    never all in memory.
    """
    waiting = iter(requests)
    found: list[Outcome[Any]] = []
    while some := list(islice(waiting, AT_ONCE)):
        for answer in resources.role(role).ask(some):
            found.append(
                answer.map(lambda one: one.text.strip() if one.value is None else one.value)
            )
    return found
