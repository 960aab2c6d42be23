"""Degradation: harms one aspect of a film, in chosen clips and nowhere else.

It says which clips it could harm, settles what it would do to one of them (which object, which
colour), and gives the parts that the changed copy is spliced from. ``severity`` goes from 0,
nothing, to 1, the paper's own strength, and more of it never harms less.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from screentest.core import Aspect, Frame, Image, Script, Span, Time
from screentest.models import Models
from screentest.testbeds.captions.facts import CaptionFacts
from screentest.video.edit.pictures import Keep
from screentest.video.samples import evenly, sample_frames
from screentest.video.survey import survey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from screentest.video.edit.normalize import NormalizedVideo
    from screentest.video.edit.pictures import VideoPart


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rng:
    """Random choices for one purpose; ``at`` gives those for a part of it.

    Each is made by a hash of what it is for and never by a running stream: the order of work, the
    number of workers and the version of a random generator change nothing, and one more choice
    somewhere leaves all the others as they were.

    >>> rng = Rng.of(7, "film", "color")
    >>> rng.pick(["red", "green", "blue"], "first") == rng.pick(["red", "green", "blue"], "first")
    True
    >>> sorted(rng.order(4))
    [0, 1, 2, 3]
    """

    purpose: tuple[str, ...]

    @classmethod
    def of(cls, *purpose: object) -> Rng:
        """Return the rng for a purpose: seed, source, aspect…"""
        return cls(tuple(map(str, purpose)))

    def at(self, *more: object) -> Rng:
        """Return the rng for a part: a clip, a frame."""
        return Rng((*self.purpose, *map(str, more)))

    def number(self, below: int, *what: object) -> int:
        """Return a number from 0 on, below ``below``."""
        return int.from_bytes(self._digest(what), "big") % below

    def pick(self, things: Sequence[T], *what: object) -> T:
        return things[self.number(len(things), *what)]

    def order(self, count: int, *what: object) -> list[int]:
        """Return the numbers below ``count``, shuffled."""
        return sorted(range(count), key=lambda number: self._digest((*what, "place", number)))

    def shuffled(self, things: Sequence[T], *what: object) -> list[T]:
        """``things`` in another order, or by chance in the same."""
        return [things[number] for number in self.order(len(things), *what)]

    def bits(self, count: int, *what: object) -> NDArray[np.uint8]:
        """As many random bytes; for noise, where a hash for each would take too long."""
        import numpy as np

        key = int.from_bytes(self._digest(what)[:16], "big")
        words = np.random.Philox(key=key).random_raw(-(-count // 8))
        return np.asarray(words).astype("<u8").view(np.uint8)[:count]

    def _digest(self, what: Sequence[object]) -> bytes:
        text = json.dumps([*self.purpose, *map(str, what)], separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


Details: TypeAlias = dict[str, str | int | float]
"""What was settled for a clip, as it is recorded."""


class Unfit(Exception):
    """The clip cannot be harmed in this aspect; another one is drawn. The text says why."""


@dataclass(frozen=True, slots=True)
class FilmClip:
    """A captioned clip of a normalised film."""

    number: int
    """Its place in the script, from 0."""
    caption: str
    span: Span
    """In the normalised file."""
    frames: int
    facts: CaptionFacts
    """Empty where the caption could not be read."""
    unread: bool = False
    """No facts could be had of its caption; what it mentions is not known."""

    @property
    def rate(self) -> float:
        """Frames a second."""
        return float(self.frames / self.span.duration)


@dataclass(frozen=True, slots=True)
class Film:
    """A normalised film and its captioned clips."""

    video: NormalizedVideo
    clips: tuple[FilmClip, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A clip that will be harmed, and what was settled for it."""

    clip: FilmClip
    details: Details = field(default_factory=dict)


