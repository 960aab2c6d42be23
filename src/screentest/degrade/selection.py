"""Drawing the clips that are harmed.

Clips are drawn in an order that only the dice decide; those that turn out unfit are passed
over. A larger number of clips holds the smaller one, so that rungs of a ladder are nested;
clips that must follow each other are drawn anew for each number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from screentest.core import NoValue, Reason
from screentest.degrade.contract import (
    Chosen,
    Degradation,
    DegradationInfo,
    FilmClip,
    Look,
    Unfit,
    Workshop,
)


class Drawing:
    """The clips of one film for one degradation, drawn as they are asked for."""

    def __init__(self, degradation: Degradation, shop: Workshop, look: Look) -> None:
        self._info = degradation.info
        self._degradation = degradation
        self._shop = shop
        self._look = look
        self._clips = [clip for clip in shop.film.clips if degradation.eligible(clip)]
        self._waiting: Iterator[FilmClip] = iter(shop.dice.shuffled(self._clips, "draw"))
        self._chosen: list[Chosen] = []
        self._unfit: Counter[str] = Counter()

    def take(self, count: int) -> list[Chosen]:
        """``count`` clips; raises NoValue(NOT_APPLICABLE) where the film does not have them."""
        total = len(self._shop.film.clips)
        needed = count + self._info.leaves
        if total < needed:
            left = f", since {self._info.leaves} must be left" if self._info.leaves else ""
            raise _too_few(f"{needed} clips are needed{left}; the film has {total}")
        if self._info.consecutive:
            return self._take_consecutive(count)
        while len(self._chosen) < count:
            clip = next(self._waiting, None)
            if clip is None:
                raise _too_few(self._told(count))
            self._try(clip)
        return self._chosen[:count]

    def _try(self, clip: FilmClip) -> None:
        try:
            dice = self._shop.dice_of(clip)
            details = self._degradation.settle(clip, self._look, dice, self._shop.dice)
        except Unfit as why:
            self._unfit[str(why)] += 1
        else:
            self._chosen.append(Chosen(clip, details))

    def _take_consecutive(self, count: int) -> list[Chosen]:
        if count < 2:
            raise _too_few("one clip has no order: at least two are needed")
        clips = self._shop.film.clips
        eligible = {clip.number for clip in self._clips}
        starts = [
            first
            for first in range(len(clips) - count + 1)
            if all(clip.number in eligible for clip in clips[first : first + count])
        ]
        if not starts:
            raise _too_few(f"nowhere do {count} captioned clips follow each other")
        first = self._shop.dice.pick(starts, "first of", count)
        return [Chosen(clip) for clip in clips[first : first + count]]

    def _told(self, count: int) -> str:
        return _told(self._info, len(self._clips), len(self._shop.film.clips), count, self._unfit)


def _told(info: DegradationInfo, eligible: int, total: int, count: int, unfit: Counter[str]) -> str:
    """Why there are not enough clips.

    >>> from screentest.core import Aspect
    >>> info = DegradationInfo(Aspect.COLOR, mentions="a colour")
    >>> _told(info, 4, 12, 5, Counter({"show none of them": 2}))
    '5 clips are needed; 4 of 12 captions mention a colour; 2 of these clips show none of them'
    """
    words = [f"{count} clips are needed"]
    if info.mentions:
        words.append(f"{eligible} of {total} captions mention {info.mentions}")
    else:
        words.append(f"the film has {total}")
    words += [f"{number} of these clips {why}" for why, number in sorted(unfit.items())]
    return "; ".join(words)


def _too_few(detail: str) -> NoValue:
    return NoValue(
        Reason.NOT_APPLICABLE, detail, advice="Ask for fewer clips (--clips), or leave it out."
    )
