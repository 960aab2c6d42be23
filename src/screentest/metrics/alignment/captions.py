"""The centre pictures of a film's shots beside the captions of its script, matched once.

Several metrics ask for the same table; it is made by the first of them in a measurement.

Each caption belongs to one shot, in order, as a whole. Similarities of pictures and texts are weak
and lopsided: one caption is near to every picture, one picture far from every caption. So what
counts is how far a pair stands out of its row and its column. The best one-to-one assignment that
keeps the order is found by dynamic programming (Needleman and Wunsch, 1970); leaving a shot or a
caption out costs so much that it is done only where their numbers differ.

A prompt without a script is one caption, and all of the film belongs to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from screentest.core.errors import NoValue
from screentest.core.frames import FrameRequest, Image, Layout, Size
from screentest.core.item import Item, Shot
from screentest.core.metric import Resources
from screentest.core.outcome import Point, Reason
from screentest.core.registry import build
from screentest.models.networks.runtimes import batches
from screentest.models.roles import ImageText

Similarities: TypeAlias = NDArray[np.float64]


READ = 0.5
"""The share of captions that must name something the model looks for, for them to be judged."""
MATCH, SKIP = 3.0, 2.0
"""What a pair earns besides its similarity, and what an unmatched one costs, in deviations."""


@dataclass(frozen=True, slots=True)
class Matching:
    """Pairs of shot and caption, both by number, in order."""

    pairs: tuple[tuple[int, int], ...]
    total: float
    """The sum of the pairs' values."""


def standing_out(similarity: Similarities) -> Similarities:
    """Return how far each value stands out of its row and column, in deviations of all.

    Where nothing does, all are 0: what rounding leaves is not a deviation.

    >>> standing_out(np.array([[0.9, 0.8], [0.2, 0.3]])).round(2).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    rows = similarity - similarity.mean(axis=1, keepdims=True)
    both = rows - rows.mean(axis=0, keepdims=True)
    deviation = float(both.std())
    return np.asarray(both / deviation) if deviation > 1e-12 else np.zeros_like(both)


def in_order(values: Similarities, match: float = MATCH, skip: float = SKIP) -> Matching:
    """Return the best pairs (row, column) in which neither goes back.

    >>> in_order(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])).pairs
    ((0, 0), (1, 2))
    """
    shots, captions = values.shape
    best = np.zeros((shots + 1, captions + 1))
    best[1:, 0] = -skip * np.arange(1, shots + 1)
    best[0, 1:] = -skip * np.arange(1, captions + 1)
    for shot in range(shots):
        # Up and diagonal steps are known for the whole row; steps to the right run through it.
        row = np.maximum(best[shot, :-1] + values[shot] + match, best[shot, 1:] - skip)
        steps = np.arange(1, captions + 1) * skip
        row = np.maximum.accumulate(np.concatenate(([best[shot + 1, 0]], row + steps)))
        best[shot + 1, 1:] = row[1:] - steps
    return _traced(best, values, match, skip)


def _traced(best: Similarities, values: Similarities, match: float, skip: float) -> Matching:
    shot, caption = values.shape
    pairs: list[tuple[int, int]] = []
    while shot and caption:
        here = best[shot, caption]
        if np.isclose(here, best[shot - 1, caption - 1] + values[shot - 1, caption - 1] + match):
            shot, caption = shot - 1, caption - 1
            pairs.append((shot, caption))
        elif np.isclose(here, best[shot - 1, caption] - skip):
            shot -= 1
        else:
            caption -= 1
    pairs.reverse()
    return Matching(tuple(pairs), float(sum(values[pair] for pair in pairs)))


def in_any_order(values: Similarities) -> Matching:
    """Return the best pairs, whatever their order.

    >>> in_any_order(np.array([[0.0, 1.0], [1.0, 0.0]])).pairs
    ((0, 1), (1, 0))
    """
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(values, maximize=True)
    pairs = tuple(zip(rows.tolist(), columns.tolist(), strict=True))
    return Matching(pairs, float(sum(values[pair] for pair in pairs)))


COLOUR_WORDS = "colour_words"
"""The backend that counts beside the chosen one: colours are what either sees least."""
PICTURE = FrameRequest(size=Size(long_side=448), layout=Layout.RGB, inside=True)
SEES = "Choose a model that sees more: --model image_text=hf:NAME."
_AT_ONCE = 16
_COLOUR_SIDE = 64


@dataclass(frozen=True, slots=True)
class ShotCaptions:
    """Everything that is known of a film's shots and captions together."""

    shots: tuple[Shot, ...]
    """Those that have a picture."""
    captions: tuple[str, ...]
    similarity: Similarities
    """Shots × captions: cosines of the role image_text."""
    values: Similarities
    """How far each pair stands out."""
    matching: Matching
    thumbnails: tuple[Image, ...]
    """A small RGB picture of each shot."""

    @property
    def single(self) -> bool:
        """Return whether all shots belong to one caption."""
        return len(self.captions) == 1

    def must_have_order(self) -> None:
        """Raise NoValue where there is one caption: nothing it could stand out from."""
        if self.single:
            raise NoValue(Reason.NOT_APPLICABLE, "a single caption has no order")

    def must_tell_apart(self) -> None:
        """Raise NoValue where no caption is nearer to one shot than to another, or where so few
        say anything that the order of all is not known."""
        self.must_have_order()
        self.must_see()
        if not self.values.any():
            raise NoValue(Reason.NOT_APPLICABLE, "no shot stands out for any caption", advice=SEES)

    def must_see(self) -> None:
        """Raise NoValue where most captions say nothing that the model looks for."""
        read = int(self.similarity.any(axis=0).sum())
        if not read:
            raise sees_nothing()
        if read < READ * len(self.captions):
            raise NoValue(
                Reason.LOW_COVERAGE,
                f"{read} of {len(self.captions)} captions name something that the model in the"
                " role image_text looks for",
                advice=SEES,
            )

    def points(self, values: Similarities) -> tuple[Point, ...]:
        """Return the value of each pair, at its shot, with its caption."""
        return tuple(
            Point(
                self.shots[shot].span, float(values[shot, caption]), noted(self.captions, caption)
            )
            for shot, caption in self.matching.pairs
        )


