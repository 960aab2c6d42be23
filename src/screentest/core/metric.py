"""Metric: Item → one or more Outcomes. Judge: two videos → Verdict.

A judge either asks about both videos at once (``Judge``), or rates each video alone from the
scores of metrics, and the higher rating wins (``RatingJudge``).

A metric that can stream declares consumers; the engine feeds the consumers of all metrics
from one decode, then asks each metric to finish. One that cannot has no consumers and does
its work in ``finish``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from screentest.core.aspects import Aspect
from screentest.core.frames import Borders, Consumer, Frame, FrameRequest, VideoInfo
from screentest.core.item import Item, Shot, Time
from screentest.core.outcome import Outcome, Score
from screentest.core.table import Better
from screentest.core.verdict import Verdict

Outcomes: TypeAlias = Mapping[str, Outcome[Score]]
"""By name of the sub-dimension; a metric with one value uses its own name."""


TEXTS = frozenset({"text", "prompt", "script"})
"""Needs that the words of a prompt fill."""


class Level(StrEnum):
    """What a metric's elementary measurement looks at."""

    FRAME = "frame"
    CLIP = "clip"
    VIDEO = "video"


@dataclass(frozen=True, slots=True)
class SideEffect:
    """A fault that moves a number in its good direction: blur takes noise away."""

    value: str
    """The value that shows the fault, as ``metric`` or ``metric.output``."""
    more: bool | None = None
    """Whether more of the value is the fault, or less; None: what is worse."""
    beyond: float | None = None
    """From which value on it is a fault at all; None: any difference that counts is."""
    unless: str = ""
    """A value that shows that the other side has a real fault of this kind, where it has more of
    it: then the number is better for good reason. Noise that changes from frame to frame is noise;
    what stands still is what the picture shows."""
    unless_from: float | None = None
    """From which value on it shows that; None: any difference that counts does."""
    along: str = ""
    """A value that has to be lower too, by however little. A mosaic has more detail than the
    picture that it was made of, and edges that are no sharper."""
    ambiguous: bool = False
    """Whether it may be a fault or a merit: one that is sharper and noisier may be the sharper one
    or the noisier one, and then neither lead makes a winner."""


@dataclass(frozen=True, slots=True)
class Traits:
    """Facts about an output that only the comparison of models reads."""

    helped_by: tuple[SideEffect, ...] = ()
    """Faults that make it look better: see docs/matrix.md for those that were measured."""
    visible: float | None = None
    """Of a value that only describes: the difference of means from which on anybody sees it."""
    counts_shots: bool = False
    """Whether it needs a prompt or script only to count shots or to set them in order."""
    group: str = ""
    """The metric's ``MetricInfo.group``, where a run says so."""


@dataclass(frozen=True, slots=True)
class OutputInfo:
    """One number that a metric gives: its meaning, its range, which way is better."""

    summary: str
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool = True
    unit: str = ""
    bounded: bool = True
    """Whether a value outside the range is a fault of the metric; else the range is the usual."""
    descriptive: bool = False
    """Whether neither direction is better as such: motion, colourfulness. Such a value is shown,
    and no model is ahead in it; ``higher_is_better`` is then what a judge made of it prefers."""
    label: str = ""
    """Its name in words, such as ``frozen time``. The labels of built-in metrics are in
    ``present/labels.toml``; without any label, the name of the output is one."""

    @property
    def better(self) -> Better:
        """The better direction; empty where the value only describes."""
        if self.descriptive:
            return ""
        return "higher" if self.higher_is_better else "lower"


@dataclass(frozen=True, slots=True)
class Calls:
    """What is asked of a chat model, for an estimate before anything is paid."""

    role: str
    per: Literal["question", "video", "clip"]
    """One call for each pair in each order, for each video in each aspect, for each clip."""
    frames: int = 0
    """The most frames of a video, or of a clip, that one call shows."""
    long_side: int = 512
    count: int = 1
    """How many such calls."""
    words: int = 500
    """Tokens of the words around pictures and prompt, about."""


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """What a metric is, as plain declarations at its head."""

    outputs: Mapping[str, OutputInfo]
    """Every value it can give, by name. A failure of the whole metric fails each of them, so
    that coverage has its denominator."""
    level: Level = Level.VIDEO
    roles: tuple[str, ...] = ()
    """The model roles it asks for, as ``flow`` or, for one use of a role, ``chat.caption``."""
    needs: tuple[str, ...] = ()
    """Fields an item must have: text (a prompt or a script), script, references, source,
    instruction. An item without one is not applicable."""
    shots: bool = False
    """Whether it looks at the shots that the detector finds."""
    inside: bool = False
    """Whether it looks inside the borders of a video; else at whole frames."""
    prompts: tuple[str, ...] = ()
    """The prompt templates it sends, such as ``slvm/judge_text``."""
    calls: tuple[Calls, ...] = ()
    """What it asks chat models, where that can be said beforehand."""
    optional_text: bool = False
    """Whether it reads the prompt or script where there is one, though it can do without."""
    about: str = ""
    """Whether single pictures (``picture``) or what happens between them (``time``)."""
    traits: Mapping[str, Traits] = field(default_factory=dict)
    """By output, facts for the comparison of models; those of other outputs are the usual."""
    consecutive: bool = False
    """Whether it compares frames that follow each other at the video's own rate: the same film with
    every frame doubled has other numbers."""

    @property
    def reads_text(self) -> bool:
        """Return True where its values may depend on what the video was asked to show."""
        return self.optional_text or not TEXTS.isdisjoint(self.needs)

    @property
    def group(self) -> str:
        """``picture``, ``time``, ``prompt`` (whatever reads the prompt or script) or ``other``."""
        return "prompt" if self.reads_text else self.about or "other"

    def traits_of(self, output: str) -> Traits:
        """Return the facts of one output for the comparison of models, with its group."""
        return replace(self.traits.get(output, Traits()), group=self.group)


