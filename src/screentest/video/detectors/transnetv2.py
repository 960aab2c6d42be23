"""transnetv2: cuts and gradual transitions by the TransNetV2 network, where its weights are.

The network sees 100 frames of 48 × 27 pixels at a time and scores the 50 in the middle: how
likely each is the last of its shot, and how likely it is within a transition. The first says
where shots begin, the second how long the way there is.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from screentest.core.errors import BadOption, NoValue
from screentest.core.frames import (
    BaseConsumer,
    Filter,
    Frame,
    FrameRequest,
    Image,
    Layout,
    Size,
    VideoInfo,
)
from screentest.core.item import Span, Time, Transition
from screentest.core.outcome import Reason
from screentest.core.registry import register
from screentest.video.detectors.contract import Boundary
from screentest.video.detectors.gradual import EMPTY, contrast

WEIGHTS = "transnetv2"
"""The name of the weights in the catalogue."""

_WIDTH, _HEIGHT = 48, 27
_WINDOW, _SCORED = 100, 50
_AROUND = (_WINDOW - _SCORED) // 2
_JUST_BEFORE = 6
"""Frames: the network marks a fade only when there is something to see."""
_GRADUAL = 3
"""A transition of this many frames or more is not a cut."""


class _Waiting(NamedTuple):
    time: Time
    frame: int
    contrast: float


class _Scored(NamedTuple):
    time: Time
    frame: int
    contrast: float
    last_of_shot: float
    in_transition: float


class TransNetDetector(BaseConsumer):
    """Shot boundaries by TransNetV2."""

    # As its authors scale frames: FFmpeg's default.
    wants = FrameRequest(
        size=Size(exact=(_WIDTH, _HEIGHT)), layout=Layout.RGB, filter=Filter.BICUBIC
    )

    def __init__(self, weights: str, threshold: float, threads: int) -> None:
        if not 0 < threshold < 1:
            raise BadOption(f"invalid threshold {threshold}: must be in (0, 1)")
        self._weights = weights
        self._threshold = threshold
        self._threads = threads
        self._network: Any = None
        self._pictures: deque[Image] = deque(maxlen=_WINDOW)
        self._waiting: deque[_Waiting] = deque()
        self._surest = 0.0
        self._last_frame = 0
        self._lately: deque[float] = deque(maxlen=_JUST_BEFORE)
        self._emptiest = 0.0
        self._transition_since: _Scored | None = None
        self.boundaries: list[Boundary] = []

    def open(self, info: VideoInfo) -> None:
        """Load the network; NoValue with advice where it is not there."""
        self._network = _load(self._weights, self._threads)

    def take(self, frame: Frame) -> None:
        """Gather frames; score fifty when there are enough around them."""
        if not self._pictures:
            # The first frame stands for what was before it.
            self._pictures.extend([frame.image] * _AROUND)
        self._pictures.append(frame.image)
        self._waiting.append(_Waiting(frame.time, frame.index, contrast(frame.image)))
        if len(self._waiting) == _SCORED + _AROUND:
            self._score()

    def close(self, end: Time) -> None:
        """Score the rest, with the last frame standing for what comes after."""
        while self._waiting:
            self._pictures.extend([self._pictures[-1]] * (_WINDOW - len(self._pictures)))
            self._score()
        self._end_transition(end)
        # The sessions of onnxruntime hold threads: not longer than they are needed.
        self._network = None

    def _score(self) -> None:
        pictures = np.stack(self._pictures).astype(np.float32) / np.float32(255)
        # Side by side, as the file wants them: colour × row × (frame, column).
        packed = pictures.transpose(3, 1, 0, 2).reshape(1, 3, _HEIGHT, _WINDOW * _WIDTH)
        scores: NDArray[np.float32] = self._network(np.ascontiguousarray(packed))
        for place in range(min(_SCORED, len(self._waiting))):
            last_of_shot, in_transition = float(scores[0, place]), float(scores[1, place])
            self._follow(_Scored(*self._waiting.popleft(), last_of_shot, in_transition))
        # What is left of the window is the beginning of the next one.
        for _ in range(len(self._pictures) - (_WINDOW - _SCORED)):
            self._pictures.popleft()

    def _follow(self, scored: _Scored) -> None:
        if scored.last_of_shot > self._threshold:
            self._surest = max(self._surest, scored.last_of_shot)
        elif self._surest:
            # The shot that follows begins with the frame after the last of those marked.
            strength = self._surest / self._threshold
            self.boundaries.append(Boundary(scored.time, scored.frame, strength=strength))
            self._surest = 0.0
        self._last_frame = scored.frame
        self._lately.append(scored.contrast)
        if self._transition_since is None:
            self._emptiest = min(self._lately)
        self._emptiest = min(self._emptiest, scored.contrast)
        if scored.in_transition <= self._threshold:
            self._end_transition(scored.time)
        elif self._transition_since is None:
            self._transition_since = scored

    def _end_transition(self, time: Time) -> None:
        """Say of the boundaries within a transition how long it lasted."""
        since, self._transition_since = self._transition_since, None
        if since is None or self._last_frame - since.frame < _GRADUAL:
            return
        # The network does not tell the two apart; a fade passes an empty picture.
        kind = Transition.FADE if self._emptiest < EMPTY else Transition.DISSOLVE
        self.boundaries = [
            replace(boundary, transition=kind, gradual=Span(since.time, time))
            if boundary.frame > since.frame
            else boundary
            for boundary in self.boundaries
        ]


def _load(weights: str, threads: int) -> Any:
    from screentest.models.networks.runtimes import onnx_session

    session = onnx_session(_find(weights), wanted_threads=threads)
    name = session.get_inputs()[0].name
    return lambda packed: session.run(None, {name: packed})[0][0, :, 0, :]


def _find(weights: str) -> Path:
    if not weights:
        from screentest.models import weights as cache

        return cache.path(WEIGHTS)
    path = Path(weights).expanduser()
    if not path.is_file():
        raise NoValue(
            Reason.MISSING_MODEL,
            f"no TransNetV2 weights at {weights}",
            advice=f"Get them: screentest models pull {WEIGHTS}",
        )
    return path


def _pulled() -> bool:
    from screentest.models import weights

    return weights.available(WEIGHTS)


@register(
    "detector",
    "transnetv2",
    version=1,
    summary="the TransNetV2 network, for cuts and gradual transitions",
    neutral=("threads",),
    get=f"screentest models pull {WEIGHTS}",
    packages=("onnxruntime",),
    ready=_pulled,
)
def transnetv2(*, weights: str = "", threshold: float = 0.5, threads: int = 0) -> TransNetDetector:
    """Transitions where the network is surer than ``threshold`` that a shot ends.

    ``weights`` is a file in place of the one that ``screentest models pull transnetv2`` gets;
    ``threads`` limits the processor cores, 0 is all.
    """
    return TransNetDetector(weights, threshold, threads)