class Effect(StrEnum):
    """What happens to the frames of a touched clip. The check of a pair holds an operator to it."""

    PICTURES = "pictures"
    """Each frame stays in its place and looks different."""
    TIMING = "timing"
    """Frames come at other moments, or not at all; ``changed`` says how many differ."""
    ABSENT = "absent"
    """The clip is gone."""
    ORDER = "order"
    """The clip is elsewhere, as it was, or another is shown again beside it."""
    BACKWARDS = "backwards"
    """The clip is elsewhere, and its frames come in reverse."""


class Region(StrEnum):
    """Where in a frame an operator works. Elsewhere nothing may change."""

    FRAME = "frame"
    THING = "thing"
    """Where the thing is that the detail ``object`` names; frames without it stay."""
    AROUND = "around"
    """That thing and its surroundings, as far as ``reach`` says; frames without it stay."""
    FOREGROUND = "foreground"
    BACKGROUND = "background"


@dataclass(frozen=True, slots=True)
class Reach:
    """How far beyond a thing an operator changes the picture, at full severity.

    ``across``, ``up`` and ``down`` are in sides of the box around all of its instances;
    ``aside`` in widths of the picture, to either side and in again at the other edge.
    """

    across: float = 0.0
    up: float = 0.0
    down: float = 0.0
    aside: float = 0.0


def all_of(count: int) -> int:
    """Return each of the chosen clips."""
    return count


@dataclass(frozen=True, slots=True)
class DegradationInfo:
    """What a degradation is, as plain declarations at its head."""

    aspect: Aspect
    mentions: str = ""
    """What a caption must mention for its clip to be eligible, in words; empty: nothing."""
    roles: tuple[str, ...] = ()
    """The model roles it asks for."""
    long_side: int | None = None
    """The size at which both videos of a pair must be, where the aspect has one of its own."""
    consecutive: bool = False
    """Whether the clips must follow each other."""
    at_end: bool = False
    """Whether they must be the last ones of the film; they follow each other then."""
    leaves: int = 0
    """How many clips must be left besides the chosen ones."""
    inputs: str = ""
    """A hash of the files it draws on besides the film."""
    remarks: tuple[str, ...] = ()
    """What the user should know of those files."""
    effect: Effect = Effect.PICTURES
    region: Region = Region.FRAME
    reach: Reach | None = None
    """Of AROUND; None: anywhere in frames that show the thing."""
    whole: bool = False
    """Whether a model paints whole frames anew, which may move or brighten them a little."""
    changed: float = 1.0
    """At full severity, the least share of a touched clip's frames that must look different."""
    touches: Callable[[int], int] = all_of
    """At full severity, how many clips must be touched, of so many that were chosen."""
    checks: tuple[str, ...] = ()
    """What else is checked of each touched clip, by name: see ``sightings.CLIP_CHECKS``."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a degradation works with: the film, the rng for it, the backends."""

    film: Film
    rng: Rng
    models: Models

    def rng_of(self, clip: FilmClip) -> Rng:
        """Return the rng of one clip, whichever others were chosen."""
        return self.rng.at("clip", clip.number)


class Degradation(Protocol):
    """One operator. Its factory is registered under its name."""

    @property
    def info(self) -> DegradationInfo: ...

    def eligible(self, clip: FilmClip) -> bool:
        """Return True if the caption allows it."""

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """Decide what to do to ``clip``; raise Unfit where the pictures do not allow it.

        ``rng`` is for this clip, ``film_rng`` for what all clips of the film share.
        """

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """Return the changed copy. ``chosen`` is in the order in which the clips were drawn."""


class Placebo(Protocol):
    """An edit that must not change a score."""

    @property
    def suffix(self) -> str:
        """The suffix of its files."""

    def eligible(self, film: Film) -> bool:
        """Return True if it can be done to this film."""

    def write(self, context: Context, out: Path) -> None:
        """Write the edited copy to ``out``."""


