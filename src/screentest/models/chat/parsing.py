"""Reading a value or an object out of a model's reply, by stated rules.

Each function gives the one value the text holds or raises NoValue(UNPARSABLE). None ever falls back
on a default. docs/chat.md states the rules; a text that could be read in two ways has no value.

>>> parse_yes_no("The cup floats. Conclusion: [YES]")
True
"""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from screentest.core import NoValue, Reason
from screentest.models.chat.messages import (
    DECLINED,
    SEEN,
    ChatAnswer,
    ChatRequest,
    ModelReply,
    repair,
)
from screentest.models.chat.refusals import declines

if TYPE_CHECKING:
    from pydantic import BaseModel


_THOUGHT = re.compile(r"\A.*</think(?:ing)?>|\A\s*<think(?:ing)?>.*", re.DOTALL | re.IGNORECASE)
_IF = r"(?:if|unless|assuming|supposing|provided that|si|falls|sofern|wenn|もし|如果|假如)"
"""What makes an answer depend on something, right after it or before it: "[YES], if it rained"."""


def spoken(text: str) -> str:
    """Return the text after the thinking that some models put before it, without its margins."""
    return _THOUGHT.sub("", text, count=1).strip().strip("\ufeff").strip()


def parse_yes_no(text: str) -> bool:
    """Read the token of an answer that reasons before it concludes: [YES] or [NO].

    One that goes on with a condition does not answer: "[YES], if it were daylight." A single word
    needs no brackets.
    """
    answer = _answering(text)
    whole = answer.strip("\"'`*.!()[] \n").casefold()
    if whole in ("yes", "no"):
        return whole == "yes"
    named = [
        word for word in ("yes", "no") if re.search(rf"\[\s*{word}\s*\]", answer, re.IGNORECASE)
    ]
    if len(named) != 1 or not _concludes(answer, named[0]):
        several = " and ".join(map(repr, named)) if len(named) > 1 else "none"
        raise _unparsable(f"expected one of yes, no; found {several}", text)
    return named[0] == "yes"


def _concludes(answer: str, word: str) -> bool:
    """Tell whether the token stands in a sentence that makes it depend on nothing."""
    token = rf"\[\s*{word}\s*\]"
    either = rf"\[?\s*{word}\s*\]?"
    after, before = rf"[,;(\s]*{_IF}(?![a-z])", rf"\A\W*{_IF}(?![a-z])[^.]*[,、，]\s*(?:then )?"
    condition = f"{either}{after}|{before}{either}"
    return any(
        re.search(token, piece, re.IGNORECASE) and not re.search(condition, piece, re.IGNORECASE)
        for line in answer.splitlines()
        for piece in re.split(r"(?<=[.!?;])\s+", line)
    )


def _answering(text: str) -> str:
    """Return the text after any thinking; raises NoValue(REFUSED) where it is about itself."""
    answer = spoken(text)
    if len(answer) > _LONGEST_WORDS:
        raise _unparsable(f"longer than {_LONGEST_WORDS:,} characters", answer)
    if declines(answer):
        raise NoValue(Reason.REFUSED, f"the model declined: {_start(answer)}")
    return answer


def _unparsable(problem: str, text: str) -> NoValue:
    return NoValue(Reason.UNPARSABLE, f"{problem}. The answer begins: {_start(text)}")


LONGEST = 1_000_000
"""Characters; a longer answer is not a verdict."""


_FENCE = "```"
_FENCED_AS = re.compile(r"[\w-]*")


class NotOneObject(ValueError):
    """A text that holds no value by the rules; the message is for a model and for people."""


