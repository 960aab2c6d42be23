"""Checks of a finished pair: the harm is there, where it should be, and nowhere else.

Both files are decoded side by side by code that had no part in making them, and are held to what
the operator declares (`DegradationInfo.effect`, `region`, `changed`, `checks`). A pair that fails
is not a pair; what was measured stands beside those that pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby, islice, pairwise, zip_longest
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Borders, Image, NoValue, Reason, Signature, Span, VideoError
from screentest.core.codec import DecodeError
from screentest.models import Models
from screentest.testbeds.contract import STEP, DegradationInfo, Effect, Region
from screentest.testbeds.faults import Fault
from screentest.testbeds.intact import load_intact
from screentest.testbeds.operators.arithmetic import planes
from screentest.testbeds.operators.shared import cut_out
from screentest.testbeds.operators.tracker import guesses
from screentest.testbeds.packets import Track, compare_tracks, read_track
from screentest.testbeds.sightings import (
    MOVES,
    ClipSample,
    Measured,
    check_region,
    clip_check,
    motion,
    roles_asked,
)
from screentest.testbeds.testbed import Pair, Touched
from screentest.testbeds.visibility import ShiftFinder, aligned, frame_change
from screentest.video.source import VideoSource

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

VERSION = 1
"""Of the checks: in the signature of what passed them, so that a better check is asked again."""

FLAT, FADED = 4.0, 0.35
"""A frame with less contrast, in levels or as a share of its clip's, has nothing to show."""
SEEN, PAUSE = 0.25, 1.0
"""The least share of a clip's frames in which a viewer must see the change, and the seconds for
which it may be out of sight: what flickers or pulses is seen all the same."""
TURNED = 0.5
"""Of frames in reverse, how much less they must differ when they are read backwards."""
MOMENTS = 4
"""Pictures by which two clips are told apart."""
FALLEN = 0.8
"""How much less a stronger rung may differ from the intact film than a weaker one: by a fifth."""
LOOKED_AT = 8
"""Pictures of a clip that models are shown."""


@dataclass(frozen=True, slots=True)
class PairCheck:
    """What was measured, and what is wrong."""

    figures: Mapping[str, float]
    faults: tuple[Fault, ...] = ()

    @property
    def reason(self) -> Reason:
        """Of what failed: whether nothing was harmed, or it was not harmed as it should be."""
        return failure_reason(self.faults)

    @property
    def message(self) -> str:
        """The faults, and the figures behind them."""
        listed = "; ".join(map(str, self.faults[:3]))
        more = f"; {len(self.faults) - 3} more" if len(self.faults) > 3 else ""
        behind = f" ({figures_text(self.figures)})" if self.figures else ""
        return f"{listed}{more}{behind}"


def failure_reason(faults: Iterable[Fault]) -> Reason:
    """Return the reason why a pair with these faults failed."""
    unchanged = all(fault.unchanged for fault in faults)
    return Reason.NO_CHANGE if unchanged else Reason.CHECK_FAILED


def figures_text(figures: Mapping[str, float]) -> str:
    """Figures on one line.

    >>> figures_text({"changed_frames": 1.0, "change": 0.1234})
    'changed frames 1, change 0.123'
    """
    return ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in figures.items())


def ladder_fault(rungs: Mapping[float, Mapping[str, float]]) -> Fault | None:
    """Return the fault that more severity harms less, from the figures of each severity.

    >>> str(ladder_fault({0.5: {"distance": 2.0}, 1.0: {"distance": 1.0}}))
    'more severity harms less: distance 2 at 0.5, 1 at 1'
    """
    steps = {rung: rungs[rung]["distance"] for rung in sorted(rungs) if "distance" in rungs[rung]}
    if all(after >= FALLEN * before for before, after in pairwise(steps.values())):
        return None
    return Fault.of("falling_ladder", distances=steps)


def check_signature(info: DegradationInfo, models: Models) -> Signature:
    """Return the version and models that, beside the operator, decide whether a pair passes."""
    asked = {role: backend_of(models, role) for role in roles_asked(info)}
    return Signature.of("check", version=VERSION, **asked)


