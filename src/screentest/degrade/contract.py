"""Degradation: harms one aspect of a film, in chosen clips and nowhere else.

It says which clips it could harm, settles what it would do to one of them (which object, which
colour), and gives the parts that the changed copy is spliced from. ``severity`` goes from 0,
nothing, to 1, the paper's own strength, and more of it never harms less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from screentest.core import Aspect, Span
from screentest.degrade.dice import Dice

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.degrade.captions.facts import CaptionFacts
    from screentest.models import Models
    from screentest.video import NormalizedVideo, Part

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
    leaves: int = 0
    """How many clips must be left besides the chosen ones."""
    inputs: str = ""
    """A hash of the files it draws on besides the film."""
    remarks: tuple[str, ...] = ()
    """What the user should know of those files."""


class Look(Protocol):
    """A look at the film before anything is settled."""

    @property
    def models(self) -> Models:
        """The backends."""

    def pictures(self, clip: FilmClip) -> Sequence[Image]:
        """A few pictures of a clip, in order, RGB."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """What a degradation works with: the film, the dice for it, the backends."""

    film: Film
    dice: Dice
    models: Models

    def dice_of(self, clip: FilmClip) -> Dice:
        """The dice of one clip, whichever others were chosen."""
        return self.dice.at("clip", clip.number)


class Degradation(Protocol):
    """One operator. Its factory is registered under the name of its aspect."""

    @property
    def info(self) -> DegradationInfo:
        """What it is."""

    def eligible(self, clip: FilmClip) -> bool:
        """Whether the caption allows it."""

    def settle(self, clip: FilmClip, look: Look, dice: Dice, film_dice: Dice) -> Details:
        """What it would do to ``clip``; raises Unfit where the pictures do not allow it.

        ``dice`` is for this clip, ``film_dice`` for what all clips of the film share.
        """

    def parts(self, shop: Workshop, chosen: Sequence[Chosen], severity: float) -> list[Part]:
        """The changed copy. ``chosen`` is in the order in which the clips were drawn."""


class Placebo(Protocol):
    """An edit that must not change a score."""

    @property
    def suffix(self) -> str:
        """How its files end."""

    def eligible(self, film: Film) -> bool:
        """Whether it can be done to this film."""

    def write(self, shop: Workshop, out: Path) -> None:
        """Write the edited copy to ``out``."""


def share_of(count: int, severity: float, *, least: int = 1) -> int:
    """How many of ``count`` clips a severity touches, where a clip is touched or not.

    >>> [share_of(5, severity) for severity in (0.01, 0.25, 0.5, 0.75, 1.0)]
    [1, 1, 3, 4, 5]
    """
    return min(count, max(least, int(count * severity + 0.5)))


def pieces(film: Film, replaced: Mapping[int, Part | None]) -> Iterator[Part]:
    """All of the film in order, with some clips replaced, or left out where None is given."""
    from screentest.video import Keep

    by_span: dict[Span, Any] = {
        clip.span: replaced[clip.number] for clip in film.clips if clip.number in replaced
    }
    for span in film.video.clips:
        part = by_span.get(span, Keep(span))
        if part is not None:
            yield part
