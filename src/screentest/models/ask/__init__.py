"""One way to ask a chat model: a template, its slots, the form of the answer, and what it is for.

    CLIP = Query("metrics/dense", ClipAnswer, role="chat.judge", use="slvm.dense")
    outcomes = CLIP.ask(resources, [{"frames": pictures, "captions": text}, …])

A query renders its template, asks, and unwraps: an object of the form, the text where there is no
form, or the reason why there is neither.

``Frames`` says which frames of a video a model is shown, and how large.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from screentest.core.errors import BadOption, NoValue
from screentest.core.frames import Filter, Frame, FrameRequest, Size, VideoInfo
from screentest.core.item import Span, Time
from screentest.core.metric import Calls, Resources
from screentest.core.outcome import Outcome, Reason
from screentest.models.ask.templates import Pictures, Prompts, Slot
from screentest.models.chat.messages import (
    ChatAnswer,
    ChatRequest,
    Encoding,
    Film,
    Sampling,
    Text,
    timed,
)
from screentest.models.chat.refusals import declines
from screentest.models.roles import Chat
from screentest.video.samples import evenly

if TYPE_CHECKING:
    from pydantic import BaseModel

    Slots: TypeAlias = Mapping[str, Slot]


@dataclass(frozen=True, slots=True)
class _Checked:
    """A check of a field; pydantic asks it for its schema, and is not imported before."""

    check: Callable[[str], str]

    def __get_pydantic_core_schema__(self, kind: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core.core_schema import no_info_after_validator_function

        return no_info_after_validator_function(self.check, handler(kind))


def _explains(text: str) -> str:
    if not any(letter.isalnum() for letter in text):
        raise ValueError("must say why")
    if declines(text):
        # Not a ValueError: this is not sent back to be worded better.
        raise NoValue(Reason.REFUSED, "the model declined")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


NonBlank: TypeAlias = Annotated[str, _Checked(_not_blank)]
"""A field of a form: a text that is not blank."""

Explanation: TypeAlias = Annotated[str, _Checked(_explains)]
"""Why the model answers as it does; one that gives none, or says that it guesses, has not
answered."""

GREEDY = Sampling(temperature=0.0)
"""Where no paper says how answers are sampled."""


@dataclass(frozen=True, slots=True)
class Query:
    """One kind of question, asked about many things."""

    template: str
    form: type[BaseModel] | None = None
    """The class of the answer; without one the answer is text."""
    role: str = "chat"
    """Who answers, such as ``chat.judge``: each use of the role may have a model of its own."""
    use: str = ""
    """What the ledger calls it; empty: the name of the template."""
    sampling: Sampling = GREEDY
    """As the paper that asks it samples: each package keeps its own settings beside its queries."""
    check: Callable[[Any, Any], object] | None = None
    """Whether an answer makes sense for the slots of its question: called with both, it raises
    ValueError, which says what is wrong. The model is told, once, and may answer anew."""

    def request(
        self, prompts: Prompts, slots: Slots, *, repeat: int = 0, sampling: Sampling | None = None
    ) -> ChatRequest:
        use = self.use or self.template.replace("/", ".")
        rendered = prompts.render(self.template, slots)
        return ChatRequest(
            rendered.parts,
            rendered.system,
            self.form,
            sampling=sampling or self.sampling,
            use=use,
            repeat=repeat,
            check=None if self.check is None else partial(self.check, slots),
        )

    def ask(
        self, resources: Resources, questions: Iterable[Slots], *, repeats: int = 1
    ) -> list[Outcome[Any]]:
        """One outcome per question and repeat; the repeats of a question follow one another."""
        requests = (
            self.request(resources.prompts, slots, repeat=repeat)
            for slots in questions
            for repeat in range(repeats)
        )
        return send(resources.role(self.role), requests)

    def one(self, resources: Resources, slots: Slots, *, repeat: int = 0) -> Any:
        """Return the answer to a single question; raises NoValue where there is none."""
        request = self.request(resources.prompts, slots, repeat=repeat)
        (outcome,) = send(resources.role(self.role), [request])
        answer = outcome.unwrap()
        if self.form is None and not str(answer).strip():
            raise NoValue(Reason.UNPARSABLE, "the model's answer is empty")
        return answer


def plain_request(text: str, pictures: Pictures, use: str) -> ChatRequest:
    """Return a question in the user's own words: pictures first, then the text."""
    return ChatRequest((*pictures.parts, Text(text)), use=use)


