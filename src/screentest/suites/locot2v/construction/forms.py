"""The forms in which the stages are answered, and what is measured on a source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, Field

from screentest.core import Filter, FrameRequest, Image, NoValue, Reason, Resources, Size
from screentest.models.ask import Explanation, NonBlank, Query
from screentest.suites.locot2v.metrics.herd import Expectations
from screentest.video.samples import evenly

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


_LONGEST = 20_000


class Written(BaseModel):
    """A text."""

    text: NonBlank = Field(max_length=_LONGEST)


class Faults(BaseModel):
    """What is wrong with a draft; nothing where it can stay as it is."""

    faults: list[str] = Field(max_length=20)


class EventPrompts(BaseModel):
    """One prompt per event, in order."""

    prompts: list[NonBlank] = Field(max_length=100)


def _one_for_each(slots: Mapping[str, Any], answer: EventPrompts) -> None:
    written, events = len(answer.prompts), len(slots["events"])
    if written != events:
        raise ValueError(f"prompts: {written} were written for {events} events; one for each")


class Graded(BaseModel):
    """A grade with its explanation."""

    explanation: Explanation
    score: int = Field(ge=1, le=10)


class Complexity(BaseModel):
    """The three complexities."""

    semantic: Graded
    structural: Graded
    control: Graded


class SourceFlags(BaseModel):
    """What would make a video a bad source."""

    burnt_in_text: bool
    overlay: bool
    low_quality: bool
    off_theme: bool
    why: str


CHECK = Query("locot2v/source_check", SourceFlags, "chat.watch")
DRAFT = Query("locot2v/draft", Written, "chat.watch")
CRITIQUE = Query("locot2v/critique", Faults, "chat.watch")
REVISE = Query("locot2v/revise", Written, "chat.watch")
WATCH = Query("locot2v/herd_watch", Expectations, "chat.watch")
MERGE = Query("locot2v/merge", Written, "chat.extract")
EVENT_PROMPTS = Query("locot2v/event_prompts", EventPrompts, "chat.extract", check=_one_for_each)
COMPLEXITY = Query("locot2v/complexity", Complexity, "chat.extract")
ALL = (CHECK, DRAFT, CRITIQUE, REVISE, WATCH, MERGE, EVENT_PROMPTS, COMPLEXITY)
ROLES = ("technical", *sorted({query.role for query in ALL}))
"""Whom the stages ask."""


FRAMES, LONG_SIDE = 16, 480
EDGE = 60.0
"""A gradient (Sobel, of 0–255 grey) that counts as an edge."""
STANDS_STILL = 0.9
"""An edge in this share of the frames stands still."""
OVERLAY_LEAST, OVERLAY_MOST = 0.0008, 0.08
"""Shares of the picture between which edges that stand still are an overlay, not a scene."""
MOVING = 0.6
"""At least this share of all edges must come and go, or the scene itself stands still."""
OVERLAY_EXTENT = 0.3
"""An overlay is in one place; a slow scene has edges everywhere."""
TEXT_FRAMES = 0.4
"""Lines of text in this share of the frames are subtitles."""


@dataclass(frozen=True, slots=True)
class Looks:
    """What was measured."""

    text_frames: float
    """The share of frames with a line of text in their lower or upper third."""
    overlay: float
    """The share of the picture whose edges stand still while the rest moves."""
    technical: float | None
    """By the technical role, 0–1; None where nothing could be judged."""

    def flags(self, least_quality: float) -> list[str]:
        """Return what a person should look at."""
        result = []
        if self.text_frames >= TEXT_FRAMES:
            result.append("burnt_in_text")
        if self.overlay > 0:
            result.append("overlay")
        if self.technical is not None and self.technical < least_quality:
            result.append("low_quality")
        return result


def look(video: Path, resources: Resources) -> Looks:
    """Measure a video on frames spread over it.

    These are plain measurements that flag; a person decides. They look at a few frames.
    """
    moments = evenly(resources.info(video).span, FRAMES)
    wants = FrameRequest(size=Size(long_side=LONG_SIDE), filter=Filter.AREA)
    images = [frame.image for frame in resources.frames(video, moments, wants)]
    try:
        technical = float(resources.role("technical").score(images))
    except NoValue as error:
        if error.reason is not Reason.NOT_APPLICABLE:
            raise
        technical = None
    text = sum(bool(text_lines(image)) for image in images) / len(images)
    return Looks(text, standing_overlay(images), technical)


def standing_overlay(images: Sequence[Image]) -> float:
    """Return the share of the picture with edges that stand still while others move; 0 for none."""
    import cv2

    if len(images) < 4:
        return 0.0
    edges = []
    for image in images:
        grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32)
        across, down = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
        edges.append(np.hypot(across, down) > EDGE)
    share = np.mean(edges, axis=0)
    still = share >= STANDS_STILL
    ever = int((share > 0).sum())
    if not ever or float(still.mean()) < OVERLAY_LEAST or float(still.mean()) > OVERLAY_MOST:
        return 0.0
    moves = 1 - int(still.sum()) / ever >= MOVING
    return float(still.mean()) if moves and _extent(still) <= OVERLAY_EXTENT else 0.0


def _extent(mask: NDArray[np.bool_]) -> float:
    """Return the share of the picture within the box around nearly all of a mask."""
    rows, columns = np.nonzero(mask)
    across, down = (np.subtract(*np.percentile(places, (98, 2))) for places in (columns, rows))
    return float(across * down / mask.size)


def text_lines(image: Image) -> list[tuple[int, int, int, int]]:
    """Boxes (left, top, width, height) that look like lines of text, not in the middle third.

    Letters are many short strokes side by side: closed along the line they make a bar that is
    wide, low, well filled and of high contrast.
    """
    import cv2

    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    height, width = grey.shape
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 3))
    strokes = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, kernel)
    _, strong = cv2.threshold(strokes, 90, 255, cv2.THRESH_BINARY)
    reach = max(5, width // 40)
    bars = cv2.morphologyEx(
        strong, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_RECT, (reach, 1))
    )
    contours, _ = cv2.findContours(bars, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    result = []
    for contour in contours:
        left, top, across, down = cv2.boundingRect(contour)
        low = 0.02 * height <= down <= 0.12 * height
        wide = across >= max(4 * down, 0.12 * width)
        outer = top + down / 2 >= 2 * height / 3 or top + down / 2 <= height / 3
        if low and wide and outer and _is_lettered(strong[top : top + down, left : left + across]):
            result.append((left, top, across, down))
    return result


def _is_lettered(strokes: NDArray[Any]) -> bool:
    """Return whether strokes fill enough, and change often enough along the line, to be letters."""
    ink = strokes > 0
    changes = np.abs(np.diff(ink.astype(np.int8), axis=1)).sum(axis=1).max()
    return bool(0.3 <= ink.mean() <= 0.95 and changes >= 2 * ink.shape[1] / ink.shape[0])
