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
from screentest.video.scan import ScanReport, scan
from screentest.video.shots import scanned, shot_list

T = TypeVar("T")


def must_be_outcome(found: Any, kind: type[T]) -> Outcome[T]:
    """``found`` where it is an outcome of that kind; raises TypeError where it is not."""
    if isinstance(found, Outcome) and (found.failure is not None or isinstance(found.value, kind)):
        return found
    given = found.value if isinstance(found, Outcome) else found
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
"""What to hold open while the metric of a name works alone."""


def measure(
    item: Item,
    metrics: Mapping[str, Metric],
    tools: Tools,
    around: Around = lambda _: nullcontext(),
) -> dict[str, Outcomes]:
    """The outcomes of every metric on one item, each with all the outputs it declares.

    A failure of the video is one of every metric; a failure of a metric is its own. In the
    scan metrics work together; before and after it each works alone, inside ``around(name)``.
    """
    shared = _ItemTools(item, tools)
    begun: dict[str, _Begun] = {}
    for name, metric in metrics.items():
        with around(name):
            begun[name] = _Begun.of(metric, item, shared)
    working = [one for one in begun.values() if one.failure is None]
    if working:
        try:
            shared.scan(working, shots=any(one.metric.info.shots for one in working))
        except NoValue as error:
            for one in working:
                one.failure = error.failure
    outcomes: dict[str, Outcomes] = {}
    for name, one in begun.items():
        with around(name):
            outcomes[name] = _noting(shared, item, one.finish(), one.metric.info)
    return outcomes


def _noting(tools: _ItemTools, item: Item, found: Outcomes, info: MetricInfo) -> Outcomes:
    """What was found, each score with what of the video must be known to compare it."""
    noted: dict[str, Json] = {}
    if tools.borders_seen is not None and info.inside:
        noted[BORDERS] = [*astuple(tools.borders_seen)]
    if info.consecutive and any(outcome.ok for outcome in found.values()):
        noted[FRAME_RATE] = round(float(tools.info(item.video).rate), 4)
    if not noted:
        return found
    return {
        name: outcome.map(lambda score: replace(score, details={**score.details, **noted}))
        for name, outcome in found.items()
    }


def lacking(item: Item, needs: Iterable[str]) -> Failure | None:
    """Return a Failure if the item lacks a required field, else None."""
    for need in needs:
        if not _FIELDS[need](item):
            advice = "Name it in a manifest"
            advice += ", or give --prompt." if need in ("text", "prompt") else "."
            return Failure(Reason.NOT_APPLICABLE, f"the item has no {need}", advice)
    return None


@dataclass(slots=True, eq=False)
class _Begun:
    """A metric at work on the item, or the reason why it is not."""

    metric: Metric
    work: Measurement | None = None
    failure: Failure | None = None

    @classmethod
    def of(cls, metric: Metric, item: Item, resources: Resources) -> _Begun:
        missing = lacking(item, metric.info.needs)
        if missing is not None:
            return cls(metric, failure=missing)
        begun = cls(metric)
        begun.start(item, resources)
        return begun

    def start(self, item: Item, resources: Resources) -> None:
        """Begin, or begin anew: nothing is left of what it saw."""
        self.work = self.tried(lambda: self.metric.start(item, resources))

    def wanted(self) -> list[Consumer]:
        """Who of this metric wants frames."""
        work = self.work
        found: list[Consumer] | None = self.tried(lambda: list(work.consumers)) if work else None
        return found or []

    def finish(self) -> Outcomes:
        """An outcome for every declared output, and nothing else."""
        work = self.work
        found: Outcomes | None = None
        if work and self.failure is None:
            found = self.tried(lambda: _checked(work.finish()))
        if self.failure is not None or found is None:
            failure = self.failure or Failure(Reason.CRASHED, "the metric returned nothing")
            return {name: Outcome(failure=failure) for name in self.metric.info.outputs}
        undeclared = found.keys() - self.metric.info.outputs.keys()
        if undeclared:
            detail = f"the metric gave {', '.join(sorted(undeclared))}, which it does not declare"
            return dict.fromkeys(self.metric.info.outputs, Outcome.failed(Reason.CRASHED, detail))
        missing: Outcome[Any] = Outcome.failed(Reason.CRASHED, "the metric gave no such value")
        return {name: found.get(name, missing) for name in self.metric.info.outputs}

    def tried(self, step: Callable[[], Any]) -> Any:
        """What the step gives; what it raises becomes the failure of this metric alone."""
        found = guarded(step, "metric")
        if not isinstance(found, Failure):
            return found
        self.failure = found
        return None


