"""What the suite's metrics share: questions about a video, its events, values over time."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from screentest.core.errors import BadOption, NoValue
from screentest.core.frames import Consumer, VideoInfo
from screentest.core.item import Item, Span, Time, seconds
from screentest.core.metric import Calls, Outcomes, OutputInfo, Resources
from screentest.core.outcome import Failure, Outcome, Point, Reason, Score, attempt
from screentest.english.chunks import chunks_of
from screentest.models.ask import Frames, NonBlank, Query
from screentest.models.ask.templates import Slot
from screentest.models.chat.parsing import spoken
from screentest.run.inputs import Stamp
from screentest.suites.locot2v.data import (
    TERMS,
    Event,
    HumanAction,
    PromptRecord,
    PromptSuite,
    read_prompt_suite,
)


def declared(metric: str) -> dict[str, OutputInfo]:
    """Return the outputs of a metric of the suite by name, as ``terms.toml`` declares them."""
    return {name: OutputInfo(**info) for name, info in TERMS["outputs"][metric].items()}


FPS, MOST_SHOWN = 2.0, 128
"""Frames a second that a model is shown where it must follow what happens, and how many at most."""


def few(count: int, long_side: int) -> Frames:
    """So many frames spread evenly, each with its time."""
    return Frames(count, long_side=long_side, most=512)


def by_rate(fps: float, most: int, long_side: int) -> Frames:
    """So many frames a second from the first to the last, but no more than ``most``."""
    rate = Fraction(str(fps)).limit_denominator(1000)
    if not 1 <= most <= 4096:
        raise BadOption.of("frames", most, "1 to 4096")
    return Frames(rate=rate, least=min(2, most), most=most, long_side=long_side)


def _is_prose(slots: Mapping[str, Any], answer: str) -> None:
    """Refuse an object, whole or broken, where a paragraph was asked for."""
    if answer.strip().startswith(("{", "[", "```")):
        raise ValueError("write one paragraph of plain text, and no object")


DESCRIBE = Query("locot2v/describe", None, "chat.describe", check=_is_prose)


def description(item: Item, resources: Resources, frames: Frames) -> str:
    """Return what the video shows, in one paragraph; a run pays for it once."""
    text: str = DESCRIBE.one(resources, {"pictures": frames.show(resources, item.video)})
    return text.strip()


class Place(BaseModel):
    """When an event happens, in seconds; the times of one that does not are ignored."""

    happens: bool
    start: float = Field(ge=0)
    end: float = Field(ge=0)


AnswerForm = Literal["object", "tags"]
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_TIME = r"(?:(?:\d+:)?\d+:)?\d+(?:\.\d+)?"
_TIMES = re.compile(
    rf"(?<![\d:.])(?P<start>{_TIME})\s*(?:s|seconds?)?\s*(?:to|and|-|–|,)\s*(?P<end>{_TIME})"
)


def read_times(text: str) -> Place:
    """Return the times between the last tags, or of an answer that is nothing else.

    >>> read_times("<think>At 3 he waves.</think><answer>12.54 to 17.83</answer>")
    Place(happens=True, start=12.54, end=17.83)
    >>> read_times("<answer>00:58 to 01:02.5</answer>")
    Place(happens=True, start=58.0, end=62.5)
    """
    tagged = _ANSWER.findall(text)
    answer = (tagged[-1] if tagged else spoken(text)).strip()
    result = list(_TIMES.finditer(answer))
    if len(result) == 1 and (tagged or result[0].end() - result[0].start() >= len(answer) - 12):
        start, end = (_in_seconds(result[0][name]) for name in ("start", "end"))
        return Place(happens=True, start=start, end=end)
    raise NoValue(Reason.UNPARSABLE, f"no range of seconds can be read in {answer[:60]!r}")


def _in_seconds(time: str) -> float:
    """Seconds of "12.54", "01:02.5" or "1:02:03"."""
    total = 0.0
    for part in time.split(":"):
        total = total * 60 + float(part)
    return total


def _is_in_the_film(slots: Mapping[str, Any], answer: Place | str) -> None:
    """Refuse an event that happens at no time of the film: it was not said to be absent."""
    try:
        place = answer if isinstance(answer, Place) else read_times(answer)
    except NoValue as error:
        raise ValueError(error.message) from None
    if place.happens and not place.start < min(place.end, slots["duration"]):
        raise ValueError(
            f"invalid range {place.start:g} to {place.end:g}: the end must be after the start, and "
            f"the start before the film's end at {slots['duration']:g}"
        )


GROUND = Query("locot2v/ground", Place, "chat.ground", check=_is_in_the_film)
GROUND_TAGGED = Query("locot2v/ground_tagged", None, "chat.ground", check=_is_in_the_film)
"""As Time-R1 was trained to answer: thoughts, then the times between tags."""


@dataclass(frozen=True, slots=True)
class Grounded:
    """An event and its part of the video."""

    event: Event
    span: Span


def ground(
    events: Sequence[Event], item: Item, resources: Resources, frames: Frames, form: AnswerForm
) -> list[Grounded]:
    """Return the events that can be found, in the order of the prompt."""
    video = resources.info(item.video)
    pictures = frames.show(resources, item.video)
    questions: list[dict[str, Slot]] = [
        {"pictures": pictures, "event": event.event, "duration": round(float(video.span.end), 2)}
        for event in events
    ]
    result = []
    query = GROUND if form == "object" else GROUND_TAGGED
    for event, answer in zip(events, query.ask(resources, questions), strict=True):
        statement = answer.unwrap()
        span = span_of(statement if isinstance(statement, Place) else read_times(statement), video)
        if span is not None:
            result.append(Grounded(event, span))
    return result


def span_of(place: Place, video: VideoInfo) -> Span | None:
    """Return the range that was meant, within the video; None where there is none."""
    if not place.happens:
        return None
    start = max(video.span.start, seconds(round(place.start, 3)))
    end = min(video.span.end, seconds(round(place.end, 3)))
    return Span(start, end) if start < end else None


STEP = Fraction(2)
"""Seconds per point, as long as VBench-Long's clips."""


