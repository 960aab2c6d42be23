"""From a model's raw reply to an answer, or to the typed reason why it is none.

The same rules for every backend, so that a recorded or stored reply can be read again later
without asking again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from screentest.core import NoValue, Reason
from screentest.models.chat.messages import ChatAnswer, ChatRequest, Reply
from screentest.models.chat.parsing import spoken
from screentest.models.chat.strict_json import NotOneObject, read_object

if TYPE_CHECKING:
    from pydantic import BaseModel

_COMPLETE = {"stop", "eos", "end_turn", "stop_sequence", ""}
_CUT = {"length", "max_tokens"}
_STOPPED = {"content_filter", "safety", "refusal"}
_SORRY = r"(?:i['’]?m|i am) (?:very |so )?sorry|sorry|i apologi[sz]e|unfortunately|as an ai\b"
_CANNOT = (
    r"i (?:cannot|can['’]t|can not|won['’]t|will not|(?:do not|don['’]t) have the ability to)"
    r"|(?:i['’]?m|i am) (?:unable|not able) to|i (?:do not|don['’]t)(?= have access)"
)
_MATERIAL = (
    r"(?:(?:the|this|that|these|those|your|either|both|of|actual|provided|attached|uploaded|given)\s+)*"
    r"(?:video|image|picture|photo|frame|clip|film|file|media|content|attachment|link)s?\b"
)
# How a refusal in plain words begins. What counts is what the model cannot do: "I can't see the
# video" declines, "I can't see any cat" is an answer, and mostly a no: to lose those would raise
# every score that counts what is there.
_DECLINES = re.compile(
    rf"(?:(?:{_SORRY})[^\n]{{0,80}}?\b)?(?:{_CANNOT})\s+(?:\w+ly\s+)?(?:"
    r"(?:assist|help|comply|fulfil+|continue|do (?:that|this)|describe)\b"
    r"|(?:view|see|watch|open|process|analy[sz]e|evaluate|compare|have access to)\s+"
    rf"(?:it\b|them\b|{_MATERIAL})"
    r"|(?:answer|provide|give|offer)\s+(?:(?:the|this|that|these|those|your|an?|any)\s+)*"
    r"(?:questions?|requests?|answers?|responses?|descriptions?|ratings?|assessments?|judge?ments?)\b"
    r")",
    re.IGNORECASE,
)


def conclude(request: ChatRequest, reply: Reply) -> ChatAnswer:
    """The answer; raises NoValue where there is none."""
    if reply.refusal.strip():
        raise NoValue(Reason.REFUSED, f"the model declined: {_start(reply.refusal)}")
    if reply.finish in _STOPPED:
        raise NoValue(Reason.REFUSED, f"a filter stopped the answer (finish {reply.finish!r})")
    if reply.finish in _CUT:
        raise NoValue(
            Reason.TRUNCATED,
            f"the answer was cut off after {request.sampling.max_tokens} tokens",
            advice='Allow more: sampling={"max_tokens": N}.',
        )
    if reply.finish not in _COMPLETE:
        raise NoValue(Reason.UNPARSABLE, f"the answer ended with {reply.finish[:40]!r}")
    said = spoken(reply.text)
    if not said:
        raise NoValue(Reason.UNPARSABLE, "the answer is empty")
    # Also where an object follows: "I cannot view it. The format would be {…}" is no answer.
    if _DECLINES.match(said):
        raise NoValue(Reason.REFUSED, f"the model declined: {_start(said)}")
    value = None if request.schema is None else _value(request.schema, reply.text)
    return ChatAnswer(
        text=reply.text,
        value=value,
        model=reply.model,
        fingerprint=reply.fingerprint,
        usage=reply.usage,
        request_key=request.key,
    )


def _value(schema: type[BaseModel], text: str) -> BaseModel:
    import json

    from pydantic import ValidationError

    try:
        found = read_object(text)
        # Through JSON, since only there strict pydantic still takes "first" for an enum.
        return schema.model_validate_json(json.dumps(found), strict=True)
    except NotOneObject as error:
        raise NoValue(Reason.UNPARSABLE, f"{error}. The answer begins: {_start(text)}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "the object"
        raise NoValue(Reason.UNPARSABLE, f"{place}: {first['msg']}") from None


def _start(text: str) -> str:
    return repr(" ".join(text[:160].split()))