def share_of(count: int, severity: float, *, least: int = 1) -> int:
    """Count the clips of ``count`` that a severity touches, where a clip is touched or not.

    >>> [share_of(5, severity) for severity in (0.01, 0.25, 0.5, 0.75, 1.0)]
    [1, 1, 3, 4, 5]
    >>> share_of(5, 0)
    0
    """
    if severity <= 0:
        return 0
    return min(count, max(least, int(count * severity + 0.5)))


def pieces(film: Film, replaced: Mapping[int, VideoPart | None]) -> Iterator[VideoPart]:
    """Yield all of the film in order, with some clips replaced, or left out where None is given."""
    by_span: dict[Span, Any] = {
        clip.span: replaced[clip.number] for clip in film.clips if clip.number in replaced
    }
    for span in film.video.clips:
        part = by_span.get(span, Keep(span))
        if part is not None:
            yield part


# From a script on the source's clock to the clips of the normalised film.


def boundaries(script: Script) -> list[Time]:
    """Return where the clips of a timed script begin and end."""
    spans = [clip.span for clip in script.clips if clip.span is not None]
    return sorted({moment for span in spans for moment in (span.start, span.end)})


def places_of(video: NormalizedVideo) -> Mapping[Time, Time]:
    """Return where each boundary that was asked for is in the file. Long films have thousands."""
    return {boundary.asked: boundary.time for boundary in video.boundaries}


def film_of(video: NormalizedVideo, script: Script, facts: Sequence[CaptionFacts | None]) -> Film:
    """Return the film with its captioned clips, without those of which no frame is left.

    That is so for a caption beyond the end of the film, and for one shorter than a frame.
    Facts are None where a caption could not be read.
    """
    times, places = video.frame_times(), places_of(video)
    clips = []
    for number, (clip, read) in enumerate(zip(script.clips, facts, strict=True)):
        assert clip.span is not None
        start, end = places[clip.span.start], places[clip.span.end]
        frames = bisect_left(times, end) - bisect_left(times, start)
        if frames > 0:
            span, facts_of_clip = Span(start, end), read or CaptionFacts()
            clips.append(FilmClip(number, clip.caption, span, frames, facts_of_clip, read is None))
    return Film(video, tuple(clips))


# A look at the clips of a film before it is settled what to do to them.

PICTURES = 3
"""How many pictures of a clip are looked at."""
STEP = Time(1, 4)
"""Seconds over which motion is seen; a frame, where that is longer."""


class Look:
    """A look at the intact film, inside its borders. Only the last clip's pictures are kept."""

    def __init__(self, film: Film, models: Models) -> None:
        self.models = models
        self._film = film
        self._table = survey(film.video.path)
        self._last: tuple[int, list[Image]] = (-1, [])

    def pictures(self, clip: FilmClip) -> Sequence[Image]:
        """Return a few pictures of the clip, evenly spread, RGB."""
        if self._last[0] != clip.number:
            moments = evenly(clip.span, PICTURES)
            frames = self._frames(moments)
            self._last = clip.number, [frame.image for frame in frames]
        return self._last[1]

    def steps(self, clip: FilmClip) -> Sequence[tuple[Image, Image]]:
        """Return a few times two pictures of the clip, a ``STEP`` apart, evenly spread, RGB."""
        step = max(STEP, clip.span.duration / clip.frames)
        if step >= clip.span.duration:
            return []
        moments = evenly(Span(clip.span.start, clip.span.end - step), PICTURES)
        both = [moment for at in moments for moment in (at, at + step)]
        # In a short clip, several moments show one frame.
        shown = {frame.index: frame.image for frame in self._frames(both)}
        numbers = [(self._table.shown_at(at), self._table.shown_at(at + step)) for at in moments]
        return [(shown[first], shown[second]) for first, second in numbers]

    def _frames(self, moments: Sequence[Time]) -> Iterator[Frame]:
        video = self._film.video
        return sample_frames(video.path, moments, table=self._table, cut=video.borders)
