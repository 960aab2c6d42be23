"""One question to the judge: a template, its slots, the form of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from screentest.core import Outcome, Resources
from screentest.models.chat.messages import ChatRequest, Sampling
from screentest.models.chat.presets import preset

if TYPE_CHECKING:
    from pydantic import BaseModel

    from screentest.prompts.values import Slot

JUDGE = "chat.judge"
CAPTION = "chat.caption"


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


def ask(resources: Resources, role: str, requests: Sequence[ChatRequest]) -> list[Outcome[Any]]:
    """All questions at once: an object of each request's form, or its text where it has none."""
    if not requests:
        return []
    answers = resources.role(role).ask(list(requests))
    return [
        answer.map(lambda one: one.text.strip() if one.value is None else one.value)
        for answer in answers
    ]