def backend_of(models: Models, role: str) -> str:
    """Name the backend that the check asks for a role, with options, without loading it."""
    try:
        return "none" if guesses(models, role) else str(models.choice(role))
    except NoValue:
        return "none"


def check_pair(
    pair: Pair, folder: Path, info: DegradationInfo, models: Models | None = None
) -> PairCheck:
    """Check a pair of the testbed in ``folder``; without ``models``, only what needs none."""
    return _Check(pair, folder, info, models).run()


@dataclass
class _Check:
    """One check at work; figures are those of the worst clip."""

    pair: Pair
    folder: Path
    info: DegradationInfo
    models: Models | None
    figures: dict[str, float] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    _distance: float = 0.0

    def run(self) -> PairCheck:
        paths = (self.pair.intact, self.pair.changed.path)
        intact, changed = (read_track(self.folder / path) for path in paths)
        if not self.pair.touched:
            self._fault("none_touched", unchanged=True)
        self.faults += compare_tracks(self.pair, intact, changed)
        chosen, count = self.pair.clips or 0, len(self.pair.touched)
        if self._severity == 1 and 0 < count < self.info.touches(chosen):
            self._fault("few_touched", count=count, chosen=chosen)
        for touch in self.pair.touched:
            if touch.degraded is None:
                if self.info.effect is not Effect.ABSENT:
                    self._fault("gone", touch.clip)
            elif self.info.effect is Effect.ORDER:
                self._check_moved(touch, touch.degraded, intact, changed)
            else:
                frames = len(intact.inside(touch.intact))
                self._check_frames(touch, touch.degraded, frames)
        if self._distance:
            self._note("distance", self._distance / len(intact.packets))
        return PairCheck(self.figures, tuple(self.faults))

    @cached_property
    def _borders(self) -> Borders | None:
        """Of the film, as they were found when it was normalised; operators leave them alone."""
        try:
            return load_intact(self.folder / self.pair.intact, Path()).borders
        except (VideoError, DecodeError):
            return None  # a pair that no build made

    @property
    def _severity(self) -> float:
        return 1.0 if self.pair.severity is None else self.pair.severity

    def _fault(
        self, kind: str, clip: int | None = None, *, unchanged: bool = False, **values: int
    ) -> None:
        self.faults.append(Fault(kind, values, clip, unchanged))

    def _note(self, name: str, value: float, *, least: bool = True) -> None:
        """Keep a figure where it is worse than those of the clips before."""
        worst = self.figures.get(name, value)
        self.figures[name] = round(min(worst, value) if least else max(worst, value), 4)

    def _check_moved(self, touch: Touched, place: Span, intact: Track, changed: Track) -> None:
        if touch.intact == place:
            self._fault("same_place", touch.clip, unchanged=True)
        ours, theirs = intact.inside(touch.intact), changed.inside(place)
        # What is shown again stands before it, or after the last one.
        if ours not in (theirs[: len(ours)], theirs[-len(ours) :]):
            self._fault("altered", touch.clip)
        if len(theirs) > len(ours):
            self._check_again(touch, place, len(ours), len(theirs))
        elif touch.intact.start != place.start:
            self._check_place(touch, place, min(len(theirs), len(intact.inside(place))))

    def _check_place(self, touch: Touched, place: Span, frames: int) -> None:
        """Two clips that look alike can change places without anybody noticing."""
        wanted = _spread(frames, MOMENTS)
        before = self._pictures(self.pair.intact, place, wanted)
        change = _usual_change(before, self._pictures(self.pair.changed.path, place, wanted))
        self._note("change", change)
        if change < 1:
            self._fault("place_alike", touch.clip, unchanged=True)

    def _check_again(self, touch: Touched, place: Span, frames: int, longer: int) -> None:
        """Check that what is shown again, before or after a clip, does not look like it."""
        wanted = _spread(frames, MOMENTS)
        at_end = frozenset(number + longer - frames for number in wanted)
        before = self._pictures(self.pair.intact, touch.intact, wanted)
        change = max(
            _usual_change(before, self._pictures(self.pair.changed.path, place, where))
            for where in (wanted, at_end)
        )
        self._note("change", change)
        if change < 1:
            self._fault("repeat_alike", touch.clip, unchanged=True)

    def _pictures(self, path: str, span: Span, wanted: frozenset[int]) -> list[Image]:
        """Return some pictures of a range, by number; I420."""
        with VideoSource(self.folder / path) as source:
            frames = islice(_frames(source, span), max(wanted, default=0) + 1)
            return [
                _picture(frame, "yuv420p")
                for number, frame in enumerate(frames)
                if number in wanted
            ]

    def _check_frames(self, touch: Touched, place: Span, frames: int) -> None:
        clip = self._compared(touch, place, frames)
        if self.info.effect is Effect.ABSENT:
            self._check_shortened(touch, clip)
            return
        if clip.before != clip.after and touch.intact.duration == place.duration:
            self._fault("frame_count", touch.clip, before=clip.before, after=clip.after)
        self._note("frames", clip.before)
        if self.info.effect is Effect.BACKWARDS:
            self._check_backwards(touch, place, clip)
            return
        pictures = clip.pictures
        if self._borders is not None:
            pictures = [
                (cut_out(before, self._borders), cut_out(after, self._borders))
                for before, after in pictures
            ]
        if self.info.whole:
            pictures = [(aligned(before, after), after) for before, after in pictures]
        sample = ClipSample(pictures, touch.details, self._severity, self.models)
        region = check_region(sample, self.info.region, self.info.reach)
        if region is not None:
            self._add(touch, region)
        if self.info.effect is Effect.TIMING:
            self._check_motion(touch, clip)
        elif self.info.effect is Effect.PICTURES:
            self._distance += clip.distance
        if clip.shift:
            kind = "early" if clip.shift > 0 else "late"
            self._fault(kind, touch.clip, unchanged=True, frames=abs(clip.shift))
        elif self.info.region not in (Region.THING, Region.AROUND):
            self._check_changes(touch, clip)
        elif region is None and max(clip.changes, default=0.0) < self._severity:
            # Which frames show the thing is not known; some must.
            self._fault("invisible", touch.clip, unchanged=True)
        for name in self.info.checks:
            self._add(touch, clip_check(name)(sample))

    def _compared(self, touch: Touched, place: Span, frames: int) -> _Compared:
        """Decode both versions of a clip once."""
        clip = _Compared()
        stepped: Image | None = None
        wanted = _spread(frames, LOOKED_AT)
        step = max(1, round(STEP * frames / touch.intact.duration))
        timed = self.info.effect is Effect.TIMING
        shifts = ShiftFinder(step if timed else 1, frames, self._severity)
        shown_to_models = self.info.region is not Region.FRAME or bool(self.info.checks)
        old, new = self.folder / self.pair.intact, self.folder / self.pair.changed.path
        with VideoSource(old) as first, VideoSource(new) as second:
            both = zip_longest(_frames(first, touch.intact), _frames(second, place))
            for number, (left, right) in enumerate(both):
                clip.before += left is not None
                clip.after += right is not None
                if left is None or right is None:
                    continue
                coded = _picture(left, "yuv420p"), _picture(right, "yuv420p")
                clip.changes.append(frame_change(*coded))
                shifts.add(*coded, clip.changes[-1])
                clip.distance += float(np.abs(coded[0].astype(np.int16) - coded[1]).mean())
                clip.contrasts.append(float(planes(coded[0])[0].std()))
                if timed and number % step == 0:
                    shown = _picture(left, "rgb24")
                    clip.motion += [] if stepped is None else [motion(stepped, shown)]
                    stepped = shown
                if number in wanted:
                    clip.planes.append(coded)
                    if shown_to_models:
                        clip.pictures.append((_picture(left, "rgb24"), _picture(right, "rgb24")))
        clip.shift = shifts.shift
        return clip

    def _check_motion(self, touch: Touched, clip: _Compared) -> None:
        """Check that the clip moves: what stands still looks the same at any speed."""
        usual = median(clip.motion) if clip.motion else 0.0
        self._note("motion", usual)
        if usual < MOVES:
            self._fault("stands_still", touch.clip, unchanged=True)

    def _check_shortened(self, touch: Touched, clip: _Compared) -> None:
        """Check that the rest of a clip that breaks off is as it was."""
        if clip.after >= clip.before:
            self._fault("same_length", touch.clip, unchanged=True)
        elif clip.changes and median(clip.changes) >= 1:
            self._fault("rest_differs", touch.clip)

    def _check_backwards(self, touch: Touched, place: Span, clip: _Compared) -> None:
        forwards = [frame_change(before, after) for before, after in clip.planes]
        ends = zip(clip.planes, reversed(clip.planes), strict=True)
        backwards = [frame_change(before, after) for (before, _), (_, after) in ends]
        usual, turned = median(forwards), median(backwards)
        self._note("turned_round", usual / max(1.0, turned))
        if turned >= max(1.0, TURNED * usual):
            self._fault("not_reversed", touch.clip)
        if touch.intact.start != place.start:
            self._check_place(touch, place, clip.after)
        elif usual < 1:
            self._fault("reverse_alike", touch.clip, unchanged=True)

    def _add(self, touch: Touched, measured: Measured) -> None:
        for name, value in measured.figures.items():
            self._note(name, value, least=name not in measured.most)
        if measured.fault is not None:
            self.faults.append(replace(measured.fault, clip=touch.clip))

    def _check_changes(self, touch: Touched, clip: _Compared) -> None:
        shown = clip.worth_seeing()
        if not shown:
            self._fault("nothing_shown", touch.clip)
            return
        seen = [change >= self._severity for change in shown]
        share = sum(seen) / len(seen)
        self._note("change", median(shown))
        self._note("changed_frames", share)
        pictures = self.info.effect is Effect.PICTURES
        least = SEEN if pictures else self.info.changed * self._severity
        wrong = partial(self._fault, clip=touch.clip, unchanged=not any(seen), total=len(shown))
        longest = max((len(list(run)) for visible, run in groupby(seen) if not visible), default=0)
        if share < least:
            wrong("some_invisible", count=len(seen) - sum(seen))
        elif pictures and longest * touch.intact.duration > PAUSE * clip.before:
            wrong("some_unchanged", count=longest)


