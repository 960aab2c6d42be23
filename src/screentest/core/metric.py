"""Metric: Item → one or more Outcomes. Judge: two videos → Verdict.

A metric that can stream declares consumers; the engine feeds the consumers of all metrics
from one decode, then asks each metric to finish. One that cannot has no consumers and does
its work in ``finish``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeAlias, runtime_checkable

from screentest.core.aspects import Aspect
from screentest.core.frames import Consumer, VideoInfo
from screentest.core.item import Item, Shot
from screentest.core.outcome import Outcome
from screentest.core.score import Score
from screentest.core.verdict import Verdict

Outcomes: TypeAlias = Mapping[str, Outcome[Score]]
"""By name of the sub-dimension; a metric with one value uses its own name."""


class Level(StrEnum):
    """What a metric's elementary measurement looks at."""

    FRAME = "frame"
    CLIP = "clip"
    VIDEO = "video"


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """What a metric is, as plain declarations at its head."""

    summary: str
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool = True
    level: Level = Level.VIDEO
    unit: str = ""
    roles: tuple[str, ...] = ()
    """The model roles it asks for."""
    needs: tuple[str, ...] = ()
    """Fields an item must have: prompt, script, references, source, instruction."""


class Resources(Protocol):
    """What a measurement may draw on besides its own frames."""

    @property
    def info(self) -> VideoInfo:
        """The video's probe."""

    @property
    def shots(self) -> Sequence[Shot]:
        """The video's shots, found in the same scan."""

    def role(self, name: str) -> Any:
        """The backend chosen for a role; raises NoValue(MISSING_MODEL) where there is none."""


@runtime_checkable
class Measurement(Protocol):
    """One metric at work on one item."""

    @property
    def consumers(self) -> Sequence[Consumer]:
        """Who wants frames; may be empty."""

    def finish(self, resources: Resources) -> Outcomes:
        """After the scan: the outcomes."""


@runtime_checkable
class Metric(Protocol):
    """Measures items, each on its own."""

    def start(self, item: Item) -> Measurement:
        """Begin on one item."""


@runtime_checkable
class Judge(Protocol):
    """Says which of two videos is better in one aspect."""

    def judge(self, aspect: Aspect, prompt: str, first: Item, second: Item) -> Outcome[Verdict]:
        """The verdict. It may look at both videos, in this order of presentation."""