def read_object(text: str) -> dict[str, Any]:
    r"""Return the object; raises NotOneObject with what is wrong.

    The rules: thinking before the answer is passed over; the object may stand in one ``` fence, and
    nothing else beside it, for words beside it may take it back; no key twice, no NaN or Infinity,
    no number beyond a double. Everything else has no value.

    >>> read_object('```json\n{"score": 4}\n```')
    {'score': 4}
    """
    answer = spoken(text)
    if not answer:
        raise NotOneObject("it is empty")
    if len(answer) > LONGEST:
        raise NotOneObject(f"it is longer than {LONGEST} characters")
    if answer.startswith(_FENCE) and answer.endswith(_FENCE) and len(answer) > len(_FENCE):
        answer = _FENCED_AS.sub(
            "", answer.removeprefix(_FENCE).removesuffix(_FENCE), count=1
        ).strip()
    start = answer.find("{")
    if start < 0:
        raise NotOneObject("it holds no JSON object")
    decoder = json.JSONDecoder(
        object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_number
    )
    try:
        value, end = decoder.raw_decode(answer, start)
    except json.JSONDecodeError as error:
        raise NotOneObject(f"the JSON is broken at character {error.pos}: {error.msg}") from None
    except RecursionError:
        raise NotOneObject("the JSON is nested too deep") from None
    except NotOneObject:
        raise
    except ValueError:  # an integer of thousands of digits
        raise NotOneObject("it holds a number too large to read") from None
    before, after = answer[:start].strip(), answer[end:].strip()
    if "{" in after:
        raise NotOneObject("it holds more than one JSON object")
    if before == "[":
        raise NotOneObject("it holds a list where one object was asked for")
    if before or after:
        raise NotOneObject("other words stand beside the JSON object")
    assert isinstance(value, dict)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise NotOneObject("a key is given twice")
    return fields


def _no_constant(name: str) -> Any:
    raise NotOneObject(f"{name} is not a number")


def _number(written: str) -> float | int:
    # JSON schema counts 4.0 as an integer; so do we.
    value = float(written)
    if not math.isfinite(value):
        raise NotOneObject(f"the number {written[:20]} is too large")
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


_LONGEST_QUOTE = 4000
_LONGEST_WORDS = 60_000
"""Characters of words that are searched; models are allowed some ten thousand tokens."""
_COMPLETE = {"stop", "eos", "end_turn", "stop_sequence", ""}
_CUT = {"length", "max_tokens"}
_STOPPED = {"content_filter", "safety", "refusal"}
_ANSWERED = ("", "no", "none", "null", "n/a", "false")
"""What models write in a field of text for nothing."""
_NOT_SEEN = re.compile(r"\[\s*not seen\s*\]", re.IGNORECASE)
"""What a model says instead of a text about pictures that it cannot see."""


def conclude(request: ChatRequest, reply: ModelReply) -> ChatAnswer:
    """Return the answer; raises NoValue, with the text, where there is none.

    The same rules for every backend, so that a recorded or stored reply can be read again later
    without asking again.
    """
    try:
        return _concluded(request, reply)
    except NoValue as error:
        error.answer = reply.text
        raise


def _concluded(request: ChatRequest, reply: ModelReply) -> ChatAnswer:
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
    text = spoken(reply.text)
    if not text:
        raise NoValue(Reason.UNPARSABLE, "the answer is empty")
    value = None
    if request.schema is not None:
        value = _value(request, request.schema, reply.text)
    elif request.pictures and _NOT_SEEN.search(text):
        raise _unseen()
    else:
        _answering(text)
    _check(request, reply.text if value is None else value)
    return ChatAnswer(
        text=reply.text,
        value=value,
        model=reply.model,
        fingerprint=reply.fingerprint,
        usage=reply.usage,
    )


def repair_turns(
    request: ChatRequest, reply: ModelReply, error: NoValue, repairs: int
) -> list[tuple[str, str]]:
    """Return the turns that send an answer back; raises ``error`` where none is left."""
    readable = request.schema is not None or request.check is not None
    repairable = error.reason is Reason.UNPARSABLE and readable
    if not repairable or repairs >= request.max_repairs:
        raise error
    pictures = bool(request.pictures)
    return [
        ("assistant", reply.text[:_LONGEST_QUOTE] or "(nothing)"),
        ("user", repair(error.message, text=request.schema is None, pictures=pictures)),
    ]