@dataclass(slots=True)
class _Compared:
    """The two versions of a clip, frame by frame."""

    before: int = 0
    after: int = 0
    """How many frames each has."""
    changes: list[float] = field(default_factory=list)
    contrasts: list[float] = field(default_factory=list)
    pictures: list[tuple[Image, Image]] = field(default_factory=list)
    """Some of them, RGB, before and after, where a model is asked."""
    planes: list[tuple[Image, Image]] = field(default_factory=list)
    """Some of them, I420."""
    motion: list[float] = field(default_factory=list)
    """The share of the intact picture that changes within a step, of each step; for TIMING."""
    shift: int = 0
    """By how many frames all of them come early, or late; 0 where that is not all."""
    distance: float = 0.0
    """The mean difference in levels, summed over the frames."""

    def worth_seeing(self) -> list[float]:
        """Return the changes of frames that show something: not of a fade's black end."""
        if not self.contrasts:
            return []
        least = max(FLAT, FADED * median(self.contrasts))
        return [
            change
            for change, contrast in zip(self.changes, self.contrasts, strict=True)
            if contrast >= least
        ]


def _usual_change(before: Sequence[Image], after: Sequence[Image]) -> float:
    """By some pictures, of which half may look alike: films fade in and out."""
    return median(map(frame_change, before, after)) if before and after else 1.0


def _spread(count: int, most: int) -> frozenset[int]:
    """Numbers of frames, evenly spread, as far from the end as from the beginning.

    >>> sorted(_spread(9, 4)), sorted(_spread(2, 4))
    ([0, 2, 6, 8], [0, 1])
    """
    if count <= most:
        return frozenset(range(count))
    half = {number * (count - 1) // (most - 1) for number in range(most // 2)}
    return frozenset(half | {count - 1 - number for number in half})


def _frames(source: VideoSource, span: Span) -> Iterator[VideoFrame]:
    source.seek(int(span.start / source.time_base))
    for moment, frame in source.frames():
        if moment >= span.end:
            return
        if moment >= span.start:
            yield frame


def _picture(frame: VideoFrame, pixels: str) -> Image:
    return np.asarray(frame.to_ndarray(format=pixels), np.uint8)
