"""Verify that a testbed is what its testbed.json says, file by file and packet by packet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from screentest._util.collect import grouped
from screentest.core import NoValue, PairKind, Progress, Script, Silent, Span, Time, UserError
from screentest.core.item import joined
from screentest.core.outcome import Reason
from screentest.core.registry import build, registry
from screentest.core.signature import options_of, write_options
from screentest.models import ModelChoice, Models
from screentest.run.inputs import hash_file
from screentest.testbeds.checks import check_pair
from screentest.testbeds.faults import Fault
from screentest.testbeds.files import file_in, is_inside, video_in
from screentest.testbeds.intact import load_intact
from screentest.testbeds.packets import compare_tracks, read_track
from screentest.testbeds.page import PAGE
from screentest.testbeds.prompts import check_prompts
from screentest.testbeds.testbed import (
    FILE,
    Pair,
    SourceFilm,
    Testbed,
    VideoFile,
    faults,
    load_testbed,
    of_prompts,
    pair_name,
)
from screentest.video.edit.normalize import NormalizedVideo
from screentest.video.probe import probe
from screentest.video.sandbox import Supervisor

# What must hold in testbed.json itself, before any file is opened.

UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class VerificationFinding:
    """Something that is not as it should be."""

    check: str
    """manifest, unfinished, files, video, packets or harm."""
    where: str
    """A pair, a source or a path."""
    fault: Fault


def check_manifest(testbed: Testbed) -> Iterator[VerificationFinding]:
    """Everything in testbed.json that contradicts itself or points outside its folder."""
    sources = {source.id: source for source in testbed.sources}
    for fault in faults(testbed):
        yield VerificationFinding("manifest", FILE, fault)
    for path, count in Counter(file.path for file in all_videos(testbed)).items():
        if count > 1:
            fault = Fault.of("two_paths", count=count, name=path)
            yield VerificationFinding("manifest", FILE, fault)
    for path in all_paths(testbed):
        if not is_inside(path):
            yield VerificationFinding("manifest", path, Fault.of("outside"))
    for source in testbed.sources:
        yield from _of_source(source, timed=not of_prompts(testbed))
    for pair in testbed.pairs:
        named = sources.get(pair.source)
        if named is not None and pair.prompts is not None:
            yield from (_wrong(pair, fault) for fault in check_prompts(pair, named, testbed.seed))
        elif named is not None:
            yield from _of_pair(pair, named)
    if testbed.pending:
        yield VerificationFinding(UNFINISHED, FILE, Fault.of("pending", count=testbed.pending))


def all_videos(testbed: Testbed) -> Iterator[VideoFile]:
    """Yield every video that is listed."""
    for source in testbed.sources:
        yield from source.intact
    yield from (pair.changed for pair in testbed.pairs if pair.prompts is None)


def all_paths(testbed: Testbed) -> Iterator[str]:
    """Yield every path that is listed, those of the sources themselves apart."""
    yield from (file.path for file in all_videos(testbed))
    for source in testbed.sources:
        yield source.prompt
        yield source.folder
    yield from (pair.intact for pair in testbed.pairs)


def _of_source(source: SourceFilm, *, timed: bool) -> Iterator[VerificationFinding]:
    wrong = partial(VerificationFinding, "manifest", source.id)
    try:
        script = Script(source.clips)
    except ValueError as error:
        yield wrong(Fault.of("error", error=error))
    else:
        if timed and not script.timed:
            yield wrong(Fault.of("no_times"))
    if not source.intact:
        yield wrong(Fault.of("no_intact"))
    for number in source.lost:
        if not 0 <= number < len(source.clips):
            yield wrong(Fault.of("lost_clip", number=number + 1, total=len(source.clips)))


def _wrong(pair: Pair, fault: Fault) -> VerificationFinding:
    return VerificationFinding("manifest", pair_name(pair), fault)


def _of_pair(pair: Pair, source: SourceFilm) -> Iterator[VerificationFinding]:
    intact = next((file for file in source.intact if file.path == pair.intact), None)
    if intact is None:
        return
    if pair.kind is PairKind.PLACEBO:
        if pair.touched:
            yield _wrong(pair, Fault.of("touched_placebo"))
        return
    if (pair.changed.width, pair.changed.height) != (intact.width, intact.height):
        yield _wrong(pair, Fault.of("sizes"))
    if pair.aspect is None or pair.severity is None or pair.clips is None:
        yield _wrong(pair, Fault.of("incomplete"))
    yield from _of_touched(pair, source, intact)


def _of_touched(pair: Pair, source: SourceFilm, intact: VideoFile) -> Iterator[VerificationFinding]:
    numbers = [touch.clip for touch in pair.touched]
    if not numbers:
        yield _wrong(pair, Fault.of("none_touched"))
    if pair.clips is not None and len(numbers) > pair.clips:
        fault = Fault.of("many_touched", count=len(numbers), chosen=pair.clips)
        yield _wrong(pair, fault)
    if any(second <= first for first, second in pairwise(numbers)):
        yield _wrong(pair, Fault.of("touched_order"))
    total = len(source.clips)
    for touch in pair.touched:
        if not 0 <= touch.clip < total:
            fault = Fault.of("no_such_clip", number=touch.clip + 1, total=total)
            yield _wrong(pair, fault)
        elif touch.clip in source.lost:
            yield _wrong(pair, Fault.of("no_frame", number=touch.clip + 1))
        yield from _within(pair, touch.clip, touch.intact, intact.duration, "intact")
        if touch.degraded is not None:
            yield from _within(pair, touch.clip, touch.degraded, pair.changed.duration, "changed")
    lost = sum((touch.intact.duration for touch in pair.touched), Time(0))
    gained = sum((touch.degraded.duration for touch in pair.touched if touch.degraded), Time(0))
    expected = intact.duration - lost + gained
    if pair.changed.duration != expected:
        lasts = float(pair.changed.duration)
        yield _wrong(pair, Fault.of("lasts", duration=lasts, expected=float(expected)))


def _within(
    pair: Pair, clip: int, span: Span, end: Time, part: str
) -> Iterator[VerificationFinding]:
    if span.start < 0 or span.end > end or not span.duration:
        fault = Fault.of(
            "outside_video", number=clip + 1, span=span, part=part, duration=float(end)
        )
        yield _wrong(pair, fault)


WORKING = ("run", "joined", "annotate")
"""Folders of the builder and of the app for votes; what is in them belongs to these."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What was looked at, and what was found."""

    testbed: Testbed
    files: int
    bytes: int
    findings: tuple[VerificationFinding, ...]

    @property
    def ok(self) -> bool:
        return not self.findings


