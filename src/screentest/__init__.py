"""screentest scores generated video against its prompt, and puts the scorers to the test.

The verbs are the jobs of the command line: :func:`score`, :func:`build`, :func:`certify`,
:func:`compare`, :func:`report` and their kin. The decorators register what a plugin brings. Nothing
heavy is imported before one of them is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from screentest.analysis.suites import Dimension, Suite
    from screentest.api.certificates import certify, certify_scores, certify_votes, judge_videos
    from screentest.api.reports import compare, export, report, show
    from screentest.api.scores import score, score_frames
    from screentest.api.testbeds import build, build_prompts
    from screentest.core import (
        Aspect,
        AspectInfo,
        FrameRequest,
        Item,
        Measurement,
        Metric,
        MetricInfo,
        NoValue,
        Outcome,
        OutputInfo,
        Reason,
        Resources,
        Score,
        SideEffect,
        Stopped,
        Table,
        Traits,
        Verdict,
        register,
    )
    from screentest.core.functions import backend, suite
    from screentest.hooks.contract import Alarm, BaseHook, Logged, hook
    from screentest.inputs.parted import Corpus
    from screentest.judges.functions import judge
    from screentest.metrics.curve import ShotMetric
    from screentest.metrics.functions import metric
    from screentest.models.ask import Frames, Query
    from screentest.models.roles import Backend, role
    from screentest.run.session import Settings
    from screentest.testbeds.contract import Degradation, DegradationInfo, Placebo
    from screentest.testbeds.functions import degradation, placebo

    __version__: str

_HOMES = {
    "analysis.suites": ("Dimension", "Suite"),
    "api.certificates": ("certify", "certify_scores", "certify_votes", "judge_videos"),
    "api.reports": ("compare", "export", "report", "show"),
    "api.scores": ("score", "score_frames"),
    "api.testbeds": ("build", "build_prompts"),
    "core.functions": ("backend", "suite"),
    "hooks.contract": ("Alarm", "BaseHook", "Logged", "hook"),
    "inputs.parted": ("Corpus",),
    "judges.functions": ("judge",),
    "metrics.curve": ("ShotMetric",),
    "metrics.functions": ("metric",),
    "models.ask": ("Frames", "Query"),
    "models.roles": ("Backend", "role"),
    "run.session": ("Settings",),
    "testbeds.contract": ("Degradation", "DegradationInfo", "Placebo"),
    "testbeds.functions": ("degradation", "placebo"),
}
"""The modules that names come from, if not ``core``; imported when a name is asked for."""

# Written out: type checkers do not run code to learn which names are public.
__all__ = [
    "Alarm", "Aspect", "AspectInfo", "Backend", "BaseHook", "Corpus", "Degradation",
    "DegradationInfo", "Dimension", "FrameRequest", "Frames", "Item", "Logged", "Measurement",
    "Metric", "MetricInfo", "NoValue", "Outcome", "OutputInfo", "Placebo", "Query", "Reason",
    "Resources", "Score", "Settings", "ShotMetric", "SideEffect", "Stopped", "Suite", "Table",
    "Traits", "Verdict", "__version__", "backend", "build", "build_prompts", "certify",
    "certify_scores", "certify_votes", "compare", "degradation", "export", "hook", "judge",
    "judge_videos", "metric", "placebo", "register", "report", "role", "score", "score_frames",
    "show", "suite",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("screentest._util").VERSION
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = next((module for module, names in _HOMES.items() if name in names), "core")
    return getattr(importlib.import_module(f"screentest.{home}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