_known: WeakKeyDictionary[Resources, dict[tuple[Path, float], ShotCaptions]] = WeakKeyDictionary()


def shot_captions(item: Item, resources: Resources, colours: float) -> ShotCaptions:
    """Return the table of an item; ``colours`` is what colour words weigh beside the role's
    cosine."""
    made = _known.setdefault(resources, {})
    key = (item.video, colours)
    if key not in made:
        made[key] = _made(item, resources, colours)
    return made[key]


def _made(item: Item, resources: Resources, colours: float) -> ShotCaptions:
    clips = item.script.clips if item.script is not None else ()
    captions = tuple(clip.caption for clip in clips if clip.caption.strip()) or (item.text,)
    shots = resources.shots(item.video)
    model: ImageText = resources.role("image_text")
    words: ImageText = build("image_text", COLOUR_WORDS).thing
    seen, hues, thumbnails = [], [], []
    moments = [shot.span.centre for shot in shots]
    for batch in batches(moments, _AT_ONCE):
        pictures = [frame.image for frame in resources.frames(item.video, batch, PICTURE)]
        seen.append(model.embed_images(pictures))
        hues.append(words.embed_images(pictures))
        thumbnails += [_small(picture) for picture in pictures]
    if len(captions) > 1 and len(thumbnails) < 2:
        raise NoValue(Reason.NOT_APPLICABLE, "a film of one shot has no order")
    similarity = _cosines(np.concatenate(seen), model.embed_texts(captions))
    if len(captions) == 1:
        every = Matching(tuple((shot, 0) for shot in range(len(thumbnails))), 0.0)
        nothing = np.zeros_like(similarity)
        return ShotCaptions(tuple(shots), captions, similarity, nothing, every, tuple(thumbnails))
    by_colour = _cosines(np.concatenate(hues), words.embed_texts(captions))
    values = standing_out(standing_out(similarity) + colours * standing_out(by_colour))
    return ShotCaptions(
        tuple(shots), captions, similarity, values, in_order(values), tuple(thumbnails)
    )


def sees_nothing() -> NoValue:
    """Of a model to which the text is at right angles with every picture: not a score of 0."""
    return NoValue(
        Reason.NOT_APPLICABLE,
        "the text names nothing that the model in the role image_text looks for",
        advice=SEES,
    )


def _cosines(pictures: np.ndarray, texts: np.ndarray) -> Similarities:
    return np.asarray(pictures @ texts.T, np.float64)


def _small(picture: Image) -> Image:
    import cv2

    size = (_COLOUR_SIDE, _COLOUR_SIDE)
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def noted(captions: Sequence[str], number: int) -> str:
    """Return a caption as a short note beside a point.

    >>> noted(["A dog runs over a wide green meadow under clouds."], 0)
    'clip 1: A dog runs over a wide green meadow…'
    """
    text = captions[number]
    short = text if len(text) <= 40 else f"{text[:36].rsplit(' ', 1)[0]}…"
    return f"clip {number + 1}: {short}"
