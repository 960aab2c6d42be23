"""The description of a video as a metric: its value is how many of the 21 fields it fills.

The description itself is in the details; ``suite univ caption`` writes it out: descriptions as
JSON lines, and a manifest with scripts. So captioning has what every run has: a ledger, a cap, a
signature, and it goes on where it stopped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from screentest._util.atomic import write_whole
from screentest.analysis.people.released import json_lines, read_json
from screentest.analysis.results import Results
from screentest.core import Level
from screentest.core.errors import ManifestError, NoValue
from screentest.core.frames import Consumer
from screentest.core.item import Clip, Item, Script, Span
from screentest.core.metric import MetricInfo, Outcomes, OutputInfo, Resources
from screentest.core.outcome import Failure, Outcome, Point, Reason, Score
from screentest.core.registry import register
from screentest.inputs.fields import Complaint
from screentest.inputs.manifest import write_manifest
from screentest.models.ask import Frames, send
from screentest.models.ask.templates import Slot
from screentest.models.chat.messages import ChatRequest
from screentest.models.chat.parsing import spoken
from screentest.suites.univ.builtin import DescriptionConsumer
from screentest.suites.univ.pieces import AT_ONCE, CAPTION, request, shown
from screentest.suites.univ.schema import (
    NOTHING,
    Description,
    Overview,
    Scripted,
    ShotDescription,
    VideoDescription,
    span_of,
)
from screentest.suites.univ.script import join_shots, read_paper_form, write_script
from screentest.suites.univ.vocabulary import ALL_SUBDIMENSIONS, OWNER

if TYPE_CHECKING:
    from screentest.core.outcome import Json


TEMPLATES = ("univ/overview", "univ/describe", "univ/script")
_OVERVIEW_FRAMES = 48
LEAST_DESCRIBED = 0.5
"""The share of the running time that must be described for a description to be one."""


def _spans(item: Item, resources: Resources, *, by_shot: bool = True) -> list[Span]:
    """Return the shots' times; all of it where there are none."""
    shots = resources.shots(item.video) if by_shot else ()
    return [shot.span for shot in shots] or [resources.info(item.video).span]


def _described_shot(span: Span, shot: Description, script: str) -> ShotDescription:
    return ShotDescription(
        start=str(span.start), end=str(span.end), description=shot, script=script.strip()
    )


def _must_be_most_of_it(spans: Sequence[Span], missing: Mapping[Span, Failure]) -> None:
    total = sum(span.duration for span in spans)
    lost = sum(span.duration for span in missing)
    if missing and (total - lost) < LEAST_DESCRIBED * total:
        failure = next(iter(missing.values()))
        message = f"{len(missing)} of {len(spans)} shots were not described: {failure.detail}"
        raise NoValue(failure.reason, message, advice=failure.advice)


CHAT = "univ_caption"
PLAIN = "univ_caption_plain"
BUILTIN = "univ_caption_builtin"
_SUMMARY = "of the 21 sub-dimensions, the share that is described"


@register("metric", CHAT, version=1, summary="a structured description by a chat model")
class ChatCaption:
    """Describes a video by a chat model; ``shots=false`` as one piece, whatever cuts it has."""

    def __init__(
        self, *, fps: float = 2, short_side: int = 480, most_frames: int = 320, shots: bool = True
    ) -> None:
        self.frames, self.by_shot = shown(Fraction(repr(fps)), short_side, most_frames), shots

    @property
    def info(self) -> MetricInfo:
        return MetricInfo(
            outputs={CHAT: OutputInfo(_SUMMARY)},
            level=Level.CLIP,
            roles=(CAPTION,),
            shots=self.by_shot,
            prompts=TEMPLATES,
        )

    def start(self, item: Item, resources: Resources) -> CaptionMeasurement:
        return CaptionMeasurement(item, resources, self.frames, self.by_shot)


