"""What models see in the pictures of a touched clip, before and after.

The part of a pair's check that needs to know what is shown: whether the thing is gone or has its
new colour, whether the subject is still there, whether what lies beside it was left alone. Where
nothing can tell (no detector), these checks measure nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from screentest.core import BadOption, Image, NoValue
from screentest.models import Models
from screentest.models.roles import Detector, Matting
from screentest.testbeds.contract import DegradationInfo, Details, Reach, Region
from screentest.testbeds.faults import Fault
from screentest.testbeds.operators.tracker import Box, box_mask, boxes_of, guesses, overlap

Map: TypeAlias = NDArray[np.bool_]

LEVELS = 14
"""A pixel of a slightly blurred picture that moved by more, in any channel, was changed."""
BLUR = 5
MOVES = 0.015
"""The least share of a picture that must change within a quarter of a second for something to be
seen to move: 0.002 for a rocket on its pad from afar, 0.02 when it ignites, 0.35 for a bird near
by that turns its head (the packaged sample)."""
MOTION_SIDE = 128
"""The long side at which motion is measured, whatever that of the film."""
MARGIN, PIXELS = 0.1, 6
"""How far a change may reach beyond a box: a share of its sides, and pixels."""
INSIDE = 0.85
"""The least share of the changed pixels that must lie where the thing is."""
TOUCHED = 0.05
"""The least share of a thing's boxes that must be changed."""
SPOT = 0.005
"""The share of a picture that is a change where nothing should be changed."""
NOW_AND_THEN = 0.13
"""The share of pictures in which a detector may err: one in eight."""
STILL = 1 / 3
"""The share of pictures in which debris may look to a detector like the thing that was there."""
LOST = 0.3
"""A box that overlaps an old one by so much is of the same thing."""
REACHED, WAS = 0.6, 0.25
"""The least shares of recoloured pixels that must have the new colour, and have had the old."""
BOXY = 0.95
"""A change that fills so much of its bounding box is a rectangle, not a thing."""
# Of backgrounds: fitted to labels made by eye; docs/evidence/degradations.md has what they keep.
FRONT = (0.03, 0.85)
"""The share of a picture that a foreground may fill."""
BEHIND = 0.25
"""The least share of a picture that a background which moves must change."""
STEADY = 0.3
"""The least foreground in any picture, as a share of what is usual in the clip, where the
detector does not say where to look."""
IN_FRONT, SURE = 0.15, 0.5
"""The least share of the box of what stands in front that must be as it was: of a bird with its
wings spread that is a sixth. A detector that is less sure than this does not say where."""
PIECE, WHOLE = 0.003, 0.55
"""Of the pieces of a foreground that can be seen, the largest must have so much of it."""
FOUND = 0.3
"""The least share of pictures in which a subject must be found again."""


@dataclass(frozen=True, slots=True)
class ClipSample:
    """Some pictures of a touched clip, before and after, RGB; and what was settled for it."""

    pictures: Sequence[tuple[Image, Image]]
    details: Details
    severity: float
    models: Models | None

    def detector(self) -> Detector | None:
        """Return the detector of named things; None where there is none."""
        detector: Detector | None = self.backend("detection")
        return detector

    def backend(self, role: str) -> Any:
        """Return the backend of a role here; None where nothing fills it, or only a guess."""
        if self.models is None:
            return None
        try:
            return None if guesses(self.models, role) else self.models.role(role)
        except NoValue:
            return None


@dataclass(frozen=True, slots=True)
class Measured:
    """What a check of a clip measured, and what is not as it should be."""

    figures: Mapping[str, float] = field(default_factory=dict)
    fault: Fault | None = None
    most: frozenset[str] = frozenset()
    """Figures of which the largest is the worst."""


ClipCheck: TypeAlias = Callable[[ClipSample], Measured]


def changed_pixels(before: Image, after: Image) -> Map:
    """Return where a picture was changed, beyond what encoding does."""
    import cv2

    size = (BLUR, BLUR)
    first, second = cv2.blur(before, size).astype(np.int16), cv2.blur(after, size)
    return np.asarray(np.abs(first - second).max(axis=2) > LEVELS)


