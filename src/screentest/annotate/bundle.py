"""Bundle: pages for a platform that shows an HTML task and returns what it posts.

A page holds no names: what it is about stands in the key, which stays at home. Each pair has two
pages, one for each order.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from screentest._util.atomic import atomic_output, write_whole
from screentest.analysis.people.released import json_lines
from screentest.annotate.answers import STEPS, Step, Unit, check_answer
from screentest.annotate.flashes import are_risky
from screentest.annotate.language import Language
from screentest.annotate.media import CHUNK, Layout, picture_address, served_length
from screentest.annotate.records import ANSWERS, about, choice_word
from screentest.annotate.sitting import VOTE_ID, finite, picked_video, side_of
from screentest.annotate.web.screens import Line, MarkedPart, Screen, render, static_files
from screentest.core import UserError
from screentest.core.codec import parse_json
from screentest.inputs.fields import Complaint
from screentest.judges.votes import VoteRecord, VoteTask, of_two, sides

SCHEMA: Final = 1
_SCRIPTS: Final = ("bundle.js", "players.js", "prompt.js", "form.js", "keys.js", "parts.js")
_STATIC: Final = (*_SCRIPTS, "watch.js", "style.css")
NOTHING: Final[Mapping[Path, int]] = {}


@dataclass(frozen=True, slots=True)
class Key:
    """What a page shows."""

    unit: str
    left: int
    """Which video of the unit stands on the left."""


def write_bundle(
    units: Sequence[Unit],
    prepared: Mapping[Path, Path],
    out: Path,
    language: Language,
    *,
    ties: bool = False,
    flashes: Mapping[Path, int] = NOTHING,
) -> dict[str, Key]:
    """Write pages, videos and the key; gives what each page shows.

    ``flashes`` says how often a second each video flashes.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out} is not empty", advice="Give a new folder.")
    pages = out / "pages"
    (pages / "media").mkdir(parents=True)
    for name in _STATIC:
        write_whole(pages / name, static_files()[name])
    keys: dict[str, Key] = {}
    for unit in units:
        videos = _copy_videos(unit, prepared, pages / "media")
        for left in (0, 1) if of_two(unit.task) else (0,):
            page = secrets.token_urlsafe(12)
            flashing = any(are_risky(flashes.get(video.path, 0)) for video in unit.videos)
            text = _page(unit, left, videos, page, language, ties=ties, flashing=flashing)
            write_whole(pages / f"{page}.html", text)
            keys[page] = Key(unit.key, left)
    listed = {page: asdict(key) for page, key in keys.items()}
    document = {"schema": SCHEMA, "task": units[0].task.value, "pages": listed}
    write_whole(out / "key.json", f"{json.dumps(document, ensure_ascii=False, indent=1)}\n")
    return keys


def read_answers(path: Path, key: Path, units: Sequence[Unit]) -> list[VoteRecord]:
    """Return the answers that a platform collected, as records that can be imported."""
    task, pages = _read_key(key)
    available = {unit.key: unit for unit in units}

    def read(line: int, row: Mapping[str, Any]) -> VoteRecord:
        try:
            answer = row["answer"]
            answer = parse_json(answer) if isinstance(answer, str) else answer
            page = pages[answer["page"]]
            return _record(task, available[page.unit], page, str(row["worker"]), answer)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise Complaint(f"{type(error).__name__}: {error}") from None

    advice = 'Write {"worker": …, "answer": …} with what the page sent.'
    return json_lines(path, read, advice=advice)


def task_of(key: Path) -> VoteTask:
    """Return the task that the pages of a bundle ask."""
    return _read_key(key)[0]


def _page(
    unit: Unit,
    left: int,
    videos: Sequence[str],
    page: str,
    language: Language,
    *,
    ties: bool,
    flashing: bool,
) -> str:
    order = videos if left == 0 else videos[::-1]
    screen = Screen(
        sitting=page,
        task=unit.task,
        step=STEPS[unit.task][0],
        aspect=unit.aspect,
        sides=list(zip(("left", "right"), order, strict=False)),
        lines=_text(unit),
        prompt=unit.prompt,
        questions=[asdict(question) for question in unit.questions],
        pictures=[picture_address(path) for path in unit.pictures],
        flashing=flashing,
    )
    second = None
    if unit.task is VoteTask.CHECK:
        parts = [
            MarkedPart(
                number, side_of(mark.video, left), mark.start, mark.end, mark.video == 0, seen=False
            )
            for number, mark in enumerate(unit.marks, start=1)
        ]
        second = replace(screen, step=Step.CHECK, harmed=side_of(1, left), parts=parts)
    return render("bundle.html", language, s=screen, second=second, ties=ties, page_id=page, done=0)


def _text(unit: Unit) -> list[Line]:
    if not unit.clips:
        return [Line(unit.prompt)]
    return [
        Line(clip.caption)
        # Times of captions tell which scenes of a pair were moved or left out.
        if clip.span is None or of_two(unit.task)
        else Line(clip.caption, float(clip.span.start), float(clip.span.end))
        for clip in unit.clips
    ]


def _copy_videos(unit: Unit, prepared: Mapping[Path, Path], folder: Path) -> list[str]:
    paths = [prepared[video.path] for video in unit.videos]
    length = served_length(path.stat().st_size for path in paths)
    names = []
    for path in paths:
        name = f"{secrets.token_urlsafe(12)}.mp4"
        layout = Layout(path, length, name)
        with atomic_output(folder / name) as file:
            for place in range(0, length, CHUNK):
                file.write(layout.read(place, CHUNK))
        names.append(f"media/{name}")
    return names


def _read_key(path: Path) -> tuple[VoteTask, dict[str, Key]]:
    try:
        document = parse_json(path.read_bytes())
        if document["schema"] != SCHEMA:
            raise ValueError(f"schema {document['schema']}")
        pages = {page: Key(item["unit"], item["left"]) for page, item in document["pages"].items()}
        if any(key.left not in (0, 1) or not isinstance(key.unit, str) for key in pages.values()):
            raise ValueError("a page has a unit and, on its left, video 0 or 1")
        return VoteTask(document["task"]), pages
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path} is not the key of a bundle: {error}") from None


def _record(
    task: VoteTask, unit: Unit, key: Key, worker: str, answer: Mapping[str, Any]
) -> VoteRecord:
    steps = answer["steps"]
    if set(steps) != {step.value for step in STEPS[task]}:
        raise ValueError("not every step is answered")
    if not VOTE_ID.fullmatch(answer["vote"]):
        raise ValueError("no id of a vote")
    statement: dict[str, Any] = {}
    questions = [question.id for question in unit.questions]
    for step in STEPS[task]:
        # What a page sends is checked as in the app: a platform's file may have been edited.
        statement |= check_answer(
            step, steps[step.value], questions=questions, ties=True, prompt=unit.prompt
        )
    choice = statement.get("choice")
    return VoteRecord(
        **about(unit),
        worker=worker,
        left=sides(task)[key.left] if of_two(task) else "",
        seconds=finite(answer["seconds"]),
        at=time.time(),
        vote=answer["vote"],
        choice=choice_word(task, picked_video(choice, key.left)) if choice is not None else None,
        **{name: statement[name] for name in ANSWERS if name in statement},
        comment=str(answer.get("comment") or ""),
        watched={str(side): finite(share) for side, share in answer["watched"].items()},
    )
