"""Pairs of a testbed made again from their sources, to see that the same comes out.

The clips are drawn again from the seed, the intact video is encoded again, and both files must
have the bytes they had. What this machine cannot repeat (another encoder, a model that is not
here, a source that is gone) is kept apart from what is wrong.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from screentest.core.aspects import PairKind
from screentest.core.calls import Progress
from screentest.core.codec import from_json, from_object
from screentest.core.errors import NoValue, UserError
from screentest.core.outcome import Outcome, attempt
from screentest.core.registry import build
from screentest.core.signature import parse, write_options
from screentest.run.engine import LocalEngine
from screentest.run.execute import execute
from screentest.run.inputs import hash_file
from screentest.run.records import RecordKey
from screentest.run.store import RunStore
from screentest.run.tasks import Engine, Task
from screentest.testbeds.files import file_in
from screentest.testbeds.intact import Intact, IntactTask, make_intact, video_name
from screentest.testbeds.options import BuildOptions, Rung
from screentest.testbeds.packets import read_track
from screentest.testbeds.pairs import PairTask, make_pairs
from screentest.testbeds.sources import Extractor, by_rules, film_signature
from screentest.testbeds.testbed import Pair, SourceFilm, Testbed, pair_name
from screentest.testbeds.verify import (
    UNFINISHED,
    VerificationFinding,
    check_manifest,
    item_of,
)
from screentest.video.sandbox import supervised

_SECOND = re.compile(r"intact_[0-9]{1,6}\.mp4")
"""A second intact video has its long side in its name."""


@dataclass(frozen=True, slots=True)
class Remade:
    """What came of making pairs again."""

    same: tuple[str, ...]
    findings: tuple[VerificationFinding, ...]
    unchecked: tuple[VerificationFinding, ...]


def remake_pairs(
    folder: Path,
    testbed: Testbed,
    pairs: Sequence[Pair],
    *,
    sources: Path | None = None,
    reader: Extractor | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Remade:
    """Make ``pairs`` again in a temporary folder and compare.

    Sources are looked for in the testbed, where they were joined, and in the folder ``sources``,
    where they are known by their hash.
    """
    with tempfile.TemporaryDirectory(prefix="screentest-") as place:
        work = _Remake(folder.absolute(), Path(place), testbed, sources, reader or by_rules())
        with RunStore(work.place / "run", command="verify", arguments={}) as store:
            execution = _Execution(store, engine or LocalEngine(), progress)
            return work.of(pairs, execution)


@dataclass(frozen=True, slots=True)
class _Execution:
    """Who does the work."""

    store: RunStore
    engine: Engine
    progress: Progress | None

    def execute_all(self, tasks: Sequence[Task], what: str) -> dict[RecordKey, Outcome[Any]]:
        """What came of each task."""
        done = execute(self.store, tasks, engine=self.engine, progress=self.progress, what=what)
        if done.signal is not None:
            raise KeyboardInterrupt
        return {
            record.key: record.outcomes[record.key.evaluator] for record in self.store.records()
        }


class _Remake:
    """One rebuild of some pairs, compared with what the testbed holds."""

    def __init__(
        self,
        folder: Path,
        place: Path,
        testbed: Testbed,
        sources: Path | None,
        reader: Extractor,
    ) -> None:
        self._folder = folder
        self.place = place
        self._testbed = testbed
        self._elsewhere = sources
        self._reader = reader
        self._hashes: dict[Path, str] = {}
        self._same: list[str] = []
        self._findings: list[VerificationFinding] = []
        self._unchecked: list[VerificationFinding] = []

    def of(self, pairs: Sequence[Pair], execution: _Execution) -> Remade:
        reason, options = self._options()
        if options is None:
            self._leave(pairs, reason)
        else:
            self._make(pairs, options, execution)
        return Remade(tuple(self._same), tuple(self._findings), tuple(self._unchecked))

    def _options(self) -> tuple[str, BuildOptions | None]:
        """What the build was asked for; None, with the reason, where it cannot be repeated."""
        recipe = self._testbed.recipe
        if any(one.check != UNFINISHED for one in check_manifest(self._testbed)):
            return "testbed.json contradicts itself", None
        if "options" not in recipe:
            return "testbed.json does not keep the options of the build", None
        try:
            options = from_json(BuildOptions, recipe["options"])
        except UserError as error:
            return f"the options of the build mean nothing here: {error.message}", None
        here = str(film_signature(options, options.long_side))
        if here != recipe.get("film"):
            return f"the videos were made with {recipe.get('film')}; here it is {here}", None
        if self._reader.name != recipe.get("captions"):
            return (
                f"captions were read by {recipe.get('captions')}, which cannot be repeated here",
                None,
            )
        return "", options

    def _make(self, pairs: Sequence[Pair], options: BuildOptions, execution: _Execution) -> None:
        tasks = {}
        for source in self._testbed.sources:
            wanted = [pair for pair in pairs if pair.source == source.id]
            if not wanted:
                continue
            video = self._video(source)
            if video is None:
                self._leave(wanted, self._missing(source))
            elif not all(_SECOND.fullmatch(Path(file.path).name) for file in source.intact[1:]):
                self._leave(wanted, "its intact videos are not called as `build` calls them")
            else:
                tasks[source.id] = _intact_task(source, video, options, self.place)
        made = execution.execute_all(list(tasks.values()), "normalising again")
        copies: list[tuple[Pair, Task]] = []
        for source in self._testbed.sources:
            if source.id in tasks and self._is_same_film(source, made[tasks[source.id].keys[0]]):
                item = tasks[source.id].payload.item
                for pair in pairs:
                    if pair.source == source.id:
                        copies += self._pair_task(pair, source, item.video, options)
        done = execution.execute_all([task for _, task in copies], "degrading again")
        for pair, task in copies:
            self._compare(pair, done[task.keys[0]])

    def _video(self, source: SourceFilm) -> Path | None:
        """The file that a source was made of: by its hash, whatever it is called now."""
        joined = attempt(lambda: file_in(self._folder, f"joined/{source.video}"))
        places = [joined.value] if joined.value is not None else []
        if self._elsewhere is not None:
            suffix = Path(source.video).suffix
            found = [one for one in self._elsewhere.rglob(f"*{suffix}") if one.is_file()]
            places += sorted(found, key=lambda one: (one.name != source.video, one))
        return next((one for one in places if self._hash(one) == source.sha256), None)

    def _hash(self, path: Path) -> str:
        if path not in self._hashes:
            self._hashes[path] = hash_file(path) if path.is_file() else ""
        return self._hashes[path]

    def _missing(self, source: SourceFilm) -> str:
        if self._elsewhere is None:
            return f"its source {source.video} is not in the testbed: add --sources DIR"
        return f"no file in {self._elsewhere} is its source {source.video}: none has its hash"

    def _leave(self, pairs: Sequence[Pair], why: str) -> None:
        self._unchecked += [VerificationFinding("rebuild", pair_name(pair), why) for pair in pairs]

    def _is_same_film(self, source: SourceFilm, outcome: Outcome[Any]) -> bool:
        if outcome.failure is not None:
            self._findings.append(
                VerificationFinding("rebuild", source.id, f"intact: {outcome.failure}")
            )
            return False
        made = from_object(Intact, outcome.unwrap()).source
        before = len(self._findings)
        for was, is_now in zip(source.intact, made.intact, strict=False):
            if was.sha256 != is_now.sha256:
                what = self._difference(was.path, is_now.path)
                self._findings.append(VerificationFinding("rebuild", was.path, what))
        if len(source.intact) != len(made.intact) or source.lost != made.lost:
            what = "other intact videos, or other lost clips, than listed"
            self._findings.append(VerificationFinding("rebuild", source.id, what))
        return len(self._findings) == before

    def _pair_task(
        self, pair: Pair, source: SourceFilm, video: Path, options: BuildOptions
    ) -> Iterator[tuple[Pair, Task]]:
        specs = options.placebos if pair.kind is PairKind.PLACEBO else options.degradations
        spec = next((one for one in specs if one.partition(":")[0] == pair.name), None)
        rung = _rung(pair, options)
        if spec is None or (rung is None and pair.kind is PairKind.DEGRADATION):
            what = "the options of the build do not ask for it"
            self._findings.append(VerificationFinding("rebuild", pair_name(pair), what))
            return
        spec = self._placed(spec)
        try:
            here = str(build(pair.kind.value, spec).spec.signature)
        except UserError as error:
            self._leave([pair], f"it cannot be made here: {error.message}")
            return
        if here != pair.recipe:
            self._leave([pair], f"it was made by {pair.recipe}; here it is {here}")
            return
        key = RecordKey(pair.source, pair_name(pair), signature=pair.recipe)
        facts = tuple(
            None if number in source.unread else self._reader.extract(clip.caption)
            for number, clip in enumerate(source.clips)
        )
        item = item_of(source, video)
        payload = PairTask(
            item, facts, self.place, pair.intact, pair.kind, spec, {key: rung}, options
        )
        yield pair, Task((key,), make_pairs, payload)

    def _placed(self, spec: str) -> str:
        """An operator with the files it draws on where they are now: in the folder of sources."""
        name, options = parse(spec)
        for key, value in options.items():
            if self._elsewhere is not None and isinstance(value, str) and value:
                place = self._elsewhere / value
                options[key] = str(place.absolute()) if place.exists() else value
        return f"{name}:{write_options(options)}" if options else name

    def _compare(self, pair: Pair, outcome: Outcome[Any]) -> None:
        name = pair_name(pair)
        if outcome.failure is not None:
            self._findings.append(VerificationFinding("rebuild", name, str(outcome.failure)))
            return
        made = from_object(Pair, outcome.unwrap())
        if made.models != pair.models:
            self._leave([pair], f"made with {_models(pair)}; here it is {_models(made)}")
            return
        wrong = list(_choices(pair, made))
        if made.changed.sha256 != pair.changed.sha256:
            wrong.append(self._difference(pair.changed.path, made.changed.path))
        self._findings += [VerificationFinding("rebuild", name, what) for what in wrong]
        if not wrong:
            self._same.append(name)

    def _difference(self, was: str, is_now: str) -> str:
        """Where two files that should be equal are not."""
        try:
            place = file_in(self._folder, was)
        except NoValue as error:
            return error.message
        outcome = supervised(first_difference, place, self.place / is_now)
        return outcome.value or str(outcome.failure)


def _intact_task(source: SourceFilm, video: Path, options: BuildOptions, place: Path) -> Task:
    others = [int(Path(file.path).stem.rpartition("_")[2]) for file in source.intact[1:]]
    payload = IntactTask(item_of(source, video), place, options, (options.long_side, *others))
    return Task((RecordKey(source.id, "intact"),), make_intact, payload)


def _rung(pair: Pair, options: BuildOptions) -> Rung | None:
    """The step of the ladder that a pair is; its file is called after it."""
    file = Path(pair.changed.path).name
    for rung in options.rungs:
        if pair.severity == rung.severity and file == video_name(
            pair.name, rung, len(options.rungs)
        ):
            return rung
    return None


def _choices(was: Pair, made: Pair) -> Iterator[str]:
    """Where the draw differs from what is listed."""
    listed, drawn = [one.clip for one in was.touched], [one.clip for one in made.touched]
    if listed != drawn:
        yield f"listed are the clips {_numbers(listed)}; drawn again they are {_numbers(drawn)}"
        return
    for one, two in zip(was.touched, made.touched, strict=True):
        for what in ("intact", "degraded", "details"):
            was_so, is_so = getattr(one, what), getattr(two, what)
            if was_so != is_so:
                yield f"clip {one.clip + 1}: {what} {was_so}, drawn again {is_so}"


def first_difference(was: Path, is_now: Path) -> str:
    """In words, where two videos that should be equal begin to differ. Runs in a worker."""
    try:
        one, two = read_track(was), read_track(is_now)
    except NoValue as error:
        return f"made again it has other bytes; it cannot be read now: {error.message}"
    wrong = [a for a, b in zip(one.packets, two.packets, strict=False) if a != b]
    if wrong:
        return (
            f"made again, {len(wrong)} of {len(one.packets)} packets differ, "
            f"the first at {one.timecode(wrong[0])}"
        )
    if len(one.packets) != len(two.packets):
        return f"{len(one.packets)} packets; made again it has {len(two.packets)}"
    return "made again it has the same packets and another header"


def _models(pair: Pair) -> str:
    return ", ".join(f"{role} {used}" for role, used in sorted(pair.models.items())) or "no model"


def _numbers(clips: Sequence[int]) -> str:
    return ", ".join(str(clip + 1) for clip in clips) or "none"
