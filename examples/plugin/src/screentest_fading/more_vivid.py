"""more_vivid: a judge that looks at frames of both videos."""

import numpy as np

import screentest
from screentest_fading.saturation import saturation


@screentest.judge(frames=24, long_side=128, margin=0.002)
def more_vivid(first: list[np.ndarray], second: list[np.ndarray]) -> tuple[float, float]:
    """The video with more colour wins."""
    vivid = [np.mean([saturation(image) for image in video]) for video in (first, second)]
    return float(vivid[0]), float(vivid[1])
