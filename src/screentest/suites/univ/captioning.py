"""From a run of captions to files: descriptions as JSON lines, and a manifest with scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from pydantic import ValidationError

from screentest.core import (
    Clip,
    Failure,
    Item,
    ManifestError,
    NoValue,
    Resources,
    Script,
    Span,
    StorageError,
    seconds,
)
from screentest.manifests.manifest import write_manifest
from screentest.models.chat.costs import Price, estimate_input_tokens
from screentest.models.chat.messages import ChatRequest, Usage
from screentest.scores.measure import lacking
from screentest.scores.results import Results
from screentest.suites.univ.captions import BUILTIN, CHAT
from screentest.suites.univ.pieces import Level, UnivTask, shot_pieces, whole_piece
from screentest.suites.univ.requests import shown
from screentest.suites.univ.schema import Description, Inspection, Remarks, VideoDescription
from screentest.suites.univ.scores import Inspector
from screentest.suites.univ.script import read_paper_form
from screentest.suites.univ.text_task import TextTask

CAPTIONS, MANIFEST = "captions.jsonl", "manifest.jsonl"


@dataclass(frozen=True, slots=True)
class Captioned:
    """What a run described, and what it could not."""

    videos: Mapping[str, VideoDescription]
    failures: Mapping[str, Failure]
    missing: Mapping[str, int]
    """By item, how many shots have no description."""


def captions_of(results: Results) -> Captioned:
    """The descriptions that a run holds, by item."""
    videos: dict[str, VideoDescription] = {}
    failures: dict[str, Failure] = {}
    missing: dict[str, int] = {}
    for value in results.values:
        if value.output not in (CHAT, BUILTIN):
            continue
        if value.outcome.failure is not None:
            failures[value.item] = value.outcome.failure
            continue
        details = value.outcome.unwrap().details
        videos[value.item] = VideoDescription.model_validate(details["description"])
        lost = details.get("missing")
        if isinstance(lost, list) and lost:
            missing[value.item] = len(lost)
    return Captioned(videos, failures, missing)


def script_of(video: VideoDescription) -> Script:
    """The shots as timed clips, each with its own text."""
    return Script(
        tuple(
            Clip(shot.script, Span(seconds(shot.start), seconds(shot.end)))
            for shot in sorted(video.shots, key=lambda one: seconds(one.start))
        )
    )


def captioned_items(items: Iterable[Item], captioned: Captioned) -> list[Item]:
    """The items with their scripts; what they were asked to be gives way to what they are."""
    return [
        replace(item, prompt="", script=script_of(captioned.videos[item.id]))
        for item in items
        if item.id in captioned.videos
    ]


def write_captions(folder: Path, items: Sequence[Item], captioned: Captioned) -> list[Path]:
    """Write both files; returns their paths."""
    lines = [
        captioned.videos[item.id].model_dump_json() for item in items if item.id in captioned.videos
    ]
    path = folder / CAPTIONS
    try:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}") from None
    write_manifest(folder / MANIFEST, captioned_items(items, captioned))
    return [path, folder / MANIFEST]


def read_captions(path: Path) -> list[VideoDescription]:
    """The descriptions of a file that ``screentest suite univ caption`` wrote."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise ManifestError(f"{path} does not open: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ManifestError(f"{path} is not UTF-8") from None
    found = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                found.append(VideoDescription.model_validate_json(line))
            except ValidationError as error:
                told = error.errors(include_url=False)[0]["msg"]
                raise ManifestError(
                    f"{path}, line {number}: no description: {told}",
                    advice="Give a captions.jsonl that `screentest suite univ caption` wrote.",
                ) from None
    return found


def read_shots(path: Path) -> list[Description]:
    """All shots of a captions file, or of a JSON file with one description in the paper's form."""
    if path.suffix.lower() == ".json":
        try:
            document = json.loads(path.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError, RecursionError) as error:
            raise ManifestError(f"{path} cannot be read: {error}") from None
        many = document if isinstance(document, list) else [document]
        if not all(isinstance(one, dict) for one in many):
            raise ManifestError(f"{path} is no description in the paper's form")
        return [read_paper_form(one) for one in many]
    return [shot.description for video in read_captions(path) for shot in video.shots]


# What judging will take, before anything is asked.
#
# The first question about a case is made for real and counted. The second depends on the answer
# to the first, so its length is a guess; how long answers may be is a bound.

REPORT_TOKENS = 1500
"""About what an inspector writes, which is read again by whoever gives points."""
_BLANK = Inspection(
    remarks=Remarks(**dict.fromkeys(Remarks.model_fields, "")), findings=[], approved=True
)


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What judging some cases would take."""

    cases: int
    calls: int
    pictures: int
    tokens_in: int
    """About."""
    most_tokens_out: int
    most_cost: Decimal | None
    """At these tokens; None without a price."""
    left_out: tuple[tuple[str, str], ...]
    """Items that would have no score, each with why."""


def foresee(
    items: Iterable[Item],
    task: UnivTask,
    resources: Resources,
    *,
    level: Level = "video",
    truth: TextTask | None = None,
    price: Price | None = None,
) -> Foreseen:
    """Make every first question and count; nothing is sent. V2T needs its ``truth``."""
    cases = calls = pictures = tokens = most = 0
    left_out = []
    for item in items:
        try:
            asked = list(_questions(item, task, resources, level, truth))
        except NoValue as error:
            left_out.append((item.id, str(error.failure)))
            continue
        cases += 1
        for request, extra in asked:
            calls += 1
            pictures += len(request.pictures)
            tokens += estimate_input_tokens(request) + extra
            most += request.sampling.max_tokens
    cost = price.cost(Usage(tokens, most), pictures) if price is not None else None
    return Foreseen(cases, calls, pictures, tokens, most, cost, tuple(left_out))


def _questions(
    item: Item, task: UnivTask, resources: Resources, level: Level, truth: TextTask | None
) -> Iterator[tuple[ChatRequest, int]]:
    """Requests, each with the tokens that an earlier answer will add to it."""
    missing = lacking(item, task.needs)
    if missing is not None:
        raise NoValue(missing.reason, missing.detail)
    if truth is not None:
        yield from ((request, 0) for request in truth.start(item, resources).requests())
        return
    inspector = Inspector(task, item, resources, shown())
    pieces = [] if level == "shots" else [whole_piece(item, resources)]
    shots = [] if level == "video" else shot_pieces(item, resources)
    # A video of one shot is asked about once, whatever the level.
    for piece in shots if len(shots) == 1 else [*pieces, *shots]:
        yield inspector.inspection_request(piece), 0
        yield inspector.score_request(piece, _BLANK), REPORT_TOKENS
