"""Shot detectors, one file each, behind one contract.

A detector is a consumer of a scan: it runs in the same pass as anything else, holds a few
small frames at most, and has its boundaries when the video has ended.
"""

from screentest.video.detectors.contract import Boundary, ShotDetector

__all__ = ["Boundary", "ShotDetector"]