def verify_testbed(
    folder: Path,
    *,
    workers: int = 1,
    progress: Progress | None = None,
    models: Sequence[ModelChoice] = (),
) -> Verification:
    """Check everything that can be checked without the sources.

    What a pair's check needs models for is checked with ``models``, and not with those that
    testbed.json names: it may be anybody's, and a model may be a command.
    """
    testbed = load_testbed(folder)
    findings = list(check_manifest(testbed))
    findings += stray_files(folder, testbed)
    tasks = source_tasks(folder, testbed, models)
    progress = progress or Silent()
    files = {file.path: file.bytes for file in all_videos(testbed)}
    with Supervisor(workers) as supervisor:
        progress.begin("verifying", float(len(tasks)), "sources")
        for task, outcome in zip(tasks, supervisor.map(check_source, tasks), strict=True):
            if outcome.failure is not None:
                fault = Fault.of("error", error=str(outcome.failure))
                findings.append(VerificationFinding("video", task.source.id, fault))
            else:
                findings += outcome.unwrap()
            progress.advance(1)
    return Verification(
        testbed, len(files) + len(testbed.sources), sum(files.values()), tuple(findings)
    )


def stray_files(folder: Path, testbed: Testbed) -> Iterator[VerificationFinding]:
    """Files that nobody listed."""
    listed = {FILE, PAGE}
    for source in testbed.sources:
        listed.add(source.prompt)
        for file in source.intact:
            if Path(file.path).name:
                listed |= {file.path, Path(file.path).with_suffix(".json").as_posix()}
    listed |= {pair.changed.path for pair in testbed.pairs}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if name.parts[0] in WORKING or (path.is_dir() and not path.is_symlink()):
            continue
        if name.as_posix() not in listed:
            yield VerificationFinding("files", name.as_posix(), Fault.of("unlisted"))