@dataclass(frozen=True)
class CaptionMeasurement:
    """A video being described: an overview, then every shot, then every shot's script.

    The overview is given to whoever describes a shot, so that people and places keep their names
    from shot to shot. A video of one shot needs none.
    """

    item: Item
    resources: Resources
    frames: Frames
    by_shot: bool
    consumers: Sequence[Consumer] = ()

    def finish(self) -> Outcomes:
        spans = _spans(self.item, self.resources, by_shot=self.by_shot)
        overview = self._overview() if len(spans) > 1 else None
        looked = self._all(
            self._shot_request(spans, place, overview) for place in range(len(spans))
        )
        seen = {span: item.unwrap() for span, item in zip(spans, looked, strict=True) if item.ok}
        missing = {
            span: item.failure
            for span, item in zip(spans, looked, strict=True)
            if item.failure is not None
        }
        written = self._all(
            self._script_request(shot, first=not n) for n, shot in enumerate(seen.values())
        )
        shots = []
        for (span, shot), script in zip(seen.items(), written, strict=True):
            if script.failure is not None:
                missing[span] = script.failure
            else:
                shots.append(_described_shot(span, shot, script.unwrap().script))
        _must_be_most_of_it(spans, missing)
        return _outcomes(CHAT, self.item, shots, overview, missing)

    def _overview(self) -> Overview:
        few = replace(self.frames, most=min(self.frames.most, _OVERVIEW_FRAMES))
        slots: dict[str, Slot] = {"pictures": few.show(self.resources, self.item.video)}
        asked = request(self.resources, "univ/overview", slots, Overview, "univ.caption.overview")
        (answer,) = send(self.resources.role(CAPTION), [asked], together=AT_ONCE)
        overview: Overview = answer.unwrap()
        return overview

    def _shot_request(
        self, spans: Sequence[Span], place: int, overview: Overview | None
    ) -> ChatRequest:
        slots: dict[str, Slot] = {
            "overview": "" if overview is None else _overview_text(overview),
            "number": place + 1,
            "count": len(spans),
            "pictures": self.frames.show(self.resources, self.item.video, spans[place]),
        }
        return request(self.resources, "univ/describe", slots, Description, "univ.caption.describe")

    def _script_request(self, shot: Description, *, first: bool) -> ChatRequest:
        notes = shot.model_dump_json(indent=1)
        slots: dict[str, Slot] = {"notes": notes, "opening": first}
        return request(self.resources, "univ/script", slots, Scripted, "univ.caption.script")

    def _all(self, requests: Iterable[ChatRequest]) -> list[Outcome[Any]]:
        answers = send(self.resources.role(CAPTION), requests, together=AT_ONCE)
        for answer in answers:
            # What the next try could fix is not a missing shot; the ledger has the others.
            if answer.failure is not None and answer.failure.reason.transient:
                answer.unwrap()
        return answers


def _overview_text(overview: Overview) -> str:
    subjects = "; ".join(overview.subjects)
    return f"Style: {overview.style}\nSubjects: {subjects}\nContent: {overview.content}"


@register("metric", PLAIN, version=1, summary="a caption by one request, as V2T tests a model")
class PlainCaption(ChatCaption):
    """Has a chat model write the script of a whole video in its own words, at once."""

    @property
    def info(self) -> MetricInfo:
        words = OutputInfo("words of the caption", high=math.inf, bounded=False, descriptive=True)
        return MetricInfo({PLAIN: words}, roles=(CAPTION,), prompts=("univ/plain",))

    def start(self, item: Item, resources: Resources) -> CaptionMeasurement:
        return PlainMeasurement(item, resources, self.frames, by_shot=False)


class PlainMeasurement(CaptionMeasurement):
    """One video being captioned. The caption is kept as the script of a description."""

    def finish(self) -> Outcomes:
        slots: dict[str, Slot] = {"pictures": self.frames.show(self.resources, self.item.video)}
        asked = request(self.resources, "univ/plain", slots, None, "univ.caption.plain")
        (text,) = [spoken(answer.unwrap()) for answer in self._all([asked])]
        shot = _described_shot(self.resources.info(self.item.video).span, NOTHING, text)
        found = _outcomes(PLAIN, self.item, [shot])[PLAIN].unwrap()
        return {PLAIN: Outcome.of(replace(found, value=float(len(text.split())), curve=()))}