class Timeline:
    """Sums per step of time; what is kept grows by three numbers every two seconds.

    >>> line = Timeline()
    >>> for time, value in ((0, 1.0), (1, 0.0), (2, 0.5)):
    ...     line.add(Fraction(time), value)
    >>> line.mean, [(str(point.span), point.value) for point in line.curve(Fraction(3))]
    (0.5, [('0:00:00.000–0:00:02.000', 0.5), ('0:00:02.000–0:00:03.000', 0.5)])
    """

    def __init__(self, step: Fraction = STEP) -> None:
        self._step = step
        self._bins: dict[int, list[float]] = {}
        self._worth: dict[int, int] = {}

    def add(self, time: Time, value: float) -> None:
        place = math.floor(time / self._step)
        # A running sum and how much of it rounding lost, so that three hours stay exact.
        total, lost = self._bins.setdefault(place, [0.0, 0.0])
        grown = total + value
        lost += (total - grown) + value if abs(total) >= abs(value) else (value - grown) + total
        self._bins[place] = [grown, lost]
        self._worth[place] = self._worth.get(place, 0) + 1

    @property
    def count(self) -> int:
        return sum(self._worth.values())

    @property
    def mean(self) -> float:
        return math.fsum(part for parts in self._bins.values() for part in parts) / self.count

    def curve(self, end: Time | None = None) -> tuple[Point, ...]:
        """Return the mean of each step; the last one ends at ``end``."""
        points = []
        for place in sorted(self._bins):
            start = place * self._step
            stop = start + self._step
            if end is not None and start < end < stop:
                stop = end
            points.append(
                Point(Span(start, stop), math.fsum(self._bins[place]) / self._worth[place])
            )
        return tuple(points)


@dataclass(frozen=True, slots=True)
class Work:
    """A measurement: who wants frames, and what to conclude when they have passed."""

    conclude: Callable[[], Outcomes]
    consumers: Sequence[Consumer] = ()

    def finish(self) -> Outcomes:
        return self.conclude()


def inapplicable(detail: str, advice: str = "") -> NoValue:
    """To be raised where the question makes no sense for an item."""
    return NoValue(Reason.NOT_APPLICABLE, detail, advice=advice)


