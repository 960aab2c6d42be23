"""The video engine: probe, decode once for many, sample, find shots, splice."""

from screentest.video.convert import decoder_version
from screentest.video.limits import DEFAULT_LIMITS, Limits
from screentest.video.probe import probe
from screentest.video.sampling import centres, evenly, every, sample_frames
from screentest.video.scan import ScanReport, scan
from screentest.video.source import Source
from screentest.video.survey import Survey, survey

__all__ = [
    "DEFAULT_LIMITS",
    "Limits",
    "ScanReport",
    "Source",
    "Survey",
    "centres",
    "decoder_version",
    "evenly",
    "every",
    "probe",
    "sample_frames",
    "scan",
    "survey",
]
