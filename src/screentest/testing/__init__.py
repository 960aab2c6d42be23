"""For tests, ours and yours: contracts that are checked, and a chat server that misbehaves.

``check_metric``, ``check_judge``, ``check_degradation``, ``check_placebo`` and ``check_backend``
run the contract that each kind keeps to. ``FakeChatServer`` is a chat server on this machine.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from screentest.testing.checks import (
        BrokenContract,
        check_backend,
        check_degradation,
        check_judge,
        check_metric,
        check_placebo,
    )

__all__ = [
    "MALFORMED",
    "Act",
    "Answer",
    "Asked",
    "BrokenContract",
    "Drip",
    "FakeChatServer",
    "Raw",
    "Reset",
    "Script",
    "Status",
    "check_backend",
    "check_degradation",
    "check_judge",
    "check_metric",
    "check_placebo",
    "count_tokens",
    "no_response_format",
    "out_of_quota",
    "plausible",
    "rate_limited",
]


def __getattr__(name: str) -> Any:
    if name in __all__:  # the server alone must start quickly: the checks import everything
        return getattr(importlib.import_module("screentest.testing.checks"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