def motion(before: Image, after: Image) -> float:
    """Return the share of a picture that is another in the next one, by more than noise."""
    import cv2

    height, width = before.shape[:2]
    scale = min(1.0, MOTION_SIDE / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    first, second = (
        cv2.resize(each, size, interpolation=cv2.INTER_AREA) for each in (before, after)
    )
    return float((np.abs(first.astype(np.int16) - second).max(axis=2) > LEVELS).mean())


def check_region(sample: ClipSample, region: Region, reach: Reach | None = None) -> Measured | None:
    """Check that the region was changed and the rest left alone; None where nothing can tell."""
    if region in (Region.THING, Region.AROUND):
        detector = sample.detector()
        return None if detector is None else _in_thing(sample, detector, region, reach)
    matting = None if region is Region.FRAME else sample.backend("matting")
    return None if matting is None else _beside_region(sample, region, matting)


def _in_thing(
    sample: ClipSample, detector: Detector, region: Region, reach: Reach | None
) -> Measured:
    """Return the things that ``object`` and ``other`` name were changed, and nothing elsewhere."""
    things = [str(sample.details[key]) for key in ("object", "other") if key in sample.details]
    thing = " or ".join(map(repr, things))
    changed, inside, left, astray = [], [], 0, 0
    for before, after in sample.pictures:
        moved = changed_pixels(before, after)
        boxes_by_thing = [boxes_of(detector, before, thing) for thing in things]
        if not all(boxes_by_thing):
            astray += bool(moved.mean() > SPOT)
            continue
        # A copy beside a thing leaves the thing itself alone.
        share = min(
            float((moved if region is Region.AROUND else moved & area).sum() / area.sum())
            for area in (_boxes_map(moved, boxes) for boxes in boxes_by_thing)
        )
        if share < TOUCHED * sample.severity:
            left += 1
        else:
            changed.append(share)
            near = _reached(
                moved, [box for boxes in boxes_by_thing for box in boxes], region, reach
            )
            inside.append(float((moved & near).sum() / max(1, moved.sum())))
    shown = len(changed) + left
    if not shown:
        return Measured(fault=Fault.of("thing_unseen", thing=thing))
    figures = {
        "thing_changed": median(changed) if changed else 0.0,
        "inside": median(inside) if inside else 0.0,
        "astray": astray / len(sample.pictures),
    }
    fault = None
    if left > max(1, NOW_AND_THEN * shown) or not changed:
        fault = replace(
            Fault.of("thing_unchanged", count=left, total=shown, thing=thing), unchanged=not changed
        )
    elif figures["inside"] < INSIDE:
        fault = Fault.of("beside_thing", share=1 - figures["inside"], thing=thing)
    elif figures["astray"] > 2 * NOW_AND_THEN:
        fault = Fault.of("without_thing", count=astray, thing=thing)
    return Measured(figures, fault, frozenset({"astray"}))


def _reached(like: Map, boxes: Sequence[Box], region: Region, reach: Reach | None) -> Map:
    """Return where an operator on the things in these boxes may change a picture."""
    if region is Region.THING:
        return _boxes_map(like, boxes, wider=True)
    if reach is None:
        return np.ones_like(like)
    left, top, right, bottom = zip(*boxes, strict=True)
    first, last, high, low = min(left), max(right), min(top), max(bottom)
    across, height = reach.across * (last - first), low - high
    around = (first - across, high - reach.up * height, last + across, low + reach.down * height)
    area = _boxes_map(like, [around], wider=True)
    if reach.aside:
        way = round(reach.aside * like.shape[1])
        # What leaves the picture at one side comes in again at the other.
        area = area | np.roll(area, way, axis=1) | np.roll(area, -way, axis=1)
    return area


def _boxes_map(like: Map, boxes: Sequence[Box], *, wider: bool = False) -> Map:
    if wider:
        boxes = [_widened(box) for box in boxes]
    return box_mask(like, boxes) > 0


def _widened(box: Box) -> Box:
    left, top, right, bottom = box
    across, down = MARGIN * (right - left) + PIXELS, MARGIN * (bottom - top) + PIXELS
    return left - across, top - down, right + across, bottom + down


def _beside_region(sample: ClipSample, region: Region, matting: Matting) -> Measured:
    """Return the other part of the picture, foreground or background, must be as it was."""
    import cv2

    spoilt = []
    side = np.ones((9, 9), np.uint8)
    mattes = matting.matte([before for before, _ in sample.pictures])
    for (before, after), matte in zip(sample.pictures, mattes, strict=True):
        front = (matte >= 0.9).astype(np.uint8)
        if region is Region.BACKGROUND:
            rest = cv2.erode(front, side) > 0
        else:
            rest = cv2.dilate((matte > 0.1).astype(np.uint8), side) == 0
        if rest.any():
            spoilt.append(float(changed_pixels(before, after)[rest].mean()))
    if not spoilt:
        return Measured()
    figures = {"spoilt": median(spoilt)}
    other = "foreground" if region is Region.BACKGROUND else "background"
    fault = Fault.of("rest_changed", share=figures["spoilt"], part=other)
    bad = figures["spoilt"] > 1 - INSIDE
    return Measured(figures, fault if bad else None, frozenset({"spoilt"}))


# The checks that an operator may ask for by name.


def thing_gone(sample: ClipSample) -> Measured:
    """Return a removed thing is no longer found where it was, in any of its instances."""
    detector, thing = sample.detector(), str(sample.details.get("object", ""))
    if detector is None or sample.severity < 1:
        return Measured()
    shown = still = 0
    for before, after in sample.pictures:
        boxes = boxes_of(detector, before, thing)
        if boxes:
            shown += 1
            again = boxes_of(detector, after, thing)
            still += any(overlap(box, two) >= LOST for box in boxes for two in again)
    if not shown:
        return Measured()
    share = still / shown
    fault = Fault.of("still_found", thing=thing, count=still, total=shown)
    most = frozenset({"still_found"})
    return Measured({"still_found": share}, fault if share > STILL else None, most)


def colour_reached(sample: ClipSample) -> Measured:
    """Check that what was recoloured had the colour of the caption, and has the new one."""
    if sample.severity < 1:
        return Measured()
    old, new = str(sample.details.get("from", "")), str(sample.details.get("to", ""))
    reached, was, boxy = [], [], []
    for before, after in sample.pictures:
        moved = changed_pixels(before, after)
        if moved.mean() < SPOT / 2:
            continue
        inner = _shrunk(moved)
        reached.append(float(has_colour(after[inner], new).mean()))
        if old:
            was.append(float(has_colour(before[inner], old, in_any_light=True).mean()))
        boxy.append(_boxiness(moved))
    if not reached:
        nothing = Fault("not_recoloured", unchanged=True)
        return Measured({"colour_reached": 0.0}, nothing)
    figures = {"colour_reached": median(reached), "boxy": median(boxy)}
    if was:
        figures["was_of_old_colour"] = median(was)
    fault = None
    if figures["colour_reached"] < REACHED:
        fault = Fault.of("new_colour", share=figures["colour_reached"], colour=new)
    elif was and figures["was_of_old_colour"] < WAS:
        fault = Fault.of("old_colour", share=figures["was_of_old_colour"], colour=old)
    elif figures["boxy"] > BOXY:
        fault = Fault.of("rectangle")
    return Measured(figures, fault, frozenset({"boxy"}))


def _shrunk(moved: Map) -> Map:
    """Return a map without its rim, where colours mix; itself where nothing would stay."""
    import cv2

    inner = cv2.erode(moved.astype(np.uint8), np.ones((BLUR, BLUR), np.uint8)) > 0
    return inner if inner.any() else moved


def _boxiness(moved: Map) -> float:
    """Return the share of its bounding box that the largest piece fills."""
    import cv2

    parts: Any = cv2.connectedComponentsWithStats(moved.astype(np.uint8))
    sizes = parts[2][1:]
    if not len(sizes):
        return 0.0
    _, _, across, down, area = sizes[int(np.argmax(sizes[:, 4]))]
    return float(area / (across * down))


COLOURS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("colours.toml").read_text(encoding="utf-8")
)
"""By name; ``colours.toml`` says what is known of each."""
_ANY_LIGHT = {"white": ("white", "grey"), "black": ("black", "grey")}


