"""From a run of captions to files: descriptions as JSON lines, and a manifest with scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from screentest.analysis.results import Results
from screentest.core.codec import parse_json
from screentest.core.errors import ManifestError, StorageError
from screentest.core.item import Clip, Item, Script, Span, seconds
from screentest.core.outcome import Failure
from screentest.inputs.manifest import write_manifest
from screentest.suites.univ.captions import BUILTIN, CHAT
from screentest.suites.univ.schema import Description, VideoDescription
from screentest.suites.univ.script import read_paper_form

CAPTIONS, MANIFEST = "captions.jsonl", "manifest.jsonl"


@dataclass(frozen=True, slots=True)
class Captioned:
    """What a run described, and what it could not."""

    videos: Mapping[str, VideoDescription]
    failures: Mapping[str, Failure]
    missing: Mapping[str, int]
    """By item, how many shots have no description."""


def captions_of(results: Results) -> Captioned:
    """Return the descriptions that a run holds, by item."""
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
    """Return the shots as timed clips, each with its own text."""
    return Script(
        tuple(
            Clip(shot.script, Span(seconds(shot.start), seconds(shot.end)))
            for shot in sorted(video.shots, key=lambda item: seconds(item.start))
        )
    )


def captioned_items(items: Iterable[Item], captioned: Captioned) -> list[Item]:
    """Return the items with their scripts; what they were asked to be gives way to what they
    are."""
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
        raise StorageError(f"cannot write {path}: {error.strerror}") from None
    write_manifest(folder / MANIFEST, captioned_items(items, captioned))
    return [path, folder / MANIFEST]


def read_captions(path: Path) -> list[VideoDescription]:
    """Return the descriptions of a file that ``screentest suite univ caption`` wrote."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise ManifestError(f"{path} does not open: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ManifestError(f"{path} is not UTF-8") from None
    result = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                result.append(VideoDescription.model_validate_json(line))
            except ValidationError as error:
                message = error.errors(include_url=False)[0]["msg"]
                raise ManifestError(
                    f"{path}, line {number}: not a description: {message}",
                    advice="Give a captions.jsonl that `screentest suite univ caption` wrote.",
                ) from None
    return result


def read_shots(path: Path) -> list[Description]:
    """Return all shots of a captions file, or of a JSON file with one description in the paper's
    form."""
    if path.suffix.lower() == ".json":
        try:
            document = parse_json(path.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError) as error:
            raise ManifestError(f"cannot read {path}: {error}") from None
        many = document if isinstance(document, list) else [document]
        if not all(isinstance(item, dict) for item in many):
            raise ManifestError(f"{path} is not a description in the paper's form")
        return [read_paper_form(item) for item in many]
    return [shot.description for video in read_captions(path) for shot in video.shots]
