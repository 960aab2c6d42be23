"""Degradations on time: which frames of a clip are shown, what stands beside a frame, which clip
stands where.

The machine behind ``@degradation`` for functions of other things than one picture; see
``functions.py`` for what they are given.
"""

from __future__ import annotations

import math
import tempfile
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from statistics import median
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from screentest.core import Frame, Image, NoValue, Reason, Span, Time
from screentest.testbeds.contract import (
    Chosen,
    Context,
    DegradationInfo,
    Details,
    FilmClip,
    Look,
    Rng,
    Unfit,
    pieces,
)
from screentest.testbeds.operators.arithmetic import of_planes, planes
from screentest.testbeds.operators.shared import changed_clips, optical_flow, sampled
from screentest.testbeds.sightings import MOVES, motion
from screentest.video.edit.pictures import FrameFunction, Keep, Pixels, Reencode, VideoPart

# Which clips will do.


def must_move(look: Look, clip: FilmClip) -> None:
    """Raise Unfit for a clip in which hardly anything is seen to move."""
    if clip.frames < 2:
        raise Unfit("have a single frame")
    shares = [motion(step, two) for step, two in look.steps(clip)]
    if not shares or median(shares) < MOVES:
        raise Unfit("stand still, or nearly")


@dataclass(frozen=True, slots=True)
class Need:
    """What a clip must have to be harmed."""

    mentions: str
    """In words, what its caption must mention; empty: nothing."""
    allows: Callable[[FilmClip], bool]
    """Whether its caption does."""
    moving: bool = False
    """Whether something must be seen to move."""
    details: Callable[[FilmClip], Details] = lambda _: {}
    """What is recorded of the caption."""


def motion_details(clip: FilmClip) -> Details:
    """Return the things that move, by the caption."""
    mover = clip.facts.dynamic_degree[0]
    return {"motion": f"{mover.agent} {mover.action}".strip()}


def _placed(mentions: str, wanted: frozenset[str]) -> Need:
    """Return the need of something whose place the caption gives by one of these words."""

    def details(clip: FilmClip) -> Details:
        for placed in clip.facts.spatial_relationship:
            if wanted & set(placed.location.lower().replace("-", " ").split()):
                return {"location": placed.location, "object": placed.object}
        return {}

    return Need(mentions, lambda clip: bool(details(clip)), details=details)


SIDES = frozenset(("left", "right"))
HEIGHTS = frozenset(("above", "below", "upper", "lower", "top", "bottom", "over", "under"))

NEEDS: Mapping[str, Need] = {
    "": Need("", lambda clip: True),
    "caption": Need("anything", lambda clip: bool(clip.caption.strip())),
    "movement": Need("", lambda clip: True, moving=True),
    "motion": Need(
        "something that moves",
        lambda clip: bool(clip.facts.dynamic_degree),
        moving=True,
        details=motion_details,
    ),
    "side": _placed("something at the left or right", SIDES),
    "height": _placed("something above or below", HEIGHTS),
    "place": _placed("something left or right, above or below", SIDES | HEIGHTS),
}
"""By the word that ``@degradation(needs=…)`` takes."""


@dataclass(frozen=True, slots=True)
class NeedingDegradation:
    """Clips are drawn by what their captions and pictures have."""

    info: DegradationInfo
    call: Callable[..., Any]
    besides: tuple[str, ...]
    need: Need

    def eligible(self, clip: FilmClip) -> bool:
        return self.need.allows(clip)

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """Refuse clips that stand still where something must move."""
        if self.need.moving:
            must_move(look, clip)
        return self.need.details(clip)


def generator(rng: Rng, *what: object) -> np.random.Generator:
    """Return a NumPy generator that is the same for the same purpose."""
    return np.random.default_rng(list(rng.bits(16, *what)))


# A function of a picture: every frame of a clip.


def every_frame(call: Callable[..., Any], besides: Sequence[str], rng: Rng) -> FrameFunction:
    """Pass each frame of a clip through the function."""

    def run(frames: Iterator[Frame]) -> Iterator[Image]:
        start: Time | None = None
        for number, frame in enumerate(frames):
            start = frame.time if start is None else start
            more: dict[str, Any] = {}
            if "number" in besides:
                more["number"] = number
            if "seconds" in besides:
                more["seconds"] = float(frame.time - start)
            if "rng" in besides:
                more["rng"] = generator(rng, "frame", number)
            if "clip_rng" in besides:
                more["clip_rng"] = generator(rng, "clip")
            yield fitting(call(frame.image, **more), frame.image)

    return run