def has_colour(pixels: Image, name: str, *, in_any_light: bool = False) -> Map:
    """For each RGB pixel, whether one would call it by this basic colour.

    ``in_any_light``, white in the shade is white, and black in the light is black.

    >>> has_colour(np.array([[200, 30, 40], [90, 90, 92]], np.uint8), "red").tolist()
    [True, False]
    """
    import cv2

    if not len(pixels):
        return np.zeros(0, bool)
    rows = pixels.reshape(-1, 1, 3).astype(np.float32) / 255
    hue, saturation, value = cv2.cvtColor(rows, cv2.COLOR_RGB2HSV).reshape(-1, 3).T
    matches = np.zeros(len(rows), bool)
    for colour in _ANY_LIGHT.get(name, (name,)) if in_any_light else (name,):
        low, high = COLOURS[colour]["hue"]
        dull, vivid = COLOURS[colour]["saturation"]
        dark, light = COLOURS[colour]["value"]
        right_hue = ((hue - low) % 360) <= high - low
        matches |= (
            right_hue
            & (dull <= saturation)
            & (saturation <= vivid)
            & (dark <= value)
            & (value <= light)
        )
    return matches


def subject_kept(sample: ClipSample) -> Measured:
    """Before a new background there is still a foreground, in one piece, with the subject in it."""

    def of_foreground(kept: Sequence[Map], figures: dict[str, float]) -> Fault | None:
        figures["foreground"] = share = median(float(mask.mean()) for mask in kept)
        figures["foreground_whole"] = whole = median(map(_wholeness, kept))
        if not FRONT[0] <= share <= FRONT[1]:
            return Fault.of("foreground_size", share=share)
        return Fault.of("foreground_pieces") if whole < WHOLE else None

    return _with_subject(sample, of_foreground)


