"""A chat server that answers each kind of question as a test says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from screentest.testing.chat_answers import Act, Answer, Asked
from screentest.testing.chat_server import FakeChatServer

Reply = Any
"""An object to answer with, an act, or a function from the request to either."""
KINDS: Mapping[str, frozenset[str]] = {
    "events": frozenset({"events"}),
    "actions": frozenset({"actions"}),
    "yes_no": frozenset({"answer"}),
    "clarity": frozenset(
        {
            *("theme_clarity", "logical_structure"),
            *("information_completeness", "information_consistency"),
        }
    ),
    "ground": frozenset({"happens", "start", "end"}),
    "questions": frozenset({"questions"}),
    "polarity": frozenset({"polarity"}),
    "expect": frozenset(
        {
            *("emotional_response", "narrative_flow", "character_development", "visual_style"),
            *("themes", "interpretive_depth", "overall_impression"),
        }
    ),
    "complexity": frozenset({"semantic", "structural", "control"}),
    "text": frozenset({"text"}),
    "critique": frozenset({"faults"}),
    "event_prompts": frozenset({"prompts"}),
    "flags": frozenset({"burnt_in_text", "overlay", "low_quality", "off_theme", "why"}),
}


def kind_of(asked: Asked) -> str:
    """Which kind of question a request is, by the form that its answer must have."""
    if asked.schema is None:
        return "describe"
    fields = frozenset(asked.fields)
    return next(kind for kind, known in KINDS.items() if known == fields)


def answering(**replies: Reply) -> FakeChatServer:
    """A server for a ``with`` block; a kind of question without a reply is a failure."""

    def act(asked: Asked) -> Act:
        reply = replies[kind_of(asked)]
        if isinstance(reply, Callable):
            reply = reply(asked)
        if isinstance(reply, str):
            return Answer(reply)
        return Answer(json.dumps(reply)) if isinstance(reply, dict | list) else reply

    return FakeChatServer(act)


def chat(server: FakeChatServer) -> str:
    """The choice of this server for all uses."""
    return f"chat=openai:fake,base_url={server.url}"


def event(text: str, *subjects: str, **fields: str) -> dict[str, Any]:
    """An event as a model gives it."""
    return {
        "event": text,
        "subjects": list(subjects or ("a dog",)),
        "setting": fields.get("setting", "a field"),
        "action": fields.get("action", "runs"),
        "camera_motion": fields.get("camera", "static"),
    }
