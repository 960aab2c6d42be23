"""The changed copies of one source by one operator, all rungs of the ladder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from screentest.core.aspects import PairKind
from screentest.core.codec import to_json
from screentest.core.errors import NoValue
from screentest.core.item import Item, Span
from screentest.core.outcome import Outcome, Reason, attempt
from screentest.core.registry import build
from screentest.run.records import RecordKey
from screentest.run.session import Settings, open_tools
from screentest.run.tasks import Job, TaskResults
from screentest.testbeds.captions.facts import CaptionFacts
from screentest.testbeds.catalogue import operator_set
from screentest.testbeds.checks import (
    PairCheck,
    check_pair,
    check_signature,
    failure_reason,
    ladder_fault,
)
from screentest.testbeds.contract import (
    Chosen,
    Context,
    Degradation,
    Film,
    FilmClip,
    Look,
    Placebo,
    Rng,
    Unfit,
    film_of,
)
from screentest.testbeds.faults import Fault
from screentest.testbeds.intact import (
    as_data,
    errors_of_source,
    load_intact,
    timed_script,
    video_file,
    video_name,
)
from screentest.testbeds.operators.shared import inside_borders
from screentest.testbeds.operators.tracker import must_name_things
from screentest.testbeds.options import OFF, REQUIRE, BuildOptions, Rung
from screentest.testbeds.testbed import Pair, Touched
from screentest.video.edit.pictures import Keep, VideoPart
from screentest.video.edit.splice import SplicedVideo, splice

NONE_FAILED: Mapping[int, Fault] = {}


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
        self, count: int, least: int | None = None, failed: Mapping[int, Fault] = NONE_FAILED
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

    def _fit(self, failed: Mapping[int, Fault]) -> list[Chosen]:
        return [choice for choice in self._chosen if choice.clip.number not in failed]

    def _lacking(self, least: int, failed: Mapping[int, Fault]) -> NoValue:
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

    def _take_consecutive(self, most: int, least: int, failed: Mapping[int, Fault]) -> list[Chosen]:
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

    def _message(self, count: int) -> str:
        """Say why there are not enough clips."""
        clips = self._context.film.clips
        words = [f"{count} {'clips are' if count > 1 else 'clip is'} needed"]
        if self._info.mentions:
            mentions = f"captions mention {self._info.mentions}"
            words.append(f"{len(self._clips)} of {len(clips)} {mentions}")
        else:
            words.append(f"the film has {len(clips)}")
        unread = sum(clip.unread for clip in clips)
        if unread:
            words.append(f"{unread} could not be read")
        words += [f"{number} of these clips {why}" for why, number in sorted(self._unfit.items())]
        return "; ".join(words)


def _rejected(least: int, failed: Mapping[int, Fault], drawn: int) -> NoValue:
    reasons = "; ".join(str(failed[number]) for number in sorted(failed))
    return NoValue(
        failure_reason(failed.values()),
        f"{least} {'clips are' if least > 1 else 'clip is'} needed; {len(failed)} of "
        f"{drawn} did not pass the check ({reasons})",
    )


def _too_few(detail: str) -> NoValue:
    return NoValue(
        Reason.NOT_APPLICABLE, detail, advice="Ask for fewer clips (--clips, --min-clips)."
    )


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
    run = _OperatorRun(task, (task.rungs[key] for key in job.keys))
    made = {}
    for key in job.keys:
        pair = attempt(partial(run.make, task.rungs[key]))
        made[key] = {key.evaluator: pair.map(lambda pair: as_data(to_json(pair)))}
    return made


class _OperatorRun:
    """One operator at work on one source."""

    def __init__(self, task: PairTask, wanted: Iterable[Rung | None]) -> None:
        self._task = task
        self._wanted = frozenset(wanted)
        options = task.options
        self._built = build(task.kind.value, task.spec)
        path = task.testbed / task.intact
        video = load_intact(path, task.item.video)
        film = film_of(video, timed_script(task.item), task.facts)
        # Kept in this process from task to task: loading models takes long.
        models = open_tools(Settings(models=options.models, device=options.device)).models
        models.remember(task.testbed / "run" / "edits")
        rng = Rng.of(options.seed, task.item.id, self._built.spec.name)
        self._context = Context(film, rng, models)
        self._folder = path.parent
        info = getattr(self._built.thing, "info", None)
        self._together = info is not None and (info.consecutive or info.at_end)
        """Whether clips must follow each other: then one by itself cannot be replaced."""
        self._settlements: dict[int, Outcome[dict[int, Fault]]] = {}
        self._made: dict[Rung, Pair] = {}
        self._ladders: dict[int, Fault | None] = {}
        """By number of clips, where more severity harms less."""

    def make(self, rung: Rung | None) -> Pair:
        return self._placebo() if rung is None else self._degraded(rung)

    def _degraded(self, rung: Rung) -> Pair:
        failed = self._settled(rung.clips)
        try:
            chosen = self._draw.take(rung.clips, self._task.options.least_clips, failed)
            if self._must_pass:
                self._must_grow(chosen, rung.clips)
        except NoValue:
            made = self._made.pop(rung, None)
            if made is not None:
                self._remove(made)
            raise
        made = self._made.pop(rung, None)
        if made is not None:
            return made
        pair, check = self._harmed(chosen, rung, self._out(rung))
        if check.faults and self._must_pass:
            raise NoValue(check.reason, check.message)
        return pair

    @property
    def _must_pass(self) -> bool:
        return self._task.options.check == REQUIRE

    def _must_grow(self, chosen: Sequence[Chosen], clips: int) -> None:
        """Raise NoValue where more severity harms less; all rungs are made for that, or tried."""
        rungs = [rung for rung in self._task.options.rungs if rung.clips == clips]
        if clips not in self._ladders and len(rungs) > 1:
            checks = {
                rung.severity: (
                    self._made[rung].checks
                    if rung in self._made
                    else self._try(chosen, rung).figures
                )
                for rung in rungs
            }
            self._ladders[clips] = ladder_fault(checks)
        fault = self._ladders.get(clips)
        if fault is not None:
            raise NoValue(Reason.HARMS_LESS, str(fault))

    @cached_property
    def _draw(self) -> ClipDraw:
        degradation: Degradation = self._built.thing
        must_name_things(self._context.models, degradation.info.roles)
        look = Look(self._context.film, self._context.models)
        return ClipDraw(degradation, self._context, look)

    def _settled(self, count: int) -> Mapping[int, Fault]:
        """Return the clips that do not pass the check at the strongest rung: no rung may have them.

        So all rungs of a ladder have the same clips, whichever of them are made today. Clips that
        must follow each other are settled for each number of them.
        """
        options = self._task.options
        if not self._must_pass:
            return NONE_FAILED
        if not self._together:
            count = max(options.clips)
        if count not in self._settlements:
            strongest = Rung(max(options.severities), count)
            self._settlements[count] = attempt(lambda: self._settle(strongest))
        return self._settlements[count].unwrap()

    def _settle(self, strongest: Rung) -> dict[int, Fault]:
        """Try clips until enough have passed or none is left; what passed is not tried again."""
        failed: dict[int, Fault] = {}
        passed: set[int] = set()
        least = self._task.options.least_clips if self._together else 1
        while True:
            try:
                chosen = self._draw.take(strongest.clips, least, failed)
            except NoValue:
                return failed  # what is lacking is for each rung to say
            fresh = [choice for choice in chosen if choice.clip.number not in passed]
            # Clips in place of others are tried by themselves; then all of them together.
            alone = passed and fresh and not self._together
            check = self._try(fresh if alone else chosen, strongest, keep=not alone)
            clips = {fault.clip: fault for fault in check.faults if fault.clip is not None}
            if check.faults and not clips:
                raise NoValue(check.reason, check.message)
            if not clips and not alone:
                return failed
            failed |= clips
            passed |= {choice.clip.number for choice in fresh} - set(failed)

    def _try(self, chosen: Sequence[Chosen], rung: Rung, *, keep: bool = True) -> PairCheck:
        """Harm these clips, to see whether they pass the check; what is wanted is kept."""
        if keep and rung in self._wanted:
            pair, check = self._harmed(chosen, rung, self._out(rung))
            if not check.faults:
                self._made[rung] = pair
            return check
        working = self._task.testbed / "run"
        working.mkdir(exist_ok=True)
        with TemporaryDirectory(dir=working) as folder:
            return self._harmed(chosen, rung, Path(folder) / "tried.mp4")[1]

    def _harmed(self, chosen: Sequence[Chosen], rung: Rung, out: Path) -> tuple[Pair, PairCheck]:
        """Return the pair, and what its check found; what does not pass is not left there."""
        degradation: Degradation = self._built.thing
        parts = inside_borders(
            self._context.film, degradation.parts(self._context, chosen, rung.severity)
        )
        with errors_of_source():
            made = splice(self._context.film.video, parts, out)
        models = self._context.models
        pair = Pair(
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
            models={role: str(models.signature(role)) for role in degradation.info.roles},
        )
        if self._task.options.check == OFF:
            return pair, PairCheck({})
        check = check_pair(pair, self._task.testbed, degradation.info, models)
        if check.faults and self._must_pass:
            self._remove(pair)
        checked_by = str(check_signature(degradation.info, models))
        return (
            replace(pair, checks=check.figures, checked_by=checked_by, faults=check.faults),
            check,
        )

    def _remove(self, pair: Pair) -> None:
        """Remove what nobody lists: it would lie in the testbed as a stray file."""
        (self._task.testbed / pair.changed.path).unlink()

    def _placebo(self) -> Pair:
        placebo: Placebo = self._built.thing
        if not placebo.eligible(self._context.film):
            raise NoValue(Reason.NOT_APPLICABLE, "the film is too short for it")
        out = self._out(None, placebo.suffix)
        with errors_of_source():
            placebo.write(self._context, out)
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
    spans = set(left)
    whose = dict(zip((span for span in places if span in spans), left, strict=True))
    touched = []
    for choice in sorted(chosen, key=lambda choice: choice.clip.number):
        span = choice.clip.span
        place = places.get(span)
        if place is None:
            touched.append(Touched(choice.clip.number, span, None, choice.details))
        elif whose[span] != span or len(place) > 1 or parts[place[0]] != Keep(span):
            shown = Span(made.places[place[0]].start, made.places[place[-1]].end)
            touched.append(Touched(choice.clip.number, span, shown, choice.details))
    return tuple(touched)
