"""Which scenes are shown, and when: the families of comprehensiveness and temporal flow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import Aspect, BadOption, Frame, Image, Span, Time, register
from screentest.run.inputs import hash_file, hash_parts
from screentest.sample import sample_videos
from screentest.testbeds.contract import (
    Chosen,
    Context,
    DegradationInfo,
    Details,
    Effect,
    FilmClip,
    Look,
    Rng,
    Unfit,
    pieces,
    share_of,
)
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import filling, grey
from screentest.testbeds.operators.scenes import Comprehensiveness
from screentest.testbeds.operators.shared import CaptionedClip, passage
from screentest.testbeds.timeline import retimed
from screentest.video.edit.pictures import Keep, Pixels, Reencode, VideoPart
from screentest.video.samples import evenly, sample_frames
from screentest.video.survey import survey

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.video.edit.pictures import FrameFunction


# Comprehensiveness: what the text tells of is not there, or not all of it.


@degradation(
    aspect="comprehensiveness",
    needs="caption",
    summary="clips break off early",
    effect=Effect.ABSENT,
)
def cut_short(count: int, severity: float, *, left: float = 0.15) -> NDArray[np.int64]:
    """Clips break off; ``left`` is the share that is shown at full severity."""
    return np.arange(max(1, round(count * (1 - (1 - left) * severity))))


@register("degradation", "ended_early", version=1, summary="the last clips are missing")
class EndedEarly(Comprehensiveness):
    """Severity is the share of the last clips that are missing: at least one."""

    info = DegradationInfo(
        Aspect.COMPREHENSIVENESS, mentions="anything", at_end=True, leaves=1, effect=Effect.ABSENT
    )

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        ordered = sorted(chosen, key=lambda choice: choice.clip.number, reverse=True)
        return super().parts(context, ordered, severity)


@register(
    "degradation", "neighbour_repeated", version=1, summary="a neighbouring clip in its place"
)
class NeighbourRepeated(CaptionedClip):
    """Severity is the share of the chosen clips that are replaced: at least one.

    By the clip before it; the first one by that after it.
    """

    info = DegradationInfo(Aspect.COMPREHENSIVENESS, mentions="anything", leaves=1)

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        touched = [choice.clip for choice in chosen[: share_of(len(chosen), severity)]]
        clips = [clip for clip in context.film.clips if clip not in touched]
        replaced: dict[int, VideoPart | None] = {}
        for clip in touched:
            # One that is replaced itself would come from nowhere.
            before = [other for other in clips if other.number < clip.number]
            nearest = before[-1] if before else clips[0]
            replaced[clip.number] = Keep(nearest.span, clip.span)
        return list(pieces(context.film, replaced))


@register(
    "degradation",
    "other_film",
    summary="a clip of another film in its place",
    neutral=("folder",),  # the films themselves are hashed, wherever they are
)
def other_film(*, folder: str = "") -> OtherFilm:
    """``folder`` holds the other films; without one they are the packaged ones in colour.

    Other sources of the same testbed are not taken: pairs of two sources would no longer be
    independent of each other, and a testbed would change with every source that is added.
    """
    if not folder:
        return OtherFilm(
            {
                video.item.video: [
                    clip.span
                    for clip in video.item.script.clips
                    if clip.span is not None and not WRITING & set(clip.caption.split())
                ]
                for video in sample_videos()
                if video.item.script is not None and video.item.id != GREY
            }
        )
    place = Path(folder).expanduser()
    files = sorted(path for path in place.glob("*") if path.suffix.lower() in FILMS)
    if not files:
        raise BadOption(f"there are no films in {place}", advice="Put some there (mp4, mkv, webm).")
    if len({path.stem for path in files}) < len(files):  # pairs name them without the ending
        raise BadOption(f"two films in {place} have one name", advice="Rename one of them.")
    return OtherFilm({path: [] for path in files})


GREY = "frenchgp_1906"
"""A film in black and white would be another style, too."""
WRITING = frozenset({"title", "logo", "credits"})
"""Words of captions of clips that show what belongs to one film only."""
TRIES = 12
"""How many passages are looked at until one shows something."""
DARK, MOSTLY, PLAIN = 28, 0.7, 14.0
"""A picture shows something where no such share of it is darker than so many levels, and its
levels deviate by more: no titles on black, no fades."""
FILMS = frozenset({".mp4", ".mkv", ".webm", ".mov"})


class OtherFilm(CaptionedClip):
    """Severity is the share of the chosen clips that are replaced: at least one."""

    def __init__(self, films: Mapping[Path, Sequence[Span]]) -> None:
        self._films = films
        """With the shots that are known; else all of a film is taken for one."""
        self.info = DegradationInfo(
            Aspect.COMPREHENSIVENESS,
            mentions="anything",
            inputs=hash_parts({str(place): _hash(path) for place, path in enumerate(films)}),
        )

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """Not of the film that looks most like the clip: this source may be that one."""
        looks = _looks(look.pictures(clip))
        paths = sorted(
            self._films, key=lambda path: (_difference(looks, _looks_of(path)), path.name)
        )
        for number in range(TRIES):
            film, start = self._passage(paths[1:] or paths, clip.span.duration, rng.at(number))
            if _shows_something(film, Span(start, start + clip.span.duration)):
                return {"film": film.stem, "from": round(float(start), 3)}
        raise Unfit("found no passage of another film that shows enough")

    def _passage(self, films: Sequence[Path], length: Time, rng: Rng) -> tuple[Path, Time]:
        """One of the films, and a moment in one of its shots."""
        film = rng.pick(films, "film")
        shots = self._films[film] or [Span(Time(0), survey(film).end)]
        long = [shot for shot in shots if shot.duration >= length]
        shot = rng.pick(long or [max(shots, key=lambda shot: shot.duration)], "shot")
        room = max(Time(0), shot.duration - length)
        return film, shot.start + room * rng.number(1000, "start") / 1000

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        films = {path.stem: path for path in self._films}
        replaced: dict[int, VideoPart | None] = {}
        for choice in chosen[: share_of(len(chosen), severity)]:
            start = Fraction(str(choice.details["from"]))
            change = shown_instead(films[str(choice.details["film"])], start)
            replaced[choice.clip.number] = Reencode(choice.clip.span, change, Pixels.RGB)
        return list(pieces(context.film, replaced))


def shown_instead(path: Path, start: Time) -> FrameFunction:
    """Return a frame function that shows another film instead, from ``start`` on; where that is too
    short, again from its beginning."""

    def run(frames: Iterator[Frame]) -> Iterator[Image]:
        table = survey(path)
        first: Time | None = None
        coming: Iterator[Frame] = iter(())
        shown: Frame | None = None
        last = Time(-1)
        for frame in frames:
            first = frame.time if first is None else first
            moment = (start + frame.time - first) % table.end
            if shown is None or moment < last:
                rest = [time for time in table.times if time >= moment]
                # While its last frame is on the screen, none begins any more.
                coming = sample_frames(path, rest or table.times[-1:], table=table)
                shown = next(coming)
            last = moment
            number = table.shown_at(moment)
            while shown.index < number:
                shown = next(coming)
            yield filling(shown.image, frame.image.shape)

    return run


@lru_cache(64)
def _hash(path: Path) -> str:
    return hash_file(path)


@lru_cache(64)
def _looks_of(path: Path) -> tuple[float, ...]:
    table = survey(path)
    moments = [table.end * step / 8 for step in range(1, 8)]
    return _looks([frame.image for frame in sample_frames(path, moments, table=table)])


def _shows_something(path: Path, span: Span) -> bool:
    """Return True if each of a few pictures of a passage does; beyond the end, it goes round."""
    table = survey(path)
    moments = sorted(moment % table.end for moment in evenly(span, 3))
    for frame in sample_frames(path, moments, table=table):
        light = grey(frame.image)
        if (light < DARK).mean() > MOSTLY or light.std() < PLAIN:
            return False
    return True


def _looks(images: Sequence[Image]) -> tuple[float, ...]:
    """Count how often each of 64 colours is seen."""
    counts = np.zeros(64)
    for image in images:
        coarse = (image[::4, ::4] >> 6).reshape(-1, 3).astype(np.int64)
        counts += np.bincount(coarse @ [16, 4, 1], minlength=64)
    return tuple(counts / max(1.0, counts.sum()))


def _difference(first: Sequence[float], other: Sequence[float]) -> float:
    return round(float(np.abs(np.subtract(first, other)).sum()), 6)


# Temporal flow: the story in another order.

FLOW: Mapping[str, Any] = {"aspect": "temporal_flow", "of": "clips", "needs": "caption"}


@degradation(**FLOW, summary="two clips in each other's places", touches=lambda count: 2)
def two_swapped(count: int, severity: float) -> list[int]:
    """The first of the clips is exchanged with another, at full severity with the last."""
    order = list(range(count))
    other = share_of(count - 1, severity)
    order[0], order[other] = order[other], order[0]
    return order


@degradation(
    **FLOW,
    summary="clips in reversed order",
    touches=lambda count: count - count % 2,  # of three, the one in the middle stays
)
def reversed_order(count: int, severity: float) -> list[int]:
    """So many of the clips come in reversed order."""
    moved = share_of(count, severity, least=2)
    return [*reversed(range(moved)), *range(moved, count)]


@degradation(**FLOW, summary="a clip comes too late")
def clip_moved(count: int, severity: float) -> list[int]:
    """The first of the clips comes later, at full severity after all the others."""
    later = share_of(count - 1, severity)
    return [*range(1, later + 1), 0, *range(later + 1, count)]


@degradation(
    **FLOW,
    summary="a clip comes again and again",
    touches=lambda count: max(1, count - 2),  # those that it comes beside
)
def clip_repeated(count: int, severity: float) -> list[int]:
    """The first of the clips comes again, at full severity after each of the others but the last.

    Nothing else is moved, and nothing is missing.
    """
    times = share_of(max(1, count - 2), severity)
    order = [0, 1]
    for number in range(2, count):
        order += [0, number] if number - 2 < times else [number]
    return [*order, 0] if count == 2 and times else order


@register(
    "degradation", "played_backwards", version=1, summary="a passage of clips played backwards"
)
class PlayedBackwards(CaptionedClip):
    """Severity is the share of the consecutive clips, from the first on, that are."""

    info = DegradationInfo(
        Aspect.TEMPORAL_FLOW, mentions="anything", consecutive=True, effect=Effect.BACKWARDS
    )

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        ordered = passage(chosen, severity)
        moved: dict[int, VideoPart | None] = {
            place.clip.number: Reencode(
                choice.clip.span, retimed(range(choice.clip.frames)[::-1]), Pixels.I420
            )
            for place, choice in zip(ordered, reversed(ordered), strict=True)
        }
        return list(pieces(context.film, moved))
