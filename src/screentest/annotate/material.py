"""Units out of a testbed or a manifest."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from screentest._util.collect import grouped
from screentest.analysis.people.released import json_lines, read_text
from screentest.annotate.answers import (
    EXAMPLE,
    BadAnswer,
    Footage,
    HarmMark,
    Unit,
    UnitQuestion,
    check_gold,
)
from screentest.core import BadOption, Item, NoValue, PairKind, UserError
from screentest.inputs.fields import Complaint
from screentest.inputs.manifest import read_manifest
from screentest.judges.votes import VoteTask, of_two
from screentest.models.pictures import read_picture
from screentest.testbeds.files import file_in, video_in
from screentest.testbeds.testbed import FILE, Pair, SourceFilm, VideoFile, read_testbed
from screentest.video.probe import probe
from screentest.video.sandbox import supervised


def arena_units(path: Path, by: str) -> list[Unit]:
    """Return every two models on every prompt that both have.

    Several videos of one prompt by one model meet those of the other in the order of the manifest,
    the first with the first; what one has more of is left out.
    """
    if path.is_dir():
        raise BadOption(
            f"the task arena compares the models of a manifest; {path} is a folder",
            advice="Give a manifest whose items have a group such as model.",
        )
    group, _, listed = by.partition("=")
    items = read_manifest(path)
    wanted = [name.strip() for name in listed.split(",") if name.strip()]
    result = {item.groups[group] for item in items if item.groups.get(group)}
    for name in wanted:
        if name not in result:
            raise BadOption(
                f"no item has {name!r} as its {group}",
                advice=f"There are: {', '.join(sorted(result)) or 'none'}.",
            )
    models = sorted(set(wanted) or result)
    if len(models) < 2:
        raise UserError(
            f"{path} has {len(models) or 'no'} {group}{'s' * (not models)} to compare",
            advice=f'Items need a group, such as {{"groups": {{"{group}": "ours"}}}}.',
        )
    named = [(item.groups.get("case") or item.text, item.groups.get(group), item) for item in items]
    held = grouped(((case, model), item) for case, model, item in named if model in models and case)
    units = [
        _of_two(case, group, (entry, other), pair)
        for case in dict.fromkeys(case for case, _ in held)
        for entry, other in itertools.combinations(models, 2)
        for pair in zip(held.get((case, entry), ()), held.get((case, other), ()), strict=False)
    ]
    if not units:
        raise UserError(f"{path}: no two {group}s have a video of the same prompt")
    return units


def _of_two(case: str, group: str, models: tuple[str, str], pair: tuple[Item, Item]) -> Unit:
    first, second = pair
    unit = _of_item(first, VoteTask.ARENA)
    return replace(
        unit,
        key=f"{first.id} : {second.id}",
        source=case,
        video=str(second.video),
        videos=(*unit.videos, _footage(second.video)),
        models=models,
        # Those that both videos are in.
        groups={
            name: text
            for name, text in first.groups.items()
            if name != group and second.groups.get(name) == text
        },
    )


def _footage(video: Path) -> Footage:
    return Footage(video.resolve(), supervised(probe, video).unwrap().duration)


def read_units(
    place: Path,
    task: VoteTask,
    *,
    questions: Path | None = None,
    gold: Path | None = None,
    by: str = "model",
) -> list[Unit]:
    """Everything there is to judge in a testbed folder or a manifest.

    ``by`` is the group of items that an arena compares, or ``GROUP=A,B…``.
    """
    if task is VoteTask.ARENA:
        units = arena_units(place, by)
    elif place.is_dir() or place.name == FILE:
        units = _of_testbed(place if place.is_dir() else place.parent, task)
    else:
        units = _of_manifest(place, task, questions)
    if not units:
        raise UserError(f"{place} has nothing for the task {task.value}")
    return units if gold is None else _with_gold(units, gold)


def unit_key(pair: Pair) -> str:
    """Return the name of a pair within its testbed, the same in every version of it."""
    rung = "" if pair.severity is None else f"/s{pair.severity:g}/n{pair.clips}"
    return f"{pair.source}/{pair.name}{rung}"


def _of_testbed(folder: Path, task: VoteTask) -> list[Unit]:
    testbed = read_testbed(folder)
    sources = {source.id: source for source in testbed.sources}
    if not of_two(task):
        if task is VoteTask.QUESTIONS:
            raise BadOption(
                "questions are about the videos of a manifest, not of a testbed",
                advice="Give a manifest and `questions`.",
            )
        films = [film for film in testbed.sources if film.intact]
        return [_of_files(folder, film, task, film.intact[0]) for film in films]
    return [
        _of_pair(folder, sources[pair.source], pair, task)
        for pair in testbed.pairs
        if pair.kind is PairKind.DEGRADATION
    ]


def _of_pair(folder: Path, source: SourceFilm, pair: Pair, task: VoteTask) -> Unit:
    intact = next(file for file in source.intact if file.path == pair.intact)
    return replace(
        _of_files(folder, source, task, intact, pair.changed),
        key=unit_key(pair),
        name=pair.name,
        aspect=pair.aspect.value if pair.aspect is not None else "",
        severity=pair.severity,
        clip_count=pair.clips,
        marks=_marks(pair),
    )


def _marks(pair: Pair) -> tuple[HarmMark, ...]:
    marks = []
    for touched in pair.touched:
        span = touched.degraded or touched.intact
        video = 0 if touched.degraded is None else 1
        marks.append(HarmMark(touched.clip, video, float(span.start), float(span.end)))
    return tuple(sorted(marks, key=lambda mark: (mark.start, mark.clip)))


def _of_files(folder: Path, source: SourceFilm, task: VoteTask, *files: VideoFile) -> Unit:
    """Return a unit of a film of the testbed; what is judged is the last of the files."""
    return Unit(
        key=source.id,
        task=task,
        source=source.id,
        video=files[-1].path,
        videos=tuple(Footage(_inside(folder, file), file.duration) for file in files),
        prompt=_prompt(folder, source),
        clips=source.clips,
        groups=source.groups,
    )


def _prompt(folder: Path, source: SourceFilm) -> str:
    return read_text(_inside(folder, source.prompt)).strip()


def _inside(folder: Path, file: VideoFile | str) -> Path:
    """Return a file of the testbed, which must not reach out of its folder."""
    try:
        result = file_in(folder, file) if isinstance(file, str) else video_in(folder, file)
    except NoValue as error:
        name = file if isinstance(file, str) else file.path
        raise UserError(f"{folder / name}: {error.message}", advice=error.advice) from None
    return result.resolve()


def _of_manifest(path: Path, task: VoteTask, questions: Path | None) -> list[Unit]:
    if of_two(task):
        raise BadOption(
            f"the task {task.value} compares the pairs of a testbed; {path} is not a testbed",
            advice="Build one with `screentest build`, or use `task='rate'`.",
        )
    if (task is VoteTask.QUESTIONS) != (questions is not None):
        raise BadOption(
            "`questions` and `task='questions'` go together",
            advice='Give a file with lines like {"item": "cat-01", "questions": ["Is …?"]}.',
        )
    items = read_manifest(path)
    asked = {} if questions is None else _read_questions(questions, {item.id for item in items})
    return [
        _of_item(item, task, asked.get(item.id, ()))
        for item in items
        if task is not VoteTask.QUESTIONS or item.id in asked
    ]


def _of_item(item: Item, task: VoteTask, questions: Sequence[UnitQuestion] = ()) -> Unit:
    given = [item.source] if item.source and task in (VoteTask.RATE, VoteTask.QUESTIONS) else []
    return Unit(
        key=item.id,
        task=task,
        source=item.id,
        video=str(item.video),
        videos=tuple(_footage(path) for path in (item.video, *given)),
        prompt="\n\n".join(filter(None, (item.text, item.instruction))),
        pictures=tuple(map(_picture, item.references)),
        clips=item.script.clips if item.script is not None else (),
        questions=tuple(questions),
        groups=item.groups,
    )


def _picture(path: Path) -> str:
    try:
        read_picture(path)
    except NoValue as error:
        raise UserError(f"{path}: {error.message}", advice=error.advice) from None
    return str(path.resolve())


def _read_questions(path: Path, known: set[str]) -> dict[str, tuple[UnitQuestion, ...]]:
    def read(line: int, row: Mapping[str, Any]) -> tuple[str, tuple[UnitQuestion, ...]]:
        name, texts = row.get("item"), row.get("questions")
        if not isinstance(name, str) or not isinstance(texts, list) or not texts:
            raise Complaint("a row has an item and its questions")
        if name not in known:
            raise Complaint(f"no item {name!r} in the manifest")
        return name, tuple(_question(number, text) for number, text in enumerate(texts, 1))

    return dict(json_lines(path, read))


def _question(number: int, given: object) -> UnitQuestion:
    match given:
        case str() if given.strip():
            return UnitQuestion(str(number), given)
        case {"id": str(name) | int(name), "text": str(text)} if text.strip():
            return UnitQuestion(str(name), text)
    raise Complaint(f"question {number} is neither a text nor an id with text")


def _with_gold(units: list[Unit], path: Path) -> list[Unit]:
    available = {unit.key: unit for unit in units}

    def read(line: int, row: Mapping[str, Any]) -> Unit:
        unit = available.get(str(row.get("unit")))
        if unit is None:
            raise Complaint(
                f"no unit {row.get('unit')!r}", "`screentest annotate plan --units` lists them."
            )
        try:
            gold = check_gold(unit, row.get("answer"))
        except BadAnswer as error:
            raise Complaint(str(error)) from None
        why = row.get(EXAMPLE)
        if why is not None:
            if not isinstance(why, str) or not why.strip():
                raise Complaint("an example says why, in words")
            gold[EXAMPLE] = why.strip()
        return replace(unit, gold=gold)

    return list((available | {unit.key: unit for unit in json_lines(path, read)}).values())
