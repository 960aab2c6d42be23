"""Shots: what a detector found, as a list of ranges that cover the whole video."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from screentest.core import NoValue, Progress, Shot, Span, Transition, VideoInfo, build
from screentest.video.detectors import Boundary, Detector
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
    """The shots of a video, by the detector of that name: ``default``, ``scdet:threshold=30``…

    >>> from screentest.sample import sample_videos
    >>> film = sample_videos()[2].item.video
    >>> print([str(shot.span) for shot in find_shots(film)][:2])
    ['0:00:00.000–0:00:03.000', '0:00:03.000–0:00:07.000']

    To have them from a scan that serves others too, give it a detector among its consumers and
    call ``shot_list`` with what it found.
    """
    built = build("detector", detector)
    consumer: Detector = built.thing
    report = scan(video, [consumer], limits=limits, progress=progress, info=info)
    for failure in report.failures.values():
        raise NoValue(failure.reason, failure.detail, advice=failure.advice)
    return shot_list(consumer.boundaries, scanned(report), found_by=built.spec.name)


def scanned(report: ScanReport) -> Span:
    """The range of time that a scan has seen."""
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
    first = next((one for one in boundaries if one.time <= span.start), None)
    if first is None or first.transition is Transition.CUT:
        first = Boundary(span.start, 0, Transition.START)
    return [replace(first, time=span.start), *(by_time[time] for time in sorted(by_time))]
