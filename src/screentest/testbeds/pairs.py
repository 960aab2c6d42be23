"""The changed copies of one source by one operator, all rungs of the ladder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from screentest.core.aspects import PairKind
from screentest.core.codec import to_json
from screentest.core.errors import BadOption, NoValue, VideoError
from screentest.core.item import Item, Span
from screentest.core.outcome import Outcome, Reason
from screentest.core.registry import build
from screentest.run import Job, RecordKey, TaskResults
from screentest.run.session import Settings, open_tools
from screentest.testbeds.captions.facts import CaptionFacts
from screentest.testbeds.catalogue import operator_set
from screentest.testbeds.checks import check_pair
from screentest.testbeds.contract import (
    Chosen,
    Context,
    Degradation,
    DegradationInfo,
    Film,
    FilmClip,
    FilmLook,
    Look,
    Placebo,
    Rng,
    Unfit,
    film_of,
)
from screentest.testbeds.intact import as_data, load_intact, timed_script, video_file, video_name
from screentest.testbeds.operators.tracker import must_name_things
from screentest.testbeds.options import BuildOptions, Rung
from screentest.testbeds.testbed import Pair, Touched
from screentest.video import Keep, SplicedVideo, VideoPart, splice

NONE_FAILED: Mapping[int, str] = {}
ROUNDS = 3
"""How often a copy is tried; each time with other clips in place of those that failed the check."""


@dataclass(frozen=True, slots=True)
class PairTask:
    """What a worker is given."""

    item: Item
    facts: tuple[CaptionFacts | None, ...]
    """Of each caption; None where it could not be read."""
    testbed: Path
    intact: str
    """Path of the intact video."""
    kind: PairKind
    spec: str
    rungs: Mapping[RecordKey, Rung | None]
    """For each record that is wanted, the rung; None for a placebo."""
    options: BuildOptions


def make_pairs(job: Job) -> TaskResults:
    """Make the copies that are asked for. Runs in a worker.

    One rung that cannot be made does not keep the others from being made.
    """
    task: PairTask = job.payload
    run = _OperatorRun(task)
    made = {}
    for key in job.keys:
        try:
            outcome = Outcome.of(as_data(to_json(run.make(task.rungs[key]))))
        except NoValue as error:
            outcome = Outcome(failure=error.failure)
        made[key] = {key.evaluator: outcome}
    return made


class _OperatorRun:
    """One operator at work on one source."""

    def __init__(self, task: PairTask) -> None:
        self._task = task
        options = task.options
        self._built = build(task.kind.value, task.spec)
        path = task.testbed / task.intact
        video = load_intact(path, task.item.video)
        film = film_of(video, timed_script(task.item), task.facts)
        # Kept in this process from task to task: loading models takes long.
        models = open_tools(Settings(models=options.models, device=options.device)).models
        models.remember()
        rng = Rng.of(options.seed, task.item.id, self._built.spec.name)
        self._context = Context(film, rng, models)
        self._folder = path.parent
        self._drawing: ClipDraw | None = None

    def make(self, rung: Rung | None) -> Pair:
        """The pair of one rung."""
        return self._placebo() if rung is None else self._degraded(rung)

    def _degraded(self, rung: Rung) -> Pair:
        degradation: Degradation = self._built.thing
        if self._drawing is None:
            must_name_things(self._context.models, degradation.info.roles)
            look = FilmLook(self._context.film, self._context.models)
            self._drawing = ClipDraw(degradation, self._context, look)
        failed: dict[int, str] = {}
        for rounds_left in reversed(range(ROUNDS)):
            chosen = self._drawing.take(rung.clips, self._task.options.least_clips, failed)
            pair = self._harmed(degradation, chosen, rung)
            found = check_pair(pair, self._task.testbed, degradation.info, self._context.models)
            if not found.faults:
                return replace(pair, checks=found.figures)
            # What nobody lists would lie in the testbed as a stray file.
            (self._task.testbed / pair.changed.path).unlink()
            clips = {one.clip: one.what for one in found.faults if one.clip is not None}
            # Clips that must follow each other are drawn together: one cannot be replaced.
            if (
                degradation.info.consecutive
                or degradation.info.at_end
                or not clips
                or not rounds_left
            ):
                raise NoValue(Reason.CHECK_FAILED, found.message)
            failed |= clips
        raise AssertionError("the last round returns or raises")

    def _harmed(self, degradation: Degradation, chosen: Sequence[Chosen], rung: Rung) -> Pair:
        parts = degradation.parts(self._context, chosen, rung.severity)
        out = self._out(rung)
        made = _spliced(self._context.film, parts, out)
        roles = degradation.info.roles
        return Pair(
            source=self._task.item.id,
            kind=PairKind.DEGRADATION,
            name=self._built.spec.name,
            intact=self._task.intact,
            changed=video_file(out, self._task.testbed),
            recipe=str(self._built.spec.signature),
            aspect=degradation.info.aspect,
            operator_set=operator_set(self._built.spec.name),
            severity=rung.severity,
            clips=len(chosen),
            touched=touched(self._context.film, chosen, parts, made),
            models={role: str(self._context.models.signature(role)) for role in roles},
        )

    def _placebo(self) -> Pair:
        placebo: Placebo = self._built.thing
        if not placebo.eligible(self._context.film):
            raise NoValue(Reason.NOT_APPLICABLE, "the film is too short for it")
        out = self._out(None, placebo.suffix)
        try:
            placebo.write(self._context, out)
        except BadOption as error:
            raise VideoError(Reason.UNDECODABLE, error.message, advice=error.advice) from error
        return Pair(
            source=self._task.item.id,
            kind=PairKind.PLACEBO,
            name=self._built.spec.name,
            intact=self._task.intact,
            changed=video_file(out, self._task.testbed),
            recipe=str(self._built.spec.signature),
        )

    def _out(self, rung: Rung | None, suffix: str = ".mp4") -> Path:
        name = self._built.spec.name
        if self._task.kind is PairKind.PLACEBO:
            name = f"placebo_{name}"
        return self._folder / video_name(name, rung, len(self._task.options.rungs), suffix)


def _spliced(film: Film, parts: Sequence[VideoPart], out: Path) -> SplicedVideo:
    try:
        return splice(film.video, parts, out)
    except BadOption as error:
        # Whatever it is, it is this source's and not that of all the others.
        raise VideoError(Reason.UNDECODABLE, error.message, advice=error.advice) from error


def touched(
    film: Film, chosen: Sequence[Chosen], parts: Sequence[VideoPart], made: SplicedVideo
) -> tuple[Touched, ...]:
    """Of the chosen clips those that are not as they were, in the order of the film."""
    places: dict[Span, list[int]] = {}
    for number, part in enumerate(parts):
        stands_for = part.stands_for if isinstance(part, Keep) else None
        places.setdefault(stands_for or part.span, []).append(number)
    # A clip that is gone moves none of the others: of those that are left, the order counts.
    left = [span for span in film.video.clips if span in places]
    known = set(left)
    whose = dict(zip((span for span in places if span in known), left, strict=True))
    found = []
    for one in sorted(chosen, key=lambda one: one.clip.number):
        span = one.clip.span
        own = places.get(span)
        if own is None:
            found.append(Touched(one.clip.number, span, None, one.details))
        elif whose[span] != span or len(own) > 1 or parts[own[0]] != Keep(span):
            shown = Span(made.places[own[0]].start, made.places[own[-1]].end)
            found.append(Touched(one.clip.number, span, shown, one.details))
    return tuple(found)


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
        self, count: int, least: int | None = None, failed: Mapping[int, str] = NONE_FAILED
    ) -> list[Chosen]:
        """``count`` clips, or as many as there are where these are at least ``least``.

        ``failed`` are clips that were harmed and did not pass the check, each with the reason.
        Raises NoValue where the film does not have enough others: NOT_APPLICABLE, or
        CHECK_FAILED where it would have them but for the check.
        """
        least = count if least is None else least
        total = len(self._context.film.clips)
        needed = least + self._info.leaves
        if total < needed:
            left = f", since {self._info.leaves} must be left" if self._info.leaves else ""
            raise _too_few(f"{needed} clips are needed{left}; the film has {total}")
        count = min(count, total - self._info.leaves)
        if self._info.consecutive or self._info.at_end:
            return self._take_consecutive(count, least)
        while len(fit := self._fit(failed)) < count:
            clip = next(self._waiting, None)
            if clip is None:
                break
            self._try(clip)
        if len(fit) < least:
            raise self._lacking(least, failed)
        return fit[:count]

    def _fit(self, failed: Mapping[int, str]) -> list[Chosen]:
        return [one for one in self._chosen if one.clip.number not in failed]

    def _lacking(self, least: int, failed: Mapping[int, str]) -> NoValue:
        if len(self._chosen) < least:
            return _too_few(self._message(least))
        reasons = "; ".join(f"clip {number + 1}: {why}" for number, why in sorted(failed.items()))
        return NoValue(
            Reason.CHECK_FAILED,
            f"{least} {'clips are' if least > 1 else 'clip is'} needed; {len(failed)} of "
            f"{len(self._chosen)} did not pass the check ({reasons})",
        )

    def _try(self, clip: FilmClip) -> None:
        try:
            rng = self._context.rng_of(clip)
            details = self._degradation.settle(clip, self._look, rng, self._context.rng)
        except Unfit as why:
            self._unfit[str(why)] += 1
        else:
            self._chosen.append(Chosen(clip, details))

    def _take_consecutive(self, most: int, least: int) -> list[Chosen]:
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
            if starts:
                first = self._context.rng.pick(starts, "first of", count)
                if self._info.at_end:
                    first = starts[-1]
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
