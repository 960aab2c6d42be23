"""Testbed: a folder of pairs, and all that is needed to build it again, in testbed.json.

Paths in it are relative to the folder. Times are exact, on the clock of the file they belong to.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path, PurePosixPath
from typing import Any, Final

from screentest._util.atomic import write_whole
from screentest._util.collect import grouped
from screentest.core.aspects import Aspect, PairKind
from screentest.core.codec import DecodeError, from_json, from_object, parse_json, to_object
from screentest.core.errors import UserError
from screentest.core.item import Clip, Span, Time
from screentest.core.outcome import Failure
from screentest.testbeds.catalogue import OperatorSet
from screentest.testbeds.contract import Details, Rng
from screentest.testbeds.faults import Fault

SCHEMA: Final = 1
FILE: Final = "testbed.json"
PROMPTS: Final = "prompts"
"""The kind of a testbed, in its recipe; one of harmed films has none."""
SWAPPED, ORDER = "swapped", "order"
CHANGES: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("changes.toml").read_text(encoding="utf-8")
)
"""Of prompts; ``changes.toml`` says what is done, and why it sometimes cannot be."""


@dataclass(frozen=True, slots=True)
class VideoFile:
    """A video of the testbed, known by its hash."""

    path: str
    sha256: str
    bytes: int
    frames: int
    duration: Time
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Touched:
    """A clip that was harmed, and where to see it."""

    clip: int
    """Its place in the script, from 0."""
    intact: Span
    degraded: Span | None = None
    """None: it is gone."""
    details: Details = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PromptPair:
    """Two prompts for one video; one caption is a prompt, several are a script."""

    true: tuple[str, ...]
    """Of the video that the prompt was written for."""
    false: tuple[str, ...]
    words: Mapping[str, str] = field(default_factory=dict)
    """What was said → what is said instead; empty where it is another text as a whole."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An intact and a changed video, and the recipe between them."""

    source: str
    kind: PairKind
    name: str
    """The degradation or placebo."""
    intact: str
    """Path of the intact video."""
    changed: VideoFile
    recipe: str
    """The operator with its version and all its options."""
    aspect: Aspect | None = None
    """What the degradation harms."""
    operator_set: OperatorSet | None = None
    """Whose the degradation is."""
    severity: float | None = None
    clips: int | None = None
    """How many were chosen."""
    touched: tuple[Touched, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    """By role: the signature of the backend that was used."""
    checks: Mapping[str, float] = field(default_factory=dict)
    """What the check of the finished pair measured, in the worst of its clips."""
    checked_by: str = ""
    """The version of the check, and by role the backend that it asked; "none" where it had none."""
    faults: tuple[Fault, ...] = ()
    """What the check found, where the pair was to be kept all the same."""
    prompts: PromptPair | None = None
    """In a testbed of prompts: the video is the same twice, and the texts are the pair."""


@dataclass(frozen=True, slots=True)
class Skip:
    """A pair that could not be made, and why."""

    source: str
    kind: PairKind
    name: str
    failure: Failure
    aspect: Aspect | None = None
    operator_set: OperatorSet | None = None
    severity: float | None = None
    clips: int | None = None


@dataclass(frozen=True, slots=True)
class SourceFilm:
    """A source and its intact videos."""

    id: str
    video: str
    """The name of its file, which is known by its hash wherever it is."""
    sha256: str
    folder: str
    prompt: str
    """Path of the text."""
    clips: tuple[Clip, ...]
    intact: tuple[VideoFile, ...]
    lost: tuple[int, ...] = ()
    """Clips of the script of which the film has no frame."""
    faults: tuple[str, ...] = ()
    """What was wrong with the source."""
    groups: Mapping[str, str] = field(default_factory=dict)
    unread: tuple[int, ...] = ()
    """Clips whose caption could not be read; none of them was harmed for what it mentions."""


@dataclass(frozen=True, slots=True)
class Testbed:
    """What testbed.json holds."""

    __test__ = False  # not one of pytest's own, whatever its name

    schema: int
    screentest: str
    """The version that built it."""
    seed: int
    recipe: Mapping[str, str]
    """Everything that was asked for: aspects, severities, clips, size, encoder, extractor…"""
    sources: tuple[SourceFilm, ...]
    pairs: tuple[Pair, ...]
    skips: tuple[Skip, ...] = ()
    pending: int = 0
    """Pairs still to be made: the build was interrupted. Start it again."""


def write_testbed(folder: Path, testbed: Testbed) -> None:
    """Write testbed.json, whole or not at all."""
    text = json.dumps(to_object(testbed), indent=1, ensure_ascii=False)
    write_whole(folder / FILE, f"{text}\n")


def portable(testbed: Testbed, places: Iterable[Path]) -> Testbed:
    """Return the testbed without the paths of the machine that built it.

    Of ``places``, files and folders, the name is left wherever one is mentioned, and what is in
    one of the folders, or beside one of the files, is named from there.
    """
    texts: dict[str, str] = {}
    for place in places:
        for path in (place.absolute(), place.resolve()):
            texts[str(path)] = path.name
            for folder in (path, path.parent):
                if folder != Path(folder.anchor):
                    texts[f"{folder}/"] = ""
    longest = sorted(texts, key=len, reverse=True)

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [without(inner) for inner in value]
        if isinstance(value, str):
            for text in longest:
                value = value.replace(text, texts[text])
        return value

    return from_object(Testbed, without(to_object(testbed)))


def read_testbed(folder: Path) -> Testbed:
    """Read the testbed in a folder; raises DecodeError, with the place, where it is not sound."""
    testbed = load_testbed(folder)
    wrong = list(islice(faults(testbed), _SHOWN + 1))
    if wrong:
        more = "; …" if len(wrong) > _SHOWN else ""
        raise DecodeError(
            f"{folder / FILE} is not sound: {'; '.join(map(str, wrong[:_SHOWN]))}{more}",
            advice="See `screentest testbed verify`; build it again.",
        )
    return testbed


_LARGEST: Final = 1 << 30


def load_testbed(folder: Path) -> Testbed:
    """Return the testbed in a folder, whatever it says: for those who report on it."""
    path = folder / FILE
    try:
        size = path.stat().st_size
        # A pipe would make us wait for ever, a sparse file take all memory.
        if not path.is_file() or size > _LARGEST:
            raise UserError(
                f"{path} is not a plain file of at most {_LARGEST:,} bytes",
                advice="Give a folder made by `build`.",
            )
        text = path.read_bytes()
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {error.strerror}", advice="Give a folder made by `build`."
        ) from None
    try:
        schema = parse_json(text).get("schema")
    except (ValueError, AttributeError):
        raise DecodeError(f"{path} is not a testbed", advice="Build it again.") from None
    if schema != SCHEMA:
        raise UserError(
            f"{path} has schema {schema}, this version reads {SCHEMA}",
            advice="Use the version of screentest that built it, or build it again.",
        )
    try:
        return from_json(Testbed, text)
    except DecodeError as error:
        raise DecodeError(f"{path} is {error.message}", advice="Build it again.") from None


