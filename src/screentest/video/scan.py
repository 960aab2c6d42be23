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
from typing import TypeVar

from av.video.frame import VideoFrame

from screentest._util.text import shown_path
from screentest.core.calls import Progress, Silent
from screentest.core.errors import STOPPING, NoValue, VideoError
from screentest.core.frames import Consumer, Fault, Frame, Image, VideoInfo
from screentest.core.item import Time
from screentest.core.outcome import Failure, Reason
from screentest.video.limits import DEFAULT_LIMITS, Limits
from screentest.video.memory import open_source
from screentest.video.probe import ConversionKey, Converter, conversion_key, probe

_REPORT_EVERY = 32
T = TypeVar("T")


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

    @property
    def complete(self) -> bool:
        """Whether every frame that the file promises was decoded, without a fault."""
        return self.decoded == self.info.frames and not self.fault_count


def scan(
    path: Path | str,
    consumers: Sequence[Consumer],
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
    info: VideoInfo | None = None,
) -> ScanReport:
    """Decode ``path`` once and hand its frames to all ``consumers``.

    A consumer that raises is left out from there on and reported; it does not stop the others.
    Pass ``info`` where the file was probed already.
    """
    info = info or probe(path, limits)
    progress = progress or Silent()
    watching = _Consumers(consumers)
    watching.open(info)
    progress.begin(Path(path).name, info.frames, "frames")
    decoded, end, last = 0, info.start, info.start
    with open_source(path, limits) as source:
        for moment, picture in source.frames():
            watching.serve(moment, decoded, picture)
            decoded += 1
            last = moment
            if decoded % _REPORT_EVERY == 0:
                progress.advance(_REPORT_EVERY)
        if decoded == 0:
            raise VideoError(
                Reason.UNDECODABLE,
                f"no picture in {shown_path(source.path)} can be decoded",
                advice="Check that it plays; render or download it again.",
            )
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
            failures=watching.failures,
        )


class _Consumers:
    """Knows who is due, converts once per key, and goes on without those that fail."""

    def __init__(self, consumers: Sequence[Consumer]) -> None:
        self._watchers = [_Watcher(place, one) for place, one in enumerate(consumers)]
        self._converters = {watcher.key: Converter(watcher.key) for watcher in self._watchers}
        self.failures: dict[int, Failure] = {}

    def open(self, info: VideoInfo) -> None:
        for watcher in list(self._watchers):
            watcher.begin_at(info.start)
            self._try(watcher, watcher.consumer.open, info)

    def serve(self, moment: Time, index: int, picture: VideoFrame) -> None:
        images: dict[ConversionKey, Image] = {}
        for watcher in self._watchers:
            if not watcher.due(moment):
                continue
            image = images.get(watcher.key)
            if image is None:
                image = images[watcher.key] = self._converters[watcher.key](picture)
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
        except Exception as error:  # noqa: BLE001 - a metric's bug must not stop the others
            self._dismiss(watcher, Failure(Reason.CRASHED, _message(error)))

    def _dismiss(self, watcher: _Watcher, failure: Failure) -> None:
        self.failures[watcher.place] = failure
        # A new list: somebody may be walking through the old one.
        self._watchers = [one for one in self._watchers if one is not watcher]


def _message(error: Exception) -> str:
    return "".join(traceback.format_exception(error)).strip()


class _Watcher:
    """One consumer and when it is due next."""

    def __init__(self, place: int, consumer: Consumer) -> None:
        self.place = place
        self.consumer = consumer
        wants = consumer.wants
        self.key = conversion_key(wants)
        self._rate = wants.rate
        self._within = wants.within
        self._origin = self._next = Fraction(0)

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
