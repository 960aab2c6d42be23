"""dense: a long video judged clip by clip against its script, by a vision-language model.

Five bad clips in sixty vanish in one glance at all of them, and in a mean. So every clip is
looked at on its own, beside the captions that may belong to it, and the clips' scores are
added up by their lower tails. Which caption a clip shows tells what is missing and what comes
out of order. One call per clip, asked once per video.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from screentest.core.aspects import BUILTIN_ASPECTS, Aspect
from screentest.core.errors import BadOption, NoValue
from screentest.core.frames import Consumer
from screentest.core.item import Item, Shot
from screentest.core.metric import (
    Calls,
    Level,
    Measurement,
    MetricInfo,
    Outcomes,
    OutputInfo,
    Resources,
    Traits,
)
from screentest.core.outcome import Outcome, Point, Reason, Score
from screentest.core.registry import register
from screentest.metrics.curve import declared
from screentest.metrics.functions import metric
from screentest.models.ask import Frames, Query
from screentest.models.ask.templates import ASPECTS, Slot, Trusted
from screentest.models.chat.messages import Sampling
from screentest.stats.aggregate import lower_tails

BEST = 10
OF_A_CLIP = tuple(
    aspect
    for aspect in BUILTIN_ASPECTS
    if aspect not in (Aspect.COMPREHENSIVENESS, Aspect.TEMPORAL_FLOW)
)
"""Aspects that a single clip shows; the other two are of the whole."""
BY_CAPTION = (Aspect.COLOR, Aspect.SPATIAL_RELATIONSHIP)
"""Aspects in which a clip is right or wrong only beside a caption; the rest can be seen."""


class ClipAnswer(BaseModel):
    """What the model says of one clip."""

    model_config = ConfigDict(extra="forbid")

    caption: int = Field(description="Number of the caption that the clip shows; 0 for none.")
    faults: str = Field(description="What is wrong, in one sentence; empty if nothing is.")
    aesthetics: int = Field(ge=0, le=BEST)
    technical_quality: int = Field(ge=0, le=BEST)
    appearance_style: int = Field(ge=0, le=BEST)
    background_consistency: int = Field(ge=0, le=BEST)
    object_integrity: int = Field(ge=0, le=BEST)
    color: int = Field(ge=0, le=BEST)
    dynamics_degree: int = Field(ge=0, le=BEST)
    spatial_relationship: int = Field(ge=0, le=BEST)


@dataclass(frozen=True, slots=True)
class SeenClip:
    """One clip, the captions it was offered by number, and what was said of it."""

    shot: Shot
    offered: frozenset[int]
    answer: Outcome[ClipAnswer]


def offered_to(shot: int, shots: int, captions: int, window: int) -> range:
    """Places of the captions that a shot may show: those around its place in the film.

    >>> offered_to(5, 10, 20, 3)
    range(7, 14)
    """
    if captions == 0:
        return range(0)
    middle = round((shot + 0.5) / shots * captions - 0.5)
    return range(max(0, middle - window), min(captions, middle + window + 1))


def read_clip(outcome: Outcome[ClipAnswer], offered: frozenset[int]) -> Outcome[ClipAnswer]:
    """Return the scores in an answer; a caption that was not offered makes all of it doubtful."""
    if outcome.ok and outcome.unwrap().caption not in {0, *offered}:
        caption = outcome.unwrap().caption
        return Outcome.failed(Reason.UNPARSABLE, f"caption {caption} was not offered")
    return outcome


def added_up(
    clips: Sequence[SeenClip], captions: frozenset[int], *, most_failed: float
) -> dict[str, Outcome[Score]]:
    """One outcome per aspect. ``captions`` are the numbers of those that have a text."""
    lost = [clip.answer.failure for clip in clips if clip.answer.failure is not None]
    if len(lost) > most_failed * len(clips):
        # The clips that nobody saw may be the bad ones.
        first = lost[0]
        detail = f"{len(lost)} of {len(clips)} clips were not judged; first: {first.detail}"
        nothing: Outcome[Score] = Outcome.failed(first.reason, detail, first.advice)
        return {aspect.value: nothing for aspect in BUILTIN_ASPECTS}
    available = [(clip.shot, clip.answer.unwrap()) for clip in clips if clip.answer.ok]
    details = {"clips": len(clips), "not_judged": len(lost)}
    outcomes = {aspect.value: _worst(aspect, available, details) for aspect in OF_A_CLIP}
    unseen = frozenset(number for clip in clips if not clip.answer.ok for number in clip.offered)
    outcomes[Aspect.COMPREHENSIVENESS.value] = _coverage(available, captions, unseen, details)
    outcomes[Aspect.TEMPORAL_FLOW.value] = _order(available, details)
    return outcomes


def _worst(
    aspect: Aspect, known: Sequence[tuple[Shot, ClipAnswer]], details: dict[str, int]
) -> Outcome[Score]:
    """Return the lower tails of the clips' marks."""
    if aspect in BY_CAPTION:
        known = [(shot, answer) for shot, answer in known if answer.caption]
    if not known:
        return Outcome.failed(Reason.NOT_APPLICABLE, "no clip shows a caption to hold it against")
    curve = tuple(
        Point(shot.span, getattr(answer, aspect.value) / BEST, answer.faults)
        for shot, answer in known
    )
    durations = [float(shot.span.duration) for shot, _ in known]
    # A single frame lasts no time at all, and is a clip all the same.
    weights = durations if all(durations) else None
    value = lower_tails([point.value for point in curve], weights)
    return Outcome.of(Score(value, curve, dict(details)))


