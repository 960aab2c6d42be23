"""Consistency: of consecutive frames, and of subjects and backgrounds in and across events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from screentest.core.errors import BadOption
from screentest.core.frames import Filter, Frame, FrameRequest, Size, VideoInfo
from screentest.core.item import Item
from screentest.core.metric import Calls, Level, MetricInfo, Outcomes, Resources
from screentest.core.outcome import Outcome, Point, Score
from screentest.core.registry import register
from screentest.models.networks.runtimes import batches
from screentest.models.roles import ImageFeatures, Vectors
from screentest.suites.locot2v import similarity
from screentest.suites.locot2v.data import PromptRecord
from screentest.suites.locot2v.metrics.motion import STILLNESS
from screentest.suites.locot2v.requests import (
    EVENTS,
    FPS,
    GROUND,
    GROUND_TAGGED,
    MOST_SHOWN,
    AnswerForm,
    Grounded,
    Timeline,
    WatchingByRecords,
    Work,
    by_rate,
    declared,
    events_of,
    ground,
    inapplicable,
    no_score,
    subjects_of,
)
from screentest.suites.locot2v.similarity import Rows, Singly, cut, is_black, nearness, text_vectors

SEMANTIC_CONSISTENCY = "locot2v_semantic_consistency"
BATCH = 8
SHORT_SIDE = 384
"""No encoder of this role looks at more."""


@register("metric", SEMANTIC_CONSISTENCY, summary="similarity of consecutive frames' features")
class SemanticConsistency:
    """How little the meaning of the picture jumps from frame to frame.

    EvalCrafter's protocol with another encoder, on every frame: the mean cosine similarity of the
    features of consecutive frames. The paper takes SigLIP 2 for the features.
    """

    info = MetricInfo(
        outputs=declared(SEMANTIC_CONSISTENCY),
        traits={SEMANTIC_CONSISTENCY: STILLNESS},
        level=Level.FRAME,
        roles=("image_features",),
        consecutive=True,
    )

    def start(self, item: Item, resources: Resources) -> Work:
        encoder: ImageFeatures = resources.role("image_features")
        line = Timeline()
        last: Vectors | None = None  # only the last vector is kept

        def compare(frames: Sequence[Frame]) -> None:
            nonlocal last
            vectors = encoder.features([item.image for item in frames])
            for frame, vector in zip(frames, vectors, strict=True):
                if last is not None:
                    line.add(frame.time, float(vector @ last))
                last = vector

        def conclude() -> Outcomes:
            if not line.count:
                raise inapplicable("the video has one frame, which is consistent with nothing")
            frames.light.require()
            curve = line.curve(resources.info(item.video).span.end)
            return {SEMANTIC_CONSISTENCY: Outcome.of(Score(line.mean, curve))}

        wants = FrameRequest(size=Size(short_side=SHORT_SIDE), filter=Filter.AREA)
        frames = Singly(wants, compare, BATCH)
        return Work(conclude, [frames])


EVENT_CONSISTENCY = "locot2v_event_consistency"
ENCODER = "image_features.events"
"""A use of its own: what tells events apart is not what tells frames apart."""
AT_ONCE = 16
"""Frames whose pieces are handed to the models together."""
_ARTICLE = re.compile(r"^(?:an?|the|his|her|its|their|this|that)\s+", re.IGNORECASE)
Weighting = Literal["equal", "duration"]


@register(
    "metric",
    EVENT_CONSISTENCY,
    summary="whether subjects and backgrounds stay the same within and across events",
    neutral=("records",),
)
class EventConsistency(WatchingByRecords):
    """Intra- and inter-event consistency of subjects and backgrounds (equations 7–16).

    A chat model says when each event of the prompt happens. In frames of that range, the event's
    subjects are found by detection and cut out along their shape; the background is what is left.
    The image encoder turns both into unit vectors. Within an event, consistency is the mean
    similarity of consecutive frames; across events, that of all frames of one event with all of
    another, for subjects that appear in several.

    Two events have the same subject where their phrases say so: equal words, or texts at least
    ``same_subject`` alike. The paper leaves this open, as it does how many frames are looked at:
    a rate, so that consecutive frames are as far apart in a short event as in a long one.

    To find events ``fps`` frames a second are shown, at most ``frames``; in each event
    ``event_fps`` are looked at, at most ``per_event``. ``answers=tags`` asks for times as Time-R1
    was trained to give them. ``least_score`` is what a detection must have; the backend's own limit
    where 0. The encoder is the role ``image_features.events``.
    """

    def __init__(
        self,
        *,
        records: str = "",
        fps: float = FPS,
        frames: int = MOST_SHOWN,
        event_fps: float = 2.0,
        per_event: int = 64,
        long_side: int = 512,
        answers: AnswerForm = "object",
        least_score: float = 0.0,
        same_subject: float = 0.85,
        weighting: Weighting = "equal",
    ) -> None:
        if not 2 <= per_event <= 256:
            raise BadOption(f"{EVENT_CONSISTENCY}: per_event is 2 to 256")
        super().__init__(records=records, fps=fps, frames=frames, long_side=long_side)
        self.in_event = by_rate(event_fps, per_event, long_side)
        self.answers, self.weighting = answers, weighting
        self.least_score, self.same_subject = least_score, same_subject

    @property
    def info(self) -> MetricInfo:
        ask = GROUND if self.answers == "object" else GROUND_TAGGED
        return MetricInfo(
            outputs=declared(EVENT_CONSISTENCY),
            level=Level.CLIP,
            roles=(
                *(EVENTS.role, GROUND.role, "text_embedding"),
                *("detection", "segmentation", ENCODER),
            ),
            needs=("text",),
            prompts=(EVENTS.template, ask.template),
        )

    def asks(self, record: PromptRecord, video: VideoInfo) -> Sequence[Calls] | None:
        count = len(record.events)
        return (self.frames.calls(GROUND.role, video, count),) if count else None

    def conclude(self, item: Item, resources: Resources) -> Outcomes:
        events = events_of(self.records.of(item), resources)
        result = ground(events, item, resources, self.frames, self.answers)
        if not result:
            raise inapplicable("none of the prompt's events can be found in the video")
        seen = [self._look(entry, item, resources) for entry in result]
        return self._outcomes(seen, same(seen, resources, self.same_subject))

    def _look(self, one: Grounded, item: Item, resources: Resources) -> Seen:
        phrases = subjects_of(one.event)
        encoder: ImageFeatures = resources.role(ENCODER)
        subjects: dict[str, list[Rows]] = {}
        backgrounds: list[Rows] = []
        shown = (frame.image for frame in self.in_event.of(resources, item.video, one.span))
        # Black ones are alike, but only as nothing is like nothing.
        for images in batches([image for image in shown if not is_black(image)], AT_ONCE):
            pieces = cut(images, phrases, resources, self.least_score)
            named = [
                (phrase, picture)
                for parts, background in pieces
                for phrase, picture in (*parts.items(), (None, background))
                if picture is not None
            ]
            pictures = [picture for _, picture in named]
            rows: Sequence[Any] = list(encoder.features(pictures)) if named else []
            for (phrase, _), row in zip(named, rows, strict=True):
                (backgrounds if phrase is None else subjects.setdefault(phrase, [])).append(row)
        return Seen(
            one,
            {phrase: np.stack(rows) for phrase, rows in subjects.items()},
            np.stack(backgrounds) if backgrounds else np.zeros((0, 1)),
        )

    def _outcomes(self, seen: Sequence[Seen], subjects: Mapping[str, Sequence[Rows]]) -> Outcomes:
        equal = self.weighting == "equal"
        weights = {
            n: 1.0 if equal else float(item.found.span.duration) for n, item in enumerate(seen)
        }
        people = {n: list(item.subjects.values()) for n, item in enumerate(seen)}
        places = {n: [item.background] for n, item in enumerate(seen)}
        details = {"events": len(seen), "subjects": len(subjects)}

        def outcome(value: float | None, why: str, curve: tuple[Point, ...] = ()) -> Outcome[Score]:
            return no_score(why) if value is None else Outcome.of(Score(value, curve, details))

        one_event = "the video shows one event" if len(seen) == 1 else ""
        return {
            "intra_event_subject": outcome(
                similarity.intra(people, weights),
                "no subject was found in two frames of an event",
                tuple(_points(seen, people)),
            ),
            "intra_event_background": outcome(
                similarity.intra(places, weights),
                "no background was left in two frames of an event",
                tuple(_points(seen, places)),
            ),
            "inter_event_subject": outcome(
                similarity.inter(list(subjects.values())),
                one_event or "no subject was found in two events",
            ),
            "inter_event_background": outcome(
                similarity.across([item.background for item in seen]),
                one_event or "no background was left in two events",
            ),
        }


@dataclass(frozen=True, slots=True)
class Seen:
    """What the frames of one event show, as unit vectors."""

    found: Grounded
    subjects: Mapping[str, Rows]
    background: Rows


def same(seen: Sequence[Seen], resources: Resources, alike: float) -> dict[str, list[Rows]]:
    """Return the appearances of each subject over all events, under the phrase it had first."""
    phrases = list(dict.fromkeys(plain(name) for item in seen for name in item.subjects))
    if not phrases:
        return {}
    rows = text_vectors(phrases, resources)
    near = nearness(rows, rows)
    first = {
        phrase: next(
            other for other in range(place + 1) if near[place, other] >= alike or other == place
        )
        for place, phrase in enumerate(phrases)
    }
    result: dict[str, list[Rows]] = {}
    for entry in seen:
        here: dict[str, list[Rows]] = {}
        for name, vectors in entry.subjects.items():
            here.setdefault(phrases[first[plain(name)]], []).append(vectors)
        for name, parts in here.items():
            result.setdefault(name, []).append(np.concatenate(parts))
    return result


def plain(phrase: str) -> str:
    """Return a phrase without its article, in small letters.

    >>> plain("The Woman in white"), plain("a dog")
    ('woman in white', 'dog')
    """
    return _ARTICLE.sub("", " ".join(phrase.split())).lower()


def _points(seen: Sequence[Seen], rows: Mapping[int, Sequence[Rows]]) -> Iterator[Point]:
    for number, item in enumerate(seen):
        value = similarity.intra({number: rows[number]}, {number: 1.0})
        if value is not None:
            yield Point(item.found.span, value, item.found.event.event)
