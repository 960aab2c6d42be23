"""Types of fields that the forms share in which models answer."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from screentest.core.errors import NoValue
from screentest.core.outcome import Reason
from screentest.models.chat.refusals import declines


def _explains(text: str) -> str:
    if not any(letter.isalnum() for letter in text):
        raise ValueError("must say why")
    if declines(text):
        # Not a ValueError: this is not sent back to be worded better.
        raise NoValue(Reason.REFUSED, "the model declined")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


NonBlank: TypeAlias = Annotated[str, AfterValidator(_not_blank)]
"""A text that is not blank."""

Explanation: TypeAlias = Annotated[str, AfterValidator(_explains)]
"""Why the model answers as it does; one that gives none, or says that it guesses, has not
answered."""