# A function of how many frames there are: which of them are shown.


@dataclass(frozen=True, slots=True)
class TimeDegradation(NeedingDegradation):
    """The degradation behind a function that says which frames of a clip are shown."""

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """Return the film with other frames in the chosen clips; unchanged ones are copied."""
        times = [*context.film.video.frame_times(), context.film.video.duration]
        replaced: dict[int, VideoPart | None] = {}
        for choice in chosen:
            shown = self._shown(context, choice.clip, severity)
            if len(shown) == choice.clip.frames and (shown == np.arange(len(shown))).all():
                continue
            durations = None
            if len(shown) < choice.clip.frames:
                first = bisect_left(times, choice.clip.span.start)
                lengths = (after - at for at, after in pairwise(islice(times, first, None)))
                durations = tuple(islice(lengths, len(shown)))
            replaced[choice.clip.number] = Reencode(
                choice.clip.span, retimed(shown), Pixels.I420, durations
            )
        return list(pieces(context.film, replaced))

    def _shown(self, context: Context, clip: FilmClip, severity: float) -> NDArray[np.float64]:
        more: dict[str, Any] = {}
        if "rate" in self.besides:
            more["rate"] = clip.frames / float(clip.span.duration)
        if "rng" in self.besides:
            more["rng"] = generator(context.rng_of(clip), "time")
        times = np.asarray(self.call(clip.frames, severity, **more), np.float64)
        if times.ndim != 1 or not 1 <= len(times) <= clip.frames:
            raise operator_fault(
                f"it returned numbers of shape {times.shape}: must be 1 to {clip.frames} of them"
            )
        if not ((times >= 0) & (times <= clip.frames - 1)).all():
            raise operator_fault(f"it returned numbers outside of 0 to {clip.frames - 1}")
        return times


def retimed(shown: Sequence[float] | NDArray[np.float64]) -> FrameFunction:
    """Return a frame function that shows these frames; one with a fraction is in between."""

    def run(frames: Iterator[Frame]) -> Iterator[Image]:
        with FrameStore(frames, shown) as store:
            for place, number in enumerate(shown):
                yield store.picture(place, float(number))

    return run


_HELD = 128 * 2**20
"""Bytes of frames that wait in memory; more of them wait in a temporary file."""


class FrameStore:
    """Frames by number: each is read once, and kept until it was shown for the last time.

    A clip that is played backwards has to be read whole first, however long it is.
    """

    def __init__(self, frames: Iterator[Frame], shown: Sequence[float] | Any) -> None:
        self._frames = iter(frames)
        self._read = 0
        self._last: dict[int, int] = {}
        for place, number in enumerate(shown):
            self._last[int(number)] = place
            if number % 1:
                self._last[int(number) + 1] = place
        self._held: dict[int, Image] = {}
        self._shape: tuple[int, ...] = ()
        self._file: IO[bytes] | None = None
        self._between: tuple[int, Tween] | None = None

    def __enter__(self) -> FrameStore:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def picture(self, place: int, number: float) -> Image:
        """Return the picture of that number, for the next place."""
        whole = int(number)
        image = self._frame(whole)
        if number % 1:
            if self._between is None or self._between[0] != whole:
                self._between = whole, Tween(image, self._frame(whole + 1))
            image = self._between[1].at(number % 1)
        for kept in [index for index in self._held if self._last[index] <= place]:
            del self._held[kept]
        return image

    def _frame(self, number: int) -> Image:
        while self._read <= number:
            image = next(self._frames).image
            if self._read in self._last:
                self._keep(self._read, image)
            self._read += 1
        if number in self._held:
            return self._held[number]
        assert self._file is not None
        size = math.prod(self._shape)
        self._file.seek(number * size)
        return np.frombuffer(self._file.read(size), np.uint8).reshape(self._shape)

    def _keep(self, number: int, image: Image) -> None:
        self._shape = image.shape
        if len(self._held) * image.nbytes > _HELD:
            self._file = self._file or tempfile.TemporaryFile()  # noqa: SIM115 - closed on exit
            self._file.seek(number * image.nbytes)
            self._file.write(np.ascontiguousarray(image).tobytes())
        else:
            self._held[number] = image


