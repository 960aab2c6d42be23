"""What the forms in which models answer share: types of fields, and other spellings of values.

>>> errors = [{"type": "literal_error", "loc": ("answer",), "ctx": {"expected": "'yes' or 'no'"}}]
>>> respelt({"answer": " Yes "}, errors)
{'answer': 'yes'}
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator

from screentest.core.errors import NoValue
from screentest.core.outcome import Reason
from screentest.models.chat.refusals import declines


def _grounds(text: str) -> str:
    if not any(letter.isalnum() for letter in text):
        raise ValueError("must say why")
    if declines(text):
        # Not a ValueError: this is not sent back to be worded better.
        raise NoValue(Reason.REFUSED, "the model declined")
    return text


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Said: TypeAlias = Annotated[str, AfterValidator(_said)]
"""A text that is not blank."""

Grounds: TypeAlias = Annotated[str, AfterValidator(_grounds)]
"""Why the model answers as it does; one that gives none, or says that it guesses, has not
answered."""

# "YES" where yes or no was asked for, "3" where a number was: to lose such an answer would measure
# how a model spells. Nothing is guessed: a value that fits no allowed one in this way stays as it
# is, and the answer has no value.
_ALLOWED = re.compile(r"'([^']*)'")
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_BOOLEANS = {"true": True, "false": False}


def respelt(found: dict[str, Any], errors: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The object with every value that an error of pydantic names, where it can be read one way."""
    changed = copy.deepcopy(found)
    for error in errors:
        place: Any = changed
        *way, last = error["loc"] or (None,)
        for step in way:
            place = place[step] if _has(place, step) else None
        if _has(place, last) and isinstance(place[last], str):
            place[last] = _read(place[last], error)
    return changed


def _has(place: Any, step: Any) -> bool:
    if isinstance(place, dict):
        return step in place
    return isinstance(place, list) and type(step) is int and 0 <= step < len(place)


def _read(written: str, error: Mapping[str, Any]) -> Any:
    said = written.strip()
    kind = error["type"]
    if kind in ("literal_error", "enum"):
        allowed = _ALLOWED.findall(str(error.get("ctx", {}).get("expected", "")))
        fits = [one for one in allowed if one.casefold() == said.casefold()]
        return fits[0] if len(fits) == 1 else written
    if kind in ("int_type", "float_type") and _NUMBER.fullmatch(said):
        value = float(said)
        return int(value) if value.is_integer() and math.isfinite(value) else value
    if kind == "bool_type":
        return _BOOLEANS.get(said.casefold(), written)
    return written
