"""Shots: what a detector found, as ranges that cover the whole video, and cut lists of them.

JSON keeps times exact, as ratios of seconds. CSV is for spreadsheets. The
edit decision list is CMX 3600, which editing programs read.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from screentest._util.text import printable
from screentest.core.calls import Progress
from screentest.core.errors import BadOption, NoValue
from screentest.core.frames import VideoInfo
from screentest.core.item import Shot, Span, Time, Transition, timecode
from screentest.core.registry import build
from screentest.video.detectors import Boundary, ShotDetector
from screentest.video.limits import DEFAULT_LIMITS, Limits
from screentest.video.scan import ScanReport, scan


def find_shots(
    video: Path | str,
    detector: str = "default",
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
    info: VideoInfo | None = None,
) -> list[Shot]:
    """Return the shots of a video, by the detector of that name: ``default``,
    ``scdet:threshold=30``…

    >>> from screentest.sample import sample_videos
    >>> film = sample_videos()[2].item.video
    >>> print([str(shot.span) for shot in find_shots(film)][:2])
    ['0:00:00.000–0:00:03.000', '0:00:03.000–0:00:07.000']

    To have them from a scan that serves others too, give it a detector among its consumers and
    call ``shot_list`` with what it found.
    """
    built = build("detector", detector)
    consumer: ShotDetector = built.thing
    report = scan(video, [consumer], limits=limits, progress=progress, info=info)
    for failure in report.failures.values():
        raise NoValue(failure.reason, failure.detail, advice=failure.advice)
    return shot_list(consumer.boundaries, scanned(report), found_by=built.spec.name)


def scanned(report: ScanReport) -> Span:
    """Return the range of time that a scan has seen."""
    return Span(report.info.start, report.end)


def shot_list(boundaries: Sequence[Boundary], span: Span, *, found_by: str = "") -> list[Shot]:
    """Shots from boundaries: the first begins with ``span``, the last ends with it.

    ``found_by`` names the detector where a boundary does not say itself.
    """
    shots: list[Shot] = []
    inside = _inside(boundaries, span)
    for this, following in pairwise([*inside, Boundary(span.end, -1)]):
        names = this.found_by or ((found_by,) if found_by else ())
        shots.append(
            Shot(
                Span(this.time, following.time),
                this.transition,
                this.gradual,
                names if this.transition is not Transition.START else (),
            )
        )
    return shots


def _inside(boundaries: Sequence[Boundary], span: Span) -> list[Boundary]:
    """Boundaries in order, each moment once, beginning with one for the first shot."""
    by_time = {
        boundary.time: boundary for boundary in boundaries if span.start < boundary.time < span.end
    }
    # A boundary at the first frame says how the first shot comes in.
    first = next((boundary for boundary in boundaries if boundary.time <= span.start), None)
    if first is None or first.transition is Transition.CUT:
        first = Boundary(span.start, 0, Transition.START)
    return [replace(first, time=span.start), *(by_time[time] for time in sorted(by_time))]


CSV_COLUMNS = (
    "shot",
    "start",
    "end",
    "start_seconds",
    "end_seconds",
    "transition",
    "gradual_start_seconds",
    "gradual_end_seconds",
    "found_by",
)

_FRAMES_IN_TWO_DIGITS = 100
_TITLE_LENGTH = 70


def json_text(shots: Sequence[Shot], about: Mapping[str, Any] | None = None) -> str:
    """Shots as JSON, after what ``about`` says of the video."""
    rows = [_as_dict(number, shot) for number, shot in enumerate(shots, start=1)]
    return json.dumps({**(about or {}), "shots": rows}, indent=2)


def csv_text(shots: Sequence[Shot]) -> str:
    """Shots as CSV with a header; seconds to the microsecond."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for number, shot in enumerate(shots, start=1):
        writer.writerow(
            [
                number,
                timecode(shot.start),
                timecode(shot.end),
                _decimal(shot.start),
                _decimal(shot.end),
                shot.transition.value,
                _decimal(shot.gradual.start) if shot.gradual else "",
                _decimal(shot.gradual.end) if shot.gradual else "",
                " ".join(shot.found_by),
            ]
        )
    return out.getvalue()


def edl_text(shots: Sequence[Shot], rate: Fraction, *, title: str) -> str:
    """Shots as a CMX 3600 edit decision list of one source.

    Each shot is a cut from the source at its own place, counted from the first shot. Fades
    and dissolves are in the pictures already, so they stand in comments: an editing program
    would apply them a second time.

    Timecode counts frames. At 30000/1001 frames per second it is non-drop: it counts to 30 and
    falls 3.6 seconds behind the clock in an hour.
    """
    lines = [f"TITLE: {_one_line(title)}", "FCM: NON-DROP FRAME", ""]
    origin = shots[0].start if shots else Fraction(0)
    for number, shot in enumerate(shots, start=1):
        start = frame_timecode(shot.start - origin, rate)
        end = frame_timecode(shot.end - origin, rate)
        lines.append(f"{number:03}  AX       V     C        {start} {end} {start} {end}")
        lines.append(f"* FROM CLIP NAME: {_one_line(title)}")
        if shot.gradual is not None:
            first = frame_timecode(shot.gradual.start - origin, rate)
            last = frame_timecode(shot.gradual.end - origin, rate)
            lines.append(f"* {shot.transition.value.upper()} {first} {last}")
        if shot.found_by:
            lines.append(f"* FOUND BY: {_one_line(', '.join(shot.found_by))}")
    return "\n".join(lines) + "\n"


def frame_timecode(moment: Time, rate: Fraction) -> str:
    """hh:mm:ss:ff, non-drop: frames counted at the whole number next to ``rate``.

    >>> frame_timecode(Fraction(3600), Fraction(30000, 1001))
    '00:59:56:12'
    """
    base = round(rate)
    if not 1 <= base < _FRAMES_IN_TWO_DIGITS:
        raise BadOption(
            f"timecode cannot count {float(rate):g} frames a second", advice="Choose JSON or CSV."
        )
    seconds, frames = divmod(max(0, round(moment * rate)), base)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}:{frames:02}"


def _as_dict(number: int, shot: Shot) -> dict[str, Any]:
    row: dict[str, Any] = {
        "shot": number,
        "start": str(shot.start),
        "end": str(shot.end),
        "start_seconds": round(float(shot.start), 6),
        "end_seconds": round(float(shot.end), 6),
        "transition": shot.transition.value,
    }
    if shot.gradual is not None:
        row["gradual"] = [str(shot.gradual.start), str(shot.gradual.end)]
    if shot.found_by:
        row["found_by"] = list(shot.found_by)
    return row


def _decimal(moment: Time) -> str:
    return f"{float(moment):.6f}"


def _one_line(text: str) -> str:
    """Text that cannot begin a line of its own: a file name may hold anything."""
    return printable(text)[:_TITLE_LENGTH].strip()
