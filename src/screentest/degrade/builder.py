"""The builder: a corpus in, a testbed out.

First every source is normalised, then every operator makes its copies; both in worker
processes. What is finished stays finished: the same call again goes on where the last one was,
and a file that is gone or was changed is made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import screentest
from screentest.core import (
    Failure,
    Item,
    Outcome,
    Progress,
    Reason,
    attempt,
    from_object,
    to_json,
)
from screentest.degrade.captions.facts import CaptionFacts
from screentest.degrade.changes import Change, changes, film_signature
from screentest.degrade.intact import Intact, IntactTask, timed_script
from screentest.degrade.options import BuildOptions, Rung
from screentest.degrade.pairs import PairTask
from screentest.degrade.testbed import SCHEMA, Pair, Skip, Testbed, write_testbed
from screentest.run import (
    Engine,
    Execution,
    Finished,
    LocalEngine,
    Record,
    RecordKey,
    RunStore,
    Task,
    execute,
    hash_parts,
)
from screentest.run.records import encode

_T = TypeVar("_T")

NOTHING: Mapping[str, Failure] = {}
RUN = "run"
"""The folder of the run, in that of the testbed."""
MAKE_INTACT = "screentest.degrade.intact:make_intact"
MAKE_PAIRS = "screentest.degrade.pairs:make_pairs"


@dataclass(frozen=True, slots=True)
class Extractor:
    """Reads captions. The name is part of the recipe."""

    name: str
    extract: Callable[[str], CaptionFacts]


def builtin() -> Extractor:
    """The built-in reading, by rules."""
    from screentest.degrade.captions import builtin_extractor, rules_signature

    return Extractor(str(rules_signature()), builtin_extractor)


@dataclass(frozen=True, slots=True)
class Building:
    """What one call did."""

    testbed: Testbed
    reused: int
    """Intact videos and pairs that were there already."""
    made: int
    exit_code: int = 0
    """Above zero where a signal stopped it."""


def build_testbed(
    items: Sequence[Item],
    out: Path,
    options: BuildOptions | None = None,
    *,
    extractor: Extractor | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
    lost: Mapping[str, Failure] = NOTHING,
) -> Building:
    """Build the testbed of ``items`` in the folder ``out``, or go on with it.

    ``lost`` are sources that failed before they came here; they are counted as skipped.
    testbed.json lists what there is when this returns, also after an interruption.
    """
    options, extractor = options or BuildOptions(), extractor or builtin()
    out = out.absolute()
    plan = changes(options, extractor.name)
    arguments = {"options": to_json(options), "captions": extractor.name}
    with RunStore(out / RUN, command="build", arguments=arguments) as store:
        site = _Site(store, out, engine or LocalEngine(), progress)
        sources = _sources(items, extractor, store)
        gone = [_Source(Item(id=name, video=out), "", ()) for name in lost]
        first = site.carry_out(_intact_tasks(sources, plan, options, out), "normalising")
        executions = [first]
        if first.signal is None:
            for source in sources:
                source.film = site.value(source.intact_key, Intact)
            tasks = _pair_tasks(sources, plan, options, out)
            executions.append(site.carry_out(tasks, "degrading"))
        for source in gone:
            source.film = Outcome(failure=lost[source.item.id])
        testbed = _listed([*sources, *gone], plan, options, extractor, site)
        write_testbed(out, testbed)
    return Building(
        testbed,
        reused=sum(one.reused for one in executions),
        made=sum(one.made for one in executions),
        exit_code=max(one.exit_code for one in executions),
    )


@dataclass(slots=True)
class _Source:
    """An item on its way to a testbed."""

    item: Item
    inputs: str
    facts: tuple[CaptionFacts, ...]
    intact_key: RecordKey = field(default_factory=lambda: RecordKey("-", "-"))
    film: Outcome[Intact] | None = None
    keys: dict[tuple[str, Rung | None], RecordKey] = field(default_factory=dict)
    """By operator and rung."""


def _sources(items: Sequence[Item], extractor: Extractor, store: RunStore) -> list[_Source]:
    return [
        _Source(item, store.inputs.of_item(item), _facts(item, extractor.extract)) for item in items
    ]


def _facts(item: Item, extract: Callable[[str], CaptionFacts]) -> tuple[CaptionFacts, ...]:
    script = attempt(lambda: timed_script(item)).value  # why there is none, the worker will tell
    return tuple(extract(clip.caption) for clip in script.clips) if script else ()


def _intact_tasks(
    sources: Iterable[_Source], plan: Sequence[Change], options: BuildOptions, out: Path
) -> list[Task]:
    others = sorted({change.side or 0 for change in plan} - {options.long_side or 0})
    sides = (options.long_side, *others)
    signature = str(film_signature(options, *sides))
    tasks = []
    for source in sources:
        source.intact_key = RecordKey(
            source.item.id, "intact", signature=signature, inputs=source.inputs
        )
        payload = IntactTask(source.item, out, options, sides)
        tasks.append(_task([source.intact_key], MAKE_INTACT, payload))
    return tasks


def _pair_tasks(
    sources: Iterable[_Source], plan: Sequence[Change], options: BuildOptions, out: Path
) -> list[Task]:
    tasks = []
    for source in sources:
        if source.film is None or source.film.value is None:
            continue
        film = source.film.value
        said = to_json(source.facts, tuple[CaptionFacts, ...])
        for change in plan:
            # A film made anew with other bytes would make other copies.
            inputs = {"item": source.inputs, "captions": said, "files": change.inputs}
            digest = hash_parts(inputs)
            rungs: dict[RecordKey, Rung | None] = {}
            for rung, signature in change.rungs:
                key = RecordKey(
                    source.item.id,
                    change.name,
                    change.aspect,
                    signature=str(signature),
                    inputs=digest,
                )
                source.keys[change.name, rung] = key
                rungs[key] = rung
            payload = PairTask(
                source.item,
                source.facts,
                out,
                film.by_side[str(change.side)],
                change.kind,
                change.spec,
                rungs,
                options,
            )
            tasks.append(_task(list(rungs), MAKE_PAIRS, payload))
    return tasks


def _task(keys: Sequence[RecordKey], function: str, payload: object) -> Task:
    return Task(tuple(keys), function, payload, on_death=Reason.DECODER_CRASHED)


class _Site:
    """Where the work is done: the run, the engine, and the records as they come."""

    def __init__(
        self, store: RunStore, out: Path, engine: Engine, progress: Progress | None
    ) -> None:
        self._store = store
        self._out = out
        self._engine = engine
        self._progress = progress
        self._records: dict[RecordKey, Record] = {}

    def carry_out(self, tasks: Sequence[Task], what: str) -> Execution:
        """Do what is not done yet."""
        self._store.add_to_plan(key for task in tasks for key in task.keys)
        self._doubt_changed_files(tasks)
        done = execute(self._store, tasks, engine=self._engine, progress=self._progress, what=what)
        self._records = {record.key: record for record in self._store.records()}
        return done

    def value(self, key: RecordKey, kind: type[_T]) -> Outcome[_T] | None:
        """What came of a record; None where it is still to be made."""
        record = self._records.get(key)
        if record is None:
            return None
        return record.outcomes[key.evaluator].map(lambda data: from_object(kind, data))

    def _doubt_changed_files(self, tasks: Sequence[Task]) -> None:
        """Records whose file is gone or is another one now are no records any more."""
        by_key = {key: task for task in tasks for key in task.keys}
        for record in list(self._store.records()):
            task, data = by_key.get(record.key), record.outcomes.get(record.key.evaluator)
            if task is None or data is None or data.value is None:
                continue
            wrong = [
                path for path, sha256 in _files(data.value) if not self._is_whole(path, sha256)
            ]
            if wrong:
                failure = Failure(
                    Reason.CRASHED,
                    f"{wrong[0]} is not the file that was made",
                    "It is made again.",
                )
                lost = encode({record.key.evaluator: Outcome(failure=failure)})
                self._store.write(Finished(task.only([record.key]), (lost,)))

    def _is_whole(self, path: str, sha256: str) -> bool:
        return self._store.inputs.of_file(self._out / path) == sha256


def _files(data: object) -> Iterator[tuple[str, str]]:
    """The files that a record speaks for, with their hashes."""
    assert isinstance(data, dict)
    if "by_side" not in data:
        changed = from_object(Pair, data).changed
        yield changed.path, changed.sha256
        return
    made = from_object(Intact, data)
    for video in made.source.intact:
        yield video.path, video.sha256
    yield from made.records.items()


def _listed(
    sources: Sequence[_Source],
    plan: Sequence[Change],
    options: BuildOptions,
    extractor: Extractor,
    site: _Site,
) -> Testbed:
    pairs: list[Pair] = []
    skips: list[Skip] = []
    pending = 0
    for source in sources:
        for change in plan:
            for rung, _ in change.rungs:
                outcome: Outcome[Pair] | None = None
                if source.film is not None and source.film.failure is not None:
                    outcome = Outcome(failure=source.film.failure)
                elif (change.name, rung) in source.keys:
                    outcome = site.value(source.keys[change.name, rung], Pair)
                if outcome is None:
                    pending += 1
                elif outcome.failure is not None:
                    skips.append(_skip(source, change, rung, outcome.failure))
                else:
                    pairs.append(outcome.unwrap())
    # Groups and place are those of today; a record may be older.
    films = [
        replace(
            source.film.unwrap().source,
            groups=source.item.groups,
            video=str(source.item.video),
        )
        for source in sources
        if source.film is not None and source.film.ok
    ]
    return Testbed(
        schema=SCHEMA,
        screentest=screentest.__version__,
        seed=options.seed,
        recipe=_recipe(options, plan, extractor),
        sources=tuple(films),
        pairs=tuple(pairs),
        skips=tuple(skips),
        pending=pending,
    )


def _skip(source: _Source, change: Change, rung: Rung | None, failure: Failure) -> Skip:
    return Skip(
        source=source.item.id,
        kind=change.kind,
        name=change.name,
        failure=failure,
        severity=rung.severity if rung else None,
        clips=rung.clips if rung else None,
    )


def _recipe(
    options: BuildOptions, plan: Sequence[Change], extractor: Extractor
) -> Mapping[str, str]:
    """What was asked for, in the words of the command line."""
    return {
        "aspects": " ".join(options.degradations),
        "placebos": " ".join(options.placebos),
        "clips": ",".join(str(count) for count in options.clips),
        "severities": ",".join(f"{severity:g}" for severity in options.severities),
        "film": str(film_signature(options, options.long_side)),
        "captions": extractor.name,
        "models": " ".join(map(str, options.models)),
    }