# What everybody who reads a testbed relies on. ``verify`` looks for more.

_SHOWN: Final = 5
_MOST: Final = 1 << 53
_LONGEST: Final = 1_000_000
"""Seconds of a film."""


def faults(testbed: Testbed) -> Iterator[Fault]:
    """Numbers that cannot be and names of nothing, each with its place in testbed.json."""
    sources = {source.id: source for source in testbed.sources}
    videos = {file.path: file for source in testbed.sources for file in source.intact}
    yield from _twins("two_sources", [source.id for source in testbed.sources])
    if not 0 <= testbed.pending < _MOST:
        yield Fault.of("number", where="pending", number=testbed.pending)
    for number, source in enumerate(testbed.sources):
        for place, clip in enumerate(source.clips):
            if clip.span is not None:
                yield from _span(f"sources.{number}.clips.{place}", clip.span)
        for place, file in enumerate(source.intact):
            yield from _video(f"sources.{number}.intact.{place}", file)
    identities = [
        (pair.source, pair.kind.value, pair.name, pair.severity, pair.clips)
        for pair in testbed.pairs
    ]
    yield from _twins("two_pairs", identities)
    for number, pair in enumerate(testbed.pairs):
        where = f"pairs.{number}"
        if pair.source not in sources:
            yield Fault.of("no_source", where=where, name=pair.source)
        elif pair.prompts is not None:
            yield from _prompts(where, pair, videos)
        elif pair.intact not in {file.path for file in sources[pair.source].intact}:
            yield Fault.of("not_intact", where=where, name=pair.intact)
        if pair.kind is PairKind.PROMPT and pair.prompts is None:
            yield Fault.of("no_prompts", where=where)
        if pair.kind is PairKind.DEGRADATION and pair.aspect is None:
            yield Fault.of("no_aspect", where=where)
        if pair.kind is PairKind.PREFERENCE:
            yield Fault.of("votes", where=where)
        if pair.severity is not None and not 0 <= pair.severity <= 1:
            yield Fault.of("severity", where=where, severity=pair.severity)
        if pair.clips is not None and not 0 <= pair.clips < _MOST:
            yield Fault.of("number", where=f"{where}.clips", number=pair.clips)
        yield from _video(f"{where}.changed", pair.changed)
        for place, touch in enumerate(pair.touched):
            if not 0 <= touch.clip < _MOST:
                yield Fault.of("number", where=f"{where}.touched.{place}.clip", number=touch.clip)
            for span in filter(None, (touch.intact, touch.degraded)):
                yield from _span(f"{where}.touched.{place}", span)