def _coverage(
    known: Sequence[tuple[Shot, ClipAnswer]],
    captions: frozenset[int],
    unseen: frozenset[int],
    details: dict[str, int],
) -> Outcome[Score]:
    """Return the share of captions that some clip shows.

    What a clip without an answer may have shown is neither there nor missing.
    """
    shown = {answer.caption for _, answer in known if answer.caption}
    known_captions = captions - (unseen - shown)
    if not known_captions:
        return Outcome.failed(Reason.NOT_APPLICABLE, "the video has no captions")
    missing: list[int] = sorted(known_captions - shown)
    curve = tuple(
        Point(shot.span, float(answer.caption > 0), f"caption {answer.caption or 'none'}")
        for shot, answer in known
    )
    value = 1 - len(missing) / len(known_captions)
    return Outcome.of(Score(value, curve, {**details, "missing": list(missing)}))


def _order(known: Sequence[tuple[Shot, ClipAnswer]], details: dict[str, int]) -> Outcome[Score]:
    """One less the share of pairs of clips that show their captions in the wrong order."""
    matched = [(shot, answer.caption) for shot, answer in known if answer.caption]
    if len(matched) < 2:
        return Outcome.failed(Reason.NOT_APPLICABLE, "fewer than two clips show a caption")
    points = []
    wrong_pairs = pairs = 0
    for place, (shot, caption) in enumerate(matched):
        before = sum(other > caption for _, other in matched[:place])
        after = sum(other < caption for _, other in matched[place + 1 :])
        wrong_pairs += before
        pairs += place
        share = 1 - (before + after) / (len(matched) - 1)
        points.append(Point(shot.span, share, f"caption {caption}"))
    return Outcome.of(Score(1 - wrong_pairs / pairs, tuple(points), dict(details)))


@metric(
    summary="number of shots against the script's",
    outputs=declared("shot_count"),
    traits=dict.fromkeys(("shot_count", "shots_had"), Traits(counts_shots=True)),
    needs=("script",),
    shots=True,
)
def shot_count(item: Item, resources: Resources) -> Mapping[str, Score]:
    """Both ratios, with the shots as the curve."""
    assert item.script is not None
    wanted = len([clip for clip in item.script.clips if clip.caption.strip()])
    if not wanted:
        raise NoValue(Reason.NOT_APPLICABLE, "no clip of the script has a caption")
    shots = resources.shots(item.video)
    curve = tuple(Point(shot.span, 1.0, shot.transition.value) for shot in shots)
    details = {"shots": len(shots), "clips": wanted}
    alike = min(wanted, len(shots)) / max(wanted, len(shots))
    return {
        "shot_count": Score(alike, curve, details),
        "shots_had": Score(min(1.0, len(shots) / wanted), curve, details),
    }


