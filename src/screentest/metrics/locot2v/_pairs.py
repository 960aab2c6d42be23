"""Each frame with the one before it, a few pairs at a time: memory stays flat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from screentest.core import BaseConsumer, Frame, FrameRequest, Time
from screentest.metrics.locot2v._light import Light

Pair: TypeAlias = tuple[Frame, Frame]

BATCH = 4
"""Pairs that a model is handed together; the frames of so many are kept."""


class Pairwise(BaseConsumer):
    """Hands consecutive frames to ``work``. Of ``step`` frames only the first counts."""

    def __init__(
        self, wants: FrameRequest, work: Callable[[Sequence[Pair]], None], *, step: int = 1
    ) -> None:
        self._wants = wants
        self._work = work
        self._step = step
        self._last: Frame | None = None
        self._waiting: list[Pair] = []
        self.frames = 0
        """How many counted."""
        self.light = Light()

    @property
    def wants(self) -> FrameRequest:
        """Every frame, in the size that was asked for."""
        return self._wants

    def take(self, frame: Frame) -> None:
        """Pair it with the frame before."""
        if frame.index % self._step:
            return
        self.frames += 1
        self.light.see(frame.image)
        if self._last is not None:
            self._waiting.append((self._last, frame))
            if len(self._waiting) >= BATCH:
                self._flush()
        self._last = frame

    def close(self, end: Time) -> None:
        """Work on what waits."""
        self._flush()
        self._last = None

    def _flush(self) -> None:
        if self._waiting:
            pairs, self._waiting = self._waiting, []
            self._work(pairs)