def _prompts(where: str, pair: Pair, videos: Mapping[str, VideoFile]) -> Iterator[Fault]:
    """Of a pair of prompts: the video is the same twice, and one of those that are listed."""
    if pair.intact != pair.changed.path or videos.get(pair.intact) != pair.changed:
        yield Fault.of("not_a_video", where=where, name=pair.changed.path)
    if pair.kind not in (PairKind.PROMPT, PairKind.PLACEBO):
        yield Fault.of("needless_prompts", where=where, kind=pair.kind.value)


def _twins(kind: str, names: Sequence[object]) -> Iterator[Fault]:
    for name, count in Counter(names).items():
        if count > 1:
            text = " ".join(map(str, name)) if isinstance(name, tuple) else str(name)
            yield Fault.of(kind, count=count, name=text)


def _span(where: str, span: Span) -> Iterator[Fault]:
    if not 0 <= span.start <= span.end <= _LONGEST:
        yield Fault.of("times", where=where, span=span)


def _video(where: str, file: VideoFile) -> Iterator[Fault]:
    if not PurePosixPath(file.path).name:
        yield Fault.of("no_file", where=where)
    if not 0 <= file.duration <= _LONGEST:
        yield Fault.of("duration", where=where, duration=file.duration)
    for name in ("bytes", "frames", "width", "height"):
        if not 0 <= getattr(file, name) < _MOST:
            yield Fault.of("number", where=f"{where}.{name}", number=getattr(file, name))


# How a pair is called where people choose one: ``film-7/color``, as its file is called on the disk.


def pair_name(pair: Pair) -> str:
    """Return the folder of the source and the name of the changed video."""
    path = PurePosixPath(pair.changed.path)
    if pair.prompts is not None:  # one video in many pairs
        return f"{pair.source}/{pair.name}"
    return f"{path.parent.name}/{path.stem}"


def of_prompts(testbed: Testbed) -> bool:
    """Return True if it is a testbed of prompts, in which no video was made."""
    return testbed.recipe.get("kind") == PROMPTS


def find_pair(testbed: Testbed, wanted: str) -> Pair:
    """Return the pair of a name, a path, or the end of a name where only one ends so."""
    matches: list[Pair] = []
    for is_wanted in (
        lambda pair: pair_name(pair) == wanted,
        lambda pair: f"{pair.source}/{pair.name}" == wanted,
        lambda pair: pair.changed.path == wanted,
        lambda pair: pair_name(pair).endswith(f"/{wanted}"),
    ):
        matches = list(filter(is_wanted, testbed.pairs))
        if len(matches) == 1:
            return matches[0]
    if matches:
        raise UserError(
            f"{len(matches)} pairs are called {wanted!r}", advice=f"Say which: {_some(matches)}"
        )
    raise UserError(
        f"the testbed has no pair {wanted!r}",
        advice=f"It has: {_some(testbed.pairs)}" if testbed.pairs else "It has none at all.",
    )