def send(chat: Chat, requests: Iterable[ChatRequest], *, together: int = 0) -> list[Outcome[Any]]:
    """Per request an object of its form, or its text where it has none.

    With ``together``, requests are made as they are needed, so many at a time.
    """
    waiting = iter(requests)
    outcomes: list[Outcome[Any]] = []
    while batch := list(islice(waiting, together or None)):
        answers = chat.ask(batch)
        outcomes += [_read(request, answer) for request, answer in zip(batch, answers, strict=True)]
    return outcomes


def _read(request: ChatRequest, outcome: Outcome[ChatAnswer]) -> Outcome[Any]:
    if outcome.failure is not None:
        return Outcome(failure=outcome.failure)
    answer = outcome.unwrap()
    if request.schema is None:
        return Outcome.of(answer.text)
    if not isinstance(answer.value, request.schema):
        return Outcome.failed(
            Reason.UNPARSABLE, f"the answer holds no object of {request.schema.__name__}"
        )
    return Outcome.of(answer.value)


class Placing(StrEnum):
    """Places in a video where frames are taken."""

    EVENLY = "evenly"
    """Each in the middle of its share of the time."""
    ENDS = "ends"
    """From the first frame to the last, the others evenly between."""
    STEPS = "steps"
    """Every nth frame of the source."""
    SHOTS = "shots"
    """The middle of each shot; of too many, some drawn at random."""