class Resources(Protocol):
    """What a measurement or a judge may draw on besides the frames it is handed."""

    @property
    def prompts(self) -> Any:
        """The templates: ``prompts.render(name, slots)``."""

    def role(self, name: str) -> Any:
        """Return the backend chosen for a role; raises NoValue(MISSING_MODEL) for none."""

    def info(self, video: Path) -> VideoInfo:
        """Return a video's probe, done once."""

    def shots(self, video: Path, detector: str = "") -> Sequence[Shot]:
        """Return a video's shots. In a measurement: of its own video, after the scan.

        Who needs a certain detector names it, and has it among its options; all others share
        the one that was chosen for the run.
        """

    def borders(self, video: Path) -> Borders | None:
        """Return the borders of its picture. In a measurement: of its own video, after the scan."""

    def frames(
        self, video: Path, moments: Sequence[Time], request: FrameRequest
    ) -> Iterator[Frame]:
        """Return the frames on the screen at some moments, for those that do not stream."""


@runtime_checkable
class Measurement(Protocol):
    """One metric at work on one item."""

    @property
    def consumers(self) -> Sequence[Consumer]:
        """Consumers of frames; may be empty."""

    def finish(self) -> Outcomes:
        """After the scan: the outcomes, by the names in ``MetricInfo.outputs``."""


@runtime_checkable
class CountsCalls(Protocol):
    """What a metric may do besides: tell what it will ask about an item."""

    def calls_of(self, item: Item, video: VideoInfo) -> Sequence[Calls] | None:
        """Return the calls, at most; None where they cannot be known beforehand."""


@runtime_checkable
class ChecksItems(Protocol):
    """What a metric may do besides: refuse items before anything starts."""

    def check_items(self, items: Sequence[Item]) -> None:
        """Raise BadOption for items that its files do not know."""


@runtime_checkable
class Metric(Protocol):
    """Measures items, each on its own."""

    @property
    def info(self) -> MetricInfo:
        """Its outputs and needs."""

    def start(self, item: Item, resources: Resources) -> Measurement:
        """Begin on one item. Consumers may use roles as the frames come: keep numbers."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a judge is asked: which of two videos is better in one aspect."""

    aspect: Aspect
    prompt: str
    first: Item
    second: Item
    repeat: int = 0
    """Which of several equal askings it is; answers are not shared between them."""
    hinted: bool = False
    """Whether the judge is told what harm in this aspect looks like: a probe."""


@dataclass(frozen=True, slots=True)
class JudgeInfo:
    """What a judge is, as plain declarations at its head."""

    summary: str
    roles: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    shots: bool = False
    reads_text: bool = True
    """Whether it is shown the prompt at all."""
    sees_frames: bool = False
    """Whether it looks at frames without asking a model: it is not shown a damaged video."""
    calls: tuple[Calls, ...] = ()
    """What it asks chat models, where that can be said beforehand."""
    margin: float = 0.0
    """Of one that rates: ratings that differ by no more are a tie, and by what placebos move them
    where that is more."""


@runtime_checkable
class Judge(Protocol):
    """Says which of two videos is better, looking at both."""

    @property
    def info(self) -> JudgeInfo: ...

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        """Return the verdict, on the videos in this order of presentation."""


@runtime_checkable
class RatingJudge(Protocol):
    """Rates each video alone; the one with the higher rating wins, equal ratings are a tie.

    The metrics are measured once per video, however many pairs it is in.
    """

    @property
    def info(self) -> JudgeInfo:
        """Its needs besides those of its metrics."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics it rests on, by spec: ``name`` or ``name:option=value,…``."""

    def rate(self, aspect: Aspect, scores: Mapping[str, Outcomes]) -> Outcome[Score]:
        """Rate one video in ``aspect``: more is better; the curve is the evidence.

        ``scores`` has the outcomes of each metric, by the spec in ``metrics``.
        """