TEMPLATE = "metrics/dense"
# As the paper's judge samples: SLVMEval, appendix G.1.
SAMPLING = Sampling(temperature=0.7, top_p=0.8, top_k=20, min_p=0.0, max_tokens=8192)
CLIP = Query(TEMPLATE, ClipAnswer, "chat.judge", "slvm.dense", SAMPLING)
OUTPUTS = {
    aspect.value: OutputInfo(f"{aspect.value.replace('_', ' ')}, worst clips first")
    for aspect in BUILTIN_ASPECTS
}
_AT_ONCE = 64
"""Clips whose frames are held together: a film of hours must not be held as a whole."""


@dataclass(frozen=True, slots=True)
class Dense:
    """The metric; one value per aspect, from 0 to 1."""

    frames: Frames
    window: int
    most_failed: float
    hints: bool = False

    @property
    def info(self) -> MetricInfo:
        shown = self.frames
        return MetricInfo(
            outputs=OUTPUTS,
            level=Level.CLIP,
            roles=(CLIP.role,),
            shots=True,
            prompts=(TEMPLATE, ASPECTS),
            optional_text=True,
            calls=(Calls(CLIP.role, "clip", shown.count or 1, shown.long_side or 512),),
        )

    def start(self, item: Item, resources: Resources) -> Measurement:
        """Nothing streams: each clip is fetched when it is asked about."""
        return _DenseMeasurement(self, item, resources)


@dataclass(slots=True)
class _DenseMeasurement:
    dense: Dense
    item: Item
    resources: Resources
    consumers: Sequence[Consumer] = field(default=())

    def finish(self) -> Outcomes:
        shots = list(self.resources.shots(self.item.video))
        clips = self.item.script.clips if self.item.script else ()
        # One line each, so that no caption can pass for the number and text of another.
        captions = {number: " ".join(clip.caption.split()) for number, clip in enumerate(clips, 1)}
        seen: list[SeenClip] = []
        for start in range(0, len(shots), _AT_ONCE):
            seen += self._asked(shots, range(start, min(start + _AT_ONCE, len(shots))), captions)
        dense, written = self.dense, frozenset(n for n, text in captions.items() if text)
        return added_up(seen, written, most_failed=dense.most_failed)

    def _asked(
        self, shots: Sequence[Shot], places: range, captions: Mapping[int, str]
    ) -> list[SeenClip]:
        offers = [self._offer(place, len(shots), captions) for place in places]
        questions = (
            self._slots(shots[place], {number: captions[number] for number in offer})
            for place, offer in zip(places, offers, strict=True)
        )
        answers = CLIP.ask(self.resources, questions)
        return [
            SeenClip(shots[place], frozenset(offer), read_clip(answer, frozenset(offer)))
            for place, offer, answer in zip(places, offers, answers, strict=True)
        ]

    def _offer(self, place: int, shots: int, captions: Mapping[int, str]) -> list[int]:
        near = offered_to(place, shots, len(captions), self.dense.window)
        return [n + 1 for n in near if captions[n + 1]]

    def _slots(self, shot: Shot, captions: Mapping[int, str]) -> dict[str, Slot]:
        return {
            "frames": self.dense.frames.show(self.resources, self.item.video, shot.span),
            "captions": "\n".join(f"{number}. {text}" for number, text in captions.items()),
            "aspects": [
                {
                    "name": Trusted(aspect.value),
                    "definition": self.resources.prompts.definition(
                        aspect, hinted=self.dense.hints
                    ),
                }
                for aspect in OF_A_CLIP
            ],
        }


@register("metric", "dense", summary="every clip judged alone, added up by the worst")
def dense(
    *,
    frames: int = 4,
    long_side: int = 512,
    window: int = 6,
    most_failed: float = 0.1,
    hints: bool = False,
) -> Dense:
    """``frames`` of each clip are shown, with captions up to ``window`` places away.

    Where more than ``most_failed`` of the clips got no answer, the video has no score. ``hints``
    tells the model what harm looks like: for a certificate that shows what such words are worth.
    """
    if frames < 1 or long_side < 16 or window < 0:
        raise BadOption("invalid option of dense: must be frames ≥ 1, long_side ≥ 16, window ≥ 0")
    if not 0 <= most_failed < 1:
        raise BadOption("invalid option of dense: must be 0 ≤ most_failed < 1")
    return Dense(Frames(frames, long_side=long_side), window, most_failed, hints)
