"""The draw: which clips of a film an operator harms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from screentest.core import NoValue, Reason
from screentest.testbeds.checks import CheckFault, failure_reason
from screentest.testbeds.contract import (
    Chosen,
    Context,
    Degradation,
    DegradationInfo,
    FilmClip,
    Look,
    Unfit,
)

NONE_FAILED: Mapping[int, CheckFault] = {}


class ClipDraw:
    """The clips of one film for one degradation, drawn as they are asked for.

    Clips are drawn in an order that only the seed decides; those that turn out unfit are passed
    over. A larger number of clips holds the smaller one, so that rungs of a ladder are nested;
    clips that must follow each other are drawn anew for each number.
    """

    def __init__(self, degradation: Degradation, context: Context, look: Look) -> None:
        self._info = degradation.info
        self._degradation = degradation
        self._context = context
        self._look = look
        self._clips = [clip for clip in context.film.clips if degradation.eligible(clip)]
        self._waiting: Iterator[FilmClip] = iter(context.rng.shuffled(self._clips, "draw"))
        self._chosen: list[Chosen] = []
        self._unfit: Counter[str] = Counter()

    def take(
        self, count: int, least: int | None = None, failed: Mapping[int, CheckFault] = NONE_FAILED
    ) -> list[Chosen]:
        """``count`` clips, or as many as there are where these are at least ``least``.

        ``failed`` are clips that were harmed and did not pass the check, each with the reason.
        Raises NoValue where the film does not have enough others: NOT_APPLICABLE, or that of the
        check where it would have them but for that.
        """
        least = count if least is None else least
        total = len(self._context.film.clips)
        needed = least + self._info.leaves
        if total < needed:
            left = f", since {self._info.leaves} must be left" if self._info.leaves else ""
            raise _too_few(f"{needed} clips are needed{left}; the film has {total}")
        count = min(count, total - self._info.leaves)
        if self._info.consecutive or self._info.at_end:
            return self._take_consecutive(count, least, failed)
        while len(fit := self._fit(failed)) < count:
            clip = next(self._waiting, None)
            if clip is None:
                break
            self._try(clip)
        if len(fit) < least:
            raise self._lacking(least, failed)
        return fit[:count]

    def _fit(self, failed: Mapping[int, CheckFault]) -> list[Chosen]:
        return [choice for choice in self._chosen if choice.clip.number not in failed]

    def _lacking(self, least: int, failed: Mapping[int, CheckFault]) -> NoValue:
        if len(self._chosen) < least:
            return _too_few(self._message(least))
        return _rejected(least, failed, len(self._chosen))

    def _try(self, clip: FilmClip) -> None:
        try:
            rng = self._context.rng_of(clip)
            details = self._degradation.settle(clip, self._look, rng, self._context.rng)
        except Unfit as why:
            self._unfit[str(why)] += 1
        else:
            self._chosen.append(Chosen(clip, details))

    def _take_consecutive(
        self, most: int, least: int, failed: Mapping[int, CheckFault]
    ) -> list[Chosen]:
        fewest = 1 if self._info.at_end else 2
        if most < fewest:
            raise _too_few("one clip has no order: at least two are needed")
        clips = self._context.film.clips
        eligible = {clip.number for clip in self._clips}
        for count in range(most, max(fewest, least) - 1, -1):
            starts = [
                first
                for first in range(len(clips) - count + 1)
                if all(clip.number in eligible for clip in clips[first : first + count])
            ]
            if self._info.at_end:
                starts = starts[-1:]
            drawn = self._context.rng.number(max(1, len(starts)), "first of", count)
            for first in (*starts[drawn:], *starts[:drawn]):
                run = clips[first : first + count]
                if not any(clip.number in failed for clip in run):
                    return [Chosen(clip) for clip in run]
        if failed:
            raise _rejected(least, failed, len(eligible))
        if least == 1:
            raise _too_few("the film has no captioned clip")
        raise _too_few(f"nowhere do {least} captioned clips follow each other")

    def close(self) -> None:
        """No clip is drawn from now on that was not drawn before."""
        self._waiting = iter(())

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
    """Return the failure that says why there are not enough clips.

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


def _rejected(least: int, failed: Mapping[int, CheckFault], drawn: int) -> NoValue:
    reasons = "; ".join(
        f"clip {number + 1}: {unfit.what}" for number, unfit in sorted(failed.items())
    )
    return NoValue(
        failure_reason(failed.values()),
        f"{least} {'clips are' if least > 1 else 'clip is'} needed; {len(failed)} of "
        f"{drawn} did not pass the check ({reasons})",
    )


def _too_few(detail: str) -> NoValue:
    return NoValue(
        Reason.NOT_APPLICABLE, detail, advice="Ask for fewer clips (--clips, --min-clips)."
    )