def _checked(found: Any) -> Outcomes | None:
    """What a metric returned, where that is what a metric may return."""
    if found is None:
        return None
    if not isinstance(found, Mapping):
        raise TypeError(f"a metric returns outcomes by name, not {type(found).__name__}")
    return {name: must_be_outcome(outcome, Score) for name, outcome in found.items()}


class _ItemTools:
    """The tools, with the shots of this item's own video from the scan that all share."""

    def __init__(self, item: Item, tools: Tools) -> None:
        self._item = item
        self._tools = tools
        self._shots: Sequence[Shot] | None = None
        self._no_shots: Failure | None = None
        self._scanned = False
        self.borders_seen: Borders | None = None
        """Those of the item's own video, after the scan."""
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
            return self.borders_seen
        return self._tools.borders(video)

    def frames(
        self, video: Path, moments: Sequence[Time], request: FrameRequest
    ) -> Iterator[Frame]:
        cut = self.borders(video) if request.inside else None
        return self._tools.frames(video, moments, request, cut)

    def scan(self, begun: Sequence[_Begun], *, shots: bool) -> None:
        """One decode for all; afterwards the shots and the borders are known.

        Those who look inside the borders start again in another one, where the borders of the film
        are not those of its first frame.
        """
        report = self._scan(begun, shots=shots, inside=any(one.metric.info.inside for one in begun))
        if report is None:
            return
        self._scanned, self.borders_seen = report.looked, report.borders
        if report.inside:
            return
        again = [one for one in begun if any(each.wants.inside for each in one.wanted())]
        for one in again:
            one.failure = None
            one.start(self._item, self)
        self._scan(again, shots=False, inside=False, cut=report.borders)

    def _scan(
        self, begun: Sequence[_Begun], *, shots: bool, inside: bool, cut: Borders | None = None
    ) -> ScanReport | None:
        """None where nobody wants a frame."""
        owners: list[_Begun] = []
        consumers: list[Consumer] = []
        for one in begun:
            wanted = one.wanted()
            consumers += wanted
            owners += [one] * len(wanted)
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
        report = scan(
            self._item.video, consumers, limits=settings.limits, info=info, cut=cut, borders=inside
        )
        if not settings.allow_damaged:
            refuse_damaged(report)
        for place, failure in report.failures.items():
            if place < len(owners):
                owners[place].failure = owners[place].failure or failure
            else:
                self._no_shots = failure
        if detector is not None and self._no_shots is None:
            found = detector.thing.boundaries
            self._shots = shot_list(found, scanned(report), found_by=detector.spec.name)
        return report


def refuse_damaged(report: ScanReport) -> None:
    """Raise NoValue where not all of a film could be seen: half a film has no score."""
    if report.complete:
        return
    seen = f"{report.decoded:,} of {report.info.frames:,} frames were decoded"
    raise _damaged(", ".join([seen, *_messages(report.faults, report.fault_count)]))


def refuse_faults(info: VideoInfo) -> None:
    """The same where nothing was decoded in order: by what the packets tell."""
    if info.faults:
        raise _damaged(", ".join(_messages(info.faults, len(info.faults))))


def _messages(faults: Sequence[Fault], count: int) -> Iterator[str]:
    """The first fault in words, and how many more there are."""
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