def no_score(detail: str) -> Outcome[Score]:
    """Return the outcome of one output that has no value while others may have."""
    return Outcome(failure=Failure(Reason.NOT_APPLICABLE, detail))


class Records:
    """Where metrics look up what a suite says of an item; ``path`` may be empty."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._suite = _read(path, Stamp.of(Path(path))) if path else None

    @property
    def signature_parts(self) -> dict[str, str]:
        return {"records": self._suite.digest} if self._suite is not None else {}

    def of(self, item: Item) -> PromptRecord:
        """Return the record of an item, or one that has only its prompt."""
        result = self._suite.record_of(item) if self._suite is not None else None
        if result is None and not item.text.strip():
            raise inapplicable("the video has no prompt")
        return result or PromptRecord(item.id, item.text)

    def check(self, items: Sequence[Item]) -> None:
        """Refuse items that are not in the file: their questions would be written anew."""
        suite = self._suite
        unknown = [item.id for item in items if suite is not None and not suite.record_of(item)]
        if suite is not None and unknown:
            near = [
                match
                for name in unknown
                for match in get_close_matches(Path(name).stem, suite.records, n=1)
            ]
            advice = f"Did you mean {', '.join(map(repr, near[:_NAMED]))}? " if near else ""
            named = ", ".join(map(repr, unknown[:_NAMED]))
            raise BadOption(
                f"{self._path} has no prompt {named} ({len(unknown):,} of {len(items):,} items)",
                advice=f"{advice}Name items by the id of their prompt.",
            )


_NAMED = 3
"""Items in a message."""


class Asking(ABC):
    """A metric that asks models about chosen frames: it wants no stream of them."""

    def start(self, item: Item, resources: Resources) -> Work:
        return Work(partial(self.conclude, item, resources))

    @abstractmethod
    def conclude(self, item: Item, resources: Resources) -> Outcomes:
        """Ask, and return the values."""


class AskingByRecords(Asking):
    """One that looks up what a prompt suite says of an item."""

    records: Records

    @property
    def signature_parts(self) -> dict[str, str]:
        return self.records.signature_parts

    def check_items(self, items: Sequence[Item]) -> None:
        """Refuse items that the suite's file does not have."""
        self.records.check(items)

    def calls_of(self, item: Item, video: VideoInfo) -> Sequence[Calls] | None:
        """Return what is asked at most; None where the file has no questions to count."""
        record = attempt(partial(self.records.of, item)).value
        return () if record is None else self.asks(record, video)

    @abstractmethod
    def asks(self, record: PromptRecord, video: VideoInfo) -> Sequence[Calls] | None:
        """Return the calls about a video of this prompt."""


class WatchingByRecords(AskingByRecords):
    """One whose model is shown ``fps`` frames a second of the video, at most ``frames``.

    ``records`` is a prompt suite's file; what it does not say is read from the prompt.
    """

    def __init__(
        self, *, records: str = "", fps: float = FPS, frames: int = MOST_SHOWN, long_side: int = 512
    ) -> None:
        self.records, self.frames = Records(records), by_rate(fps, frames, long_side)


@lru_cache(4)
def _read(path: str, stamp: Stamp | None) -> PromptSuite:
    return read_prompt_suite(Path(path))


_LONGEST = 2000
MOST = 60
"""Events of one text; a model that lists more has lost its way."""


class EventForm(BaseModel):
    """One event as a model answers it."""

    event: NonBlank = Field(max_length=_LONGEST)
    subjects: list[str] = Field(max_length=20)
    setting: str = Field(max_length=_LONGEST)
    action: str = Field(max_length=_LONGEST)
    camera_motion: str = Field(max_length=_LONGEST)


class EventsForm(BaseModel):
    """All events of a text."""

    events: list[EventForm] = Field(max_length=MOST)


class ActionForm(BaseModel):
    """Who does what."""

    subject: NonBlank = Field(max_length=_LONGEST)
    action: NonBlank = Field(max_length=_LONGEST)


class ActionsForm(BaseModel):
    """All human actions of a text; none where nobody acts."""

    actions: list[ActionForm] = Field(max_length=MOST)


