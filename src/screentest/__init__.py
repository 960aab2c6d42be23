"""screentest scores generated video against its prompt, and puts the scorers to the test.

The jobs of the command line, each in a line: :func:`score`, :func:`build`, :func:`certify`,
:func:`judge_videos`, :func:`compare`, :func:`show`, :func:`report`, :func:`export`. Nothing heavy
is imported before one of them is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from screentest.api import (
        build,
        certify,
        compare,
        export,
        judge_videos,
        report,
        score,
        show,
    )
    from screentest.core import Item, Outcome, Score, Table, Verdict
    from screentest.core.functions import backend, suite
    from screentest.hooks.contract import hook
    from screentest.judges.functions import judge
    from screentest.metrics.functions import metric
    from screentest.run.session import Settings
    from screentest.testbeds.functions import degradation, placebo

    __version__: str

__all__ = [
    "Item",
    "Outcome",
    "Score",
    "Settings",
    "Table",
    "Verdict",
    "__version__",
    "backend",
    "build",
    "certify",
    "compare",
    "degradation",
    "export",
    "hook",
    "judge",
    "judge_videos",
    "metric",
    "placebo",
    "report",
    "score",
    "show",
    "suite",
]

_HOMES = {
    "VERSION": "screentest._util.version",
    "Item": "screentest.core",
    "Outcome": "screentest.core",
    "Score": "screentest.core",
    "Table": "screentest.core",
    "Verdict": "screentest.core",
    "backend": "screentest.core.functions",
    "degradation": "screentest.testbeds.functions",
    "hook": "screentest.hooks.contract",
    "judge": "screentest.judges.functions",
    "metric": "screentest.metrics.functions",
    "placebo": "screentest.testbeds.functions",
    "suite": "screentest.core.functions",
    "Settings": "screentest.run.session",
    "build": "screentest.api",
    "certify": "screentest.api",
    "compare": "screentest.api",
    "export": "screentest.api",
    "judge_videos": "screentest.api",
    "report": "screentest.api",
    "score": "screentest.api",
    "show": "screentest.api",
}


def __getattr__(name: str) -> Any:
    name = "VERSION" if name == "__version__" else name
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
