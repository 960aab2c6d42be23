"""VideoScore: five numbers by a vision-language model with a regression head.

Frames are taken as the model's authors do: of T frames the ones at 0, T/n, 2·T/n …, cut to
whole numbers, with n = 16 for v1 and 48 for v1.1; all of them where there are no more than n.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from screentest.core.errors import NoValue
from screentest.core.frames import (
    BaseConsumer,
    Filter,
    Frame,
    FrameRequest,
    Layout,
    Size,
    VideoInfo,
)
from screentest.core.item import Item, Time
from screentest.core.metric import Level, MetricInfo, Outcomes, Resources
from screentest.core.outcome import Outcome, Reason, Score
from screentest.core.registry import register
from screentest.metrics.curve import declared
from screentest.models.roles import VideoScoring

OUTPUTS = declared("videoscore")
PICTURE = FrameRequest(filter=Filter.BICUBIC)


@register("metric", "videoscore", version=1, summary="VideoScore's five numbers")
class VideoScoreMetric:
    """Asks the model once per video; its role says which version it is and its frames."""

    info = MetricInfo(OUTPUTS, Level.VIDEO, roles=("videoscore",), needs=("text",))

    def start(self, item: Item, resources: Resources) -> _Asking:
        """Begin on one video; a missing model is reported before the video is decoded."""
        return _Asking(item, resources, resources.role("videoscore"))


class _Asking:
    def __init__(self, item: Item, resources: Resources, model: VideoScoring) -> None:
        self._item, self._resources, self._model = item, resources, model
        self._ticks = _Ticks(model.max_frames)
        self.consumers = (self._ticks,)

    def finish(self) -> Outcomes:
        video, moments = self._item.video, self._ticks.moments
        frames = [frame.image for frame in self._resources.frames(video, moments, PICTURE)]
        if not frames:
            raise NoValue(Reason.UNDECODABLE, "the video has no frame to show")
        result = self._model.score(frames, self._item.text)
        details = {"frames": len(frames)}
        cut = getattr(self._model, "cut", None)
        if cut is not None:
            _, details["tokens"], details["read"] = cut(self._item.text, len(frames))
        return {
            name: Outcome.of(Score(result[name], (), details))
            for name in VideoScoreMetric.info.outputs
        }


class _Ticks(BaseConsumer):
    """When the wanted frames are shown. Pictures are fetched later, for only few are wanted."""

    wants = FrameRequest(size=Size(exact=(2, 2)), layout=Layout.GRAY)

    def __init__(self, most: int) -> None:
        self._most = most
        self._wanted: frozenset[int] = frozenset()
        self.moments: list[Time] = []

    def open(self, info: VideoInfo) -> None:
        """Settle which ones."""
        self._wanted = frozenset(frame_numbers(info.frames, self._most))

    def take(self, frame: Frame) -> None:
        """Note the time of a wanted frame."""
        if frame.index in self._wanted:
            self.moments.append(frame.time)


def frame_numbers(count: int, most: int) -> Sequence[int]:
    """Return which of ``count`` frames are shown.

    >>> list(frame_numbers(40, 16))
    [0, 2, 5, 7, 10, 12, 15, 17, 20, 22, 25, 27, 30, 32, 35, 37]
    """
    if count <= most:
        return range(count)
    # In floating point, as the authors do: where T/n is not exact, a frame may be one earlier.
    return [int(number) for number in np.arange(0, count, count / most)[:most]]