def _check(request: ChatRequest, answer: object) -> None:
    if request.check is None:
        return
    try:
        request.check(answer)
    except ValueError as error:
        raise NoValue(Reason.UNPARSABLE, str(error)) from None


def _value(request: ChatRequest, schema: type[BaseModel], text: str) -> BaseModel:
    from pydantic import ValidationError

    try:
        answer = read_object(text)
        _must_answer(request, answer)
        try:
            return _validated(schema, answer)
        except ValidationError as error:
            return _validated(schema, respelt(answer, error.errors(include_url=False)))
    except NotOneObject as error:
        # A refusal is not sent back: the model might guess, and without a word about it.
        _answering(text)
        raise _unparsable(str(error), text) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "the object"
        raise NoValue(Reason.UNPARSABLE, f"{place}: {first['msg']}") from None


def _validated(schema: type[BaseModel], answer: dict[str, Any]) -> BaseModel:
    # Through JSON, since only there strict pydantic still takes "first" for an enum.
    return schema.model_validate_json(json.dumps(answer), strict=True)


# "YES" where yes or no was asked for, "3" where a number was: to lose such an answer would measure
# how a model spells. Nothing is guessed: a value that fits no allowed one in this way stays as it
# is, and the answer has no value.
_ALLOWED = re.compile(r"'([^']*)'")
_WRITTEN_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_BOOLEANS = {"true": True, "false": False}


def respelt(answer: dict[str, Any], errors: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the object with every value that an error of pydantic names, where it can be read one
    way.

    >>> errors = [{"type": "bool_type", "loc": ("seen",)}]
    >>> respelt({"seen": " True "}, errors)
    {'seen': True}
    """
    changed = copy.deepcopy(answer)
    for error in errors:
        place: Any = changed
        *way, last = error["loc"] or (None,)
        for step in way:
            place = place[step] if _has(place, step) else None
        if _has(place, last) and isinstance(place[last], str):
            place[last] = _read_value(place[last], error)
    return changed


def _has(place: Any, step: Any) -> bool:
    if isinstance(place, dict):
        return step in place
    return isinstance(place, list) and type(step) is int and 0 <= step < len(place)


def _read_value(written: str, error: Mapping[str, Any]) -> Any:
    text = written.strip()
    kind = error["type"]
    if kind in ("literal_error", "enum"):
        allowed = _ALLOWED.findall(str(error.get("ctx", {}).get("expected", "")))
        fits = [value for value in allowed if value.casefold() == text.casefold()]
        return fits[0] if len(fits) == 1 else written
    if kind in ("int_type", "float_type") and _WRITTEN_NUMBER.fullmatch(text):
        value = float(text)
        return int(value) if value.is_integer() and math.isfinite(value) else value
    if kind == "bool_type":
        return _BOOLEANS.get(text.casefold(), written)
    return written


def _must_answer(request: ChatRequest, answer: dict[str, Any]) -> None:
    """Take the fields about the answer itself out of it; raise NoValue where it is none."""
    # Asked for first and in every form about pictures: a model that leaves it out is asked again.
    seen = answer.pop(SEEN, None) if request.pictures else True
    if seen is False:
        raise _unseen()
    reason = answer.pop(DECLINED, None)
    if isinstance(reason, str) and reason.strip().casefold() not in _ANSWERED:
        raise NoValue(Reason.REFUSED, f"the model declined: {_start(reason)}")
    if reason is True:
        raise NoValue(Reason.REFUSED, "the model declined")
    if seen is not True:
        problem = "is missing" if seen is None else "is neither true nor false"
        raise NotOneObject(f"{SEEN} {problem}")
    _answering("\n".join(_texts(answer)))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _unseen() -> NoValue:
    return NoValue(
        Reason.UNSEEN,
        "the model says that it cannot see the pictures",
        advice="Choose a model that reads pictures, and a server that passes them on.",
    )


def _start(text: str) -> str:
    return repr(" ".join(text[:160].split()))
