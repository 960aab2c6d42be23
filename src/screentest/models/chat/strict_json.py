r"""The one JSON object in a model's answer, read strictly.

The rules: thinking before the answer is passed over; the object may stand in a ``` fence or
between sentences; there is exactly one (after it no brace may open again); no key twice, no
NaN or Infinity, no number beyond a double. Everything else has no value.

>>> read_object('Sure:\n```json\n{"score": 4}\n```')
{'score': 4}
"""

from __future__ import annotations

import json
import math
from typing import Any

from screentest.models.chat.parsing import spoken

LONGEST = 1_000_000
"""Characters; a longer answer is not a verdict."""


class NotOneObject(ValueError):
    """Why a text holds no value by the rules; the message is for a model and for people."""


def read_object(text: str) -> dict[str, Any]:
    """The object; raises NotOneObject with what is wrong."""
    said = spoken(text)
    if not said:
        raise NotOneObject("it is empty")
    if len(said) > LONGEST:
        raise NotOneObject(f"it is longer than {LONGEST} characters")
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
    if "{" in said[end:]:
        raise NotOneObject("it holds more than one JSON object")
    if said[:start].rstrip().endswith("[") or ("[" in said[:start] and "]" in said[end:]):
        raise NotOneObject("it holds a list where one object was asked for")
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
