"""The answer token at the end of a reasoned answer.

>>> read_answer("Conclusion: [YES] A girl walks.").value
True
>>> read_answer("Both [YES] and [NO] could be said.").failure.reason.value
'unparsable'
"""

from __future__ import annotations

import re
from enum import StrEnum

from screentest.core import Outcome, Reason
from screentest.models.chat.parsing import spoken

_TOKEN = re.compile(r"\[\s*(yes|no)\s*\]", re.IGNORECASE)


class Compat(StrEnum):
    """Whose rules count."""

    STRICT = "strict"
    """Exactly one of the two tokens, or there is no answer."""
    UPSTREAM = "upstream"
    """As the released code counted: yes where [YES] stands anywhere, no in every other case."""


def read_answer(text: str, compat: Compat = Compat.STRICT) -> Outcome[bool]:
    """Whether an answer is yes or no; what a model thought before it spoke does not count."""
    if compat is Compat.UPSTREAM:
        return Outcome.of("[YES]" in text)
    found = {token.lower() for token in _TOKEN.findall(spoken(text))}
    if len(found) == 1:
        return Outcome.of(found == {"yes"})
    said = "both [YES] and [NO]" if found else "neither [YES] nor [NO]"
    end = " ".join(text[-120:].split())
    return Outcome.failed(Reason.UNPARSABLE, f"the answer has {said}. It ends: {end!r}")
