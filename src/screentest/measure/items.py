"""Measuring one item: all metrics that can stream share one decode; none can harm another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from screentest.core.errors import NoValue
from screentest.core.frames import Borders, Consumer, Fault, Frame, FrameRequest, VideoInfo
from screentest.core.item import Item, Shot, Time, timecode
from screentest.core.metric import Measurement, Metric, MetricInfo, Outcomes, Resources
from screentest.core.outcome import (
    BORDERS,
    DURATION,
    FRAME_RATE,
    Failure,
    Json,
    Outcome,
    Reason,
    Score,
    guarded,
)
from screentest.core.registry import Built, build
from screentest.run.session import Tools
from screentest.video.detectors import ShotDetector
from screentest.video.samples import KeptFrames
from screentest.video.scan import ScanReport, scan
from screentest.video.shots import scanned, shot_list

T = TypeVar("T")


def must_be_outcome(result: Any, kind: type[T]) -> Outcome[T]:
    """Return ``result`` if it is an outcome of that kind, else raise TypeError."""
    if isinstance(result, Outcome) and (
        result.failure is not None or isinstance(result.value, kind)
    ):
        return result
    given = result.value if isinstance(result, Outcome) else result
    raise TypeError(f"it returned {type(given).__name__}, not an Outcome of a {kind.__name__}")


_FIELDS: Mapping[str, Callable[[Item], object]] = {
    "text": lambda item: item.text.strip(),
    "prompt": lambda item: item.prompt.strip(),
    "script": lambda item: item.script is not None and item.script.clips,
    "references": lambda item: item.references,
    "source": lambda item: item.source,
    "instruction": lambda item: item.instruction.strip(),
}


Around: TypeAlias = Callable[[str], AbstractContextManager[None]]
"""The context to hold open while the metric of a name works alone."""


def measure(
    item: Item,
    metrics: Mapping[str, Metric],
    tools: Tools,
    around: Around = lambda _: nullcontext(),
) -> dict[str, Outcomes]:
    """Measure one item: the outcomes of every metric, with all the outputs it declares.

    A failure of the video fails every metric; a failure of a metric fails that metric alone. The
    scan serves all metrics at once; before and after it each works alone, inside ``around(name)``.
    """
    shared = _ItemTools(item, tools)
    started: dict[str, StartedMetric] = {}
    for name, metric in metrics.items():
        with around(name):
            started[name] = StartedMetric(metric)
            started[name].start(item, shared)
    working = [work for work in started.values() if work.failure is None]
    if working:
        try:
            shared.scan(working, shots=any(work.metric.info.shots for work in working))
        except NoValue as error:
            for work in working:
                work.failure = error.failure
    outcomes: dict[str, Outcomes] = {}
    for name, work in started.items():
        with around(name):
            outcomes[name] = _with_details(shared, item, work.finish(), work.metric.info)
    return outcomes


def _with_details(tools: _ItemTools, item: Item, outcomes: Outcomes, info: MetricInfo) -> Outcomes:
    """Add to each score the facts of the video that are needed to compare it."""
    details: dict[str, Json] = {}
    if tools.scanned_borders is not None and info.inside:
        details[BORDERS] = [*astuple(tools.scanned_borders)]
    if info.consecutive and any(outcome.ok for outcome in outcomes.values()):
        about = tools.info(item.video)
        details[FRAME_RATE] = round(float(about.rate), 4)
        details[DURATION] = round(float(about.duration), 3)
    if not details:
        return outcomes
    return {
        name: outcome.map(lambda score: replace(score, details={**score.details, **details}))
        for name, outcome in outcomes.items()
    }


def lacking(item: Item, needs: Iterable[str]) -> Failure | None:
    """Return a Failure if the item lacks a required field, else None."""
    for need in needs:
        if not _FIELDS[need](item):
            advice = "Name it in a manifest"
            advice += ", or give --prompt." if need in ("text", "prompt") else "."
            field = "prompt" if need == "text" else need
            return Failure(Reason.NOT_APPLICABLE, f"the video has no {field}", advice)
    return None


@dataclass(slots=True, eq=False)
class StartedMetric:
    """A metric at work on the item, or the reason why it is not."""

    metric: Metric
    work: Measurement | None = None
    failure: Failure | None = None

    def start(self, item: Item, resources: Resources) -> None:
        """Start, or start again from nothing."""
        self.failure = lacking(item, self.metric.info.needs)
        if self.failure is None:
            self.work = self.attempt(lambda: self.metric.start(item, resources))

    def consumers(self) -> list[Consumer]:
        work = self.work
        return (self.attempt(lambda: list(work.consumers)) if work else None) or []

    def finish(self) -> Outcomes:
        """Return an outcome for every declared output, and nothing else."""
        work = self.work
        outcomes: Outcomes | None = None
        if work and self.failure is None:
            outcomes = self.attempt(lambda: _checked(work.finish()))
        if self.failure is not None or outcomes is None:
            failure = self.failure or Failure(Reason.CRASHED, "the metric returned nothing")
            return {name: Outcome(failure=failure) for name in self.metric.info.outputs}
        undeclared = outcomes.keys() - self.metric.info.outputs.keys()
        if undeclared:
            detail = f"the metric gave {', '.join(sorted(undeclared))}, which it does not declare"
            return dict.fromkeys(self.metric.info.outputs, Outcome.failed(Reason.CRASHED, detail))
        missing: Outcome[Any] = Outcome.failed(Reason.CRASHED, "the metric gave no such value")
        return {name: outcomes.get(name, missing) for name in self.metric.info.outputs}

    def attempt(self, step: Callable[[], Any]) -> Any:
        """Run a step; an error becomes the failure of this metric alone."""
        result = guarded(step, "metric")
        if not isinstance(result, Failure):
            return result
        self.failure = result
        return None


def _checked(result: Any) -> Outcomes | None:
    """Return what a metric returned; raise TypeError if a metric may not return that."""
    if result is None:
        return None
    if not isinstance(result, Mapping):
        raise TypeError(f"a metric returns outcomes by name, not {type(result).__name__}")
    return {name: must_be_outcome(outcome, Score) for name, outcome in result.items()}


class _ItemTools:
    """The tools, with the shots of this item's own video from the scan that all share."""

    def __init__(self, item: Item, tools: Tools) -> None:
        self._item = item
        self._tools = tools
        self._shots: Sequence[Shot] | None = None
        self._no_shots: Failure | None = None
        self._scanned = False
        self._kept = KeptFrames()
        self.scanned_borders: Borders | None = None
        """The borders of the item's own video, after the scan."""
        self.prompts = tools.prompts

    def role(self, name: str) -> Any:
        return self._tools.role(name)

    def info(self, video: Path) -> VideoInfo:
        return self._tools.info(video)

    def shots(self, video: Path, detector: str = "") -> Sequence[Shot]:
        if video != self._item.video or detector not in ("", self._tools.settings.detector):
            return self._tools.shots(video, detector)
        if self._no_shots is not None:
            failure = self._no_shots
            raise NoValue(failure.reason, failure.detail, advice=failure.advice)
        return self._tools.shots(video) if self._shots is None else self._shots

    def borders(self, video: Path) -> Borders | None:
        if video == self._item.video and self._scanned:
            return self.scanned_borders
        return self._tools.borders(video)

    def frames(
        self, video: Path, moments: Sequence[Time], request: FrameRequest
    ) -> Iterator[Frame]:
        cut = self.borders(video) if request.inside else None
        kept = self._kept.frames if video == self._item.video else {}
        return self._tools.cut_frames(video, moments, request, cut, kept)

    def scan(self, started: Sequence[StartedMetric], *, shots: bool) -> None:
        """Decode once for all; afterwards the shots and the borders are known.

        Metrics that look inside the borders start again in a second scan if the borders of the
        film are not those of its first frame.
        """
        inside = any(work.metric.info.inside for work in started)
        report = self._scan(started, shots=shots, inside=inside)
        if report is None:
            return
        self._scanned, self.scanned_borders = report.looked, report.borders
        if report.inside:
            return
        again = [
            work for work in started if any(consumer.wants.inside for consumer in work.consumers())
        ]
        for work in again:
            work.start(self._item, self)
        self._scan(again, shots=False, inside=False, cut=report.borders)

    def _scan(
        self,
        started: Sequence[StartedMetric],
        *,
        shots: bool,
        inside: bool,
        cut: Borders | None = None,
    ) -> ScanReport | None:
        """Scan for these metrics; None if nobody wants a frame."""
        owners: list[StartedMetric] = []
        consumers: list[Consumer] = []
        for work in started:
            wanted = work.consumers()
            consumers += wanted
            owners += [work] * len(wanted)
        settings = self._tools.settings
        detector: Built[ShotDetector] | None = None
        if shots:
            detector = build("detector", settings.detector)
            consumers.append(detector.thing)
        info = self._tools.info(self._item.video)
        if not consumers:
            if not settings.allow_damaged:
                refuse_faults(info)
            return None
        # Metrics without consumers sample frames after the scan.
        samples = len(set(owners)) < len(started)
        report = scan(
            self._item.video,
            consumers,
            limits=settings.limits,
            info=info,
            cut=cut,
            borders=inside,
            kept=self._kept if samples else None,
        )
        if not settings.allow_damaged:
            refuse_damaged(report)
        for place, failure in report.failures.items():
            if place < len(owners):
                owners[place].failure = owners[place].failure or failure
            else:
                self._no_shots = failure
        if detector is not None and self._no_shots is None:
            boundaries = detector.thing.boundaries
            self._shots = shot_list(boundaries, scanned(report), found_by=detector.spec.name)
        return report


def refuse_damaged(report: ScanReport) -> None:
    """Raise NoValue if not all of a film was decoded: half a film has no score."""
    if report.complete:
        return
    seen = f"{report.decoded:,} of {report.info.frames:,} frames were decoded"
    raise _damaged(", ".join([seen, *_messages(report.faults, report.fault_count)]))


def refuse_faults(info: VideoInfo) -> None:
    """Raise NoValue if the packets of a film that was not scanned show damage."""
    if info.faults:
        raise _damaged(", ".join(_messages(info.faults, len(info.faults))))


def _messages(faults: Sequence[Fault], count: int) -> Iterator[str]:
    """Yield the first fault in words, and how many more there are."""
    for first in faults[:1]:
        yield first.detail if first.time is None else f"{first.detail} ({timecode(first.time)})"
        if count > 1:
            yield f"and {count - 1:,} more"


def _damaged(what: str) -> NoValue:
    return NoValue(
        Reason.UNDECODABLE,
        f"the video is damaged: {what}",
        advice="Render or download it again, or score what is there with --allow-damaged.",
    )
