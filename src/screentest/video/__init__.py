"""The video engine: probe, decode once for many, sample, find shots, splice."""

from screentest.video.limits import DEFAULT_LIMITS, Limits
from screentest.video.probe import decoder_version, probe
from screentest.video.sampling import centres, evenly, every, sample_frames
from screentest.video.sandbox import Supervisor, supervised
from screentest.video.scan import ScanReport, scan
from screentest.video.shots import find_shots
from screentest.video.source import Source
from screentest.video.splicing.encode import EncoderSettings
from screentest.video.splicing.normalize import NormalizedVideo, normalize
from screentest.video.splicing.parts import (
    FrameFunction,
    Keep,
    Origin,
    Part,
    Reencode,
    frame_by_frame,
)
from screentest.video.splicing.pictures import Pixels
from screentest.video.splicing.splice import SplicedVideo, splice
from screentest.video.survey import Survey, survey

__all__ = [
    "DEFAULT_LIMITS",
    "EncoderSettings",
    "FrameFunction",
    "Keep",
    "Limits",
    "NormalizedVideo",
    "Origin",
    "Part",
    "Pixels",
    "Reencode",
    "ScanReport",
    "Source",
    "SplicedVideo",
    "Supervisor",
    "Survey",
    "centres",
    "decoder_version",
    "evenly",
    "every",
    "find_shots",
    "frame_by_frame",
    "normalize",
    "probe",
    "sample_frames",
    "scan",
    "splice",
    "supervised",
    "survey",
]