EVENTS = Query("locot2v/events", EventsForm, "chat.extract")
ACTIONS = Query("locot2v/actions", ActionsForm, "chat.extract")


def events_of_text(text: str, resources: Resources) -> tuple[Event, ...]:
    """Return the events that a model finds in a text."""
    result: EventsForm = EVENTS.one(resources, {"description": text})
    events = []
    for one in result.events:
        subjects = tuple(text.strip() for text in one.subjects if text.strip())
        texts = (one.event, ", ".join(subjects), one.setting, one.action, one.camera_motion)
        events.append(Event(*texts, subjects=subjects))
    return tuple(events)


def events_of(record: PromptRecord, resources: Resources) -> tuple[Event, ...]:
    """Return the events that a prompt asks for: the suite's own, or read from the prompt."""
    return record.events or events_of_text(record.content, resources)


def actions_of(record: PromptRecord, resources: Resources) -> tuple[HumanAction, ...]:
    """Return the human actions that a prompt asks for; of the prompt itself, not of its base."""
    if record.actions is not None:
        return record.actions
    result: ActionsForm = ACTIONS.one(resources, {"description": record.prompt})
    return tuple(HumanAction(action.subject, action.action) for action in result.actions)


_ARTICLE = re.compile(r"(?:an?|the|his|her|its|their)\b", re.IGNORECASE)
_ARTICLES = "an?|the|his|her|its|their|one|two|three|four|five|several|some|another"
# Only where a new phrase begins: "a woman, tall and blond, in a red dress" is one subject.
_BETWEEN = re.compile(
    rf"\s*[,;]\s*(?:and\s+)?(?=(?:{_ARTICLES})\b)|\s+and\s+(?=(?:{_ARTICLES})\b)", re.IGNORECASE
)
_COMMA = re.compile(r"\s*[,;]\s*(?:and\s+)?", re.IGNORECASE)
_BARE_AND = re.compile(r"\s+and\s+", re.IGNORECASE)


def subjects_of(event: Event) -> tuple[str, ...]:
    """Return the subjects of an event, each as a phrase: as listed, or read from their text.

    >>> subjects_of(Event("", "A man, the dog and a black and white cat"))
    ('A man', 'the dog', 'a black and white cat')
    >>> subjects_of(Event("", "A woman, tall and blond, in a red dress"))
    ('A woman, tall and blond, in a red dress',)
    >>> subjects_of(Event("", "one adult elephant and baby elephant"))
    ('one adult elephant', 'baby elephant')
    >>> subjects_of(Event("", "greenish planet, asteroids, moons"))
    ('greenish planet', 'asteroids', 'moons')
    """
    if event.subjects:
        return tuple(dict.fromkeys(event.subjects))
    parts = (part for whole in _phrases(event.subject) for part in _at_and(whole))
    return tuple(dict.fromkeys(part.strip(" .,;") for part in parts if part.strip(" .,;")))


def _phrases(text: str) -> list[str]:
    """Split a list without articles, as the released file's, at commas; else at new phrases."""
    *parts, last = _COMMA.split(text.strip(" .,;"))
    listed = [*parts, *(_BARE_AND.split(last) if parts else [last])]
    for candidate in (listed, [*parts, last]):
        if not _ARTICLE.match(text.strip()) and all(map(_is_phrase, candidate)):
            return candidate
    return _BETWEEN.split(text)


def _is_phrase(text: str) -> bool:
    """Return whether a text begins and ends with a noun: it is no part of another phrase."""
    chunks = chunks_of(text)
    return bool(chunks) and chunks[0].is_noun and chunks[-1].is_noun


def _at_and(phrase: str) -> list[str]:
    """Return a phrase at its "and", where somebody stands right before and after it."""
    parts = _BARE_AND.split(phrase)
    if len(parts) == 2 and all(_somebody(part) for part in parts):
        return parts
    return [phrase]


def _somebody(phrase: str) -> bool:
    """Return whether a phrase is a noun for a person or an animal, with what stands before it."""
    chunks = chunks_of(phrase)
    return len(chunks) == 1 and chunks[0].kind in ("people", "animals")
