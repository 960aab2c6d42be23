"""For tests, ours and yours: a chat server on this machine that misbehaves on script."""

from screentest.models.testing.acts import (
    Act,
    Answer,
    Drip,
    Raw,
    Reset,
    Status,
    no_response_format,
    out_of_quota,
    rate_limited,
)
from screentest.models.testing.asked import Asked, count_tokens
from screentest.models.testing.malformed import MALFORMED
from screentest.models.testing.plausible import plausible
from screentest.models.testing.server import FakeChatServer, Script

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
