"""V2T: how much of what a video holds does a model's caption say?

The item's text is the caption under test. The ground truth is a file or folder of checklists;
a judge says of each entry whether the caption has it: 1, 0.5 or 0, with a reason and the caption's
words that it goes by. An entry whose answer cannot be read is asked about once more, alone; one
that has none then is left out and counted. Quotations change no score, since only scores above 0
have one: the share of them that stand in the caption is a value beside the mean.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import ValidationError

from screentest._util.collect import grouped
from screentest.core import ManifestError
from screentest.core.errors import BadOption, NoValue
from screentest.core.frames import Consumer, VideoInfo
from screentest.core.item import Item, Span
from screentest.core.metric import Calls, MetricInfo, Outcomes, OutputInfo, Resources
from screentest.core.outcome import Json, Outcome, Point, Reason, Score, attempt
from screentest.core.registry import register
from screentest.models.ask import send
from screentest.models.ask.templates import Slot, Trusted, neutralise
from screentest.models.chat.messages import ChatRequest
from screentest.run.inputs import Stamp
from screentest.suites.univ.data import Truth, read_truth
from screentest.suites.univ.pieces import AT_ONCE, JUDGE, UnivTask, request
from screentest.suites.univ.schema import Match, Unread, VideoDescription, match_form, span_of
from screentest.suites.univ.script import texts_of
from screentest.suites.univ.vocabulary import (
    ALL_SUBDIMENSIONS,
    ATMOSPHERE,
    OWNER,
    PAPER_NAMES,
    SUBDIMENSIONS,
    TITLES,
    Dimension,
)

_GLOBAL = PAPER_NAMES["checklist"]


@dataclass(frozen=True, slots=True)
class ChecklistEntry:
    """One thing that a caption should say."""

    about: str
    """A sub-dimension, atmosphere, or ``subject`` where it is not told apart further."""
    text: str
    span: Span | None = None

    @property
    def dimension(self) -> Dimension | None:
        """The dimension it counts in; None for atmosphere."""
        if self.about in OWNER:
            return OWNER[self.about]
        return None if self.about == ATMOSPHERE else Dimension(self.about)


def read_checklist(document: Mapping[str, Any]) -> tuple[ChecklistEntry, ...]:
    """Return the entries of a ground truth, whichever of the two forms it has."""
    if "shots" in document and "described_by" in document:
        try:
            return from_description(VideoDescription.model_validate(document))
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in problem["loc"])
            raise ManifestError(f"not a description: {where}: {problem['msg']}") from None
    if "global_attribute" not in document and "temporal_actions" not in document:
        raise ManifestError(
            "neither a checklist of the benchmark nor a description",
            advice="Give the `json` of its caption.json, or what `suite univ caption` wrote.",
        )
    return tuple(_benchmark_entries(document))


def from_description(video: VideoDescription) -> tuple[ChecklistEntry, ...]:
    """Return every statement of every shot; what several shots say alike counts once."""
    entries: dict[tuple[str, str], ChecklistEntry] = {}
    for shot in video.shots:
        for about, text in shot.description.by_subdimension():
            if text.strip():
                entries.setdefault(
                    (about, text.casefold()), ChecklistEntry(about, text, span_of(shot))
                )
    order = (*ALL_SUBDIMENSIONS, ATMOSPHERE)
    return tuple(sorted(entries.values(), key=lambda entry: order.index(entry.about)))


def _benchmark_entries(document: Mapping[str, Any]) -> Iterator[ChecklistEntry]:
    attributes = document.get("global_attribute", {})
    if not isinstance(attributes, dict):
        raise ManifestError("global_attribute is not an object")
    for path, about in _GLOBAL.items():
        group, _, name = path.rpartition(".")
        part = attributes.get(group, {}) if group else attributes
        if isinstance(part, dict):
            yield from (ChecklistEntry(about, text) for text in texts_of(part.get(name), path))
    actions = document.get("temporal_actions", [])
    for step in actions if isinstance(actions, list) else [actions]:
        if not isinstance(step, dict):
            raise ManifestError("temporal_actions is not a list of objects")
        for text in texts_of(step.get("actions"), "actions"):
            yield ChecklistEntry(SUBDIMENSIONS[Dimension.ACTION][0], text)


AVERAGE, COVERAGE, QUOTED = "average", "coverage", "quoted"


@dataclass(frozen=True, slots=True)
class Levels:
    """Means at every level; what has no item is not there."""

    by_about: Mapping[str, float]
    """Sub-dimensions, atmosphere, and subject where it is not told apart."""
    dimensions: Mapping[Dimension, float]
    average: float | None


def add_up(entries: Sequence[ChecklistEntry], scores: Sequence[float]) -> Levels:
    """Return the means of some scored entries.

    >>> warm, red = ChecklistEntry("colour_hue", "warm"), ChecklistEntry("colour_hue", "red")
    >>> add_up([warm, red, ChecklistEntry("action_event", "runs")], [1.0, 0.5, 0.0]).average
    0.375

    A sub-dimension is the mean of its items; a dimension the unweighted mean of its sub-dimensions;
    the average that of the dimensions. The released code has no such step, so this one is ours.
    What has no item has no value, and does not enter the average.
    """
    by_entry = grouped((entry.about, score) for entry, score in zip(entries, scores, strict=True))
    by_about = {about: fmean(subset) for about, subset in by_entry.items()}
    dimensions = {}
    for dimension in Dimension:
        # A subject may be told apart in sub-dimensions, or not.
        about_it = (dimension.value, *SUBDIMENSIONS[dimension])
        parts = [value for about, value in by_about.items() if about in about_it]
        if parts:
            dimensions[dimension] = fmean(parts)
    average = fmean(dimensions.values()) if dimensions else None
    return Levels(by_about, dimensions, average)


def outcomes_of(
    caption: str, entries: Sequence[ChecklistEntry], matches: Sequence[Match | Unread]
) -> Outcomes:
    """Return every output; NoValue where fewer than half of the entries have an answer."""
    pairs = list(zip(entries, matches, strict=True))
    answered = [(entry, match) for entry, match in pairs if isinstance(match, Match)]
    if 2 * len(answered) < len(pairs):
        lost = next(match.problem for match in matches if isinstance(match, Unread))
        raise NoValue(
            Reason.UNPARSABLE,
            f"only {len(answered)} of {len(pairs)} items have an answer; of the first: {lost}",
        )
    kept = [entry for entry, _ in answered]
    levels = add_up(kept, [match.points for _, match in answered])
    details: dict[str, Json] = {
        "items": [_evidence(caption, entry, match) for entry, match in pairs],
        "unanswered": len(pairs) - len(answered),
        "dimensions": {"had": len(levels.dimensions), "of": len(Dimension)},
    }
    curve = _curve(kept, [match for _, match in answered])
    result: dict[str, Outcome[Score]] = {
        AVERAGE: _none("no item counts in any dimension")
        if levels.average is None
        else Outcome.of(Score(levels.average, curve, details)),
        COVERAGE: Outcome.of(Score(len(answered) / len(pairs))),
        QUOTED: _quoted(caption, [match for _, match in answered]),
    }
    for dimension in Dimension:
        if dimension in levels.dimensions:
            result[dimension.value] = Outcome.of(Score(levels.dimensions[dimension]))
        else:
            result[dimension.value] = _none(
                f"the ground truth has no item about {dimension.value}, and none is made up"
                if all(entry.dimension is not dimension for entry in entries)
                else f"no item about {dimension.value} has an answer"
            )
    for about in (*ALL_SUBDIMENSIONS, ATMOSPHERE):
        result[about] = (
            Outcome.of(Score(levels.by_about[about]))
            if about in levels.by_about
            else _none(f"the ground truth has no item about {about}")
        )
    return result


def stands_in(caption: str, quote: str) -> bool:
    """Return whether a caption has the words of a quotation, passage by passage.

    >>> stands_in("A woman, in red, waves at a boat.", "“a woman in red … boat”")
    True
    >>> stands_in("A woman in red waves at a boat.", "a woman in blue")
    False

    Case, punctuation and spaces do not count, and passages may be left out between ellipses,
    semicolons and quotation marks of their own.
    """
    answer = _words(caption)
    return all(_within(passage, answer) for passage in _passages(quote))


_BETWEEN = re.compile(r"\.{2,}|…|[;\n|]|[\"”»]\s*(?:,|and)?\s*[\"“«]")
_NO_WORDS = frozenset(("none", "null", "n a", "nothing", "there are none", "not mentioned"))


def _passages(quote: str) -> list[str]:
    """Return the passages of a quotation; none where it says that there are none."""
    result = [words for piece in _BETWEEN.split(quote) if (words := _words(piece))]
    return [] if len(result) == 1 and result[0] in _NO_WORDS else result


def _words(text: str) -> str:
    plain = unicodedata.normalize("NFKC", neutralise(text)).casefold()
    return " ".join(re.findall(r"[^\W_]+", plain))


def _within(passage: str, said: str) -> bool:
    if all(letter.isascii() or letter.upper() != letter.lower() for letter in passage):
        return f" {passage} " in f" {said} "
    return passage.replace(" ", "") in said.replace(" ", "")  # scripts without spaces


def _rests(caption: str, match: Match) -> bool:
    """Return whether a score goes by words of the caption."""
    return bool(_passages(match.quote)) and stands_in(caption, match.quote)


def _quoted(caption: str, matches: Sequence[Match]) -> Outcome[Score]:
    above = [float(_rests(caption, match)) for match in matches if match.present]
    return Outcome.of(Score(fmean(above))) if above else _none("no score is above 0")


def _evidence(caption: str, entry: ChecklistEntry, match: Match | Unread) -> Json:
    about: dict[str, Json] = {"about": entry.about, "item": entry.text}
    if isinstance(match, Unread):
        return about | {"score": None, "problem": match.problem}
    answer: dict[str, Json] = {"score": match.points, "quote": match.quote, "reason": match.reason}
    if match.present:
        answer["quoted"] = _rests(caption, match)
    return about | {"present": match.present} | answer


def _curve(entries: Sequence[ChecklistEntry], matches: Sequence[Match]) -> tuple[Point, ...]:
    """Shot by shot, where the ground truth knows when a thing is seen."""
    shots = grouped(
        (entry.span, match.points)
        for entry, match in zip(entries, matches, strict=True)
        if entry.span is not None
    )
    return tuple(
        Point(span, fmean(shots[span]), f"{len(shots[span])} items")
        for span in sorted(shots, key=lambda item: (item.start, item.end))
    )


def _none(why: str) -> Outcome[Score]:
    return Outcome.failed(Reason.NOT_APPLICABLE, why)


TEMPLATE = "univ/match"
OUTPUTS = {
    AVERAGE: OutputInfo("the mean of the dimensions that have items"),
    COVERAGE: OutputInfo("share of the items that have an answer", descriptive=True),
    QUOTED: OutputInfo("share of scores above 0 with a verbatim quotation", descriptive=True),
    **{dimension.value: OutputInfo(TITLES[dimension]) for dimension in Dimension},
    **{
        name: OutputInfo(f"{TITLES[OWNER[name]]}: {name.partition('_')[2].replace('_', ' ')}")
        for name in ALL_SUBDIMENSIONS
    },
    ATMOSPHERE: OutputInfo("Atmosphere; beside the 21, and in no average"),
}


@register(
    "metric",
    "univ_v2t",
    summary="how much of the video does the caption say?",
    neutral=("truth",),  # its content is in the signature, not where it lies
)
def univ_v2t(*, truth: str, batch: int = 60) -> TextTask:
    """``truth`` is a benchmark folder, a checklist, or a file of `screentest suite univ caption`.

    So many items are asked about at once as ``batch`` says.
    """
    if batch < 1:
        raise BadOption("univ_v2t: batch is at least 1")
    return TextTask(_read(truth, Stamp.of(Path(truth))), batch)


@dataclass(frozen=True)
class TextTask:
    """Shares of the checklist, at three levels."""

    truth: Truth
    batch: int

    info = MetricInfo(
        outputs=OUTPUTS, roles=(JUDGE,), needs=UnivTask.V2T.needs, prompts=(TEMPLATE,)
    )

    @property
    def signature_parts(self) -> dict[str, str]:
        return {"truth": self.truth.digest}

    def calls_of(self, item: Item, video: VideoInfo) -> Sequence[Calls]:
        """Return a question for each batch of the checklist."""
        entries = attempt(partial(self._entries, item)).value or ()
        return (Calls(JUDGE, "video", count=math.ceil(len(entries) / self.batch)),)

    def start(self, item: Item, resources: Resources) -> Comparing:
        """Look the checklist up; the video itself is not looked at."""
        return Comparing(item.text, self._entries(item), resources, self.batch)

    def _entries(self, item: Item) -> tuple[ChecklistEntry, ...]:
        document = self.truth.of(item)
        if document is None:
            raise NoValue(
                Reason.NOT_APPLICABLE,
                f"the ground truth has nothing on {item.id}",
                advice="Items are found by the group `case`, their id, or the video's name.",
            )
        entries = read_checklist(document)
        if not entries:
            raise NoValue(Reason.NOT_APPLICABLE, f"the checklist of {item.id} is empty")
        return entries


@dataclass(frozen=True)
class Comparing:
    """One caption beside its checklist."""

    caption: str
    entries: tuple[ChecklistEntry, ...]
    resources: Resources
    batch: int
    consumers: Sequence[Consumer] = ()

    def finish(self) -> Outcomes:
        matches = self._ask(self.requests())
        lost = {at: item.problem for at, item in enumerate(matches) if isinstance(item, Unread)}
        if lost:
            for at, match in zip(lost, self._ask_again(lost), strict=True):
                matches[at] = match if isinstance(match, Match) else matches[at]
        return outcomes_of(self.caption, self.entries, matches)

    def _ask(self, requests: Sequence[ChatRequest]) -> list[Match | Unread]:
        answers = send(self.resources.role(JUDGE), requests, together=AT_ONCE)
        return [
            getattr(form, name)
            for form in (answer.unwrap() for answer in answers)
            for name in type(form).model_fields
        ]

    def _ask_again(self, lost: Mapping[int, str]) -> list[Match | Unread]:
        """About some entries alone. A service that fails is tried again at the next start."""
        try:
            return self._ask(self.requests(lost))
        except NoValue as error:
            if error.reason.transient:
                raise
            return [Unread(error.message)] * len(lost)

    def requests(self, lost: Mapping[int, str] | None = None) -> list[ChatRequest]:
        """One question per batch of all entries, or of those ``lost`` with what was wrong."""
        again = lost or {}
        asked = list(again) or list(range(len(self.entries)))
        repeat = 1 if again else 0
        result = []
        for first in range(0, len(asked), self.batch):
            subset = asked[first : first + self.batch]
            items: list[Slot] = [
                {
                    "number": number,
                    "about": Trusted(self.entries[at].about),
                    "text": self.entries[at].text,
                    "problem": again.get(at, ""),
                }
                for number, at in enumerate(subset, start=1)
            ]
            slots: dict[str, Slot] = {"caption": self.caption, "items": items}
            use, form = UnivTask.V2T.use("match"), match_form(len(subset))
            result.append(request(self.resources, TEMPLATE, slots, form, use, repeat))
        return result


@lru_cache(4)
def _read(path: str, stamp: Stamp | None) -> Truth:
    return read_truth(Path(path))