def _some(pairs: Sequence[Pair]) -> str:
    names = [pair_name(pair) for pair in pairs[:5]]
    return ", ".join(names) + (", …" if len(pairs) > 5 else "")


# Drawing pairs evenly: as many of each aspect as possible, by the seed.


def kinds_of(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """Pairs by aspect; a placebo is a kind of its own."""
    return grouped(
        (pair.aspect.value if pair.aspect else f"placebo {pair.name}", pair) for pair in pairs
    )


def draw_evenly(testbed: Testbed, count: int, seed: int, *, per_aspect: bool = False) -> list[Pair]:
    """``count`` pairs in all, or of each aspect, in the order of the testbed.

    Aspects take turns until there are enough; one that has no more pairs leaves its turn to the
    others. With the same seed a larger sample holds the smaller one.
    """
    rng = Rng.of("sample", seed)
    waiting = []
    for kind, pairs in kinds_of(testbed.pairs).items():
        drawn_pairs = rng.shuffled(sorted(pairs, key=pair_name), kind)
        names = grouped((pair.name, pair) for pair in drawn_pairs)
        # The operators of an aspect take turns, too.
        rounds_of = zip_longest(*(names[name] for name in rng.shuffled(sorted(names), kind)))
        waiting.append([pair for taken in rounds_of for pair in taken if pair is not None])
    rounds = count if per_aspect else max(map(len, waiting), default=0)
    most = len(testbed.pairs) if per_aspect else count
    turns = [pairs[turn] for turn in range(rounds) for pairs in waiting if turn < len(pairs)]
    drawn = {pair_name(pair) for pair in turns[:most]}
    return [pair for pair in testbed.pairs if pair_name(pair) in drawn]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A range of the intact video, and where it begins in the changed one; None: it is gone."""

    intact: Span
    changed: Time | None


def stretches(touched: Sequence[Touched], duration: Time) -> list[Stretch]:
    """Return all of the intact video, in order.

    What was not touched is in both videos, in the same order; so the n-th second of it in one is
    the n-th second of it in the other, whatever was dropped or moved around it.

    >>> gone = Touched(1, Span(Time(2), Time(5)))
    >>> [(str(one.intact), one.changed) for one in stretches([gone], Time(9))]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('0:00:00.000–0:00:02.000', Fraction(0, 1)),
     ('0:00:02.000–0:00:05.000', None),
     ('0:00:05.000–0:00:09.000', Fraction(2, 1))]
    """
    places = sorted(
        (touch.degraded for touch in touched if touch.degraded), key=lambda span: span.start
    )
    stretches = [
        Stretch(touch.intact, touch.degraded.start if touch.degraded else None) for touch in touched
    ]
    untouched = Time(0)
    for gap in _gaps(
        sorted((touch.intact for touch in touched), key=lambda span: span.start), duration
    ):
        # A gap here may be several there, where a clip was moved into its midst.
        start = gap.start
        while start < gap.end:
            at, room = _place(untouched, places)
            end = gap.end if room is None else min(gap.end, start + room)
            stretches.append(Stretch(Span(start, end), at))
            untouched += end - start
            start = end
    return sorted(stretches, key=lambda stretch: stretch.intact.start)


def _gaps(spans: Sequence[Span], duration: Time) -> Iterator[Span]:
    at = Time(0)
    for span in spans:
        if span.start > at:
            yield Span(at, span.start)
        at = max(at, span.end)
    if duration > at:
        yield Span(at, duration)


def _place(untouched: Time, places: Sequence[Span]) -> tuple[Time, Time | None]:
    """Return where so much untouched time has passed, and how much follows it unchanged."""
    at = untouched
    for place in places:
        if place.start > at:
            return at, place.start - at
        at += place.duration
    return at, None
