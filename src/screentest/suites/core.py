"""core: plain measurements that need nothing but the base install.

They stand side by side and add up to nothing: a mean of sharpness and flicker says little.
Their certificate says how far each can be trusted, and in what.
"""

from __future__ import annotations

from screentest.analysis.suites import Suite
from screentest.core import register
from screentest.metrics import CORE as METRICS


@register("suite", "core", summary="plain measurements, with the base install alone")
def core() -> Suite:
    """All of them, in one decode."""
    return Suite("core", METRICS, groups=("model",))
