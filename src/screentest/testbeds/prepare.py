"""What a source is given before a build: ranges, captions, what captions say, a category.

What takes long or is paid for is a task of the run, so that it is done once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from screentest.core.calls import Progress
from screentest.core.codec import from_object, to_json, to_object
from screentest.core.item import Clip, Script
from screentest.core.outcome import Failure, Outcome, Reason
from screentest.core.registry import build
from screentest.run.execute import Execution, execute
from screentest.run.inputs import hash_parts
from screentest.run.records import Record, RecordKey, encode
from screentest.run.session import Settings
from screentest.run.store import RunStore
from screentest.run.tasks import Engine, Finished, Function, Job, Task, TaskResults
from screentest.testbeds.captions.facts import CaptionFacts
from screentest.testbeds.chat import (
    GROUP,
    FilmTask,
    caption_signature,
    category_signature,
    choose_category,
    facts_signature,
    read_captions,
    write_captions,
)
from screentest.testbeds.intact import Intact
from screentest.testbeds.sources import BuildSource, Extractor
from screentest.testbeds.testbed import Pair
from screentest.video.probe import decoder_version
from screentest.video.shots import find_shots

# Where a testbed is built: the run, the engine, and the records as they come.

_T = TypeVar("_T")


class BuildRun:
    """Carries out tasks into the run and remembers what came of them."""

    def __init__(
        self, store: RunStore, out: Path, engine: Engine, progress: Progress | None
    ) -> None:
        self.store = store
        self.out = out
        self.executions: list[Execution] = []
        self._engine = engine
        self._progress = progress
        self._records: dict[RecordKey, Record] = {}

    @property
    def stopped(self) -> bool:
        """True if a signal ended the last piece of work."""
        return any(execution.signal is not None for execution in self.executions)

    def execute(self, tasks: Sequence[Task], what: str) -> None:
        """Do what is not done yet; nothing after a signal."""
        if not tasks or self.stopped:
            return
        self.store.add_to_plan(key for task in tasks for key in task.keys)
        self._doubt_changed_files(tasks)
        done = execute(self.store, tasks, engine=self._engine, progress=self._progress, what=what)
        self.executions.append(done)
        self._records = {record.key: record for record in self.store.records()}

    def outcomes(self, key: RecordKey) -> Mapping[str, Outcome[Any]] | None:
        """Return all that a record holds; None where it is still to be made."""
        record = self._records.get(key)
        return None if record is None else record.outcomes

    def value(self, key: RecordKey, kind: type[_T]) -> Outcome[_T] | None:
        """Return the one thing that a record holds; None where it is still to be made."""
        outcomes = self.outcomes(key)
        if outcomes is None:
            return None
        return outcomes[key.evaluator].map(partial(from_object, kind))

    def _doubt_changed_files(self, tasks: Sequence[Task]) -> None:
        """Drop records whose file is gone or is another one now."""
        by_key = {key: task for task in tasks for key in task.keys}
        for record in list(self.store.records()):
            task, data = by_key.get(record.key), record.outcomes.get(record.key.evaluator)
            if task is None or data is None or data.value is None:
                continue
            files, inputs = _files(data.value), self.store.inputs
            wrong = [path for path, sha256 in files if inputs.of_file(self.out / path) != sha256]
            if wrong:
                failure = Failure(
                    Reason.CRASHED, f"{wrong[0]} is not the file that was made", "It is made again."
                )
                lost = encode({record.key.evaluator: Outcome(failure=failure)})
                self.store.write(Finished(task.only([record.key]), (lost,)))


def _files(data: object) -> Iterator[tuple[str, str]]:
    """Yield the files that a record speaks for, with their hashes."""
    assert isinstance(data, dict)
    if "changed" in data:
        changed = from_object(Pair, data).changed
        yield changed.path, changed.sha256
    elif "by_side" in data:
        made = from_object(Intact, data)
        for video in made.source.intact:
            yield video.path, video.sha256
        yield from made.records.items()


def prepare(
    sources: Sequence[BuildSource],
    run: BuildRun,
    extractor: Extractor | None,
    chat: Settings | None = None,
    categories: Sequence[str] = (),
    detector: str = "default",
) -> None:
    """Give every source what it lacks; without an extractor the chat model reads captions."""
    _find_ranges(_usable(sources), run, detector)
    if chat is not None:
        _write_captions(_usable(sources), run, chat)
    if extractor is None:
        assert chat is not None, "captions are read by rules or by a chat model"
        _read_captions(_usable(sources), run, chat)
    else:
        for source in _usable(sources):
            source.facts = tuple(extractor.extract(clip.caption) for clip in source.clips)
    if categories and chat is not None:
        _categorise(_usable(sources), run, chat, tuple(categories))
    for source in _usable(sources):
        source.inputs = run.store.inputs.of_item(source.item)


def find_ranges(job: Job) -> TaskResults:
    """Return the shots of a film, as a script that says nothing. Runs in a worker."""
    video, detector = job.payload
    script = Script(tuple(Clip("", shot.span) for shot in find_shots(video, detector)))
    outcome = Outcome.of(to_object(script))
    return {key: {key.evaluator: outcome} for key in job.keys}


def _usable(sources: Sequence[BuildSource]) -> list[BuildSource]:
    return [source for source in sources if source.usable]


def _find_ranges(sources: Sequence[BuildSource], run: BuildRun, detector: str) -> None:
    """Ranges for films that have no captions with times."""
    found_by = build("detector", detector).spec.signature
    signature = str(found_by.with_parts({"decoder": decoder_version()}))
    keys: list[tuple[BuildSource, RecordKey]] = []
    tasks = []
    for source in sources:
        if source.item.script is not None and source.item.script.timed:
            continue
        video = run.store.inputs.of_file(source.item.video)
        key = RecordKey(source.item.id, "shots", signature=signature, inputs=video)
        keys.append((source, key))
        tasks.append(source_task(source, find_ranges, (source.item.video, detector), key))
    run.execute(tasks, "finding shots")
    for source, key in keys:
        script = run.value(key, Script)
        if script is None:
            source.waiting = True
        elif script.failure is not None:
            source.lost = script.failure
        else:
            text = source.item.text
            source.item = replace(source.item, prompt=text, script=script.unwrap())


def _write_captions(sources: Sequence[BuildSource], run: BuildRun, chat: Settings) -> None:
    """Captions for films none of whose clips has one."""
    silent = [
        source for source in sources if not any(clip.caption.strip() for clip in source.clips)
    ]
    answers = _asked(silent, run, chat, "captions", write_captions, str(caption_signature(chat)))
    for source, outcomes in answers:
        captions = [outcome.map(lambda data: str(data["caption"])) for outcome in outcomes]
        _note(source, captions, "clips have no caption")
        clips = tuple(
            Clip(caption.value or "", clip.span)
            for caption, clip in zip(captions, source.clips, strict=True)
        )
        source.item = replace(source.item, script=Script(clips))


def _read_captions(sources: Sequence[BuildSource], run: BuildRun, chat: Settings) -> None:
    """Read captions by the chat model. A failure gives no facts, never empty ones."""
    answers = _asked(sources, run, chat, "facts", read_captions, str(facts_signature(chat)))
    for source, outcomes in answers:
        facts = [outcome.map(lambda data: from_object(CaptionFacts, data)) for outcome in outcomes]
        _note(source, facts, "captions could not be read")
        source.facts = tuple(outcome.value for outcome in facts)


def _categorise(
    sources: Sequence[BuildSource], run: BuildRun, chat: Settings, names: tuple[str, ...]
) -> None:
    """Categories for sources whose metadata have none."""
    signature = str(category_signature(chat, names))
    unsorted = [source for source in sources if not source.item.groups.get(GROUP)]
    keys = [(source, _key(source, "category", signature)) for source in unsorted]
    tasks = [
        source_task(source, choose_category, FilmTask(chat, source.item, names), key)
        for source, key in keys
    ]
    run.execute(tasks, "categorising")
    for source, key in keys:
        chosen = (run.outcomes(key) or {}).get(key.evaluator)
        if chosen is None:
            continue  # stopped before it: it is asked for next time
        if chosen.failure is not None:
            source.faults.append(f"no category: {chosen.failure}")
        else:
            groups = {**source.item.groups, GROUP: str(chosen.unwrap()["category"])}
            source.item = replace(source.item, groups=groups)


def _asked(
    sources: Sequence[BuildSource],
    run: BuildRun,
    chat: Settings,
    what: str,
    function: Function,
    signature: str,
) -> list[tuple[BuildSource, list[Outcome[Any]]]]:
    """For each source that was asked about: an outcome for every clip, in order."""
    keys = [(source, _key(source, what, signature, run)) for source in sources]
    tasks = [
        source_task(source, function, FilmTask(chat, source.item), key) for source, key in keys
    ]
    run.execute(tasks, f"asking for {what}")
    answers = []
    for source, key in keys:
        outcomes = run.outcomes(key)
        if outcomes is None:
            source.waiting = True
        elif set(outcomes) == {key.evaluator}:  # the task failed as a whole
            answers.append((source, [outcomes[key.evaluator]] * len(source.clips)))
        else:
            answers.append((source, [outcomes[str(n)] for n in range(len(source.clips))]))
    return answers


def _key(source: BuildSource, what: str, signature: str, run: BuildRun | None = None) -> RecordKey:
    """Text alone decides what is answered about text; pictures matter for captions."""
    parts = {"text": source.item.text, "script": to_json(source.item.script, Script | None)}
    if run is not None and what == "captions":
        parts["video"] = run.store.inputs.of_file(source.item.video)
    return RecordKey(source.item.id, what, signature=signature, inputs=hash_parts(parts))


def source_task(source: BuildSource, function: Function, payload: object, *keys: RecordKey) -> Task:
    """Return a task that reads the file of a source."""
    return Task(keys, function, payload, files=source.stamps, on_death=Reason.DECODER_CRASHED)


def _note(source: BuildSource, outcomes: Sequence[Outcome[Any]], what: str) -> None:
    failed = Counter(
        outcome.failure.reason.value for outcome in outcomes if outcome.failure is not None
    )
    if failed:
        why = ", ".join(f"{reason} {count}" for reason, count in sorted(failed.items()))
        total = sum(failed.values())
        source.faults.append(f"{total} of {len(outcomes)} {what}: {why}")
