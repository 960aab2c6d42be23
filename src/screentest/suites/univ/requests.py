"""One question to the judge: a template, its slots, the form of the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from screentest.core import (
    BadOption,
    Filter,
    FrameRequest,
    Outcome,
    Resources,
    Size,
    Span,
    Time,
    VideoInfo,
)
from screentest.models.chat.messages import ChatRequest, Encoding, Sampling, timed
from screentest.models.templates import Pictures

if TYPE_CHECKING:
    from pydantic import BaseModel

    from screentest.models.templates import Slot


JUDGE = "chat.judge"
CAPTION = "chat.caption"
SAMPLING = Sampling(temperature=0.0001, max_tokens=32768)
"""UniV-Eval's: as good as greedy, with room for long lists of faults."""
AT_ONCE = 16
"""Questions that are asked together."""


def request(
    resources: Resources,
    template: str,
    slots: Mapping[str, Slot],
    form: type[BaseModel] | None,
    use: str,
    sampling: Sampling | None = None,
) -> ChatRequest:
    """A request with its slots filled; sampled as the paper's judge unless told otherwise."""
    rendered = resources.prompts.render(template, slots)
    chosen = sampling or SAMPLING
    return ChatRequest(rendered.parts, rendered.system, form, sampling=chosen, use=use)


def ask(resources: Resources, role: str, requests: Iterable[ChatRequest]) -> list[Outcome[Any]]:
    """An object of each request's form, or its text where it has none.

    Requests are made as they are needed: the pictures of a long film's shots are many, and
    never all in memory.
    """
    waiting = iter(requests)
    found: list[Outcome[Any]] = []
    while some := list(islice(waiting, AT_ONCE)):
        for answer in resources.role(role).ask(some):
            found.append(
                answer.map(lambda one: one.text.strip() if one.value is None else one.value)
            )
    return found


# Which frames a model is shown, and how large: fewer and smaller the longer the video is.
#
# The published rates: four a second at a short side of 480, two from 15 s on, one from 90 s on,
# one every two seconds from 300 s on; a short side of 360 from 180 s on. Frames are taken at
# whole steps of the source's own frames, and never enlarged.

_RATES = ((10, Fraction(4)), (15, Fraction(2)), (90, Fraction(1)), (300, Fraction(1, 2)))
_SIDES = ((10, 480), (180, 360))
QUALITY = 85


@dataclass(frozen=True, slots=True)
class Looking:
    """How a video is shown."""

    fps: Fraction = Fraction(4)
    short_side: int = 480
    most: int = 320
    """No more frames than this, spread evenly. Ours: the released code has no such limit, and
    it bites only beyond ten minutes."""

    def __post_init__(self) -> None:
        if self.fps <= 0 or self.short_side < 16 or self.most < 1:
            raise BadOption("a model is shown some frames a second, of 16 pixels or more")

    def rate(self, seconds: Fraction) -> Fraction:
        """Frames per second for a video of this length.

        >>> [str(Looking().rate(Fraction(t))) for t in (5, 15, 89, 90, 300)]
        ['4', '2', '2', '1', '1/2']
        """
        return min([self.fps, *(rate for least, rate in _RATES if seconds >= least)])

    def side(self, seconds: Fraction) -> int:
        """The most that the shorter side may have, in pixels."""
        return min([self.short_side, *(side for least, side in _SIDES if seconds >= least)])

    def moments(self, info: VideoInfo, span: Span) -> list[Time]:
        """The middle of each chosen frame's time on the screen."""
        frame = 1 / info.rate
        # A video shorter than one frame's time still has that one frame.
        count = max(1, round(span.duration * info.rate))
        step = max(1, int(info.rate / self.rate(span.duration)))
        chosen: Sequence[int] = range(0, count, step)
        if len(chosen) > self.most:
            chosen = [int((2 * n + 1) * count / (2 * self.most)) for n in range(self.most)]
        return [span.start + (place + Fraction(1, 2)) * frame for place in chosen]

    def show(self, video: Path, resources: Resources, span: Span | None = None) -> Pictures:
        """A video, or a piece of it, as pictures with "[t second]" before each."""
        info = resources.info(video)
        piece = span or info.span
        wants = FrameRequest(size=Size(short_side=self.side(piece.duration)), filter=Filter.AREA)
        frames = resources.frames(video, self.moments(info, piece), wants)
        return Pictures(timed(frames, Encoding(quality=QUALITY)))
