"""Item, Script, Clip, Shot: what is evaluated and what it should show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from pathlib import Path

from screentest.core.timing import Span, Time


@dataclass(frozen=True, slots=True)
class Clip:
    """A piece of a script: its caption, and its time range where that is known."""

    caption: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """The shot-by-shot text of a long video: ordered clips, all timed or none.

    The script of a film that was captioned has times; that of a film still to be
    generated has only the order.
    """

    clips: tuple[Clip, ...]

    def __post_init__(self) -> None:
        spans = [clip.span for clip in self.clips if clip.span is not None]
        if spans and len(spans) != len(self.clips):
            raise ValueError("either every clip of a script has a time range or none has")
        for number, (one, two) in enumerate(pairwise(spans), start=1):
            if two.start < one.end:
                raise ValueError(
                    f"clip {number + 1} ({two}) starts before clip {number} ({one}) ends"
                )

    @property
    def timed(self) -> bool:
        """Whether its clips have time ranges."""
        return bool(self.clips) and self.clips[0].span is not None

    @property
    def text(self) -> str:
        """The captions joined: the prompt of a long video."""
        return joined(self.clips)


def joined(clips: Iterable[Clip]) -> str:
    """The captions of some clips as one text, whatever is said of their times."""
    return " ".join(clip.caption for clip in clips if clip.caption)


class Transition(StrEnum):
    """How a shot comes in."""

    START = "start"
    CUT = "cut"
    FADE = "fade"
    DISSOLVE = "dissolve"


@dataclass(frozen=True, slots=True)
class Shot:
    """A range found by a detector. It has no text; a Clip has.

    ``transition`` says how the shot comes in. A gradual one lasts over ``gradual``;
    ``start`` is then its middle, where the new picture takes over.
    """

    span: Span
    transition: Transition = Transition.START
    gradual: Span | None = None
    found_by: tuple[str, ...] = ()

    @property
    def start(self) -> Time:
        """The first moment of the shot."""
        return self.span.start

    @property
    def end(self) -> Time:
        """The moment the next shot starts."""
        return self.span.end


@dataclass(frozen=True, slots=True)
class Item:
    """One video to evaluate, and what it was asked to be."""

    id: str
    video: Path
    prompt: str = ""
    script: Script | None = None
    references: tuple[Path, ...] = ()
    """Reference images."""
    source: Path | None = None
    """The video that was edited."""
    instruction: str = ""
    """What the edit was to do."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """By what to group results: model, theme, category…"""

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("an item needs an id")

    @property
    def text(self) -> str:
        """The prompt, or the script joined where only that is given."""
        return self.prompt or (self.script.text if self.script else "")
