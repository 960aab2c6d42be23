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


def __getattr__(name: str) -> Any:
    # The server alone must start quickly: the checks import everything.
    if name.startswith("check_") or name == "BrokenContract":
        return getattr(importlib.import_module("screentest.testing.checks"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
