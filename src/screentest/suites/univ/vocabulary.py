"""The words of a description (closed lists beside free text), and the dimensions they belong to.

A member's value is what is written; ``also`` are other names it goes by. ``classify`` finds which
member a free text is about, so that a corpus can be counted.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Self


class Vocabulary(StrEnum):
    """A list of terms with other names for each."""

    also: tuple[str, ...]

    def __new__(cls, value: str, *also: str) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.also = also
        return member


def _read(name: str) -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


_LISTS = _read("vocabulary.toml")
PAPER_NAMES: Mapping[str, Mapping[str, Any]] = _read("paper_names.toml")
"""What the paper calls fields: of checklists by theirs, of parts of a description by ours."""


def _vocabulary(name: str, meaning: str | None, terms: Sequence[Sequence[str]]) -> type[Vocabulary]:
    members = {re.sub(r"\W+", "_", term[0]).upper(): tuple(term) for term in terms}
    enumeration: Any = Vocabulary  # mypy cannot follow members whose names are computed
    result: type[Vocabulary] = enumeration(name, members, module=__name__)
    result.__doc__ = meaning
    return result


VOCABULARIES: Mapping[str, type[Vocabulary]] = {
    name: _vocabulary(entry["class"], entry.get("meaning"), entry["terms"])
    for name, entry in _LISTS.items()
    if entry
}
"""The closed lists by sub-dimension; the other four are free text alone."""


def classify(vocabulary: type[Vocabulary], text: str) -> Vocabulary | None:
    """Return the member that a text is about: the longest name found in it, the first of equals.

    >>> classify(VOCABULARIES["camera_shot_size"], "A medium close-up showing the face")
    <ShotSize.MEDIUM_CLOSE_UP: 'medium close up'>
    """
    lowered = text.casefold()
    hits = [(member, pattern.search(lowered)) for member, pattern in _patterns(vocabulary)]
    ranked = {
        (len(hit[0]), -hit.start()): member for member, hit in reversed(hits) if hit is not None
    }
    # A longer name says more; of two as long, what is said first.
    return ranked[max(ranked)] if ranked else None


@cache
def _patterns(vocabulary: type[Vocabulary]) -> list[tuple[Vocabulary, re.Pattern[str]]]:
    return [
        (member, re.compile(rf"(?<!\w){re.escape(name.casefold())}(?!\w)"))
        for member in vocabulary
        for name in (member.value, *member.also)
    ]


class Dimension(StrEnum):
    """What a video is scored in, in the order of the published table."""

    SUBJECT = "subject"
    BACKGROUND = "background"
    ACTION = "action"
    CAMERA = "camera"
    COLOUR = "colour"
    LIGHTING = "lighting"
    STYLE = "style"
    POSITION = "position"


TITLES: Mapping[Dimension, str] = {
    **{dimension: dimension.value.capitalize() for dimension in Dimension},
    Dimension.STYLE: "Video style",
    Dimension.POSITION: "Relative position",
}

ATMOSPHERE = "atmosphere"
"""It has its field in every description and checklist, and is none of the 21 sub-dimensions. It is
counted beside them and enters no average."""

ALL_SUBDIMENSIONS: tuple[str, ...] = tuple(_LISTS)
OWNER: Mapping[str, Dimension] = {
    name: Dimension(name.partition("_")[0]) for name in ALL_SUBDIMENSIONS
}
SUBDIMENSIONS: Mapping[Dimension, tuple[str, ...]] = {
    dimension: tuple(name for name, owner in OWNER.items() if owner is dimension)
    for dimension in Dimension
}
