"""Categories of sources: as their metadata says, or as a chat model chooses from a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from screentest.core import BadOption, Item, Outcome, Reason
from screentest.models.ask import Query, send
from screentest.models.chat.messages import ChatRequest
from screentest.models.roles import Chat
from screentest.models.templates import Prompts, Slot

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
    query = Query(TEMPLATE, _schema(names), use="slvm.category")
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
        slots: dict[str, Slot] = {"description": item.text[:LONGEST], "categories": names}
        asked.append(place)
        requests.append(query.request(prompts, slots))
    answers = send(chat, requests)
    for place, answer in zip(asked, answers, strict=True):
        outcomes[place] = answer.map(partial(_with_category, items[place]))
    return outcomes


def _schema(names: list[str]) -> type[BaseModel]:
    from pydantic import create_model

    fields: dict[str, Any] = {"category": (Enum("Category", [(name, name) for name in names]), ...)}
    return create_model("CategoryAnswer", **fields)


def _with_category(item: Item, answer: Any) -> Item:
    return replace(item, groups={**item.groups, GROUP: str(answer.category.value)})
