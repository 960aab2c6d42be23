"""Reading a value or an object out of a model's reply, by stated rules.

Each function gives the one value the text holds or raises NoValue(UNPARSABLE). None ever falls back
on a default. docs/chat.md states the rules; a text that could be read in two ways has no value.

>>> parse_yes_no("Yes, it does.")
True
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
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
# What may stand between the start of a line and the choice that is the answer.
_LEADING = (
    "so thus therefore overall hence my the final this that it it['’]s is as a an of i am we would "
    "say choose pick prefer select rate give gave assign video clip option score rating grade "
    "answer verdict conclusion choice decision"
)
_LEAD_IN = rf"(?:(?:{'|'.join(_LEADING.split())})\b[\s,:=\-–—*_\"'`(\[]*)*"
_IF = r"(?:if|unless|assuming|supposing|provided that|si|falls|sofern|wenn|もし|如果|假如)"
"""What makes an answer depend on something, right after it or before it: "[YES], if it rained"."""
_OPENING = 200
"""How far into a line or sentence an answer may begin; also what bounds the search."""


def spoken(text: str) -> str:
    """The text after the thinking that some models put before it, without its margins."""
    return _THOUGHT.sub("", text, count=1).strip().strip("\ufeff").strip()


def parse_yes_no(text: str, *, bracketed: bool = False) -> bool:
    """Whether it says yes or no, as a word of its own: "eyes" is not a yes.

    ``bracketed`` counts only [YES] and [NO], for answers that reason before they conclude.
    """
    return parse_choice(text, ("yes", "no"), bracketed=bracketed) == "yes"


def parse_choice(text: str, choices: Sequence[str], *, bracketed: bool = False) -> str:
    """The one of ``choices`` that the text names, as words of their own.

    Upper and lower case are the same, except for choices of one letter, since "a" is a word.
    """
    said = _answering(text)
    whole = said.strip("\"'`*.!()[] \n").casefold()
    for choice in choices:
        if whole == choice.casefold():
            return choice
    named = [choice for choice in choices if _names(said, choice, bracketed)]
    # Named in passing is not answered: "there is no doubt that the cat is there".
    named = [choice for choice in named if _answers(said, choice, bracketed)] and named
    # "not sure" also names "sure": the longer one is what was said.
    named = [
        choice
        for choice in named
        if not any(choice != other and _within(choice, other, said) for other in named)
    ]
    if len(named) != 1:
        found = " and ".join(repr(choice) for choice in named) or "none"
        raise _unparsable(f"expected one of {', '.join(choices)}; found {found}", text)
    return named[0]


def _answering(text: str) -> str:
    """What a text says; raises NoValue(REFUSED) where it says that it is not an answer."""
    said = spoken(text)
    if len(said) > _LONGEST_WORDS:
        raise _unparsable(f"longer than {_LONGEST_WORDS:,} characters", said)
    if declines(said):
        raise NoValue(Reason.REFUSED, f"the model declined: {_start(said)}")
    return said


def _sentences(said: str, *, questions: bool = False) -> list[str]:
    """The sentences; without questions, unless wanted."""
    found = [piece for line in said.splitlines() for piece in re.split(r"(?<=[.!?;])\s+", line)]
    return [piece for piece in found if questions or not piece.rstrip().endswith("?")]


def _answers(said: str, choice: str, bracketed: bool) -> bool:
    """Whether a line or sentence of the text opens with the choice, or it stands in brackets.

    One that goes on with a condition does not answer: "Yes, if it were daylight."
    """
    marked = _pattern(choice, bracketed=True)
    words = r"\s+".join(re.escape(word) for word in choice.split())
    flags = re.NOFLAG if len(choice) == 1 else re.IGNORECASE
    named = rf"\[?\s*{words}\s*\]?"
    condition = re.compile(
        rf"{named}[,;(\s]*{_IF}(?![a-z])|\A\W*{_IF}(?![a-z])[^.]*[,、，]\s*(?:then )?{named}", flags
    )
    every = _sentences(said, questions=True)
    if any(marked.search(piece) and not condition.search(piece) for piece in every):
        return True
    if bracketed:
        return False
    pieces = [piece for piece in _sentences(said) if not condition.search(piece)]
    # After it a pause or the end: "No idea" and "No frames were sent" are not a no.
    after = r"(?=\s*(?:[^\w\s]|$)"
    ordinal = choice.casefold() in ("first", "second", "left", "right")
    after += r"|\s+(?:video|clip|film|one|option)\b)" if ordinal else ")"
    start = re.compile(rf"[\W_]*(?i:{_LEAD_IN})[\W_]*{words}(?![\w-]){after}", flags)
    return any(start.match(piece[:_OPENING]) for piece in pieces)


def _names(text: str, choice: str, bracketed: bool) -> bool:
    return _pattern(choice, bracketed).search(text) is not None


def _pattern(choice: str, bracketed: bool) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in choice.split())
    flags = re.NOFLAG if len(choice) == 1 else re.IGNORECASE
    if bracketed:
        return re.compile(rf"\[\s*{words}\s*\]", flags)
    return re.compile(rf"(?<![\w-]){words}(?![\w-])", flags)


def _within(short: str, long: str, text: str) -> bool:
    # Whether every place that names ``short`` is inside one that names ``long``.
    outer = [match.span() for match in _pattern(long, False).finditer(text)]
    return bool(outer) and all(
        any(start <= match.start() and match.end() <= end for start, end in outer)
        for match in _pattern(short, False).finditer(text)
    )


def _unparsable(problem: str, text: str) -> NoValue:
    start = " ".join(text[:120].split())
    return NoValue(Reason.UNPARSABLE, f"{problem}. The answer begins: {start!r}")


LONGEST = 1_000_000
"""Characters; a longer answer is not a verdict."""


_FENCE = "```"
_FENCED_AS = re.compile(r"[\w-]*")


class NotOneObject(ValueError):
    """Why a text holds no value by the rules; the message is for a model and for people."""


def read_object(text: str) -> dict[str, Any]:
    r"""The object; raises NotOneObject with what is wrong.

    The rules: thinking before the answer is passed over; the object may stand in one ``` fence, and
    nothing else beside it, for words beside it may take it back; no key twice, no NaN or Infinity,
    no number beyond a double. Everything else has no value.

    >>> read_object('```json\n{"score": 4}\n```')
    {'score': 4}
    """
    said = spoken(text)
    if not said:
        raise NotOneObject("it is empty")
    if len(said) > LONGEST:
        raise NotOneObject(f"it is longer than {LONGEST} characters")
    if said.startswith(_FENCE) and said.endswith(_FENCE) and len(said) > len(_FENCE):
        said = _FENCED_AS.sub("", said.removeprefix(_FENCE).removesuffix(_FENCE), count=1).strip()
    start = said.find("{")
    if start < 0:
        raise NotOneObject("it holds no JSON object")
    decoder = json.JSONDecoder(
        object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_number
    )
    try:
        found, end = decoder.raw_decode(said, start)
    except json.JSONDecodeError as error:
        raise NotOneObject(f"the JSON is broken at character {error.pos}: {error.msg}") from None
    except RecursionError:
        raise NotOneObject("the JSON is nested too deep") from None
    except NotOneObject:
        raise
    except ValueError:  # an integer of thousands of digits
        raise NotOneObject("it holds a number too large to read") from None
    before, after = said[:start].strip(), said[end:].strip()
    if "{" in after:
        raise NotOneObject("it holds more than one JSON object")
    if before == "[":
        raise NotOneObject("it holds a list where one object was asked for")
    if before or after:
        raise NotOneObject("other words stand beside the JSON object")
    assert isinstance(found, dict)
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotOneObject("a key is given twice")
    return found


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
    """The answer; raises NoValue where there is none.

    The same rules for every backend, so that a recorded or stored reply can be read again later
    without asking again.
    """
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
    value = None
    if request.schema is not None:
        value = _value(request, request.schema, reply.text)
    elif request.pictures and _NOT_SEEN.search(said):
        raise _unseen()
    else:
        _answering(said)
    _check(request, reply.text if value is None else value)
    return ChatAnswer(
        text=reply.text,
        value=value,
        model=reply.model,
        fingerprint=reply.fingerprint,
        usage=reply.usage,
        request_key=request.key,
    )


def repair_turns(
    request: ChatRequest, reply: ModelReply, error: NoValue, repairs: int
) -> list[tuple[str, str]]:
    """What is said to a model whose answer did not fit; raises ``error`` where nothing is."""
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

    from screentest.models.forms import respelt

    try:
        found = read_object(text)
        _must_answer(request, found)
        try:
            return _validated(schema, found)
        except ValidationError as error:
            return _validated(schema, respelt(found, error.errors(include_url=False)))
    except NotOneObject as error:
        # A refusal is not sent back: the model might guess, and without a word about it.
        _answering(text)
        raise NoValue(Reason.UNPARSABLE, f"{error}. The answer begins: {_start(text)}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "the object"
        raise NoValue(Reason.UNPARSABLE, f"{place}: {first['msg']}") from None


def _validated(schema: type[BaseModel], found: dict[str, Any]) -> BaseModel:
    # Through JSON, since only there strict pydantic still takes "first" for an enum.
    return schema.model_validate_json(json.dumps(found), strict=True)


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
