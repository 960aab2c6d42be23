"""Categories of sources: as their metadata says, or as a chat model chooses from a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from screentest.core import BadOption, Item, Outcome, Reason
from screentest.models.chat.endpoint import preset
from screentest.models.chat.messages import ChatAnswer, ChatRequest
from screentest.models.roles import Chat
from screentest.models.templates import Prompts

if TYPE_CHECKING:
    from pydantic import BaseModel

GROUP = "category"
"""The group of an item that holds its category."""
TEMPLATE = "testbeds/category"
LONGEST = 8000
"""So many characters of a description are shown to the model: a film is what it begins as."""


def categorise(
    items: Sequence[Item],
    categories: Sequence[str],
    chat: Chat,
    *,
    prompts: Prompts | None = None,
) -> list[Outcome[Item]]:
    """The items with their category; those that have one in their metadata keep it, unasked.

    The model can only answer with a name from the list. No answer is no category: the outcome
    says why.
    """
    names = list(dict.fromkeys(name.strip() for name in categories if name.strip()))
    if len(names) < 2:
        raise BadOption("a choice needs two categories or more", advice="Give a longer list.")
    schema = _schema(names)
    prompts = prompts or Prompts()
    outcomes: list[Outcome[Item]] = []
    asked: list[int] = []
    requests: list[ChatRequest] = []
    for place, item in enumerate(items):
        outcomes.append(Outcome.of(item))
        if item.groups.get(GROUP):
            continue
        if not item.text.strip():
            outcomes[place] = Outcome.failed(
                Reason.NOT_APPLICABLE, "it has no text to go by", "Give it a prompt or a script."
            )
            continue
        slots = {"description": item.text[:LONGEST], "categories": names}
        rendered = prompts.render(TEMPLATE, slots)
        asked.append(place)
        requests.append(
            ChatRequest(
                rendered.parts,
                rendered.system,
                schema,
                sampling=preset("slvm.category"),
                use="slvm.category",
            )
        )
    answers = chat.ask(requests) if requests else []
    for place, answer in zip(asked, answers, strict=True):
        outcomes[place] = _with_category(items[place], answer)
    return outcomes


def _schema(names: list[str]) -> type[BaseModel]:
    from pydantic import create_model

    fields: dict[str, Any] = {"category": (Enum("Category", [(name, name) for name in names]), ...)}
    return create_model("CategoryAnswer", **fields)


def _with_category(item: Item, answer: Outcome[ChatAnswer]) -> Outcome[Item]:
    if answer.failure is not None:
        return Outcome(failure=answer.failure)
    chosen = getattr(answer.unwrap().value, "category", None)
    if not isinstance(chosen, Enum):
        return Outcome.failed(Reason.UNPARSABLE, "the answer names no category")
    return Outcome.of(replace(item, groups={**item.groups, GROUP: str(chosen.value)}))
