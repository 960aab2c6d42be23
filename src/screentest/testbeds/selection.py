"""Selection: the clips that are harmed.

Clips are drawn in an order that only the seed decides; those that turn out unfit are passed
over. A larger number of clips holds the smaller one, so that rungs of a ladder are nested;
clips that must follow each other are drawn anew for each number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from screentest.core import NoValue, Reason
from screentest.testbeds.contract import (
    Chosen,
    Context,
    Degradation,
    DegradationInfo,
    FilmClip,
    Look,
    Unfit,
)


class ClipDraw:
    """The clips of one film for one degradation, drawn as they are asked for."""

    def __init__(self, degradation: Degradation, context: Context, look: Look) -> None:
        self._info = degradation.info
        self._degradation = degradation
        self._context = context
        self._look = look
        self._clips = [clip for clip in context.film.clips if degradation.eligible(clip)]
        self._waiting: Iterator[FilmClip] = iter(context.rng.shuffled(self._clips, "draw"))
        self._chosen: list[Chosen] = []
        self._unfit: Counter[str] = Counter()

    def take(self, count: int, least: int | None = None) -> list[Chosen]:
        """``count`` clips, or as many as there are where these are at least ``least``.

        Raises NoValue(NOT_APPLICABLE) where the film does not have them.
        """
        least = count if least is None else least
        total = len(self._context.film.clips)
        needed = least + self._info.leaves
        if total < needed:
            left = f", since {self._info.leaves} must be left" if self._info.leaves else ""
            raise _too_few(f"{needed} clips are needed{left}; the film has {total}")
        count = min(count, total - self._info.leaves)
        if self._info.consecutive:
            return self._take_consecutive(count, max(2, least))
        while len(self._chosen) < count:
            clip = next(self._waiting, None)
            if clip is None:
                break
            self._try(clip)
        if len(self._chosen) < least:
            raise _too_few(self._message(least))
        return self._chosen[:count]

    def _try(self, clip: FilmClip) -> None:
        try:
            rng = self._context.rng_of(clip)
            details = self._degradation.settle(clip, self._look, rng, self._context.rng)
        except Unfit as why:
            self._unfit[str(why)] += 1
        else:
            self._chosen.append(Chosen(clip, details))

    def _take_consecutive(self, most: int, least: int) -> list[Chosen]:
        if most < 2:
            raise _too_few("one clip has no order: at least two are needed")
        clips = self._context.film.clips
        eligible = {clip.number for clip in self._clips}
        for count in range(most, least - 1, -1):
            starts = [
                first
                for first in range(len(clips) - count + 1)
                if all(clip.number in eligible for clip in clips[first : first + count])
            ]
            if starts:
                first = self._context.rng.pick(starts, "first of", count)
                return [Chosen(clip) for clip in clips[first : first + count]]
        raise _too_few(f"nowhere do {least} captioned clips follow each other")

    def _message(self, count: int) -> str:
        clips = self._context.film.clips
        unread = sum(clip.unread for clip in clips)
        return _message(self._info, len(self._clips), len(clips), count, self._unfit, unread)


def _message(
    info: DegradationInfo,
    eligible: int,
    total: int,
    count: int,
    unfit: Counter[str],
    unread: int = 0,
) -> str:
    """Why there are not enough clips.

    >>> from screentest.core import Aspect
    >>> info = DegradationInfo(Aspect.COLOR, mentions="a colour")
    >>> _message(info, 4, 12, 5, Counter({"show none of them": 2}))
    '5 clips are needed; 4 of 12 captions mention a colour; 2 of these clips show none of them'
    """
    words = [f"{count} {'clips are' if count > 1 else 'clip is'} needed"]
    if info.mentions:
        words.append(f"{eligible} of {total} captions mention {info.mentions}")
    else:
        words.append(f"the film has {total}")
    if unread:
        words.append(f"{unread} could not be read")
    words += [f"{number} of these clips {why}" for why, number in sorted(unfit.items())]
    return "; ".join(words)


def _too_few(detail: str) -> NoValue:
    return NoValue(
        Reason.NOT_APPLICABLE, detail, advice="Ask for fewer clips (--clips, --min-clips)."
    )