def subject_before_another(sample: ClipSample) -> Measured:
    """Return the subject stands before a background that is plainly another."""

    def of_background(kept: Sequence[Map], figures: dict[str, float]) -> Fault | None:
        figures["background_changed"] = share = 1 - median(float(mask.mean()) for mask in kept)
        return Fault.of("same_background", share=share) if share < BEHIND else None

    return _with_subject(sample, of_background)


def _with_subject(
    sample: ClipSample, check: Callable[[Sequence[Map], dict[str, float]], Fault | None]
) -> Measured:
    """Check what was kept of each picture, and that the subject is in it."""
    if sample.severity < 1 or not sample.pictures:
        return Measured()
    kept = [~changed_pixels(before, after) for before, after in sample.pictures]
    figures: dict[str, float] = {}
    fault = check(kept, figures)
    lost, front = _lost_subject(sample, figures), _lost_front(sample, kept, figures)
    return Measured(figures, fault or lost or front)


def _wholeness(kept: Map) -> float:
    """Return the share that the largest piece has of all that can be seen."""
    import cv2

    closed = cv2.morphologyEx(kept.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    parts: Any = cv2.connectedComponentsWithStats(closed)
    sizes = parts[2][1:, 4]
    seen = sizes[sizes >= PIECE * kept.size]
    return float(seen.max() / seen.sum()) if len(seen) else 0.0


def _lost_front(sample: ClipSample, kept: Sequence[Map], figures: dict[str, float]) -> Fault | None:
    """Check that what stands in front is kept.

    A detector sees where something stands even where it does not know what: its best box counts,
    whatever it calls it.
    """
    detector = sample.detector()
    sees = getattr(detector, "everything", None)
    shares = []
    for (before, _), same in zip(sample.pictures, kept, strict=True):
        boxes = sees(before) if sees is not None else []
        if boxes and boxes[0].score >= SURE:
            left, top, right, bottom = (max(0, round(side)) for side in boxes[0].box)
            shares.append(float(same[top : bottom + 1, left : right + 1].mean()))
    if 2 * len(shares) <= len(kept):
        whole = [float(mask.mean()) for mask in kept]
        figures["foreground_steady"] = min(whole) / max(1e-9, median(whole))
        unsteady = figures["foreground_steady"] < STEADY
        return Fault.of("foreground_lost") if unsteady else None
    lost = sum(share < IN_FRONT for share in shares)
    figures["front_kept"] = 1 - lost / len(shares)
    if lost <= NOW_AND_THEN * len(shares):
        return None
    return Fault.of("front_lost", count=lost, total=len(shares))


def _lost_subject(sample: ClipSample, figures: dict[str, float]) -> Fault | None:
    """Check that subjects of the caption found before are found after."""
    detector = sample.detector()
    subjects = [name for name in str(sample.details.get("subjects", "")).split(", ") if name]
    if detector is None:
        return None
    fault = None
    for subject in subjects:
        shown = again = 0
        for before, after in sample.pictures:
            boxes = boxes_of(detector, before, subject)
            if boxes:
                shown += 1
                left = boxes_of(detector, after, subject)
                again += any(overlap(boxes[0], box) >= LOST for box in left)
        if 2 * shown > len(sample.pictures):
            share = again / shown
            figures["subject_found"] = min(share, figures.get("subject_found", 1.0))
            if share < FOUND:
                fault = fault or Fault.of("subject_lost", thing=subject, count=again, total=shown)
    return fault


CLIP_CHECKS: Mapping[str, ClipCheck] = {
    "thing_gone": thing_gone,
    "colour_reached": colour_reached,
    "subject_kept": subject_kept,
    "subject_before_another": subject_before_another,
}
"""By name, what `DegradationInfo.checks` may ask for."""


def clip_check(name: str) -> ClipCheck:
    """Return the check of that name; raises BadOption where there is none."""
    if name not in CLIP_CHECKS:
        raise BadOption(f"invalid check {name!r}: must be {', '.join(CLIP_CHECKS)}")
    return CLIP_CHECKS[name]


def roles_asked(info: DegradationInfo) -> tuple[str, ...]:
    """Return the roles that the check of an operator's pairs asks, where something fills them."""
    detects = info.region in (Region.THING, Region.AROUND) or info.checks
    mattes = info.region in (Region.FOREGROUND, Region.BACKGROUND)
    return tuple(role for role, asks in (("detection", detects), ("matting", mattes)) if asks)