@register("metric", BUILTIN, version=2, summary="what pixels tell: colours, light, camera, cuts")
class BuiltinCaption:
    """Describes a video from its pixels, without a model; what they cannot tell stays empty."""

    info = MetricInfo(
        outputs={BUILTIN: OutputInfo(_SUMMARY)}, level=Level.CLIP, roles=("flow",), shots=True
    )

    def start(self, item: Item, resources: Resources) -> BuiltinCaptionMeasurement:
        return BuiltinCaptionMeasurement(item, resources, DescriptionConsumer(resources))


@dataclass(frozen=True)
class BuiltinCaptionMeasurement:
    """One video being described from its pixels."""

    item: Item
    resources: Resources
    watching: DescriptionConsumer

    @property
    def consumers(self) -> Sequence[Consumer]:
        return (self.watching,)

    def finish(self) -> Outcomes:
        if not self.watching.looks:
            raise NoValue(Reason.UNDECODABLE, "the video has no frame")
        shots = []
        for span in _spans(self.item, self.resources):
            seen = self.watching.describe(span)
            shots.append(_described_shot(span, seen, write_script(seen)))
        return _outcomes(BUILTIN, self.item, shots)


def _outcomes(
    name: str,
    item: Item,
    shots: list[ShotDescription],
    overview: Overview | None = None,
    missing: Mapping[Span, Failure] | None = None,
) -> Outcomes:
    """Return the one output ``name``: the share of fields filled, with the description."""
    script = join_shots(shot.script for shot in shots)
    video = VideoDescription(
        id=item.id, described_by=name, overview=overview, shots=shots, script=script
    )
    curve = tuple(
        Point(span_of(shot), _filled([shot.description]), shot.script[:200]) for shot in shots
    )
    lost: list[Json] = [
        {"start": str(span.start), "end": str(span.end), "failed": str(failure)}
        for span, failure in sorted((missing or {}).items(), key=lambda pair: pair[0].start)
    ]
    details: dict[str, Json] = {"description": video.model_dump(mode="json"), "missing": lost}
    score = Score(_filled([shot.description for shot in shots]), curve, details)
    return {name: Outcome.of(score)}


def _filled(shots: Sequence[Description]) -> float:
    filled = {about for shot in shots for about, text in shot.by_subdimension() if text.strip()}
    return len(filled & OWNER.keys()) / len(ALL_SUBDIMENSIONS)


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
        if value.output not in (CHAT, PLAIN, BUILTIN):
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


def write_captions(folder: Path, items: Sequence[Item], captioned: Captioned) -> list[Path]:
    """Write both files; return their paths.

    In the manifest, what items were asked to be gives way to what they are.
    """
    both = [(item, captioned.videos[item.id]) for item in items if item.id in captioned.videos]
    write_whole(folder / CAPTIONS, "".join(f"{video.model_dump_json()}\n" for _, video in both))
    described = [replace(item, prompt="", script=_script_of(video)) for item, video in both]
    write_manifest(folder / MANIFEST, described)
    return [folder / CAPTIONS, folder / MANIFEST]


def _script_of(video: VideoDescription) -> Script:
    """Return the shots as timed clips, each with its own text."""
    shots = sorted(video.shots, key=lambda shot: span_of(shot).start)
    return Script(tuple(Clip(shot.script, span_of(shot)) for shot in shots))


def _description(line: int, row: dict[str, Any]) -> VideoDescription:
    try:
        return VideoDescription.model_validate(row)
    except ValidationError as error:
        raise Complaint(f"not a description: {error.errors(include_url=False)[0]['msg']}") from None


def read_captions(path: Path) -> list[VideoDescription]:
    """Return the descriptions of a file that ``screentest suite univ caption`` wrote."""
    advice = "Give a captions.jsonl that `screentest suite univ caption` wrote."
    return json_lines(path, _description, advice=advice)


def read_shots(path: Path) -> list[Description]:
    """Return all shots of a captions file, or of a JSON file in the paper's form."""
    if path.suffix.lower() == ".json":
        document = read_json(path)
        many = document if isinstance(document, list) else [document]
        if not all(isinstance(item, dict) for item in many):
            raise ManifestError(f"{path} is not a description in the paper's form")
        return [read_paper_form(item) for item in many]
    return [shot.description for video in read_captions(path) for shot in video.shots]
