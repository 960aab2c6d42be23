"""Types of fields for the forms in which models answer."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from screentest.core.errors import NoValue
from screentest.core.outcome import Reason
from screentest.models.chat.declining import declining


def _grounds(text: str) -> str:
    if not any(letter.isalnum() for letter in text):
        raise ValueError("must say why")
    if words := declining(text, material=False):
        # Not a ValueError: this is not sent back to be worded better.
        raise NoValue(Reason.REFUSED, f"the model declined: {words!r}")
    return text


Grounds: TypeAlias = Annotated[str, AfterValidator(_grounds)]
"""Why the model answers as it does. One that gives no reason, or says that it guesses, has not
answered."""