@dataclass(frozen=True, slots=True)
class Frames:
    """The way a video is shown: ``count`` frames, or ``rate`` a second, each with its time.

    >>> from fractions import Fraction
    >>> rates = Frames(rate=Fraction(4), slower=((15, Fraction(2)), (90, Fraction(1))))
    >>> [str(rates.rate_of(Fraction(seconds))) for seconds in (5, 15, 90)]
    ['4', '2', '1']
    """

    count: int | None = None
    rate: Fraction | None = None
    placing: Placing = Placing.EVENLY
    least: int = 1
    most: int = 4096
    multiple: int = 1
    """The number of frames is a multiple of this, where the video has as many."""
    long_side: int | None = None
    short_side: int | None = None
    max_pixels: int | None = None
    """No frame is ever enlarged."""
    filter: Filter = Filter.AREA
    quality: int = 85
    """Of the JPEG pictures."""
    detector: str = ""
    """Who finds the shots, where they are looked for; empty: the run's."""
    slower: tuple[tuple[int, Fraction], ...] = ()
    """From so many seconds on, no more than this rate."""
    smaller: tuple[tuple[int, int], ...] = ()
    """From so many seconds on, no longer short side than this."""

    def __post_init__(self) -> None:
        sides = [side for side in (self.long_side, self.short_side) if side is not None]
        if self.count is not None and not 1 <= self.count <= self.most:
            raise BadOption.of("count", self.count, f"1 to {self.most}")
        if self.rate is not None and self.rate <= 0:
            raise BadOption.of("rate", self.rate, "above 0 frames a second")
        if not 1 <= self.least <= self.most:
            raise BadOption(f"invalid limits: at least {self.least}, at most {self.most} frames")
        if any(not 16 <= side <= 4096 for side in sides):
            raise BadOption(f"invalid side of {sides[0]} pixels: must be 16 to 4096")

    def show(
        self, resources: Resources, video: Path, span: Span | None = None, *, seed: int = 0
    ) -> Pictures:
        """Return a video, or a piece of it, as pictures with "[t second]" before each."""
        film = Film(video) if span is None or span == resources.info(video).span else None
        return self.pictures(self.of(resources, video, span, seed=seed), film)

    def of(
        self, resources: Resources, video: Path, span: Span | None = None, *, seed: int = 0
    ) -> Iterator[Frame]:
        """Return the frames themselves, decoded anew at each call."""
        info = resources.info(video)
        piece = span or info.span
        if self.placing is Placing.SHOTS:
            centres = [shot.span.centre for shot in resources.shots(video, self.detector)]
            moments = drawn(centres, self.most, seed)
        else:
            moments = self.moments(info, piece)
        wanted = FrameRequest(size=self.size(info, piece), filter=self.filter)
        return resources.frames(video, moments, wanted)

    def pictures(self, frames: Iterable[Frame], film: Film | None = None) -> Pictures:
        """Frames as a template takes them; of a whole ``film``, which may be sent instead."""
        return Pictures(timed(frames, Encoding(quality=self.quality), film=film))

    def calls(self, role: str, info: VideoInfo, count: int = 1, span: Span | None = None) -> Calls:
        """Return so many calls that show a video, or a piece of it, for a forecast."""
        piece = span or info.span
        longest = max(self.size(info, piece).of(info.width, info.height))
        return Calls(role, "video", len(self.moments(info, piece)), longest, count)

    def moments(self, info: VideoInfo, span: Span) -> list[Time]:
        """Return the times at which the frames of a piece are on the screen."""
        if self.rate is None:
            return evenly(span, self.count or self.least)
        # A video shorter than one frame's time still has that one frame.
        there = max(1, round(span.duration * info.rate))
        chosen, each = self._chosen(info, span, there)
        return [span.start + (place + Fraction(1, 2)) * each for place in chosen]

    def _chosen(self, info: VideoInfo, span: Span, there: int) -> tuple[Sequence[int], Fraction]:
        """Return the numbers of the chosen frames, and the time of each frame."""
        rate = self.rate_of(span.duration)
        if self.placing is Placing.STEPS:
            chosen: Sequence[int] = range(0, there, max(1, int(info.rate / rate)))
            if len(chosen) > self.most:
                chosen = [int((2 * n + 1) * there / (2 * self.most)) for n in range(self.most)]
            return chosen, 1 / info.rate
        wanted = min(max(math.floor(span.duration * rate), self.least), self.most, there)
        return spread(there, max(1, wanted - wanted % self.multiple)), span.duration / there

    def rate_of(self, seconds: Fraction) -> Fraction:
        """Frames a second for a video of this length."""
        assert self.rate is not None
        return min([self.rate, *(rate for start, rate in self.slower if seconds >= start)])

    def size(self, info: VideoInfo, span: Span) -> Size:
        if self.short_side is not None:
            sides = (side for start, side in self.smaller if span.duration >= start)
            return Size(short_side=min([self.short_side, *sides]))
        pixels = info.width * info.height
        if self.max_pixels is None or pixels <= self.max_pixels:
            return Size(long_side=self.long_side)
        scale = math.sqrt(self.max_pixels / pixels)
        # Even sides: some encoders want them.
        return Size(exact=(_even(info.width * scale), _even(info.height * scale)))


def spread(frames: int, count: int) -> list[int]:
    """``count`` frame numbers from the first to the last.

    >>> spread(10, 4)
    [0, 3, 6, 9]
    """
    if count == 1:
        return [frames // 2]
    return [round(Fraction(place * (frames - 1), count - 1)) for place in range(count)]


def drawn(moments: Sequence[Time], budget: int, seed: int) -> list[Time]:
    """``budget`` of the moments, in their order.

    The draw depends on how many there are and on nothing else: two videos cut alike are looked
    at in the same places, whichever comes first.

    >>> [int(t) for t in drawn([Time(n) for n in range(10)], 3, seed=0)]
    [1, 2, 8]
    """
    if len(moments) <= budget:
        return list(moments)
    rng = random.Random(f"{seed}/{len(moments)}/{budget}")
    return [moments[place] for place in sorted(rng.sample(range(len(moments)), budget))]


def _even(side: float) -> int:
    return max(2, int(side) // 2 * 2)
