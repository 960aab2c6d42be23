"""The suites ``etva`` and ``etva_builtin``: one metric each, with its categories beside it."""

from __future__ import annotations

from screentest.core import register
from screentest.core.options import value_name
from screentest.scores.suite import Dimension, Suite

GROUPS = ("model",)


@register(
    "suite", "etva", version=1, summary="questions about each piece of the prompt, by a chat model"
)
def etva(*, metric: str = "etva") -> Suite:
    """ETVA; ``metric`` gives it options: ``metric="etva:gating=true,batch=4"``."""
    return _suite("etva", metric)


@register(
    "suite",
    "etva_builtin",
    version=1,
    summary="the same idea with rules, a small detector and flow; needs no chat model",
)
def etva_builtin(*, metric: str = "etva_builtin") -> Suite:
    """The stand-in, under its own name: its numbers are not ETVA's."""
    return _suite("etva_builtin", metric)


def _suite(name: str, metric: str) -> Suite:
    # Categories stand side by side: their mean is nobody's average (see docs/etva.md).
    return Suite(
        name, (metric,), (Dimension("alignment", values=(value_name(metric, "score"),)),), GROUPS
    )
