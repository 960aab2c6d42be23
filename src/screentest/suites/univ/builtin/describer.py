"""A shot described from pixels: what numbers can tell is filled in, all else stays empty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from screentest.core import BaseConsumer, Frame, FrameRequest, Image, Resources, Size, Span, Time
from screentest.suites.univ.builtin import colours, motion
from screentest.suites.univ.schema import NOTHING, Camera, Colour, Description, Lighting
from screentest.suites.univ.vocabulary import CameraMotion

RATE = Fraction(8)
LONG_SIDE = 192
T = TypeVar("T")


@dataclass(eq=False)
class DescriptionConsumer(BaseConsumer):
    """Takes frames as they come and keeps a few numbers of each."""

    resources: Resources
    looks: list[tuple[Time, colours.FrameLook]] = field(default_factory=list)
    steps: list[motion.CameraStep] = field(default_factory=list)
    _last: tuple[Time, Image] | None = None

    @property
    def wants(self) -> FrameRequest:
        """Small frames, eight a second."""
        return FrameRequest(rate=RATE, size=Size(long_side=LONG_SIDE))

    def take(self, frame: Frame) -> None:
        """Measure its colours, and the movement since the frame before."""
        image = frame.image
        self.looks.append((frame.time, colours.look_at(image)))
        if self._last is not None:
            before, picture = self._last
            (flow,) = self.resources.role("flow").flow([(picture, image)])
            step = motion.step_between(picture, image, flow, before, frame.time)
            if step is not None:
                self.steps.append(step)
        self._last = (frame.time, image.copy())

    def describe(self, span: Span) -> Description:
        """Return what was seen between two cuts."""
        looks = [look for moment, look in self.looks if moment in span]
        if not looks:
            return NOTHING
        steps = [step for step in self.steps if step.start in span and step.end in span]
        return NOTHING.model_copy(
            update={
                "colour": Colour(
                    hue=list(_over_time(looks, colours.hue)),
                    saturation=list(_over_time(looks, colours.saturation)),
                    contrast=list(_over_time(looks, colours.contrast)),
                ),
                "lighting": Lighting(
                    direction=[], effect=[], brightness=list(_over_time(looks, colours.brightness))
                ),
                "camera": _camera(motion.movements(steps)),
            }
        )


def _camera(moves: Sequence[CameraMotion]) -> Camera:
    return NOTHING.camera.model_copy(update={"motion": list(moves)})


def _over_time(looks: list[colours.FrameLook], word: Callable[[colours.FrameLook], T]) -> list[T]:
    """Return the word for the shot; two where its first third differs from its last."""
    third = len(looks) // 3
    if third < 2:
        return [word(colours.mean_look(looks))]
    first, last = (word(colours.mean_look(part)) for part in (looks[:third], looks[-third:]))
    return [first] if first == last else [first, last]
