"""A chat model for tests: answers each form as a test says, and sees nothing but the requests."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from screentest.core import Item, Outcomes, build
from screentest.measure.items import measure
from screentest.models import ModelChoice
from screentest.run.session import Settings, Tools
from screentest.suites.univ.schema import NOTHING, Part
from screentest.suites.univ.vocabulary import Dimension
from screentest.testing.chat_answers import Act, Answer, Asked
from screentest.testing.chat_server import FakeChatServer

Reply = Any
"""An object to answer with, an act, or a function from the request to either."""


def kind_of(asked: Asked) -> str:
    """Which question a request is, by the form its answer must have."""
    if asked.schema is None:
        return "plain"
    fields = set(asked.fields)
    for kind, field in (
        *(("inspect", "findings"), ("score", "comment"), ("overview", "content")),
        *(("describe", "subjects"), ("script", "script"), ("match", "item_1")),
    ):
        if field in fields:
            return kind
    raise AssertionError(f"no known form: {sorted(fields)}")


def answering(**replies: Reply) -> FakeChatServer:
    """A server for a ``with`` block; a question without a reply is a failure of the test."""

    def act(asked: Asked) -> Act:
        reply = replies[kind_of(asked)]
        if isinstance(reply, Callable):
            reply = reply(asked)
        return Answer(json.dumps(reply)) if isinstance(reply, dict) else reply

    return FakeChatServer(act)


def finding(**fields: Any) -> dict[str, Any]:
    """A fault of the subject in the first half second."""
    return {
        "part": "content_fidelity",
        "dimension": "subject",
        "start": 0.0,
        "end": 0.5,
        "kind": "wrong animal",
        "description": "a cat where a dog should be",
        "fix": "show a dog",
        "severity": 0.6,
        **fields,
    }


def inspection(*findings: Mapping[str, Any]) -> dict[str, Any]:
    """What an inspector says."""
    remarks = {part.value: "looked at" for part in Part}
    return {"remarks": remarks, "findings": list(findings), "approved": not findings}


def marks(score: int = 8, **scores: int) -> dict[str, Any]:
    """Points for all eight dimensions."""
    return {
        **{
            name.value: {"reason": f"because of {name.value}", "score": scores.get(name, score)}
            for name in Dimension
        },
        "comment": "as a whole",
    }


def caption_of(asked: Asked) -> str:
    """The caption that a judge is to compare."""
    found = re.search(
        r"<<<BEGIN caption>>>\n(.*?)\n<<<END caption>>>", "\n".join(asked.texts), re.S
    )
    assert found is not None
    return found[1]


def matches(score: Callable[[int], float]) -> Callable[[Asked], dict[str, Any]]:
    """Every item gets what ``score`` says of its number."""

    def reply(asked: Asked) -> dict[str, Any]:
        assert asked.schema is not None
        said = {"quote": caption_of(asked), "reason": "read"}
        return {
            name: said | {"score": f"{score(int(name.removeprefix('item_'))):g}"}
            for name in asked.fields
        }

    return reply


def description(**fields: Any) -> dict[str, Any]:
    """A description that says what a test wants it to, and nothing else."""
    return {**NOTHING.model_dump(mode="json"), **fields}


def chat(server: FakeChatServer) -> ModelChoice:
    """The choice of this server for all uses."""
    return ModelChoice.parse(f"chat=openai:fake,base_url={server.url},max_attempts=1")


def measured(spec: str, item: Item, server: FakeChatServer, **settings: Any) -> Outcomes:
    """What one metric says of one item."""
    tools = Tools(Settings(models=(chat(server),), **settings))
    try:
        return measure(item, {spec: build("metric", spec).thing}, tools)[spec]
    finally:
        tools.models.close()
