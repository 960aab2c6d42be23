"""Probe: what a file holds, from its header, its packets and its first picture."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from av.video.frame import VideoFrame

from screentest.base.printable import shown_path
from screentest.core import Fault, Reason, Time, VideoError, VideoInfo
from screentest.video.convert import rotation_of
from screentest.video.limits import DEFAULT_LIMITS, Limits
from screentest.video.source import Source
from screentest.video.survey import Survey, survey_source
from screentest.video.wholeness import cut_short


def probe(path: Path | str, limits: Limits = DEFAULT_LIMITS) -> VideoInfo:
    """Describe the video in ``path``; raises VideoError where there is none to describe.

    Every packet is read and one picture decoded. To learn whether all of it decodes, scan it.
    """
    return examine(path, limits)[0]


def examine(path: Path | str, limits: Limits = DEFAULT_LIMITS) -> tuple[VideoInfo, Survey]:
    """The description and the survey it rests on."""
    with Source(path, limits) as source:
        table = survey_source(source)
        faults = list(source.faults)
        lists_its_frames = "mp4" in source.container.format.name.split(",")
    missing = cut_short(Path(path))
    if missing is not None:
        faults.insert(0, missing)
    if not lists_its_frames:  # in one that does, a picture that stays longer is meant to
        faults += [
            Fault("gap", "frames seem to be missing here", moment) for moment in table.gaps()
        ]
    limits.check_duration(table.end - table.start)
    with Source(path, limits) as source:
        _, picture = _first_picture(source)
        return _describe(source, table, picture, faults + source.faults), table


def _first_picture(source: Source) -> tuple[Time, VideoFrame]:
    for moment, frame in source.frames():
        return moment, frame
    raise VideoError(
        Reason.UNDECODABLE,
        f"no picture in {shown_path(source.path)} can be decoded",
        advice="Check that it plays; render or download it again.",
    )


def _describe(source: Source, table: Survey, picture: VideoFrame, faults: list[Fault]) -> VideoInfo:
    rotation = rotation_of(picture)
    width, height = picture.width, picture.height
    if rotation % 180:
        width, height = height, width
    rate, constant = table.rate()
    aspect = source.stream.sample_aspect_ratio
    return VideoInfo(
        container=source.container.format.name,
        codec=source.stream.codec_context.name,
        width=width,
        height=height,
        pixel_format=picture.format.name,
        bit_depth=max(component.bits for component in picture.format.components),
        rotation=rotation,
        sample_aspect=Fraction(aspect) if aspect else Fraction(1),
        start=table.start,
        duration=table.end - table.start,
        frames=len(table.pts),
        rate=rate,
        constant_rate=constant,
        keyframes=table.entries,
        # Two openings of one file report the same fault twice.
        faults=tuple(dict.fromkeys(faults)),
        metadata=dict(source.container.metadata),
    )
