"""The video engine: probe, decode once for many, sample, find shots, splice."""

from screentest.video.edit.encode import EncoderSettings
from screentest.video.edit.normalize import NormalizedVideo, normalize
from screentest.video.edit.parts import (
    ClipOrigin,
    FrameFunction,
    Keep,
    Reencode,
    VideoPart,
    frame_by_frame,
)
from screentest.video.edit.pictures import Pixels
from screentest.video.edit.splice import SplicedVideo, splice
from screentest.video.limits import DEFAULT_LIMITS, Limits
from screentest.video.probe import decoder_version, probe
from screentest.video.samples import centres, evenly, every, sample_frames
from screentest.video.sandbox import Supervisor, supervised
from screentest.video.scan import ScanReport, scan
from screentest.video.shots import find_shots
from screentest.video.source import VideoSource
from screentest.video.survey import Survey, survey

__all__ = [
    "DEFAULT_LIMITS",
    "ClipOrigin",
    "EncoderSettings",
    "FrameFunction",
    "Keep",
    "Limits",
    "NormalizedVideo",
    "Pixels",
    "Reencode",
    "ScanReport",
    "SplicedVideo",
    "Supervisor",
    "Survey",
    "VideoPart",
    "VideoSource",
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