@dataclass(frozen=True, slots=True)
class SourceTask:
    """The check of one source, as a worker is given it."""

    folder: Path
    source: SourceFilm
    pairs: tuple[Pair, ...]
    models: tuple[ModelChoice, ...] = ()
    made: bool = True
    """Whether its intact videos were made by ``build``, which leaves a record beside them."""

    def findings(self) -> Iterator[VerificationFinding]:
        models, whole = Models(self.models), set[str]()
        yield from self._prompt()
        for file in (*self.source.intact, *(pair.changed for pair in self.pairs)):
            findings = list(self._file(file))
            yield from findings
            if not findings:
                whole.add(file.path)
        for file in self.source.intact if self.made else ():
            yield from self._record(file)
        for pair in self.pairs:
            if pair.kind is PairKind.DEGRADATION and {pair.intact, pair.changed.path} <= whole:
                findings = list(self._packets(pair))
                yield from findings or self._harm(pair, models)

    def _harm(self, pair: Pair, models: Models) -> Iterator[VerificationFinding]:
        """Check the harm against what the operator declares, where that is installed."""
        wrong = partial(VerificationFinding, "harm", pair_name(pair))
        if pair.name not in registry.names(PairKind.DEGRADATION.value) or not pair.checked_by:
            return
        known = {(fault.kind, fault.clip) for fault in pair.faults}
        try:
            info = build(PairKind.DEGRADATION.value, _spec(pair)).thing.info
            result = check_pair(pair, self.folder, info, models)
        except (NoValue, UserError) as error:
            yield wrong(Fault.of("unchecked", error=error.message))
            return
        new = (fault for fault in result.faults if (fault.kind, fault.clip) not in known)
        yield from map(wrong, new)

    def _prompt(self) -> Iterator[VerificationFinding]:
        path = self.source.prompt
        wrong = partial(VerificationFinding, "files", path)
        expected = joined(self.source.clips)
        try:
            text = file_in(self.folder, path).read_text(encoding="utf-8")
        except (OSError, ValueError, NoValue) as error:
            yield wrong(Fault.of("unreadable", error=_message(error)))
            return
        # A film without captions may have a prompt of its own.
        if expected.strip() and text.strip() != expected.strip():
            yield wrong(Fault.of("captions"))

    def _file(self, file: VideoFile) -> Iterator[VerificationFinding]:
        wrong = partial(VerificationFinding, "files", file.path)
        try:
            path = video_in(self.folder, file, hash_file)
        except NoValue as error:
            is_other = error.reason is Reason.WRONG_FILE
            kind = "error" if is_other else "unreadable"
            yield wrong(Fault.of(kind, error=error.message))
            return
        try:
            info = probe(path)
        except NoValue as error:
            yield VerificationFinding("video", file.path, Fault.of("error", error=error.message))
            return
        for name, value, listed in (
            ("frames", info.frames, file.frames),
            ("duration", info.duration, file.duration),
            ("size", f"{info.width}×{info.height}", f"{file.width}×{file.height}"),
        ):
            if value != listed:
                fault = Fault.of("figure", name=name, value=value, listed=listed)
                yield VerificationFinding("video", file.path, fault)

    def _record(self, file: VideoFile) -> Iterator[VerificationFinding]:
        if not Path(file.path).name:
            return  # reported already
        name = Path(file.path).with_suffix(".json").as_posix()
        wrong = partial(VerificationFinding, "files", name)
        try:
            file_in(self.folder, name)
            film = load_intact(self.folder / file.path, Path(self.source.video))
        except (OSError, ValueError, NoValue, UserError) as error:
            yield wrong(Fault.of("unreadable", error=_message(error)))
            return
        if (film.frames, film.duration) != (file.frames, file.duration):
            yield wrong(Fault.of("record"))
        for pair in self.pairs:
            if pair.intact == file.path:
                yield from self._places(pair, film)

    def _places(self, pair: Pair, film: NormalizedVideo) -> Iterator[VerificationFinding]:
        """Touched clips are where the script puts them."""
        for touch in pair.touched:
            if not 0 <= touch.clip < len(self.source.clips):
                continue  # reported already
            span = self.source.clips[touch.clip].span
            if span is None:
                continue
            try:
                place = Span(film.at(span.start), film.at(span.end))
            except (UserError, ValueError) as error:
                yield _wrong(pair, Fault.of("error", error=_message(error)))
                continue
            if place != touch.intact:
                fault = Fault.of("misplaced", number=touch.clip + 1, span=touch.intact, place=place)
                yield _wrong(pair, fault)

    def _packets(self, pair: Pair) -> Iterator[VerificationFinding]:
        try:
            intact, changed = (
                read_track(self.folder / path) for path in (pair.intact, pair.changed.path)
            )
        except NoValue as error:
            fault = Fault.of("error", error=error.message)
            yield VerificationFinding("video", pair_name(pair), fault)
            return
        for fault in compare_tracks(pair, intact, changed):
            yield VerificationFinding("packets", pair_name(pair), fault)


def source_tasks(
    folder: Path, testbed: Testbed, models: Sequence[ModelChoice] = ()
) -> list[SourceTask]:
    """One task for each source, with the pairs made of it."""
    pairs = grouped((pair.source, pair) for pair in testbed.pairs if pair.prompts is None)
    made = not of_prompts(testbed)
    return [
        SourceTask(folder, source, tuple(pairs.get(source.id, ())), tuple(models), made)
        for source in testbed.sources
    ]


def check_source(task: SourceTask) -> list[VerificationFinding]:
    """Check the files of one source. Runs in a worker: they may be anybody's."""
    return list(task.findings())


def _spec(pair: Pair) -> str:
    """Return the operator with the options of its recipe, without places of files."""
    neutral = registry.entry(PairKind.DEGRADATION.value, pair.name).info.get("neutral", ())
    options = {
        name: value for name, value in options_of(pair.recipe).items() if name not in neutral
    }
    return f"{pair.name}:{write_options(options)}" if options else pair.name


def _message(error: Exception) -> str:
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return str(error).splitlines()[0] if str(error) else type(error).__name__
