"""Single clips: what a model says of them, added up over the film, and how many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from screentest.core.aspects import BUILTIN_ASPECTS, Aspect
from screentest.core.errors import NoValue
from screentest.core.item import Item, Shot
from screentest.core.metric import OutputInfo, Resources, Traits
from screentest.core.outcome import Failure, Outcome, Point, Reason, Score
from screentest.metrics.functions import metric
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
        nothing = _too_many_lost(lost, len(clips))
        return {aspect.value: nothing for aspect in BUILTIN_ASPECTS}
    available = [(clip.shot, clip.answer.unwrap()) for clip in clips if clip.answer.ok]
    details = {"clips": len(clips), "not_judged": len(lost)}
    outcomes = {aspect.value: _worst(aspect, available, details) for aspect in OF_A_CLIP}
    unseen = frozenset(number for clip in clips if not clip.answer.ok for number in clip.offered)
    outcomes[Aspect.COMPREHENSIVENESS.value] = _coverage(available, captions, unseen, details)
    outcomes[Aspect.TEMPORAL_FLOW.value] = _order(available, details)
    return outcomes


def _too_many_lost(lost: Sequence[Failure], clips: int) -> Outcome[Score]:
    first = lost[0]
    detail = f"{len(lost)} of {clips} clips were not judged; first: {first.detail}"
    return Outcome.failed(first.reason, detail, first.advice)


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
        return Outcome.failed(Reason.NOT_APPLICABLE, "the item has no captions")
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
    outputs={
        "shot_count": OutputInfo("the smaller number divided by the larger one"),
        "shots_had": OutputInfo("shots per clip of the script, at most one"),
    },
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
