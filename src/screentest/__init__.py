"""screentest scores generated video against its prompt, and puts the scorers to the test.

The jobs of the command line, each in a line: :func:`score`, :func:`build`, :func:`certify`,
:func:`report`. Nothing heavy is imported before one of them is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from screentest._util.version import VERSION

if TYPE_CHECKING:
    from screentest.api import build, certify, report, score
    from screentest.core import Item
    from screentest.run.session import Settings

__version__ = VERSION

__all__ = ["Item", "Settings", "__version__", "build", "certify", "report", "score"]

_HOMES = {
    "Item": "screentest.core",
    "Settings": "screentest.run.session",
    "build": "screentest.api",
    "certify": "screentest.api",
    "report": "screentest.api",
    "score": "screentest.api",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
