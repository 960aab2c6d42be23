"""For tests, ours and yours: a chat server on this machine that misbehaves on script."""

from screentest.testing.chat_answers import (
    MALFORMED,
    Act,
    Answer,
    Asked,
    Drip,
    Raw,
    Reset,
    Status,
    count_tokens,
    no_response_format,
    out_of_quota,
    plausible,
    rate_limited,
)
from screentest.testing.chat_server import FakeChatServer, Script

__all__ = [
    "MALFORMED",
    "Act",
    "Answer",
    "Asked",
    "Drip",
    "FakeChatServer",
    "Raw",
    "Reset",
    "Script",
    "Status",
    "count_tokens",
    "no_response_format",
    "out_of_quota",
    "plausible",
    "rate_limited",
]
