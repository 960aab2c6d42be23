"""Scan: decode a video once and feed many.

Each consumer declares the rate, size and layout of the frames it wants. The file is decoded
once, each frame converted once per distinct (size, layout, filter) and only when somebody is
due. Nothing is kept, so memory does not grow with duration.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias, TypeVar

from av.video.frame import VideoFrame

from screentest.core.calls import Progress, Silent
from screentest.core.errors import STOPPING, NoValue
from screentest.core.frames import Borders, Consumer, Fault, Frame, Image, VideoInfo
from screentest.core.item import Time
from screentest.core.outcome import Failure, Reason
from screentest.video.borders import BorderFinder, borders_of
from screentest.video.limits import DEFAULT_LIMITS, Limits
from screentest.video.memory import open_source
from screentest.video.probe import ConversionKey, Converter, conversion_key, probe
from screentest.video.samples import KeptFrames
from screentest.video.source import no_picture

_REPORT_EVERY = 32
T = TypeVar("T")
Conversion: TypeAlias = tuple[ConversionKey, Borders | None]


@dataclass(frozen=True, slots=True)
class ScanReport:
    """What a scan met on its way."""

    info: VideoInfo
    decoded: int
    """Frames that were decoded; ``info.frames`` says how many to expect."""
    end: Time
    faults: tuple[Fault, ...]
    fault_count: int
    """Above len(faults) where there were too many to keep."""
    failures: Mapping[int, Failure]
    """Consumers that failed, by their place in the list; the others were served to the end."""
    looked: bool = False
    """Whether borders were looked for."""
    borders: Borders | None = None
    """What stands around the picture in all of it."""
    cut: Borders | None = None
    """What was left out for those who look inside."""

    @property
    def inside(self) -> bool:
        """True if those who look inside the borders were shown just that."""
        return self.cut == self.borders or (
            self.cut is not None and self.borders is not None and self.cut.near(self.borders)
        )

    @property
    def complete(self) -> bool:
        """True if every frame that the file promises was decoded, without a fault."""
        return self.decoded == self.info.frames and not self.fault_count


def scan(
    path: Path | str,
    consumers: Sequence[Consumer],
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
    info: VideoInfo | None = None,
    borders: bool = False,
    cut: Borders | None = None,
    kept: KeptFrames | None = None,
) -> ScanReport:
    """Decode ``path`` once and hand its frames to all ``consumers``.

    A consumer that raises is left out from there on and reported; it does not stop the others.
    Pass ``info`` where the file was probed already.

    ``borders`` are looked for if that is said, or if somebody wants to look inside of them. These
    are shown what the borders of the first frame leave, or what ``cut`` leaves. At the end the
    borders of all frames are known; where they are others (``inside`` is false: the film fades in,
    or bars come and go), scan again and cut these. ``kept`` gets the decoded frames.
    """
    info = info or probe(path, limits)
    progress = progress or Silent()
    looking = borders or cut is not None or any(consumer.wants.inside for consumer in consumers)
    finder = BorderFinder() if looking else None
    watching = _Consumers([*consumers, *([finder] if finder else [])])
    watching.open(info)
    progress.begin(Path(path).name, info.frames, "frames")
    decoded, end, last = 0, info.start, info.start
    with open_source(path, limits) as source:
        for moment, picture in source.frames():
            if decoded == 0 and finder is not None:
                cut = cut or borders_of(picture)
                watching.look_inside(cut)
            watching.serve(moment, decoded, picture)
            if kept is not None:
                kept.add(moment, picture)
            decoded += 1
            last = moment
            if decoded % _REPORT_EVERY == 0:
                progress.advance(_REPORT_EVERY)
        if decoded == 0:
            raise no_picture(source.path)
        # A file cut short ends with what it still showed, not where its header says.
        end = max(info.span.end if decoded >= info.frames else last + 1 / info.rate, last)
        watching.close(end)
        progress.advance(decoded % _REPORT_EVERY)
        return ScanReport(
            info=info,
            decoded=decoded,
            end=end,
            faults=tuple(dict.fromkeys((*info.faults, *source.faults))),
            fault_count=max(source.fault_count, len(info.faults)),
            failures={at: why for at, why in watching.failures.items() if at < len(consumers)},
            looked=finder is not None,
            borders=finder.borders if finder else None,
            cut=cut,
        )


class _Consumers:
    """Knows who is due, converts once per key, and goes on without those that fail."""

    def __init__(self, consumers: Sequence[Consumer]) -> None:
        self._watchers = [_Watcher(place, consumer) for place, consumer in enumerate(consumers)]
        self.failures: dict[int, Failure] = {}
        self.look_inside(None)

    def look_inside(self, cut: Borders | None) -> None:
        """Show nothing of these borders to those who do not want to see them."""
        for watcher in self._watchers:
            watcher.cut = cut if watcher.consumer.wants.inside else None
        self._converters = {
            watcher.conversion: Converter(*watcher.conversion) for watcher in self._watchers
        }

    def open(self, info: VideoInfo) -> None:
        for watcher in list(self._watchers):
            watcher.begin_at(info.start)
            self._try(watcher, watcher.consumer.open, info)

    def serve(self, moment: Time, index: int, picture: VideoFrame) -> None:
        images: dict[Conversion, Image] = {}
        for watcher in self._watchers:
            if not watcher.due(moment):
                continue
            key = watcher.conversion
            image = images.get(key)
            if image is None:
                image = images[key] = self._converters[key](picture)
            self._try(watcher, watcher.consumer.take, Frame(moment, index, image))

    def close(self, end: Time) -> None:
        for watcher in list(self._watchers):
            self._try(watcher, watcher.consumer.close, end)

    def _try(self, watcher: _Watcher, step: Callable[[T], None], argument: T) -> None:
        try:
            step(argument)
        except NoValue as error:
            self._dismiss(watcher, error.failure)
        except STOPPING:
            raise  # a full disk or a service that turns us away is nobody's bug
        except (Exception, SystemExit) as error:  # noqa: BLE001 - must not stop the others
            self._dismiss(watcher, Failure(Reason.CRASHED, _message(error)))

    def _dismiss(self, watcher: _Watcher, failure: Failure) -> None:
        self.failures[watcher.place] = failure
        # A new list: somebody may be walking through the old one.
        self._watchers = [other for other in self._watchers if other is not watcher]


def _message(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)).strip()


class _Watcher:
    """One consumer and when it is due next."""

    def __init__(self, place: int, consumer: Consumer) -> None:
        self.place = place
        self.consumer = consumer
        wants = consumer.wants
        self.cut: Borders | None = None
        self._key = conversion_key(wants)
        self._rate = wants.rate
        self._within = wants.within
        self._origin = self._next = Fraction(0)

    @property
    def conversion(self) -> Conversion:
        """The key of its frames: those with the same share one conversion."""
        return self._key, self.cut

    def begin_at(self, start: Time) -> None:
        self._origin = self._within.start if self._within else start
        self._next = self._origin

    def due(self, moment: Time) -> bool:
        if self._within is not None and moment not in self._within:
            return False
        if self._rate is None:
            return True
        if moment < self._next:
            return False
        # The next tick after this moment; a gap in the video costs its ticks.
        ticks = (moment - self._origin) * self._rate // 1 + 1
        self._next = self._origin + ticks / self._rate
        return True
