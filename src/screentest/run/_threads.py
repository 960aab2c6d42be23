"""Each worker's part of the processors: libraries left to themselves take all of them each."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Final

from screentest.base.processors import processors

OURS: Final = "SCREENTEST_THREADS"
_LIBRARIES: Final = (
    "OMP_NUM_THREADS",  # torch, onnxruntime's helpers and most of what is compiled
    "OPENBLAS_NUM_THREADS",  # numpy and scipy
    "MKL_NUM_THREADS",
    "OPENCV_FOR_THREADS_NUM",
)


def shares(
    workers: int, cores: int | None = None, given: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What to set in the environment of each of so many workers. What the user set stays.

    >>> shares(3, cores=8, given={"OMP_NUM_THREADS": "4"})["SCREENTEST_THREADS"]
    '2'
    >>> shares(3, cores=8, given={"OMP_NUM_THREADS": "4"})["OMP_NUM_THREADS"]
    '4'
    >>> shares(3, cores=8, given={"SCREENTEST_THREADS": "5"})["OMP_NUM_THREADS"]
    '5'
    """
    environment = os.environ if given is None else given
    part = str(max(1, (processors() if cores is None else cores) // workers))
    ours = environment.get(OURS) or part
    # A number that is none is refused where models are loaded; libraries would misread it.
    default = ours if ours.isdigit() and int(ours) else part
    return {OURS: ours, **{name: environment.get(name) or default for name in _LIBRARIES}}


def take(share: Mapping[str, str]) -> None:
    """Keep to this share, in a worker that has loaded few libraries yet."""
    os.environ.update(share)
    wanted = share.get("OPENCV_FOR_THREADS_NUM", "")
    # A script that is started again in each worker may have loaded it; it reads its variable once.
    if "cv2" in sys.modules and wanted.isdigit():
        sys.modules["cv2"].setNumThreads(int(wanted))
