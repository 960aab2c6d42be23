"""Unit: one thing that several people judge, and what is needed to show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from screentest.annotate.tasks import Task
from screentest.core import Clip, Time


@dataclass(frozen=True, slots=True)
class Footage:
    """A video as it lies on disk."""

    path: Path
    duration: Time


@dataclass(frozen=True, slots=True)
class Mark:
    """A harmed stretch, and on which of the unit's videos it is to be seen."""

    clip: int
    """Its place in the script, from 0."""
    video: int
    """0: the first video, 1: the second. A clip that is gone is seen on the first."""
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Question:
    """An atomic question about a video."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Unit:
    """What is judged. Of two videos, the first is the intact one."""

    key: str
    task: Task
    source: str
    video: str
    """The video that is judged (of a pair: the changed one), as its testbed or manifest has it."""
    videos: tuple[Footage, ...]
    prompt: str = ""
    clips: tuple[Clip, ...] = ()
    name: str = ""
    """The degradation; empty for single videos."""
    aspect: str = ""
    severity: float | None = None
    clip_count: int | None = None
    marks: tuple[Mark, ...] = ()
    questions: tuple[Question, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    gold: Mapping[str, Any] | None = None
    """The known answer of an item that tests the worker."""

    @property
    def seconds(self) -> float:
        """The duration of its videos together."""
        return float(sum(video.duration for video in self.videos))
