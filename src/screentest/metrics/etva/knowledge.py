"""Knowledge: what a prompt leaves unsaid but its video must respect, asked once per prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from screentest.core import Outcome
from screentest.metrics.etva.questions import QuestionSet
from screentest.models.chat.messages import ChatAnswer, ChatRequest
from screentest.models.chat.parsing import spoken
from screentest.models.chat.presets import preset
from screentest.models.roles import Chat
from screentest.prompts import Prompts

TEMPLATE = "etva/knowledge"
USE = "etva.knowledge"


def add_knowledge(
    sets: Sequence[Outcome[QuestionSet]], chat: Chat, prompts: Prompts
) -> list[Outcome[QuestionSet]]:
    """The sets with knowledge; those that have some are not asked about."""
    without = [one.unwrap() for one in sets if one.ok and one.unwrap().knowledge is None]
    asked = list(dict.fromkeys(one.prompt for one in without))
    answers = chat.ask([_request(prompts, text) for text in asked]) if asked else []
    known = dict(zip(asked, answers, strict=True))
    return [
        one
        if not one.ok or one.unwrap().knowledge is not None
        else _with(one.unwrap(), known[one.unwrap().prompt])
        for one in sets
    ]


def _with(given: QuestionSet, answer: Outcome[ChatAnswer]) -> Outcome[QuestionSet]:
    return answer.map(lambda said: replace(given, knowledge=spoken(said.text)))


def _request(prompts: Prompts, text: str) -> ChatRequest:
    rendered = prompts.render(TEMPLATE, {"prompt": text})
    return ChatRequest(rendered.parts, rendered.system, sampling=preset(USE), use=USE)