class Tween:
    """Pictures between two I420 pictures, along the optical flow from one to the other."""

    def __init__(self, before: Image, after: Image) -> None:
        first, second = planes(np.ascontiguousarray(before)), planes(np.ascontiguousarray(after))
        self._planes = (first[0], *first[1]), (second[0], *second[1])
        self._flow = optical_flow(first[0], second[0])

    def at(self, share: float) -> Image:
        """Return the picture at that share of the way."""
        import cv2

        made = []
        for before, after in zip(*self._planes, strict=True):
            height, width = before.shape
            flow = cv2.resize(self._flow, (width, height)) * (width / self._flow.shape[1])
            y, x = np.indices((height, width), np.float32)
            forward = sampled(before, x - share * flow[..., 0], y - share * flow[..., 1])
            two = sampled(after, x + (1 - share) * flow[..., 0], y + (1 - share) * flow[..., 1])
            made.append(np.asarray(cv2.addWeighted(forward, 1 - share, two, share, 0), np.uint8))
        return of_planes(made[0], np.stack(made[1:]))


# A function of a frame and of one that follows it.


@dataclass(frozen=True, slots=True)
class NeighbourDegradation(NeedingDegradation):
    """The degradation behind a function of a picture and of the one some frames later."""

    pixels: Pixels
    ahead: int

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:

        def change(choice: Chosen) -> FrameFunction:
            rng = context.rng_of(choice.clip)

            def run(frames: Iterator[Frame]) -> Iterator[Image]:
                for number, (image, after) in enumerate(with_later(frames, self.ahead)):
                    more: dict[str, Any] = {}
                    if "number" in self.besides:
                        more["number"] = number
                    if "rng" in self.besides:
                        more["rng"] = generator(rng, "frame", number)
                    yield fitting(self.call(image, after, severity, **more), image)

            return run

        return changed_clips(context, chosen if severity > 0 else (), change, self.pixels)


def with_later(frames: Iterator[Frame], ahead: int) -> Iterator[tuple[Image, Image]]:
    """Yield each picture with the one ``ahead`` of it; at the end, with one that was before."""
    recent: deque[Image] = deque(maxlen=2 * ahead + 1)
    waiting = 0
    for frame in frames:
        recent.append(frame.image)
        waiting += 1
        if waiting > ahead:
            yield recent[-1 - ahead], recent[-1]
            waiting -= 1
    for left in range(waiting, 0, -1):
        place = len(recent) - left
        yield recent[place], recent[max(0, place - ahead)]


def operator_fault(what: str) -> NoValue:
    """Return the error to raise where an operator's function does not keep to its form."""
    return NoValue(Reason.CRASHED, what, advice="This is a fault in the operator, not in the film.")


def fitting(returned: Any, image: Image) -> Image:
    """Check what came back, which must fit in the place of ``image``."""
    result = np.asarray(returned)
    if result.shape != image.shape or result.dtype != np.uint8:
        raise operator_fault(
            f"it returned a picture of {result.shape} {result.dtype}, not {image.shape} uint8"
        )
    return np.ascontiguousarray(result)


# A function of how many clips there are: which of them stand where.


@dataclass(frozen=True, slots=True)
class OrderDegradation(NeedingDegradation):
    """The degradation behind a function that puts consecutive clips in another order."""

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """Return the film with the chosen clips rearranged; all of it is copied."""
        ordered = sorted(chosen, key=lambda choice: choice.clip.number)
        more = {"rng": generator(context.rng, "order")} if "rng" in self.besides else {}
        returned = self.call(len(ordered), severity, **more)
        try:
            order = [int(number) for number in returned]
        except (TypeError, ValueError):
            raise operator_fault(f"it returned {returned!r} for {len(ordered)} clips") from None
        if not set(range(len(ordered))) <= set(order) <= set(range(len(ordered))):
            raise operator_fault(f"it returned {order} for {len(ordered)} clips")
        return rearranged(context, [choice.clip for choice in ordered], order)


def rearranged(
    context: Context, clips: Sequence[FilmClip], order: Sequence[int]
) -> list[VideoPart]:
    """Return the film with ``clips`` reordered; one that comes again stands before the next."""
    places: list[list[VideoPart]] = [[] for _ in clips]
    spans = [clip.span for clip in clips]
    seen: list[int] = []
    again: list[Span] = []
    for number in order:
        if number in seen:
            again.append(spans[number])
        else:
            places[len(seen)] = [Keep(span, spans[number]) for span in again]
            places[len(seen)].append(Keep(spans[number]))
            seen.append(number)
            again = []
    places[-1] += [Keep(span, spans[seen[-1]]) for span in again]
    slots = dict(zip(spans, places, strict=True))
    parts: list[VideoPart] = []
    for span in context.film.video.clips:
        parts += slots.get(span, [Keep(span)])
    return parts
