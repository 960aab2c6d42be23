"""Thirty-odd ways in which a model or its server can spoil an answer.

Each takes a valid object, and gives the act that spoils it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from screentest.models.testing.acts import Act, Answer, Raw

Spoiler = Callable[[Mapping[str, Any]], Act]


def _text(change: Callable[[str], str]) -> Spoiler:
    return lambda valid: Answer(change(json.dumps(valid)))


def _fields(change: Callable[[dict[str, Any]], Any]) -> Spoiler:
    return lambda valid: Answer(json.dumps(change(dict(valid))))


def _first_number(valid: Mapping[str, Any], value: object) -> dict[str, Any]:
    numbers = [name for name, old in valid.items() if type(old) in (int, float)]
    return {**valid, numbers[0]: value}


def _number(value: object) -> Spoiler:
    return _fields(lambda valid: _first_number(valid, value))


def _bare_number(written: str) -> Spoiler:
    def spoil(valid: Mapping[str, Any]) -> Act:
        marked = json.dumps(_first_number(valid, "@"))
        return Answer(marked.replace('"@"', written))

    return spoil


MALFORMED: dict[str, Spoiler] = {
    "truncated": _text(lambda text: text[: len(text) * 2 // 3]),
    "fenced": _text(lambda text: f"```json\n{text}\n```"),
    "fenced with words": _text(lambda text: f"Here it is:\n```\n{text}\n```\nI hope it helps."),
    "two objects": _text(lambda text: f"{text}\n{text}"),
    "an example first": _text(lambda text: f"For example {{}}. My answer: {text}"),
    "leading words": _text(lambda text: f"My answer: {text}"),
    "trailing words": _text(lambda text: f"{text} That is my view."),
    "thinking first": _text(lambda text: f'<think>{{"score": 1}}?</think>\n{text}'),
    "byte order mark": _text(lambda text: f"\ufeff{text}"),
    "single quotes": _text(lambda text: text.replace('"', "'")),
    "trailing comma": _text(lambda text: f"{text[:-1]},}}"),
    "comment": _text(lambda text: f"{text[:-1]} /* sure */}}"),
    "NaN": _bare_number("NaN"),
    "Infinity": _bare_number("Infinity"),
    "number too large": _bare_number("1e999"),
    "number of 5000 digits": _bare_number("9" * 5000),
    "whole number as decimal": _bare_number("4.0"),
    "number as text": _number("4"),
    "number out of five": _number("4/5"),
    "number out of range": _number(1_000_000),
    "number below range": _number(-1),
    "number as boolean": _number(True),
    "number null": _number(None),
    "key missing": _fields(lambda valid: dict(list(valid.items())[1:])),
    "key too many": _fields(lambda valid: {**valid, "confidence": 0.9}),
    "key twice": _text(lambda text: f"{text[:-1]}, {text[1:]}"),
    "nested": _fields(lambda valid: {"answer": valid}),
    "in a list": _fields(lambda valid: [valid]),
    "nested too deep": _text(lambda text: '{"a":' * 100_000),
    "empty": lambda valid: Answer(""),
    "null": lambda valid: Answer(None),
    "whitespace": lambda valid: Answer(" \n\t\u00a0 "),
    "plain words": lambda valid: Answer("The score is four."),
    "wrong language": lambda valid: Answer("Die Bewertung lautet vier von fünf Punkten."),
    "refusal in words": lambda valid: Answer("I'm sorry, but I can't assist with that request."),
    "refusal": lambda valid: Answer(None, refusal="I cannot judge this video."),
    "cut off": lambda valid: Answer(json.dumps(valid), finish="length"),
    "content filter": lambda valid: Answer(json.dumps(valid), finish="content_filter"),
    "tool call": lambda valid: Answer(None, finish="tool_calls"),
    "not UTF-8": lambda valid: Raw(b'{"choices":[{"message":{"content":"\xff\xfe"}}]}'),
    "half a response": lambda valid: Raw(b'{"choices":[{"message":{"cont'),
    "no choices": lambda valid: Raw(b'{"choices":[]}'),
    "another shape": lambda valid: Raw(b'["hello"]'),
    "a web page": lambda valid: Raw(b"<html>Welcome</html>", content_type="text/html"),
    "ten megabytes": lambda valid: Raw(b'{"pad":"' + b"x" * 10_000_000 + b'"}'),
}
